//! The outline of a file: its objects, or the cases of a suite.

use super::check::Checker;
use super::text::Text;
use crdx_engine::simulation::identity::{Namespace, identity};
use crdx_engine::suites::{Action, Suite};
use crdx_runner::suites::find;
use crdx_text::Syntax;
use crdx_text::spans::Spans;
use std::ops::Range;
use std::path::Path;

/// An entry of the outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    pub name: String,
    /// The API version of an object, or the name of a case's list.
    pub detail: String,
    /// True for a list of cases.
    pub is_group: bool,
    /// Its text, in bytes.
    pub range: Range<usize>,
    /// The entries below it.
    pub children: Vec<Symbol>,
}

/// The outline of a file.
pub fn symbols(checker: &Checker, path: &str, text: &Text) -> Vec<Symbol> {
    let content = text.content();
    if find::holds_suite(Path::new(path), content.as_bytes()) {
        // A suite that cannot be read has no outline.
        return Suite::read(path, content.as_bytes()).map_or_else(|_| Vec::new(), |suite| cases(&suite, content));
    }
    let documents = checker.documents(path, content);
    let mut starts: Vec<usize> = documents.iter().map(|document| start(document, text)).collect();
    starts.push(content.len());
    let ends = starts.iter().skip(1);
    let symbol = |((document, start), end): ((&crdx_engine::documents::Document, &usize), &usize)| {
        let identity = identity(&document.value, Namespace::Own);
        let own = content.get(*start..*end).unwrap_or_default();
        let own = own.trim_end().strip_suffix("---").unwrap_or(own).trim_end();
        Symbol {
            name: format!("{} {}", identity.kind, identity.full_name()).trim().to_owned(),
            detail: identity.api_version,
            is_group: false,
            range: *start..start + own.len(),
            children: Vec::new(),
        }
    };
    documents.iter().zip(&starts).zip(ends).map(symbol).collect()
}

fn start(document: &crdx_engine::documents::Document, text: &Text) -> usize {
    let position = document.position();
    text.offset_of(position.line, position.column)
}

fn cases(suite: &Suite, content: &str) -> Vec<Symbol> {
    let spans = Spans::new(content.as_bytes(), Syntax::Yaml);
    let mut groups: Vec<(Action, Symbol)> = Vec::new();
    for case in &suite.cases {
        let symbol = Symbol {
            name: if case.name.is_empty() { case.path.clone() } else { case.name.clone() },
            detail: case.action.as_str().to_owned(),
            is_group: false,
            range: spans.locate(&case.path).value.range,
            children: Vec::new(),
        };
        if let Some((_, group)) = groups.iter_mut().find(|(action, _)| *action == case.action) {
            group.range.end = group.range.end.max(symbol.range.end);
            group.children.push(symbol);
        } else {
            let found = spans.locate(&format!("tests.{}", case.action.as_str()));
            let start = found.key.map_or(symbol.range.start, |key| key.range.start).min(symbol.range.start);
            let range = start..symbol.range.end;
            let (name, detail) = (case.action.as_str().to_owned(), String::new());
            groups.push((case.action, Symbol { name, detail, is_group: true, range, children: vec![symbol] }));
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}
