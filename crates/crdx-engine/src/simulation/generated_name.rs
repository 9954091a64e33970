//! Removes the random suffix of generated names from results.

use crate::kubectl::Verb;
use crate::report::{ObjectReport, Remark};
use crdx_value::Value;

/// Returns the prefix of the name that the server generates for an object without a name.
pub fn prefix(object: &Value) -> Option<String> {
    let text = |key: &str| object.str_at(&["metadata", key]).filter(|text| !text.is_empty());
    if text("name").is_some() { None } else { text("generateName").map(str::to_owned) }
}

/// Completes the item of an object whose name has a generated suffix.
pub fn complete(item: &mut ObjectReport, prefix: &str, verb: Verb) {
    hide(item, prefix);
    if verb != Verb::Create {
        item.remarks.push(Remark::SentAsCreate);
    }
}

/// Replaces a generated name, which differs between runs, by its prefix and a `*`.
fn hide(item: &mut ObjectReport, prefix: &str) {
    let shown = item.identity.name.clone();
    if let Some(answer) = &mut item.answer {
        hide_name(&mut answer.message, prefix);
    }
    for problem in item.errors.iter_mut().chain(&mut item.hidden).chain(&mut item.warnings) {
        hide_name(&mut problem.message, prefix);
    }
    if let Some(metadata) = item.object.as_mut().and_then(|o| o.get_mut("metadata")).and_then(Value::as_object_mut) {
        metadata.remove("name");
    }
    let rows = item.table.as_mut().and_then(|table| table.get_mut("rows"));
    if let Some(Value::Array(rows)) = rows
        && let Some(Value::Array(cells)) = rows.first_mut().and_then(|row| row.get_mut("cells"))
        && let Some(name) = cells.first_mut()
    {
        *name = Value::String(shown);
    }
}

/// Replaces the generated suffix after `prefix` by a `*`.
fn hide_name(text: &mut String, prefix: &str) {
    const RANDOM: usize = 5;
    // The server truncates a long prefix to fit the suffix.
    let prefix: String = prefix.chars().take(58).collect();
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some((before, tail)) = rest.split_once(&format!("\"{prefix}")) {
        let end = tail.char_indices().nth(RANDOM).map_or(tail.len(), |(i, _)| i);
        let (random, after) = tail.split_at_checked(end).unwrap_or((tail, ""));
        shown.push_str(before);
        shown.push('"');
        shown.push_str(&prefix);
        let generated = after.starts_with('"') && random.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9'));
        shown.push_str(if generated { "*" } else { random });
        rest = after;
    }
    shown.push_str(rest);
    *text = shown;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generated_name_is_hidden() {
        let mut text = "Kite.example.com \"red-x7x2b\" is invalid: a: Invalid value: \"red-\"".to_owned();
        hide_name(&mut text, "red-");
        assert_eq!(text, "Kite.example.com \"red-*\" is invalid: a: Invalid value: \"red-\"");
    }
}
