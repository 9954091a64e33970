//! Formats results.

use super::Item;
use crate::{Value, json};
use std::fmt::Write as _;

/// Formats the results of one expression: separated by spaces, objects and arrays as JSON.
pub fn print(items: &[Item<'_>]) -> String {
    let mut out = String::new();
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push(' ');
        }
        match item {
            Item::Value(value @ (Value::Object(_) | Value::Array(_))) => json::write_compact(&mut out, value),
            Item::Value(Value::Null) => out.push_str("null"),
            Item::Missing => out.push_str("<no value>"),
            item => write_go(&mut out, *item),
        }
    }
    out
}

/// `fmt.Sprint` of a result, which custom columns print: `map[a:1 b:x]`, `[1 2]`, `<nil>`.
pub fn go_value(item: Item<'_>) -> String {
    let mut out = String::new();
    write_go(&mut out, item);
    out
}

fn write_go(out: &mut String, item: Item<'_>) {
    let value = match item {
        Item::Value(value) => value,
        Item::Int(i) => {
            let _ = write!(out, "{i}");
            return;
        }
        Item::Byte(b) => {
            let _ = write!(out, "{b}");
            return;
        }
        Item::Missing => return out.push_str("<invalid reflect.Value>"),
    };
    out.push_str(&crate::print::format_v(value));
}

/// The Go type of a result.
pub fn go_type(item: Item<'_>) -> &'static str {
    match item {
        Item::Int(_) => "int",
        Item::Byte(_) => "uint8",
        Item::Missing | Item::Value(Value::Null) => "<nil>",
        Item::Value(Value::Bool(_)) => "bool",
        Item::Value(Value::Int(_)) => "int64",
        Item::Value(Value::Float(_)) => "float64",
        Item::Value(Value::String(_)) => "string",
        Item::Value(Value::Array(_)) => "[]interface {}",
        Item::Value(Value::Object(_)) => "map[string]interface {}",
    }
}
