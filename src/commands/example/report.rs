//! Formats an object as YAML, with the descriptions of its schema as comments.

use crdx_server::schema::Schema;
use crdx_text::Syntax;
use crdx_text::spans::Spans;
use crdx_text::yaml::write::to_string;
use crdx_value::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The width of comments.
const WIDTH: usize = 100;

/// Formats an object as YAML. With a schema, the first paragraph of each field's description precedes the field.
pub fn yaml(object: &Value, schema: Option<&Schema>) -> String {
    let text = to_string(object);
    let Some(schema) = schema else { return text };
    let spans = Spans::new(text.as_bytes(), Syntax::Yaml);
    let mut descriptions: BTreeMap<usize, String> = BTreeMap::new();
    describe(object, schema, "", &mut |path, description| {
        let found = spans.locate(path);
        if let Some(key) = found.key.filter(|_| found.exact) {
            descriptions.entry(key.start.line).or_insert_with(|| description.to_owned());
        }
    });
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(description) = descriptions.get(&(index + 1)) {
            let indent = line.len() - line.trim_start().len();
            for part in wrapped(description) {
                let _ = writeln!(out, "{:indent$}# {part}", "");
            }
        }
        let _ = writeln!(out, "{line}");
    }
    out
}

/// Calls `visit` with the path and the description of every field that has one.
fn describe(value: &Value, schema: &Schema, path: &str, visit: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                let dot = if path.is_empty() { "" } else { "." };
                let path = format!("{path}{dot}{name}");
                if let Some(property) = schema.property(name) {
                    if !property.description.trim().is_empty() {
                        visit(&path, &property.description);
                    }
                    describe(value, property, &path, visit);
                } else if let Some(values) = schema.additional_properties_schema() {
                    describe(value, values, &path, visit);
                }
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(schema) = schema.items_schema() {
                    describe(item, schema, &format!("{path}[{index}]"), visit);
                }
            }
        }
        _ => {}
    }
}

/// Returns the first paragraph of a description, wrapped into lines.
fn wrapped(description: &str) -> Vec<String> {
    let paragraph = description.trim().split("\n\n").next().unwrap_or_default();
    let mut lines: Vec<String> = Vec::new();
    for word in paragraph.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + word.chars().count() < WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml::read;

    #[test]
    fn descriptions_are_comments_above_their_fields() {
        let schema = read(b"{type: object, properties: {spec: {type: object, description: The spec., properties: {list: {type: array, items: {type: object, properties: {a: {type: string, description: \"A text.\\n\\nMore.\"}}}}}}}}").unwrap();
        let schema = Schema::from_value(&schema).unwrap();
        let object = read(b"{kind: K, spec: {list: [{a: x}]}}").unwrap();
        assert_eq!(yaml(&object, Some(&schema)), "kind: K\n# The spec.\nspec:\n  list:\n  # A text.\n  - a: x\n");
        assert_eq!(yaml(&object, None), "kind: K\nspec:\n  list:\n  - a: x\n");
    }
}
