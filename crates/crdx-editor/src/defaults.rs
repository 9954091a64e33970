//! Inlay hints: the defaults that the server sets, behind the line of the object that gets them.

use super::check::Checker;
use super::text::Text;
use crdx_engine::documents::Document;
use crdx_engine::report::{ObjectReport, SourceLocation, Verdict};
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_engine::simulation::object::Object;
use crdx_text::yaml::write::to_string;
use crdx_value::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;

/// The number of characters of a value, and of fields, that a hint shows; its tooltip shows everything.
const MAX_VALUE: usize = 30;
const MAX_FIELDS: usize = 4;

/// The fields of an object that get a default.
#[derive(Clone, Debug)]
pub struct Defaulted {
    location: SourceLocation,
    fields: Vec<(String, Value)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The byte offset of its place: the end of a line.
    pub offset: usize,
    /// The fields, such as `replicas: 2, paused: false`.
    pub label: String,
    /// The fields as YAML.
    pub tooltip: String,
}

/// The defaulted fields of accepted objects.
pub fn defaulted(items: &[ObjectReport]) -> Vec<Defaulted> {
    let accepted = items.iter().filter(|item| item.verdict == Verdict::Accepted && !item.defaulted.is_empty());
    let defaulted =
        |item: &ObjectReport| Defaulted { location: item.location.without_excerpt(), fields: nested(&item.defaulted) };
    accepted.map(defaulted).collect()
}

/// The fields with the defaults inside of their own defaults: `tail: {knots: 2}` for `tail: {}` and `tail.knots: 2`.
fn nested(fields: &[(String, Value)]) -> Vec<(String, Value)> {
    let mut all: Vec<(String, Value)> = Vec::new();
    for (path, value) in fields {
        let below = |parent: &str| path.strip_prefix(parent).filter(|rest| rest.starts_with(['.', '[']));
        match all.iter_mut().find_map(|(parent, outer)| Some((outer, below(parent)?))) {
            // The items of a default list are not shown with their own defaults.
            Some((_, rest)) if rest.contains('[') => {}
            Some((outer, rest)) => outer.insert_at(&rest.split('.').skip(1).collect::<Vec<_>>(), value.clone()),
            None => all.push((path.clone(), value.clone())),
        }
    }
    all
}

/// The hints in a range of a file.
pub fn hints(checker: &Checker, path: &str, text: &Text, all: &[Defaulted], range: &Range<usize>) -> Vec<Hint> {
    if all.is_empty() {
        return Vec::new();
    }
    let mut hints = Vec::new();
    for document in checker.documents(path, text.content()) {
        let object = Object { document, warnings: Vec::new() };
        let start = object.finder().start();
        let is_it = |one: &&Defaulted| (one.location.line, one.location.column) == (start.line, start.column);
        if let Some(defaulted) = all.iter().find(is_it) {
            hints.extend(of_document(&object.document, text, &defaulted.fields));
        }
    }
    hints.retain(|hint| range.contains(&hint.offset) || hint.offset == range.end);
    hints
}

fn of_document(document: &Document, text: &Text, fields: &[(String, Value)]) -> Vec<Hint> {
    let positions = document.field_positions();
    let mut lines: BTreeMap<usize, Vec<(&str, &Value)>> = BTreeMap::new();
    for (path, value) in fields {
        let (parent, name) = split(path);
        let found = positions.locate(parent);
        if !parent.is_empty() && !found.exact {
            continue;
        }
        let at = found.key.map_or(found.value.start, |key| key.start);
        let start = text.offset_of(at.line, at.column);
        let rest = text.content().get(start..).unwrap_or_default();
        let end = start + rest.find(['\n', '\r']).unwrap_or(rest.len());
        lines.entry(end).or_default().push((name, value));
    }
    lines.into_iter().map(|(offset, fields)| hint(offset, &fields)).collect()
}

fn hint(offset: usize, fields: &[(&str, &Value)]) -> Hint {
    let shown = fields.iter().take(MAX_FIELDS).map(|(name, value)| {
        let value = json::to_string(value);
        let value = if value.chars().count() > MAX_VALUE { "…" } else { &value };
        format!("{name}: {value}")
    });
    let mut shown: Vec<String> = shown.collect();
    if fields.len() > MAX_FIELDS {
        shown.push("…".to_owned());
    }
    let all: Value = crdx_value::object(fields.iter().map(|(name, value)| (*name, (*value).clone())));
    Hint { offset, label: shown.join(", "), tooltip: to_string(&all) }
}

/// The path of the object with a field, and the name of the field: `spec` and `size` of `spec.size`.
fn split(path: &str) -> (&str, &str) {
    let bracketed = path.strip_suffix(']').and_then(|path| path.rsplit_once('['));
    bracketed.or_else(|| path.rsplit_once('.')).unwrap_or(("", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_a_parent() {
        for (path, parent, name) in
            [("spec.size", "spec", "size"), ("spec", "", "spec"), ("a.b[3].c", "a.b[3]", "c"), ("a[b.c]", "a", "b.c")]
        {
            assert_eq!(split(path), (parent, name));
        }
    }

    #[test]
    fn long_hints_are_shortened() {
        let long = Value::from("x".repeat(40));
        let one = Value::Int(1);
        let fields = [("a", &one), ("b", &long), ("c", &one), ("d", &one), ("e", &one)];
        let hint = hint(7, &fields);
        assert_eq!(hint.label, "a: 1, b: …, c: 1, d: 1, …");
        assert_eq!(hint.tooltip.lines().count(), 5);
    }
}
