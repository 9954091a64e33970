// Filters the objects of a page by verdict and text, and shows those that are kept as compressed data. The filter is in the
// fragment of the URL. Without scripts, everything is shown except compressed objects.
(function () {
 "use strict";
 var STEP = 100;
 var bar = document.querySelector(".filter");
 if (!bar) return;
 var text = bar.querySelector("input"), verdict = bar.querySelector("select"), status = bar.querySelector("output");
 var empty = document.getElementById("no-match");
 var table = document.querySelector("main > .table");

 // Objects that are on the page: the row and the section of each.
 var shown = {};
 document.querySelectorAll("[data-object]").forEach(function (element) {
  var key = element.dataset.object;
  var one = shown[key] || (shown[key] = { elements: [], verdict: element.dataset.verdict, words: "" });
  one.elements.push(element);
  // A row is found by what its section says, too.
  one.words += " " + element.textContent.toLowerCase();
 });

 // Groups of compressed objects.
 var groups = Array.from(document.querySelectorAll("details.group")).map(function (element) {
  var index = element.dataset.group;
  return {
   element: element, verdict: element.dataset.verdict, body: element.querySelector("tbody"),
   count: element.querySelector("summary b"), label: element.querySelector("summary b").textContent,
   more: element.querySelector(".more"),
   blocks: Array.from(document.querySelectorAll("template[data-group='" + index + "']")), objects: null, matches: [], visible: 0
  };
 });

 function inflate(template) {
  var bytes = Uint8Array.from(atob(template.content.textContent), function (c) { return c.charCodeAt(0); });
  var stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text().then(function (lines) {
   return lines.split("\n").filter(Boolean).map(function (line) {
    var parts = JSON.parse(line);
    return { row: parts[0], details: parts[1], words: null };
   });
  });
 }

 function load(group) {
  if (!group.objects) {
   group.objects = Promise.all(group.blocks.map(inflate)).then(function (lists) { return [].concat.apply([], lists); });
  }
  return group.objects;
 }

 // The text of markup that this program has escaped.
 function words(object) {
  if (object.words === null) {
   var markup = object.row + " " + (object.details || "");
   object.words = markup.replace(/\u003c[^>]*>/g, " ").replace(/\u0026#(\d+);/g, function (_, code) {
    return String.fromCharCode(code);
   }).replace(/\u0026lt;/g, "\u003c").replace(/\u0026gt;/g, ">").replace(/\u0026quot;/g, '"').replace(/\u0026amp;/g, "\u0026").toLowerCase();
  }
  return object.words;
 }

 function render(group) {
  var end = Math.min(group.visible, group.matches.length);
  group.body.innerHTML = group.matches.slice(0, end).map(function (object) { return object.row; }).join("");
  Array.from(group.body.rows).forEach(function (row, at) { row.object = group.matches[at]; });
  var rest = group.matches.length - end;
  group.more.hidden = rest === 0;
  group.more.firstElementChild.textContent = "Show " + Math.min(STEP, rest) + " more of " + rest;
 }

 function fail(group) {
  group.more.hidden = false;
  group.more.textContent = "This browser cannot read the compressed objects of this page. -o json has them.";
 }

 // Sets the objects of a group that match. An open group shows them.
 function select(group, wanted, isCurrent) {
  if (wanted === "" ? !group.element.open : false) {
   group.matches = [];
   group.count.textContent = group.label;
   return Promise.resolve(parseInt(group.label, 10));
  }
  return load(group).then(function (objects) {
   if (!isCurrent()) return 0;
   var matches = wanted === "" ? objects : objects.filter(function (object) { return words(object).includes(wanted); });
   group.matches = matches;
   group.visible = STEP;
   group.count.textContent = wanted === "" ? group.label : matches.length + " of " + group.label;
   if (group.element.open) render(group);
   return matches.length;
  }, function () { fail(group); return 0; });
 }

 var turn = 0;
 function apply() {
  var own = ++turn, wanted = text.value.toLowerCase();
  var isCurrent = function () { return own === turn; };
  var found = 0, rows = 0;
  Object.keys(shown).forEach(function (key) {
   var one = shown[key];
   var other = verdict.value !== "" ? one.verdict !== verdict.value : false;
   var hidden = other || !one.words.includes(wanted);
   one.elements.forEach(function (element) { element.hidden = hidden; });
   if (!hidden) found += 1;
  });
  if (table) table.hidden = found === 0;
  var pending = groups.map(function (group) {
   var other = verdict.value !== "" ? group.verdict !== verdict.value : false;
   if (other) { group.element.hidden = true; return 0; }
   return select(group, wanted, isCurrent).then(function (count) {
    if (isCurrent()) group.element.hidden = count === 0;
    return count;
   });
  });
  status.textContent = "…";
  return Promise.all(pending).then(function (counts) {
   if (!isCurrent()) return;
   var total = counts.reduce(function (sum, count) { return sum + count; }, found);
   status.textContent = total === 1 ? "1 object" : total + " objects";
   empty.hidden = total !== 0;
  });
 }

 // The fragment has the filter, or the name of a section.
 function read() {
  var given = new URLSearchParams(location.hash.slice(1));
  if (!given.has("text") ? !given.has("verdict") : false) return false;
  text.value = given.get("text") || "";
  verdict.value = given.get("verdict") || "";
  if (verdict.selectedIndex === -1) verdict.value = "";
  return true;
 }
 function write() {
  var filter = new URLSearchParams();
  if (text.value !== "") filter.set("text", text.value);
  if (verdict.value !== "") filter.set("verdict", verdict.value);
  history.replaceState(null, "", "#" + filter);
 }

 var timer = 0;
 function changed() {
  clearTimeout(timer);
  timer = setTimeout(function () { write(); apply(); }, 150);
 }

 var known = new Set(Object.values(shown).concat(groups).map(function (one) { return one.verdict; }));
 known.forEach(function (word) { verdict.add(new Option(word, word)); });
 bar.hidden = false;
 text.addEventListener("input", changed);
 verdict.addEventListener("input", changed);
 empty.querySelector("button").addEventListener("click", function () {
  text.value = verdict.value = "";
  changed();
 });
 window.addEventListener("hashchange", function () { if (read()) apply(); });
 groups.forEach(function (group) {
  group.element.addEventListener("toggle", function () {
   if (!group.element.open) return;
   var own = turn;
   select(group, text.value.toLowerCase(), function () { return own === turn; });
  });
  group.more.addEventListener("click", function () {
   group.visible += STEP;
   render(group);
  });
  group.body.addEventListener("click", function (event) {
   var link = event.target.closest("a");
   if (!link) return;
   var row = link.closest("tr"), next = row.nextElementSibling;
   if (!row.object) return;
   event.preventDefault();
   if (next ? next.className === "opened" : false) { next.remove(); return; }
   var opened = document.createElement("tr"), cell = opened.insertCell();
   opened.className = "opened";
   cell.colSpan = row.cells.length;
   if (row.object.details) cell.innerHTML = row.object.details;
   else cell.textContent = "The details are left out, because the page would be too large. -o json has them.";
   row.after(opened);
  });
 });
 read();
 apply();
})();
