//! Writes values as YAML in the text of a suite.

use crdx_text::yaml::write::to_string;
use crdx_value::{Value, json};
use std::fmt::Write as _;

/// Returns the YAML of an object as the content of a block scalar.
pub fn block(object: &Value, indent: usize) -> String {
    to_string(object).lines().fold(String::new(), |mut text, line| {
        let _ = if line.is_empty() { writeln!(text) } else { writeln!(text, "{:indent$}{line}", "") };
        text
    })
}

/// Returns a text as a YAML scalar of one line: plain, in single quotes, or in double quotes.
pub fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    let starts_plain = text.starts_with(|c: char| c.is_ascii_alphabetic());
    if starts_plain
        && text.chars().all(is_plain)
        && crdx_text::yaml::read(text.as_bytes()).is_ok_and(|v| v.as_str().is_some())
    {
        text.to_owned()
    } else if text.chars().all(|c| !c.is_control() && c.is_ascii()) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        json::to_string(&text.into())
    }
}
