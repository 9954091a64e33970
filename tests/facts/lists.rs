//! Compares `validate` with what kubectl does with lists, empty inputs and documents that are not objects.

use std::fs;
use std::path::Path;
use std::process::Command;

/// Cases in which the program says more or less than kubectl, with the reason.
const DIFFERENT: &[(&str, &str)] = &[(
    "empty-apiversion-list",
    "an object without an apiVersion is \"cannot tell\"; kubectl takes the empty one for v1",
)];

const CRDS: &str = include_str!("kubectl-lists-crds.yaml");

/// The errors of kubectl that it reports before it sends an object, without `error: `.
fn unsent_errors(output: &str) -> impl Iterator<Item = &str> {
    let lines = output.lines().map(|line| line.strip_prefix("error: ").unwrap_or(line));
    let beginnings =
        ["error validating \"", "unable to decode \"", "unable to get type info", "*unstructured.Unstructured"];
    lines.filter(move |line| beginnings.iter().any(|beginning| line.starts_with(beginning)))
}

/// Returns the number of cases, and a line for each case that differs.
fn compare(facts: &str) -> (usize, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("crd.yaml"), CRDS).unwrap();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for line in facts.lines() {
        let fact: serde_json::Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| fact[key].as_str().unwrap_or_default();
        let name = text("name");
        fs::write(dir.path().join("FILE"), text("document")).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(["validate", "FILE", "--crds", "crd.yaml", "--offline", "-o", "json"])
            .args(text("flags").replace("--validate", "--field-validation").split_whitespace())
            .current_dir(dir.path())
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let items = report["items"].as_array().unwrap();
        let accepted =
            items.iter().filter(|item| ["accepted", "decodes"].iter().any(|v| item["verdict"] == *v)).count();
        let sent = text("output").lines().filter(|line| line.ends_with("created (server dry run)")).count();
        let is_ok = output.status.code() == Some(0);
        let messages: Vec<&str> = items.iter().filter_map(|item| item["answer"]["message"].as_str()).collect();
        // A document that is not an object is "cannot tell", with a text of this program.
        let is_about_object =
            |error: &&str| items.iter().any(|item| item["verdict"] == "rejected") || error.starts_with('*');
        let other = unsent_errors(text("output")).filter(is_about_object).find(|error| !messages.contains(error));
        let same = is_ok == (fact["exit"] == 0) && accepted == sent && other.is_none();
        seen += 1;
        if same == DIFFERENT.iter().any(|(known, _)| *known == name) {
            let code = output.status.code();
            wrong.push(format!(
                "{name}: {accepted} accepted, {sent} by kubectl, exit {code:?}\n  {other:?}\n  {messages:?}"
            ));
        }
    }
    (seen, wrong)
}

#[test]
fn lists_and_empty_inputs_are_those_of_kubectl() {
    let facts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/facts/kubectl-lists.jsonl");
    let (seen, wrong) = compare(&fs::read_to_string(facts).unwrap());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen, 86);
}

#[test]
fn lists_are_validated_as_by_kubectl() {
    let (seen, wrong) = compare(include_str!("kubectl-list-schemas.jsonl"));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(seen, 86);
}
