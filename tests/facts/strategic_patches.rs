//! Compares the patches of `kubectl apply`, and what the server makes of them, with those of Go
//! (`tests/apiserver/facts/strategic_patches.go`).

use crate::facts::unpacked;
use crdx_text::json;
use crdx_types::strategic;
use crdx_types::types::Types;
use crdx_value::json::to_string;
use crdx_value::{Map, Value};
use std::fs;

/// What Go and this program return for a line, if it differs.
fn difference(line: &str) -> Option<String> {
    let fact = json::read(line.as_bytes()).unwrap();
    let types = Types::for_release(37);
    let id = types.id(fact.str_at(&["type"]).unwrap()).unwrap();
    let map = |key: &str| fact.get(key).and_then(Value::as_object);
    let current = map("current").unwrap();
    let shown = |result: Result<Map, strategic::PatchError>| match result {
        Ok(map) => to_string(&Value::Object(map)),
        Err(error) => error.to_string(),
    };
    let expected = |value: &str, error: &str| match fact.get(value) {
        Some(value) => to_string(value),
        None => fact.str_at(&[error]).unwrap().to_owned(),
    };
    let differs = |name: &str, found: String, expected: String| {
        (found != expected).then(|| format!("{name}\n  found    {found}\n  expected {expected}\n  {line}"))
    };
    if let (Some(original), Some(modified)) = (map("original"), map("modified")) {
        let found = shown(strategic::three_way(types, id, original, modified, current));
        let difference = differs("patch", found, expected("patch", "patchError"));
        if difference.is_some() {
            return difference;
        }
    }
    let patch = map("patch")?;
    let found = shown(strategic::merge(types, id, current.clone(), patch.clone()));
    differs("result", found, expected("result", "error"))
}

fn compare(lines: &str) -> (usize, Vec<String>) {
    (lines.lines().count(), lines.lines().filter_map(difference).collect())
}

#[test]
fn patches_and_their_results_are_those_of_go() {
    let (count, different) = compare(&unpacked("strategic-patches.jsonl.gz"));
    assert!(count > 1000, "{count}");
    assert!(different.is_empty(), "{} of {count} differ: {}", different.len(), different.join("\n"));
}

#[test]
#[ignore = "STRATEGIC_PATCHES names a file that tests/apiserver/facts/strategic_patches.go has written"]
fn patches_of_a_file_have_the_same_results() {
    let lines = fs::read_to_string(std::env::var("STRATEGIC_PATCHES").unwrap()).unwrap();
    let (count, different) = compare(&lines);
    different.iter().take(20).for_each(|difference| println!("{difference}"));
    assert_eq!(different.len(), 0, "of {count}");
}
