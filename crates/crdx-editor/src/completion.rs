//! Completion of field names and values from the schema of a kind, of kinds and API versions, and of whole objects.

use super::check::Checker;
use super::cursor::Cursor;
use super::served_kind::ServedKind;
use super::suggestion::{Insertion, Suggestion};
use super::text::Text;
use super::{kinds, schema, skeleton};
use crdx_text::spans::PathStep;
use crdx_value::sort::sort_by;
use crdx_value::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// A key inserted at the cursor, so that incomplete text parses as YAML.
const PLACEHOLDER: &str = "crdx-cursor";

/// The suggestions at a byte offset.
pub fn suggestions(checker: &Checker, path: &str, text: &Text, offset: usize) -> Vec<Suggestion> {
    let number = text.position(offset).line;
    let start = text.offset(super::messages::Position { line: number, character: 0 });
    let before = text.content().get(start..offset).unwrap_or_default();
    let line = CursorLine { checker, path, text, start, whole: text.line(number as usize), before };
    if line.is_in_empty_document() {
        return line.objects();
    }
    line.values().or_else(|| line.fields()).unwrap_or_default()
}

/// The line of the cursor.
#[derive(Clone, Copy)]
struct CursorLine<'a> {
    checker: &'a Checker,
    path: &'a str,
    text: &'a Text,
    /// Its byte offset.
    start: usize,
    whole: &'a str,
    /// Its part before the cursor.
    before: &'a str,
}

impl<'a> CursorLine<'a> {
    /// The values of the field on this line, if the cursor is behind its colon.
    fn values(self) -> Option<Vec<Suggestion>> {
        let (key, _) = self.before.split_once(": ")?;
        if let Some(names) = self.names(key) {
            return Some(names);
        }
        let indent = key.len() - key.trim_start_matches([' ', '-']).len();
        // A value that is not complete might not be readable.
        let cursor = self.cursor(&format!("{key}: null"), indent)?;
        let root = schema::root(self.checker, &cursor.document.value, &cursor.path)?;
        let field = schema::at(&root, &cursor.path)?;
        let allowed = field.get("enum").and_then(Value::as_array).map(<[Value]>::to_vec);
        let allowed = allowed.unwrap_or_else(|| match field.str_at(&["type"]) {
            Some("boolean") => vec![Value::Bool(true), Value::Bool(false)],
            _ => field.get("default").cloned().into_iter().collect(),
        });
        let suggestion = |value: &Value| {
            let label = value.as_str().map_or_else(|| json::to_string(value), str::to_owned);
            Suggestion::value(label, schema::type_name(field))
        };
        Some(allowed.iter().map(suggestion).collect())
    }

    /// The API versions and kinds that fit the other one of the two.
    fn names(self, key: &str) -> Option<Vec<Suggestion>> {
        let other = match key {
            "kind" => self.other("apiVersion:"),
            "apiVersion" => self.other("kind:"),
            _ => return None,
        };
        let fits = |own: &str| other.as_deref().is_none_or(|given| given == own);
        let name = |served: ServedKind| match key {
            "kind" => fits(&served.api_version).then_some(served.kind),
            _ => fits(&served.kind).then_some(served.api_version),
        };
        let custom: BTreeSet<String> = kinds::custom(self.checker).into_iter().filter_map(name).collect();
        let built_in: BTreeSet<String> = kinds::built_in(self.checker).filter_map(name).collect();
        let more = built_in.difference(&custom).map(|name| Suggestion::value(name.clone(), "built-in".to_owned()));
        Some(custom.iter().map(|name| Suggestion::value(name.clone(), String::new())).chain(more).collect())
    }

    /// Returns true if the document has nothing but comments and the beginning of a word before the cursor.
    fn is_in_empty_document(self) -> bool {
        let is_word = self.whole.trim_end().bytes().all(|b| b.is_ascii_alphanumeric());
        let is_empty = |line: &str| line.trim().is_empty() || line.starts_with(['#', '%']) || line.starts_with("---");
        let own = self.start..self.start + self.whole.len();
        is_word
            && Path::new(self.path).extension().is_none_or(|ending| ending != "json")
            && self.lines().filter(|(at, _)| !own.contains(at)).all(|(_, line)| is_empty(line))
    }

    /// Whole objects, and the first fields of one.
    fn objects(self) -> Vec<Suggestion> {
        let field = |name: &str| Suggestion {
            label: name.to_owned(),
            insert: format!("{name}: "),
            detail: "string".to_owned(),
            documentation: None,
            required: true,
            what: Insertion::Field,
        };
        let fields = ["apiVersion", "kind"].map(field);
        skeleton::skeletons(self.checker).into_iter().chain(fields).collect()
    }

    /// The lines of this document with their offsets.
    fn lines(self) -> impl Iterator<Item = (usize, &'a str)> {
        let content = self.text.content();
        let (before, after) = content.split_at_checked(self.start).unwrap_or((content, ""));
        let start = before.rfind("\n---").map_or(0, |at| at + 1);
        let end = after.find("\n---").map_or(content.len(), |at| self.start + at);
        let mut offset = start;
        content.get(start..end).unwrap_or_default().split_inclusive('\n').map(move |line| {
            let own = offset;
            offset += line.len();
            (own, line)
        })
    }

    /// The value after `key` at the beginning of a line of this document.
    fn other(self, key: &str) -> Option<String> {
        let values = self.lines().filter_map(|(_, line)| line.strip_prefix(key)).map(str::trim);
        values.filter(|value| !value.is_empty()).map(str::to_owned).next()
    }

    /// The fields of the object around the cursor that it does not have yet.
    fn fields(self) -> Option<Vec<Suggestion>> {
        let indent = self.before.len() - self.before.trim_start_matches([' ', '-']).len();
        let head = self.before.get(..indent)?;
        let cursor = self.cursor(&format!("{head}{PLACEHOLDER}: null"), indent)?;
        let (last, above) = cursor.path.split_last()?;
        if *last != PathStep::Member(PLACEHOLDER.to_owned()) {
            return None;
        }
        let root = schema::root(self.checker, &cursor.document.value, above)?;
        let parent = schema::at(&root, above)?;
        let existing = value_at(&cursor.document.value, above);
        let properties = parent.get("properties")?.as_object()?;
        let missing = properties.iter().filter(|(name, _)| existing.is_none_or(|object| object.get(name).is_none()));
        let mut suggestions: Vec<Suggestion> = missing
            .map(|(name, field)| Suggestion {
                label: name.clone(),
                insert: format!("{name}: "),
                detail: schema::type_name(field),
                documentation: field.str_at(&["description"]).map(str::to_owned),
                required: schema::is_required(parent, name),
                what: Insertion::Field,
            })
            .collect();
        sort_by(&mut suggestions, |a, b| b.required.cmp(&a.required).then_with(|| a.label.cmp(&b.label)));
        Some(suggestions)
    }

    /// The place of the character `column` (in bytes) in the text with `new` instead of this line.
    fn cursor(self, new: &str, column: usize) -> Option<Cursor> {
        let content = self.text.content();
        let rest = content.get(self.start + self.whole.len()..).unwrap_or_default();
        let text = Text::new(format!("{}{new}{rest}", content.get(..self.start).unwrap_or_default()));
        Cursor::at(self.checker, self.path, &text, self.start + column)
    }
}

fn value_at<'a>(object: &'a Value, path: &[PathStep]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, step| match step {
        PathStep::Member(name) => value.get(name),
        PathStep::Item(index) => value.as_array()?.get(*index),
    })
}
