//! The JSON Schemas in `docs/schemas` describe the output of `-o json`: every report in the screens of `cli/*.txt` is
//! validated against its schema. The validation is stricter than JSON Schema: a member that the schema does not list is
//! an error.

use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::Stdio;

/// Returns the schemas by file name.
fn schemas() -> BTreeMap<String, Value> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas/v1");
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|file| {
            let schema = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
            (file.file_name().unwrap().to_str().unwrap().to_owned(), schema)
        })
        .collect()
}

/// Returns the reports that the screens print to standard output as one document.
fn reports() -> Vec<Value> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli");
    let files = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut found = Vec::new();
    for file in files.filter(|file| file.extension().is_some_and(|end| end == "txt")) {
        let text = fs::read_to_string(file).unwrap();
        for screen in text.split("$ kubectl-crdx ").skip(1) {
            let (_, shown) = screen.split_once('\n').unwrap();
            let shown = shown.split("\n[stderr]\n").next().unwrap().split("\n[exit ").next().unwrap();
            if let Ok(report @ Value::Object(_)) = serde_json::from_str(shown)
                && report["apiVersion"] == "crdx/v1"
            {
                found.push(report);
            }
        }
    }
    found.push(envtest_report());
    found.extend(session_reports());
    found
}

/// Returns the report of `envtest`, whose paths differ from machine to machine.
fn envtest_report() -> Value {
    let dir = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    let output = command.args(["envtest", "-o", "json", "--dir"]).arg(dir.path()).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let directory = Path::new(report["directory"].as_str().unwrap());
    assert!(directory.starts_with(dir.path()) && directory.join("etcd").exists());
    assert_eq!(report["programs"][1]["name"], "kube-apiserver");
    report
}

/// Returns the lines of `serve --sessions`, whose URLs differ from run to run.
fn session_reports() -> Vec<Value> {
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.args(["serve", "--sessions"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (mut input, mut lines) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let mut ask = |request: &str| -> Value {
        writeln!(input, "{request}").unwrap();
        serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap()
    };
    let new = ask("new");
    let ended = ask(&format!("end {}", new["url"].as_str().unwrap()));
    let failed = ask("other");
    drop(input);
    assert!(child.wait().unwrap().success() && ended["ended"] == new["url"]);
    vec![new, ended, failed]
}

/// Validates a value against a schema. Supports only the keywords that these schemas use.
struct Checker<'a> {
    schemas: &'a BTreeMap<String, Value>,
    wrong: Vec<String>,
}

impl Checker<'_> {
    fn check(&mut self, value: &Value, schema: &Value, file: &str, path: &str) {
        let Value::Object(schema) = schema else {
            assert_eq!(schema, &Value::Bool(true), "{file} at {path}");
            return;
        };
        for (keyword, says) in schema {
            let fine = match keyword.as_str() {
                "$schema" | "$defs" | "title" | "description" => true,
                "$ref" => {
                    let (other, pointer) = says.as_str().unwrap().split_once('#').unwrap();
                    let other = if other.is_empty() { file } else { other };
                    let target = self.schemas[other].pointer(pointer).unwrap_or_else(|| panic!("{says} in {file}"));
                    self.check(value, target, other, path);
                    true
                }
                "const" => value == says,
                "enum" => says.as_array().unwrap().contains(value),
                "type" => match says.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    other => panic!("type {other}"),
                },
                "minimum" => value.as_f64().is_none_or(|n| n >= says.as_f64().unwrap()),
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(item, says, file, &format!("{path}[{i}]"));
                    }
                    true
                }
                "required" => says.as_array().unwrap().iter().all(|name| value.get(name.as_str().unwrap()).is_some()),
                "properties" => {
                    self.members(value, says.as_object().unwrap(), file, path);
                    true
                }
                "additionalProperties" => {
                    for (key, inner) in value.as_object().into_iter().flatten() {
                        self.check(inner, says, file, &format!("{path}.{key}"));
                    }
                    true
                }
                other => panic!("keyword {other} in {file}"),
            };
            if !fine {
                self.wrong.push(format!("{path}: {keyword} {says}"));
            }
        }
    }

    fn members(&mut self, value: &Value, known: &Map<String, Value>, file: &str, path: &str) {
        for (key, inner) in value.as_object().into_iter().flatten() {
            match known.get(key) {
                Some(schema) => self.check(inner, schema, file, &format!("{path}.{key}")),
                None => self.wrong.push(format!("{path}.{key}: not in {file}")),
            }
        }
    }
}

fn faults(report: &Value, schemas: &BTreeMap<String, Value>) -> Vec<String> {
    let file = format!("{}.json", report["kind"].as_str().unwrap());
    let Some(schema) = schemas.get(&file) else { return vec![format!("there is no docs/schemas/v1/{file}")] };
    let mut checker = Checker { schemas, wrong: Vec::new() };
    checker.check(report, schema, &file, "");
    checker.wrong
}

#[test]
fn every_report_matches_its_schema() {
    let schemas = schemas();
    let mut kinds = BTreeSet::new();
    for report in reports() {
        let kind = report["kind"].as_str().unwrap().to_owned();
        let faults = faults(&report, &schemas);
        assert!(faults.is_empty(), "{kind}:\n{}", faults.join("\n"));
        kinds.insert(format!("{kind}.json"));
    }
    let files: BTreeSet<String> = schemas.keys().filter(|file| *file != "common.json").cloned().collect();
    assert_eq!(kinds, files, "every schema describes a report among the screens");
}

#[test]
fn schema_violations_are_detected() {
    let schemas = schemas();
    let report = json!({"apiVersion": "crdx/v1", "kind": "ValidateReport", "notes": [], "kubernetesVersions": ["1.37"], "summary": {
        "accepted": -1, "rejected": 0, "decodes": 0, "skipped": 0, "cannotTell": 0, "warnings": 0},
        "items": [{"location": {"source": "a", "line": 0}, "verdict": "maybe", "errors": [], "warnings": [{"type": "Warning"}],
        "pruned": [], "defaulted": [], "more": 1}]});
    let mut faults = faults(&report, &schemas);
    faults.sort();
    assert_eq!(
        faults,
        [
            ".items[0].location.line: minimum 1",
            ".items[0].more: not in common.json",
            ".items[0].verdict: enum [\"accepted\",\"rejected\",\"decodes\",\"skipped\",\"cannotTell\"]",
            ".items[0].warnings[0]: required [\"type\",\"message\"]",
            ".summary.accepted: minimum 0",
        ]
    );
}

/// `docs/output.md` lists every member of every schema.
#[test]
fn every_member_is_documented() {
    fn names(schema: &Value, found: &mut BTreeSet<String>) {
        match schema {
            Value::Object(members) => {
                for (key, inner) in members {
                    if key == "properties" {
                        found.extend(inner.as_object().unwrap().keys().cloned());
                    }
                    names(inner, found);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            _ => {}
        }
    }
    let mut members = BTreeSet::new();
    for schema in schemas().values() {
        names(schema, &mut members);
    }
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/output.md")).unwrap();
    let named = |member: &String| text.contains(&format!("`{member}`")) || text.contains(&format!("\"{member}\""));
    let missing: Vec<_> = members.iter().filter(|member| !named(member)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(schemas().keys().all(|file| text.contains(file)), "the files are named");
}
