// Filters the rows and the sections of a page by verdict and text. Without scripts everything is shown.
(function () {
  var bar = document.querySelector(".filter");
  if (!bar) return;
  bar.hidden = false;
  var text = bar.querySelector("input"), verdict = bar.querySelector("select");
  var items = Array.from(document.querySelectorAll("[data-object]"));
  // A row is found by what its section says, too.
  var words = {};
  items.forEach(function (item) {
    var key = item.dataset.object;
    words[key] = (words[key] || "") + " " + item.textContent.toLowerCase();
  });
  new Set(items.map(function (item) { return item.dataset.verdict; })).forEach(function (word) {
    verdict.add(new Option(word, word));
  });
  function apply() {
    var wanted = text.value.toLowerCase();
    items.forEach(function (item) {
      var other = verdict.value !== "" ? item.dataset.verdict !== verdict.value : false;
      item.hidden = other || !words[item.dataset.object].includes(wanted);
    });
  }
  text.addEventListener("input", apply);
  verdict.addEventListener("input", apply);
})();
