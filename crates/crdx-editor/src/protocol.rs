//! Findings, suggestions and symbols in the protocol's JSON.

use super::defaults::Hint;
use super::definition::FieldDefinition;
use super::finding::{Finding, Severity};
use super::suggestion::{Insertion, Suggestion};
use super::symbols::Symbol;
use super::text::Text;
use super::uri;
use serde_json::{Value, json};

/// The capabilities that the language server announces.
pub fn capabilities() -> Value {
    json!({
        "capabilities": {
            "textDocumentSync": {"openClose": true, "change": 2, "save": true},
            "hoverProvider": true,
            "completionProvider": {"triggerCharacters": [" "]},
            "codeActionProvider": {"codeActionKinds": ["quickfix"]},
            "definitionProvider": true,
            "documentSymbolProvider": true,
            "inlayHintProvider": true,
        },
        "serverInfo": {"name": "kubectl-crdx", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// `Diagnostic`
pub fn diagnostic(finding: &Finding, text: &Text) -> Value {
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Unknown => 3,
        Severity::Hint => 4,
    };
    json!({
        "range": text.range(finding.range.clone()),
        "severity": severity,
        "code": finding.kind,
        "source": "kubectl-crdx",
        "message": finding.message,
    })
}

/// `CodeAction` for a finding with a fix.
pub fn code_action(finding: &Finding, uri: &str, text: &Text) -> Option<Value> {
    let fix = finding.fix.as_ref()?;
    let edit =
        |(range, new): &(std::ops::Range<usize>, String)| json!({"range": text.range(range.clone()), "newText": new});
    let edits: Vec<Value> = fix.edits.iter().map(edit).collect();
    Some(json!({
        "title": fix.title,
        "kind": "quickfix",
        "isPreferred": fix.is_preferred,
        "diagnostics": [diagnostic(finding, text)],
        "edit": {"changes": {uri: edits}},
    }))
}

/// `CompletionItem`; `index` is its position in the list.
pub fn completion_item(index: usize, suggestion: &Suggestion) -> Value {
    const FIELD: u8 = 5;
    const SNIPPET: u8 = 15;
    const ENUM_MEMBER: u8 = 20;
    let required = if suggestion.required { " required" } else { "" };
    json!({
        "label": suggestion.label,
        "kind": match suggestion.what {
            Insertion::Field => FIELD,
            Insertion::Value => ENUM_MEMBER,
            Insertion::Object => SNIPPET,
        },
        "detail": format!("{}{required}", suggestion.detail),
        "documentation": suggestion.documentation,
        "insertText": suggestion.insert,
        "sortText": format!("{index:04}"),
    })
}

/// `InlayHint`
pub fn inlay_hint(hint: &Hint, text: &Text) -> Value {
    json!({
        "position": text.position(hint.offset),
        "label": hint.label,
        "tooltip": {"kind": "markdown", "value": format!("The server sets these defaults:\n```yaml\n{}```", hint.tooltip)},
        "paddingLeft": true,
    })
}

/// `Location`
pub fn location(definition: &FieldDefinition) -> Value {
    json!({"uri": uri::of_path(&definition.path), "range": definition.text.range(definition.range.clone())})
}

const NAMESPACE: u8 = 3;
const OBJECT: u8 = 19;

/// `DocumentSymbol`
pub fn symbol(symbol: &Symbol, text: &Text) -> Value {
    let range = text.range(symbol.range.clone());
    let first_line = text.content().get(symbol.range.clone()).and_then(|part| part.lines().next()).unwrap_or_default();
    let selection = text.range(symbol.range.start..symbol.range.start + first_line.len());
    let children: Vec<Value> = symbol.children.iter().map(|child| self::symbol(child, text)).collect();
    json!({
        "name": symbol.name,
        "detail": symbol.detail,
        "kind": if symbol.is_group { NAMESPACE } else { OBJECT },
        "range": range,
        "selectionRange": selection,
        "children": children,
    })
}

/// `SymbolInformation`, for clients without a tree of symbols.
pub fn symbol_information(symbol: &Symbol, uri: &str, text: &Text) -> Vec<Value> {
    let own = json!({
        "name": symbol.name,
        "kind": if symbol.is_group { NAMESPACE } else { OBJECT },
        "location": {"uri": uri, "range": text.range(symbol.range.clone())},
    });
    let below = symbol.children.iter().flat_map(|child| symbol_information(child, uri, text));
    std::iter::once(own).chain(below).collect()
}
