//! Compares the decoder of built-in kinds with recorded responses of the server (`tests/facts`).

use crate::facts::unpacked;
use crdx_text::json;
use crdx_types::types::Types;
use crdx_types::{Endpoint, decode};
use crdx_value::Value;
use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

/// The minimum share of equal responses, in thousandths.
const FLOOR: usize = 998;

/// A request to create an object, and the server's response.
struct Fact {
    endpoint: Endpoint,
    body: Vec<u8>,
    error: Option<String>,
    warnings: Vec<String>,
    /// The response with `fieldValidation=Warn` or `Ignore`.
    leniently: Option<String>,
}

fn bytes(object: &Value, key: &str) -> Vec<u8> {
    let packed = format!("{key}64");
    match object.str_at(&[packed.as_str()]).filter(|text| !text.is_empty()) {
        Some(text) => crdx_value::base64::Encoding::Standard.decode(text).unwrap(),
        None => object.str_at(&[key]).unwrap_or_default().as_bytes().to_vec(),
    }
}

fn facts(lines: &str) -> Vec<Fact> {
    let fact = |line: &str| {
        let object = json::read(line.as_bytes()).unwrap();
        let (group_version, kind) = object.str_at(&["kind"]).unwrap().rsplit_once('/').unwrap();
        let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
        let endpoint = Endpoint { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() };
        let text = |key: &str| object.str_at(&[key]).map(str::to_owned);
        let warnings = object.get("warnings").and_then(Value::as_array).unwrap_or_default();
        let warnings: Vec<_> = warnings.iter().map(|w| w.as_str().unwrap().to_owned()).collect();
        let error = text("error");
        let leniently = text("ignore").or_else(|| error.clone().filter(|_| warnings.is_empty()));
        Fact { endpoint, body: bytes(&object, "body"), error, warnings, leniently }
    };
    lines.lines().map(fact).collect()
}

/// The difference from the recorded response.
fn difference(types: &'static Types, fact: &Fact) -> Option<String> {
    let (error, warnings, leniently) = match decode::decode(types, &fact.endpoint, &fact.body) {
        Err(refusal) => (Some(refusal.message.clone()), Vec::new(), Some(refusal.message)),
        Ok(decoded) => (
            decoded.strictly().map(|r| r.message),
            decoded.strict.iter().map(|strict| strict.error().to_string()).collect(),
            decoded.leniently().map(|r| r.message),
        ),
    };
    if error == fact.error && warnings == fact.warnings && leniently == fact.leniently {
        return None;
    }
    let body = String::from_utf8_lossy(&fact.body).chars().take(2000).collect::<String>();
    Some(format!(
        "{} {body}\n   got {error:?} {warnings:?} {leniently:?}\n  want {:?} {:?} {:?}",
        fact.endpoint.kind, fact.error, fact.warnings, fact.leniently
    ))
}

fn compare(release: u32, facts: &[Fact]) {
    let types = Types::for_release(release);
    let differences: Vec<_> = facts.iter().filter_map(|fact| difference(types, fact)).collect();
    println!("1.{release}: {} of {} bodies have the recorded answer", facts.len() - differences.len(), facts.len());
    for difference in &differences {
        println!("{difference}");
    }
    let most = facts.len() * (1000 - FLOOR) / 1000;
    assert!(differences.len() <= most, "{} differ", differences.len());
}

#[test]
fn bodies_are_decoded_as_the_server_decodes_them() {
    let facts = facts(&unpacked("builtin-decode.jsonl.gz"));
    assert_eq!(facts.len(), 3000);
    compare(37, &facts);
}

/// Compares with recorded responses of other releases; `tests/facts/README.md` says how to record them.
#[test]
#[ignore = "needs the answers of other releases"]
fn bodies_are_decoded_as_older_servers_decode_them() {
    let recorded = std::env::var("BUILTIN_FACTS").expect("BUILTIN_FACTS=31:path,34:path");
    for one in recorded.split(',') {
        let (release, path) = one.split_once(':').unwrap();
        compare(release.parse().unwrap(), &facts(&fs::read_to_string(path).unwrap()));
    }
}

/// The items of `validate` for the bodies of some facts, as files.
fn validated(facts: &[&Fact]) -> Vec<Value> {
    let dir = tempfile::tempdir().unwrap();
    for (n, fact) in facts.iter().enumerate() {
        fs::write(dir.path().join(format!("{n:04}.json")), &fact.body).unwrap();
    }
    let run = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(["validate", "--offline", "-o", "json", "-f"])
        .arg(dir.path())
        .output()
        .unwrap();
    let report = json::read(&run.stdout).unwrap();
    let items = report.get("items").and_then(Value::as_array).unwrap();
    assert_eq!(items.len(), facts.len());
    items.to_vec()
}

/// Validates bodies as files: the result of `validate` is the server's response to the request of `kubectl apply`.
#[test]
fn files_have_the_results_of_kubectl_apply() {
    let facts = facts(&unpacked("builtin-apply.jsonl.gz"));
    assert_eq!(facts.len(), 1086);
    // The second object of a kind and name would be an update. Those with the same name are in different runs.
    let mut runs: Vec<Vec<&Fact>> = Vec::new();
    let mut numbers: BTreeMap<(&str, String), usize> = BTreeMap::new();
    for fact in &facts {
        let body = json::read(&fact.body).unwrap_or_default();
        let name = body.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
        let number = numbers.entry((&fact.endpoint.kind, name)).or_default();
        runs.resize_with(runs.len().max(*number + 1), Vec::new);
        runs[*number].push(fact);
        *number += 1;
    }
    let items: Vec<Value> = runs.iter().flat_map(|run| validated(run)).collect();
    let facts: Vec<&Fact> = runs.into_iter().flatten().collect();
    let compared = facts.len();
    let mut differences = Vec::new();
    for (fact, item) in facts.iter().zip(items) {
        let got = item.str_at(&["answer", "message"]);
        let is_same = match item.at(&["answer", "code"]).and_then(Value::as_int) {
            // kubectl finds no resource for the bodies of subresources, and a ComponentStatus can only be read.
            Some(404 | 405) => continue,
            // kubectl decodes the metadata first, and sends nothing if it cannot.
            Some(400) if got.is_some_and(|got| got.starts_with("unable to decode \"")) => fact.error.is_some(),
            Some(400) => got == fact.error.as_deref(),
            // It is decoded; it may be rejected later, for example without a name.
            _ => fact.error.is_none(),
        };
        if !is_same {
            let body = String::from_utf8_lossy(&fact.body);
            differences.push(format!("{body}\n   got {got:?}\n  want {:?}", fact.error));
        }
    }
    println!("{} of {compared} files have the recorded answer", compared - differences.len());
    for difference in &differences {
        println!("{difference}");
    }
    assert!(differences.len() <= compared * (1000 - FLOOR) / 1000, "{} differ", differences.len());
}
