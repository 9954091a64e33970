//! Completion of field names and enum values from the schema of a CRD.

use super::check::Checker;
use super::cursor::Cursor;
use super::schema;
use super::text::Text;
use crdx_text::spans::Step;
use crdx_value::{Value, json};
use std::collections::BTreeSet;

/// A suggestion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The name or value.
    pub label: String,
    /// The text to insert.
    pub insert: String,
    /// The type of a field.
    pub detail: String,
    /// The description of a field.
    pub documentation: Option<String>,
    /// True for a required field; these come first.
    pub required: bool,
    /// True for a value.
    pub is_value: bool,
}

/// A key inserted at the cursor, so that incomplete text parses as YAML.
const PLACEHOLDER: &str = "crdx-cursor";

/// The suggestions at a byte offset.
pub fn suggestions(checker: &Checker, path: &str, text: &Text, offset: usize) -> Vec<Suggestion> {
    let number = text.position(offset).line;
    let start = text.offset(lsp_types::Position { line: number, character: 0 });
    let before = text.content().get(start..offset).unwrap_or_default();
    let line = Line { checker, path, text, start, whole: text.line(number as usize), before };
    line.values().or_else(|| line.fields()).unwrap_or_default()
}

/// The line of the cursor.
#[derive(Clone, Copy)]
struct Line<'a> {
    checker: &'a Checker,
    path: &'a str,
    text: &'a Text,
    /// Its byte offset.
    start: usize,
    whole: &'a str,
    /// Its part before the cursor.
    before: &'a str,
}

impl Line<'_> {
    /// The values of the field on this line, if the cursor is behind its colon.
    fn values(self) -> Option<Vec<Suggestion>> {
        let (key, _) = self.before.split_once(": ")?;
        if let Some(names) = self.names(key) {
            return Some(names);
        }
        let indent = key.len() - key.trim_start_matches([' ', '-']).len();
        // A value that is not complete might not be readable.
        let cursor = self.cursor(&format!("{key}: null"), indent)?;
        let root = schema::of_object(self.checker.definition(&cursor.document.value)?, &cursor.document.value)?;
        let field = schema::at(root, &cursor.path)?;
        let allowed = field.get("enum").and_then(Value::as_array).map(<[Value]>::to_vec);
        let allowed = allowed.unwrap_or_else(|| match field.str_at(&["type"]) {
            Some("boolean") => vec![Value::Bool(true), Value::Bool(false)],
            _ => field.get("default").cloned().into_iter().collect(),
        });
        let suggestion = |value: &Value| {
            let label = value.as_str().map_or_else(|| json::to_string(value), str::to_owned);
            Suggestion {
                insert: label.clone(),
                label,
                detail: schema::type_name(field),
                documentation: None,
                required: false,
                is_value: true,
            }
        };
        Some(allowed.iter().map(suggestion).collect())
    }

    /// The API versions and kinds of the CRDs that fit the other one of the two.
    fn names(self, key: &str) -> Option<Vec<Suggestion>> {
        let mut names = BTreeSet::new();
        for definition in self.checker.definitions() {
            let group = definition.str_at(&["spec", "group"])?;
            let kind = definition.str_at(&["spec", "names", "kind"])?;
            let versions = definition.at(&["spec", "versions"])?.as_array()?;
            for version in versions.iter().filter(|one| one.get("served").and_then(Value::as_bool) == Some(true)) {
                let api_version = format!("{group}/{}", version.str_at(&["name"])?);
                match key {
                    "kind" if self.other("apiVersion:").is_none_or(|given| given == api_version) => {
                        names.insert(kind.to_owned());
                    }
                    "apiVersion" if self.other("kind:").is_none_or(|given| given == kind) => {
                        names.insert(api_version);
                    }
                    "kind" | "apiVersion" => {}
                    _ => return None,
                }
            }
        }
        let suggestion = |name: String| Suggestion {
            insert: name.clone(),
            label: name,
            detail: String::new(),
            documentation: None,
            required: false,
            is_value: true,
        };
        Some(names.into_iter().map(suggestion).collect())
    }

    /// The value after `key` at the beginning of a line of this document.
    fn other(self, key: &str) -> Option<String> {
        let (before, after) = self.text.content().split_at_checked(self.start)?;
        let lines = before.rsplit("\n---").next().into_iter().chain(after.split("\n---").next()).flat_map(str::lines);
        let value = lines.filter_map(|line| line.strip_prefix(key)).map(str::trim).find(|value| !value.is_empty());
        value.map(str::to_owned)
    }

    /// The fields of the object around the cursor that it does not have yet.
    fn fields(self) -> Option<Vec<Suggestion>> {
        let indent = self.before.len() - self.before.trim_start_matches([' ', '-']).len();
        let head = self.before.get(..indent)?;
        let cursor = self.cursor(&format!("{head}{PLACEHOLDER}: null"), indent)?;
        let (last, above) = cursor.path.split_last()?;
        if *last != Step::Member(PLACEHOLDER.to_owned()) {
            return None;
        }
        let root = schema::of_object(self.checker.definition(&cursor.document.value)?, &cursor.document.value)?;
        let parent = schema::at(root, above)?;
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
                is_value: false,
            })
            .collect();
        suggestions.sort_by(|a, b| b.required.cmp(&a.required).then_with(|| a.label.cmp(&b.label)));
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

fn value_at<'a>(object: &'a Value, path: &[Step]) -> Option<&'a Value> {
    path.iter().try_fold(object, |value, step| match step {
        Step::Member(name) => value.get(name),
        Step::Item(index) => value.as_array()?.get(*index),
    })
}
