// Shows an answer of the engine.
import { element } from "./dom.js";
import { number } from "./numbers.js";

/** The names of the panes in sentences, and in front of a place. */
const PANES = { crd: "CustomResourceDefinition", object: "object", oldObject: "stored object", policies: "admission policies" };
const SHORT = { ...PANES, crd: "CRD", policies: "policies" };
const VERDICTS = { accepted: "Accepted", rejected: "Rejected", cannotTell: "Cannot tell", notSent: "Not sent" };
/** More rules are shown on demand. */
const SHOWN_RULES = 20;

/** `goTo(pane, place)` moves to a place in a text; `convert(crd)` replaces the CRD. */
export class Results {
  constructor(verdict, details, { goTo, convert }) {
    Object.assign(this, { verdict, details, goTo, convert, allRules: false });
    this.versionsPart = element("div");
  }

  show(answer) {
    const text = answer.error ?? headline(answer);
    const time = `${answer.milliseconds < 10 ? answer.milliseconds.toFixed(1) : number(Math.round(answer.milliseconds))} ms`;
    this.verdict.dataset.verdict = answer.verdict ?? "cannotTell";
    // The time is not read out.
    this.verdict.replaceChildren(text, element("span", { className: "time", "aria-hidden": "true" }, time),
      element("span", { className: "first" }, firstProblem(answer)));
    this.details.replaceChildren(
      ...[this.#problems(answer), this.#warnings(answer), this.#converted(answer), this.#stored(answer), this.#row(answer),
        this.#rules(answer)].filter(Boolean), this.versionsPart);
  }

  #problems({ problems = [], message, verdict, code }) {
    const items = problems.map((problem) => element("li", { className: problem.severity },
      this.#place(problem.pane, problem), element("span", { className: "message" }, problem.message),
      problem.help && element("span", { className: "help" }, problem.help)));
    const repeats = problems.some((problem) => problem.severity === "error");
    if (code >= 300 && !repeats) items.unshift(element("li", { className: "error" }, element("span", { className: "message" }, message)));
    if (!items.length) return null;
    return part(verdict === "accepted" ? "Remarks" : "Problems", element("ul", { id: "problems" }, ...items));
  }

  #place(pane, problem) {
    const name = SHORT[pane] ?? pane;
    const label = place(name, problem);
    if (!problem.from) return element("span", { className: "place" }, label);
    return element("button", { type: "button", className: "place", title: "Go to this place", onclick: () => this.goTo(pane, problem.from) }, label);
  }

  #warnings({ otherWarnings = [], notes = [], webhooks = [] }) {
    const texts = [...otherWarnings.map((text) => `Warning: ${text}`), ...notes,
      ...webhooks.map((name) => `The webhook ${name} is not called here; on a cluster it may change or refuse the object.`)];
    if (!texts.length) return null;
    return part("Warnings and notes", element("ul", { id: "warnings" },
      ...texts.map((text) => element("li", { className: "warning" }, element("span", { className: "message" }, text)))));
  }

  #converted({ converted }) {
    if (!converted) return null;
    const button = element("button", { type: "button", id: "convert", className: "primary", onclick: () => this.convert(converted.crd) }, "Replace it with the converted CRD");
    return part("This CRD uses v1beta1",
      element("p", {}, "Kubernetes has not served this version since 1.22. The conversion to v1 changes:"),
      element("ul", {}, ...(converted.changes.length ? converted.changes : ["nothing else"]).map((change) => element("li", {}, change))), button);
  }

  #stored({ stored }) {
    if (!stored) return null;
    const marks = [];
    for (const { kind, from, to } of stored.marks) {
      for (let line = from; line <= to; line++) marks[line] = { kind, isFirst: line === from };
    }
    const lines = stored.shown.replace(/\n$/, "").split("\n").map((text, index) => {
      const mark = marks[index + 1];
      const line = element("span", { className: `line ${mark?.kind ?? ""}` }, element("span", { className: "text" }, text));
      if (mark?.isFirst) line.dataset.mark = mark.kind;
      return line;
    });
    const copy = element("button", { type: "button", className: "link", onclick: () => navigator.clipboard.writeText(stored.yaml) }, "copy");
    const result = part("Stored object", element("pre", { id: "stored", tabIndex: 0 }, ...lines));
    result.firstChild.append(" ", copy);
    return result;
  }

  #row({ row }) {
    if (!row) return null;
    const header = row.map((cell) => element("th", { scope: "col" }, cell.column));
    const cells = row.map((cell) => element("td", {}, cell.text));
    const table = element("table", { id: "row", className: "row" }, element("thead", {}, element("tr", {}, ...header)), element("tbody", {}, element("tr", {}, ...cells)));
    const wide = row.filter((cell) => cell.wide).map((cell) => cell.column);
    return part("kubectl get", element("div", { className: "scroll" }, table),
      wide.length ? element("p", { className: "hint" }, `${wide.join(", ")}: only with -o wide`) : null);
  }

  #rules({ rules = [], ruleCost }) {
    if (!rules.length) return null;
    const sorted = [...rules].sort((a, b) => b.total - a.total || 0);
    const shown = this.allRules ? sorted : sorted.slice(0, SHOWN_RULES);
    const rows = shown.map((rule) => element("tr", { className: rule.isTooHigh ? "too-high" : "" },
      element("td", { className: "number" }, rule.error ? "?" : percent(rule.total / rule.limit)),
      element("td", {}, this.#rulePlace(rule), element("code", {}, rule.expression),
        rule.error && element("div", {}, rule.error),
        rule.isTooHigh && element("div", { className: "fix" }, fix(rule)))));
    const more = sorted.length > shown.length && element("button", { type: "button", className: "link", onclick: () => { this.allRules = true; this.show(this.last); } }, `show all ${number(sorted.length)}`);
    const used = ruleCost ? element("p", { className: "hint" }, `This object: runtime cost ${number(ruleCost)}.`) : null;
    return part("Estimated costs of the rules, as a percentage of the limit", element("div", { className: "scroll" },
      element("table", { id: "rules" }, element("tbody", {}, ...rows))), more || null, used);
  }

  #rulePlace(rule) {
    if (!rule.from) return null;
    return element("button", { type: "button", className: "place", title: "Go to this rule", onclick: () => this.goTo("crd", rule.from) }, rule.path);
  }

  /** A button that compares the releases. */
  offerVersions(compare) {
    const button = element("button", { type: "button", id: "compare", onclick: () => { button.disabled = true; compare(); } }, "Compare all versions");
    this.versionsPart.replaceChildren(part("Versions", button));
  }

  /** The results of all releases; undefined while they are not known. */
  showVersions(versions) {
    if (!versions?.groups) return this.versionsPart.replaceChildren();
    if (!versions.differs) {
      const [group] = versions.groups;
      // Without an answer of a server, there is nothing to compare.
      if (group.verdict !== "accepted" && group.verdict !== "rejected") return this.versionsPart.replaceChildren();
      return this.versionsPart.replaceChildren(part("Versions", element("p", { id: "versions", "data-differs": "false" }, `The same result in ${group.name}.`)));
    }
    const rows = versions.groups.map((group) => {
      const texts = [...group.messages, ...group.warnings, ...group.differences];
      return element("tr", { className: group.isCurrent ? "current" : "" }, element("th", { scope: "row" }, group.name),
        element("td", {}, VERDICTS[group.verdict]), element("td", { className: "message" }, texts.join("\n")));
    });
    this.versionsPart.replaceChildren(part("Differs between versions", element("div", { className: "scroll" },
      element("table", { id: "versions", "data-differs": "true" }, element("tbody", {}, ...rows)))));
  }
}

function headline({ verdict, message, version, code, refused }) {
  if (verdict === "accepted") return message || `Kubernetes ${version} accepts the object`;
  if (verdict === "rejected") return `Kubernetes ${version} rejects the ${PANES[refused]} (${code})`;
  return message;
}

/** The most important problem, which narrow screens show below the verdict while the list is out of sight. */
function firstProblem({ problems = [], verdict, message }) {
  const problem = problems.find(({ severity }) => severity === "error") ?? problems[0];
  if (!problem) return verdict === "rejected" ? message : "";
  return `${place(SHORT[problem.pane], problem)} ${problem.message}${problem.help ? ` (${problem.help})` : ""}`;
}

function place(name, { from }) {
  return from ? `${name} ${from.line}:${from.column}` : name;
}

function part(title, ...children) {
  return element("section", {}, element("h3", {}, title), ...children);
}

function percent(part) {
  if (part >= 100) return `${number(Math.round(part))}×`;
  return part < 0.01 ? "<1%" : `${number(Math.round(part * 100))}%`;
}

function fix({ sufficientLimits }) {
  if (!sufficientLimits.length) return "No limit makes this rule cheap enough: simplify it.";
  return `It would be cheap enough with ${sufficientLimits.map(({ path, keyword, limit }) => `${keyword}: ${limit} on ${path}`).join(" and ")}.`;
}
