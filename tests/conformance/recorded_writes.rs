//! Compares `validate` with the answers of kube-apiserver to random writes of built-in kinds, by every way that `validate` can
//! express (`collection/builtin/writes-*.jsonl.gz`, recorded by `tests/apiserver/builtin/agreement.py`).

use super::collection::{errors_of_item, errors_of_record, folder, unpack};
use regex::Regex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::LazyLock;

#[test]
fn writes_of_1_37_have_the_recorded_answers() {
    compare("1.37");
}

#[test]
fn writes_of_1_34_have_the_recorded_answers() {
    compare("1.34");
}

#[test]
fn writes_of_1_31_have_the_recorded_answers() {
    compare("1.31");
}

/// Runs `validate` once for each recorded run.
fn compare(release: &str) {
    let text = unpack(&folder("builtin").join(format!("writes-{release}.jsonl.gz")));
    let mut lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let existing = lines.next().unwrap();
    let (mut count, mut differing) = (0, Vec::new());
    for run in lines {
        let writes = run["writes"].as_array().unwrap();
        let report = validate(release, &run, existing.as_array().unwrap());
        let items = report["items"].as_array().unwrap();
        assert_eq!(items.len(), writes.len(), "{release} {}", run["flags"]);
        count += writes.len();
        for (write, item) in writes.iter().zip(items) {
            if let Some(difference) = difference(write, item, existing.as_array().unwrap()) {
                differing.push(format!("{}\n  write {write}\n  item {item}\n  {difference}", run["flags"]));
            }
        }
    }
    assert!(count > 1500, "{release} has records");
    assert!(differing.is_empty(), "{} of {count} answers differ:\n{}", differing.len(), differing.join("\n"));
}

/// The report of a run: its documents, and the existing objects that they name.
fn validate(release: &str, run: &Value, existing: &[Value]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let writes = run["writes"].as_array().unwrap();
    let new: Vec<_> = writes.iter().map(|write| write["new"].to_string()).collect();
    let old: Vec<_> = writes.iter().filter_map(|write| old(write, existing)).map(complete).collect();
    let write = |name: &str, documents: &[String]| {
        let path = dir.path().join(name);
        fs::write(&path, documents.join("\n---\n")).unwrap();
        path
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.arg("validate").arg(write("new.yaml", &new)).args(["--offline", "--no-config", "-o", "json"]);
    command.args(["--kubernetes-version", release]);
    command.args(run["flags"].as_array().unwrap().iter().map(|flag| flag.as_str().unwrap()));
    if !old.is_empty() {
        command.arg("--old").arg(write("old.yaml", &old));
    }
    serde_json::from_slice(&command.output().unwrap().stdout).unwrap()
}

/// Says of an object without field managers that the server has none, either.
fn complete(old: &Value) -> String {
    let mut old = old.clone();
    let metadata = old["metadata"].as_object_mut().unwrap();
    metadata.entry("managedFields").or_insert_with(|| Value::Array(Vec::new()));
    old.to_string()
}

fn old<'e>(write: &Value, existing: &'e [Value]) -> Option<&'e Value> {
    write["old"].as_u64().map(|at| &existing[usize::try_from(at).unwrap()])
}

/// The difference between an item and the recorded answer.
fn difference(write: &Value, item: &Value, existing: &[Value]) -> Option<String> {
    if write["code"].as_u64().unwrap() >= 300 {
        let [got, wanted] = [errors_of_item(item, write), errors_of_record(write)].map(|errors| {
            // Before 1.37, strategies validate some parts of an update twice.
            errors.into_iter().map(|(field, message)| without_random_parts(field, &message)).collect::<BTreeSet<_>>()
        });
        return (item["verdict"] != "rejected" || got != wanted)
            .then(|| format!("got    {got:?}\n  wanted {} {wanted:?}", write["code"]));
    }
    if item["verdict"] != "accepted" {
        return Some("wanted accepted".to_owned());
    }
    let changes = write.get("changes")?;
    let mut wanted = old(write, existing)?.clone();
    remove_assigned(&mut wanted);
    merge(&mut wanted, changes);
    let mut got = item["result"].clone();
    if let Some(status) = item.get("status") {
        got["status"] = status.clone();
    }
    remove_assigned(&mut got);
    // A merge patch has no null in an object.
    remove_nulls(&mut got);
    remove_nulls(&mut wanted);
    (got != wanted).then(|| format!("got    {got}\n  wanted {wanted}"))
}

/// An error without what is random: new UIDs, the keys of a patched object, the order of the errors of an apply patch, some of
/// which an unknown field hides, and spaces in the output of go-cmp.
fn without_random_parts(field: String, message: &str) -> (String, String) {
    static PATCHED: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?s)^(Invalid value: )".*": "#).unwrap());
    static UID: LazyLock<Regex> = LazyLock::new(|| Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap());
    const UNDECLARED: &str = ": field not declared in schema";
    if message.contains(UNDECLARED) {
        return (field, message.split("): ").next().unwrap_or_default().to_owned() + UNDECLARED);
    }
    let mut lines = message.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    let first = lines.next().unwrap_or_default();
    let mut rest: Vec<String> = lines.collect();
    rest.sort_unstable();
    rest.insert(0, first);
    // A dry run names the key without its prefix.
    let text = rest.join("\n").replace("Key: /registry/", "Key: /");
    let text = UID.replace_all(&text, "UID").into_owned();
    let text = if field == "patch" { PATCHED.replace(&text, "$1…: ").into_owned() } else { text };
    (field, text)
}

/// Removes what the server assigns and a report leaves out.
fn remove_assigned(object: &mut Value) {
    if object["kind"] == "Service" {
        remove_allocated(&mut object["spec"]);
    }
    let metadata = object["metadata"].as_object_mut().unwrap();
    for name in ["uid", "creationTimestamp", "managedFields", "resourceVersion", "selfLink"] {
        metadata.remove(name);
    }
    if let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) {
        annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
        if annotations.is_empty() {
            metadata.remove("annotations");
        }
    }
}

fn remove_allocated(spec: &mut Value) {
    let ports = spec["ports"].as_array_mut().into_iter().flatten();
    for port in ports.filter_map(Value::as_object_mut) {
        port.remove("nodePort");
    }
    for name in ["clusterIP", "clusterIPs", "healthCheckNodePort"] {
        spec.as_object_mut().unwrap().remove(name);
    }
}

fn remove_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(remove_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_nulls),
        _ => {}
    }
}

/// Applies a JSON merge patch.
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(serde_json::Map::new());
    }
    for (name, change) in members {
        if change.is_null() {
            value.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut value[name], change);
        }
    }
}
