//! Formats an object as YAML, with the descriptions of its schema as comments.

use crdx_output::printable;
use crdx_server::schema::Schema;
use crdx_text::Syntax;
use crdx_text::TooLong;
use crdx_text::spans::Spans;
use crdx_text::yaml::write::to_string_within;
use crdx_value::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The width of comments.
const WIDTH: usize = 100;

/// Formats an object as YAML. With a schema, the first paragraph of each field's description precedes the field.
///
/// # Errors
/// The YAML would be longer than `limit` bytes.
pub fn yaml(object: &Value, schema: Option<&Schema>, limit: usize) -> Result<String, TooLong> {
    let text = to_string_within(object, limit)?;
    let Some(schema) = schema else { return Ok(text) };
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
                // YAML allows no control characters in a comment, and some of them would end it.
                let _ = writeln!(out, "{:indent$}# {}", "", printable::line(&part));
            }
        }
        let _ = writeln!(out, "{line}");
        if out.len() > limit {
            return Err(TooLong(limit));
        }
    }
    Ok(out)
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
    use crdx_value::object;

    fn yaml(object: &Value, schema: Option<&Schema>) -> String {
        super::yaml(object, schema, usize::MAX).unwrap()
    }

    #[test]
    fn many_descriptions_are_too_long() {
        let text = object([("type", "string".into()), ("description", Value::from("x".repeat(1000)))]);
        let properties = Value::Object((0..100).map(|n| (format!("k{n}"), text.clone())).collect());
        let values = object([("type", "object".into()), ("properties", properties)]);
        let object = Value::Object((0..100).map(|n| (format!("k{n}"), Value::from("v"))).collect());
        let schema = Schema::from_value(&values).unwrap();
        assert_eq!(super::yaml(&object, Some(&schema), 50_000), Err(TooLong(50_000)));
        assert!(super::yaml(&object, Some(&schema), 200_000).is_ok());
    }

    #[test]
    fn a_description_neither_controls_the_terminal_nor_ends_its_comment() {
        let hostile = "a\u{1b}]0;x\u{7}b\u{9b}2J\u{202e}c\u{85}spec: {}\u{2028}d\u{feff}\u{ffff}\r\ne";
        let text = object([("type", "string".into()), ("description", Value::from(hostile))]);
        let schema = object([("type", "object".into()), ("properties", object([("a", text)]))]);
        let written = yaml(&object([("a", Value::from("x"))]), Some(&Schema::from_value(&schema).unwrap()));
        let comment = "# a\\u001b]0;x\\u0007b\\u009b2J\\u202ec spec: {} d\\ufeff\\uffff e";
        assert_eq!(written, format!("{comment}\na: x\n"));
        assert_eq!(read(written.as_bytes()).unwrap(), object([("a", Value::from("x"))]));
    }

    #[test]
    fn descriptions_are_comments_above_their_fields() {
        let schema = read(b"{type: object, properties: {spec: {type: object, description: The spec., properties: {list: {type: array, items: {type: object, properties: {a: {type: string, description: \"A text.\\n\\nMore.\"}}}}}}}}").unwrap();
        let schema = Schema::from_value(&schema).unwrap();
        let object = read(b"{kind: K, spec: {list: [{a: x}]}}").unwrap();
        assert_eq!(yaml(&object, Some(&schema)), "kind: K\n# The spec.\nspec:\n  list:\n  # A text.\n  - a: x\n");
        assert_eq!(yaml(&object, None), "kind: K\nspec:\n  list:\n  - a: x\n");
    }
}
