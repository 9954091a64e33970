//! Compares `validate` with what kubectl does with lists, empty inputs and documents that are not objects.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Cases in which the program says more or less than kubectl, with the reason.
const DIFFERENT: &[(&str, &str)] = &[
    ("unknownlist", "the kind of a list of another version than v1 is not looked up"),
    ("list-in-unknown-group", "the kind of a list of another version than v1 is not looked up"),
    ("klist-unknown-field", "kubectl validates a list against the published schema of its kind"),
    ("list-kitelist-without-items", "kubectl validates a list against the published schema of its kind"),
    ("klist-items-null", "kubectl validates a list against the published schema of its kind"),
    ("list-items-null", "kubectl validates a list against the published schema of its kind"),
    ("ok-then-bad-then-ok", "kubectl reads nothing after an error in a file"),
    ("ok-then-baditems-then-ok", "kubectl reads nothing after an error in a file"),
];

const CRD: &str = "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: kites, kind: Kite}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        x-kubernetes-preserve-unknown-fields: true
        properties: {m: {type: integer, maximum: 9}}
";

#[test]
fn lists_and_empty_inputs_are_those_of_kubectl() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/kubectl-lists.jsonl");
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("crd.yaml"), CRD).unwrap();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for line in fs::read_to_string(facts).unwrap().lines() {
        let fact: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| fact[key].as_str().unwrap();
        let name = text("name");
        fs::write(dir.path().join("FILE"), text("document")).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(["validate", "FILE", "--crds", "crd.yaml", "--offline", "-o", "json"])
            .current_dir(dir.path())
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let accepted = report["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|item| ["accepted", "decodes"].iter().any(|v| item["verdict"] == *v));
        let accepted = accepted.count();
        let sent = text("output").lines().filter(|line| line.ends_with("created (server dry run)")).count();
        let is_ok = output.status.code() == Some(0);
        let same = is_ok == (fact["exit"] == 0) && accepted == sent;
        seen += 1;
        if same == DIFFERENT.iter().any(|(known, _)| *known == name) {
            wrong.push(format!("{name}: {accepted} accepted, {sent} by kubectl, exit {:?}", output.status.code()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen, 86);
}
