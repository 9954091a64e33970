//! Diagnostics of suites are the failures that `test` prints.

use super::CRD;
use super::editor::{Editor, uri};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

const SUITE: &str = "name: Kites
crdName: kites.toys.example.com
tests:
  onCreate:
  - name: short
    initial: |
      apiVersion: toys.example.com/v1
      kind: Kite
      spec: {length: 0}
    expectedError: should be greater than or equal to 1
  - name: long
    initial: |
      apiVersion: toys.example.com/v1
      kind: Kite
      spec: {length: 3}
    expected: |
      apiVersion: toys.example.com/v1
      kind: Kite
      spec: {length: 3}
  onUpdate:
  - name: grows
    initial: |
      apiVersion: toys.example.com/v1
      kind: Kite
      spec: {length: 3}
    updated: |
      apiVersion: toys.example.com/v1
      kind: Kite
      spec: {length: 4}
";

/// The failures that `test` reports: line, character and message.
fn failures(file: &Path, crds: &Path) -> Vec<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .arg("test")
        .arg(file)
        .arg("--crds")
        .arg(crds)
        .args(["-o", "json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    let failed = report["items"].as_array().unwrap().iter().filter(|item| item.get("failure").is_some());
    let show = |item: &Value| {
        let (failure, at) = (&item["failure"], &item["failure"]["location"]);
        let (line, column) = (at["line"].as_u64().unwrap() - 1, at["column"].as_u64().unwrap() - 1);
        format!("{line}:{column} {}", failure["message"].as_str().unwrap())
    };
    failed.map(show).collect()
}

#[test]
fn a_suite_has_the_failures_of_test() {
    let folder = tempfile::tempdir().unwrap();
    let crds = folder.path().join("crds");
    fs::create_dir(&crds).unwrap();
    fs::write(crds.join("kites.yaml"), CRD).unwrap();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let mut check = |name: &str, text: &str| {
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        let uri = uri(folder.path(), name);
        editor.open(&uri, text);
        let found = editor.diagnostics(&uri);
        let errors: Vec<String> = found.iter().filter(|found| found.split(' ').nth(1) != Some("2")).cloned().collect();
        let wanted = failures(&file, &crds);
        assert_eq!(errors.len(), wanted.len(), "{errors:?} {wanted:?}");
        for (error, wanted) in errors.iter().zip(&wanted) {
            let (place, message) = wanted.split_once(' ').unwrap();
            assert!(error.starts_with(&format!("{place}-")) && error.contains(message), "{error} {wanted}");
        }
        found
    };
    for name in ["kites.testsuite.yaml", "tests/kites.toys.example.com/stable.yaml"] {
        assert_eq!(check(name, SUITE), [""; 0]);
        let found = check(name, &SUITE.replace("equal to 1", "equal to 2"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(check(name, &SUITE.replace("spec: {length: 4}", "spec: {length: 13}"))[0].contains("unlucky"));
        assert!(
            check(name, &SUITE.replace("{length: 3}\n  onUpdate", "{length: 4}\n  onUpdate"))[0].contains("length")
        );
        assert!(check(name, &SUITE.replace("crdName: kites", "crdName: kits"))[0].contains("there is no CRD kits"));
        let warned = check(name, &SUITE.replace("expectedError:", "expectError:"));
        assert!(warned.iter().any(|found| found.contains("unknown field \"expectError\" is ignored")), "{warned:?}");
    }
}

#[test]
fn a_suite_that_cannot_be_read_has_one_diagnostic() {
    let folder = tempfile::tempdir().unwrap();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let uri = uri(folder.path(), "a.testsuite.yaml");
    for (text, found) in [
        ("name: [", "0:7-0:7 3 error converting YAML to JSON: yaml: line 1: did not find expected node content"),
        ("name: x\n", "0:0-0:7 3 neither crdName nor crd names the CRD to test"),
        ("crdName: x\ntests: []\n", "1:0-1:9 3 must be a mapping"),
    ] {
        editor.open(&uri, text);
        let shown = editor.diagnostics(&uri);
        let end = |text: &str| text.rsplit(": ").next().unwrap().to_owned();
        assert_eq!((shown.len(), end(&shown[0])), (1, end(found)), "{shown:?}");
    }
}

/// A CRD beside a suite is read again when it is saved.
#[test]
fn a_saved_definition_changes_the_failures() {
    let folder = tempfile::tempdir().unwrap();
    let crd = folder.path().join("kites.yaml");
    fs::write(&crd, CRD).unwrap();
    let mut editor = Editor::start(folder.path(), &json!({"searchWorkspace": false}));
    let uri = uri(folder.path(), "a.testsuite.yaml");
    editor.open(&uri, &SUITE.replace("crdName: kites.toys.example.com", "crd: kites.yaml"));
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
    fs::write(&crd, CRD.replace("minimum: 1", "minimum: 4")).unwrap();
    editor.notify("textDocument/didSave", &json!({"textDocument": {"uri": format!("file://{}", crd.display())}}));
    assert_eq!(editor.diagnostics(&uri).len(), 3);
}
