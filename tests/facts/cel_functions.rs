//! The function overloads are exactly those of the server's CRD environment (`tests/facts/cel-functions.jsonl`).
#![allow(clippy::unwrap_used)]

use crdx_cel::library::overloads;
use crdx_value::release::V1_37;
use serde_json::Value;
use std::collections::BTreeSet;

/// In the facts, type parameters are written `<A>`, and `google.protobuf.Timestamp` and `optional_type` have longer
/// names than in the signatures here.
fn ours(text: &str) -> String {
    text.replace(['<', '>'], "")
        .replace("google.protobuf.Timestamp", "timestamp")
        .replace("google.protobuf.Duration", "duration")
        .replace("optional_type(", "optional(")
}

#[test]
fn every_overload_and_no_other() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/facts/cel-functions.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    let mut expected = BTreeSet::new();
    for line in text.lines() {
        let fact: Value = serde_json::from_str(line).unwrap();
        let field = |name: &str| fact[name].as_str().unwrap_or_default().to_owned();
        // Old names of functions cannot be used any more.
        if field("kind") != "function" || fact["declaration_disabled"] == true {
            continue;
        }
        let args: Vec<_> = fact["args"].as_array().unwrap().iter().map(|a| ours(a.as_str().unwrap())).collect();
        let minor = field("introduced").trim_start_matches("1.").parse::<u16>().unwrap();
        expected.insert((
            field("function"),
            field("overload"),
            fact["member"] == true,
            format!("({}) -> {}", args.join(", "), ours(&field("result"))),
            minor,
        ));
    }
    let found: BTreeSet<_> = overloads()
        .filter(|o| o.is_of(V1_37, V1_37))
        .map(|o| (o.function.to_owned(), o.id.to_owned(), o.member, o.signature.to_owned(), o.introduced.0))
        .collect();
    assert!(expected.len() > 200);
    assert_eq!(found.difference(&expected).collect::<Vec<_>>(), Vec::<&_>::new(), "too much");
    assert_eq!(expected.difference(&found).collect::<Vec<_>>(), Vec::<&_>::new(), "missing");
}
