// The page: texts and options in, answers of the engine out.
import { Editor } from "./editor.js";
import { element } from "./dom.js";
import { Engine } from "./engine.js";
import { Results } from "./results.js";
import { number } from "./numbers.js";
import { decode, encode, LONG } from "./share.js";
import { setUpTheme } from "./theme.js";

const byId = (id) => document.getElementById(id);
const PANES = { crd: "CustomResourceDefinition", object: "Object", oldObject: "Stored object", policies: "Admission policies" };
const EMPTY = { crd: "", object: "", oldObject: "", policies: "", operation: "create", fieldValidation: "Strict", user: "", groups: "" };
/** With a longer CRD, the releases are compared on demand: each of them needs the compiled CRD. */
const LONG_CRD = 400_000;
/** The time without typing, in milliseconds, after which the releases are compared. */
const PAUSE = 400;

const engine = new Engine();
let comparer;
let pause;
let isLoading = false;

const editors = Object.fromEntries(Object.entries(PANES).map(([pane, label]) =>
  [pane, new Editor(byId(`pane-${pane}`).querySelector(".editor"), label, () => update(), byId("verdict"))]));

const results = new Results(byId("verdict"), byId("details"), {
  goTo(pane, place) {
    if (pane === "policies") byId("pane-policies").open = true;
    editors[pane].show(place);
  },
  convert: (crd) => editors.crd.set(crd),
});

/** The texts and options of the page, as in a link. */
function state() {
  const texts = Object.fromEntries(Object.entries(editors).map(([pane, editor]) => [pane, editor.text]));
  return { ...texts, operation: byId("operation").value, version: byId("version").value,
    fieldValidation: byId("field-validation").value, user: byId("user").value.trim(), groups: byId("groups").value.trim() };
}

function request(more = {}) {
  const { user, groups, ...rest } = state();
  const names = groups.split(",").map((group) => group.trim()).filter(Boolean);
  return { ...rest, user: { name: user, groups: names }, ...more };
}

function load(given) {
  const wanted = { ...EMPTY, ...given };
  isLoading = true;
  byId("operation").value = wanted.operation;
  if (wanted.version) byId("version").value = wanted.version;
  byId("field-validation").value = wanted.fieldValidation;
  byId("user").value = wanted.user;
  byId("groups").value = wanted.groups;
  for (const pane of Object.keys(PANES)) editors[pane].set(wanted[pane]);
  if (wanted.policies) byId("pane-policies").open = true;
  isLoading = false;
  update();
}

async function update() {
  if (isLoading || !byId("version").value) return;
  byId("pane-oldObject").hidden = byId("operation").value === "create";
  clearTimeout(pause);
  const isLong = editors.crd.text.length > LONG_CRD;
  if (isLong) results.offerVersions(compare);
  else pause = setTimeout(compare, PAUSE);
  const answer = await engine.ask(request());
  if (!answer) return;
  results.last = answer;
  results.show(answer);
  for (const [pane, editor] of Object.entries(editors)) editor.mark((answer.problems ?? []).filter((problem) => problem.pane === pane));
  // For the tests.
  document.dispatchEvent(new CustomEvent("answer", { detail: answer }));
}

async function compare() {
  if (!editors.crd.text.trim()) return results.showVersions();
  comparer ??= new Engine();
  const versions = await comparer.ask(request({ action: "versions" }));
  if (!versions) return;
  results.showVersions(versions);
  document.dispatchEvent(new CustomEvent("versions", { detail: versions }));
}

function announce(text) {
  byId("announcement").textContent = text;
}

/** Copies a text, or shows it where copying is not allowed. `more` is announced in both cases. */
async function copy(text, done, more = "") {
  try {
    await navigator.clipboard.writeText(text);
    announce(`${done} ${more}`.trim());
  } catch {
    announce(more);
    byId("copy-text").value = text;
    byId("copy-dialog").showModal();
    byId("copy-text").select();
  }
}

async function copyFromEngine(action, done) {
  const { text, error } = await engine.ask(request({ action })) ?? {};
  if (text) await copy(text, done);
  else if (error) announce(error);
}

async function share() {
  const fragment = `#s=${await encode(state())}`;
  history.replaceState(null, "", fragment);
  const link = location.href;
  const size = `${number(Math.round(link.length / 102.4) / 10)} KB`;
  const warning = link.length > LONG ? `The link is long (${size}): some programs cut off links of more than 8 KB.` : "";
  await copy(link, `The link was copied (${size}). It contains all texts; nothing was uploaded.`, warning);
}

async function openFiles(files) {
  const texts = await Promise.all([...files].map((file) => file.text()));
  const sorted = await engine.ask({ action: "sort", texts });
  if (!sorted || sorted.error) return announce(sorted?.error ?? "");
  const panes = Object.keys(PANES).filter((pane) => sorted[pane]);
  load({ ...state(), ...Object.fromEntries(panes.map((pane) => [pane, sorted[pane]])) });
  const filled = panes.map((pane) => PANES[pane]).join(", ") || "nothing";
  announce(`Read into: ${filled}.${sorted.leftOut ? ` ${number(sorted.leftOut)} more objects were left out.` : ""}`);
}

function setUpFiles() {
  byId("open").onclick = () => byId("files").click();
  byId("files").onchange = () => openFiles(byId("files").files).then(() => { byId("files").value = ""; });
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  // In the capture phase: an editor would insert the file at the cursor.
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  }, true);
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.stopPropagation();
    openFiles(event.dataTransfer.files);
  }, true);
}

/** Loads the state of a link, which may be older or newer than this page and have a version of Kubernetes that it does not simulate. */
async function loadLink(state) {
  const { release } = await engine.ask({ action: "about", version: state.version ?? "" }) ?? {};
  // Without an answer, a newer link is being loaded.
  if (!release) return;
  load({ ...state, version: release });
  if (state.version && state.version !== release) {
    announce(`The link is for Kubernetes ${state.version}, which is not simulated here. This is the answer of ${release}, the nearest version.`);
  }
}

/** Loads the state of the address, or the first example. */
async function loadAddress(examples) {
  const [, key, value] = /^#(s|example)=(.*)$/.exec(location.hash) ?? [];
  if (key === "s") {
    try {
      return await loadLink(await decode(value));
    } catch {
      announce("The link is damaged: copy it again.");
    }
  }
  const example = examples.find(({ name }) => name === value) ?? examples[0];
  byId("example").value = example.name;
  load(example.state);
}

function setUpExamples(examples) {
  const groups = new Map();
  for (const { name, title, document } of examples) {
    if (!groups.has(document)) groups.set(document, element("optgroup", { label: document }));
    groups.get(document).append(element("option", { value: name }, title));
  }
  byId("example").append(...groups.values());
  byId("example").onchange = () => {
    const example = examples.find(({ name }) => name === byId("example").value);
    if (!example) return;
    history.replaceState(null, "", `#example=${example.name}`);
    load(example.state);
  };
}

async function start() {
  setUpTheme(byId("theme"));
  setUpFiles();
  for (const id of ["operation", "version", "field-validation"]) byId(id).onchange = update;
  for (const id of ["user", "groups"]) byId(id).oninput = update;
  byId("share").onclick = share;
  byId("copy-test").onclick = () => copyFromEngine("testCase", "The test case was copied: save it as a *.testsuite.yaml and the CRD as crd.yaml beside it.");
  byId("copy-command").onclick = () => copyFromEngine("command", "The commands were copied: paste them into a shell.");
  const [about, examples] = await Promise.all([engine.ask({ action: "about" }), fetch("examples.json").then((response) => response.json())]);
  if (about.error) return results.show({ ...about, milliseconds: 0 });
  byId("version").append(...about.versions.map((version, at) => element("option", { value: version }, about.names[at])));
  byId("version").value = about.release;
  setUpExamples(examples);
  addEventListener("hashchange", () => loadAddress(examples));
  await loadAddress(examples);
}

start();
