//! Go structs without JSON names in messages: those of the internal types of API servers.

use crate::field::BadValue;
use crate::release::{Release, V1_34};
use crate::value::{Value, json, print};

/// A struct of the internal type `type_`: JSON with the names of the Go fields. Before 1.34, it is formatted in Go syntax.
pub fn go_struct(type_: &str, fields: &[(&str, BadValue)], release: Release) -> BadValue {
    let is_json = release.since(V1_34);
    let text = |bad: &BadValue| match bad {
        BadValue::Raw(text) => text.clone(),
        BadValue::Omitted => if is_json { "null" } else { "nil" }.to_owned(),
        BadValue::Value(value) if is_json => json::to_string(value),
        BadValue::Value(value) => print::go_syntax(value),
    };
    let members = fields.iter().map(|(name, bad)| {
        if is_json {
            format!("{}:{}", json::to_string(&Value::from(*name)), text(bad))
        } else {
            format!("{name}:{}", text(bad))
        }
    });
    let members: Vec<String> = members.collect();
    BadValue::Raw(if is_json {
        format!("{{{}}}", members.join(","))
    } else {
        format!("{type_}{{{}}}", members.join(", "))
    })
}
