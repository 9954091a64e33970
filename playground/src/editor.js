// An editor of YAML. It lives in a shadow root, where CodeMirror's styles are constructed style sheets, which the content
// security policy of the page allows.
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const theme = EditorView.theme({
  "&": { height: "100%", color: "var(--text)", backgroundColor: "var(--panel)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--muted)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--selection) 35%, transparent)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "var(--selection)" },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--page)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-diagnostic": { fontFamily: "var(--mono)", fontSize: "12px", whiteSpace: "pre-wrap", overflowWrap: "anywhere", maxWidth: "70vw" },
  ".cm-foldPlaceholder": { backgroundColor: "transparent", color: "var(--muted)", border: "1px solid var(--line)" },
});

const highlighting = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--key)" },
  { tag: [tags.string, tags.content, tags.special(tags.string)], color: "var(--string)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--number)" },
  { tag: [tags.comment, tags.meta, tags.punctuation, tags.separator], color: "var(--muted)" },
]);

/** Texts that are longer are shown without colours: parsing them would delay the answer. */
const MAX_COLOURED = 500_000;

export class Editor {
  /** `onChange` is called after every change of the text, also by `set`. `cover` is an element that can cover the top of the editor. */
  constructor(parent, label, onChange, cover) {
    this.label = label;
    this.cover = cover;
    this.onChange = onChange;
    const root = parent.attachShadow({ mode: "open" });
    const holder = document.createElement("div");
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(":host > div { height: 100%; }");
    root.adoptedStyleSheets = [sheet];
    root.append(holder);
    this.view = new EditorView({ root, parent: holder, state: this.#state("") });
  }

  #state(text) {
    return EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), foldGutter(), history(), drawSelection(), indentOnInput(), indentUnit.of("  "), bracketMatching(),
        highlightActiveLine(), highlightSelectionMatches(), lintGutter(),
        text.length > MAX_COLOURED ? [] : [yaml(), syntaxHighlighting(highlighting)],
        keymap.of([...defaultKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...lintKeymap, indentWithTab]),
        theme,
        EditorView.scrollMargins.of((view) => this.#margins(view)),
        EditorView.contentAttributes.of({
          "aria-label": this.label,
          "aria-description": "Press Escape, then Tab, to leave the editor",
          spellcheck: "false", autocapitalize: "off", autocorrect: "off",
        }),
        EditorView.updateListener.of((update) => {
          if (!update.docChanged) return;
          this.cached = undefined;
          this.onChange();
        }),
      ],
    });
  }

  /** The part of the editor that the line of the cursor has to avoid. */
  #margins(view) {
    const [cover, editor] = [this.cover, view.scrollDOM].map((part) => part.getBoundingClientRect());
    const isBeside = cover.right <= editor.left || cover.left >= editor.right;
    return isBeside || cover.bottom <= editor.top ? null : { top: cover.height };
  }

  get text() {
    this.cached ??= this.view.state.doc.toString();
    return this.cached;
  }

  /** Replaces the text and forgets the history of edits. */
  set(text) {
    if (text === this.text) return;
    this.cached = undefined;
    this.view.setState(this.#state(text));
    this.onChange();
  }

  /** The offset of a place of the engine (lines and columns from 1). */
  #offset({ line, column }) {
    const { doc } = this.view.state;
    if (line > doc.lines) return doc.length;
    const at = doc.line(line);
    return Math.min(at.from + column - 1, at.to);
  }

  /** Marks problems in the text. */
  mark(problems) {
    const diagnostics = problems.filter((problem) => problem.from).map((problem) => {
      const from = this.#offset(problem.from);
      const to = Math.max(from, this.#offset(problem.to));
      const message = problem.help ? `${problem.message}\n${problem.help}` : problem.message;
      return { from, to, severity: problem.severity, message };
    });
    if (!diagnostics.length && !this.hasMarks) return;
    this.hasMarks = diagnostics.length > 0;
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
  }

  /** Moves the cursor to a place and focuses the editor. */
  show(place) {
    const at = this.#offset(place);
    this.view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
    this.view.focus();
  }
}
