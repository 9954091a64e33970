//! Definitions, outlines, costs in hover texts, completion of kinds, settings.

use super::editor::{Editor, uri};
use super::{CRD, KITE, workspace};
use serde_json::{Value, json};
use std::fs;

fn at(uri: &str, line: u64, character: u64) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
}

/// The part of a text that a range covers.
fn part<'t>(text: &'t str, range: &Value) -> &'t str {
    let line = text.split('\n').nth(range["start"]["line"].as_u64().unwrap() as usize).unwrap();
    let character = |end: &str| range[end]["character"].as_u64().unwrap() as usize;
    assert_eq!(range["start"]["line"], range["end"]["line"]);
    &line[character("start")..character("end")]
}

#[test]
fn a_field_leads_to_its_definition() {
    let (folder, kite) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&kite, KITE);
    editor.diagnostics(&kite);
    let crd = uri(folder.path(), "crds/kites.yaml");
    for (line, character, key, number) in
        [(4, 3, "length", 20), (3, 1, "spec", 15), (5, 12, "colour", 21), (1, 7, "kind", 6), (0, 3, "name", 8)]
    {
        let found = editor.request("textDocument/definition", &at(&kite, line, character));
        assert_eq!(found["uri"], crd, "{found}");
        assert_eq!(part(CRD, &found["range"]), key);
        assert_eq!(found["range"]["start"]["line"], number);
    }
    assert_eq!(editor.request("textDocument/definition", &at(&kite, 2, 12)), Value::Null, "metadata is not in the CRD");
    // The open text counts, not the one on the disk.
    let edited = format!("# a comment\n{CRD}");
    editor.open(&crd, &edited);
    let found = editor.request("textDocument/definition", &at(&kite, 4, 3));
    assert_eq!((part(&edited, &found["range"]), &found["range"]["start"]["line"]), ("length", &json!(21)));
    // A CRD in the same file.
    let both = format!("{CRD}---\n{KITE}");
    editor.open(&kite, &both);
    let line = CRD.lines().count() as u64 + 5;
    let found = editor.request("textDocument/definition", &at(&kite, line, 3));
    assert_eq!((&found["uri"], part(&both, &found["range"])), (&json!(kite), "length"));
}

#[test]
fn a_file_has_an_outline() {
    let (folder, kite) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Pod, metadata: {name: a}}\n- {apiVersion: v1, kind: Pod, metadata: {name: b}}\n";
    editor.open(&kite, &format!("# 😀\n{KITE}---\n{list}"));
    editor.diagnostics(&kite);
    let found = editor.request("textDocument/documentSymbol", &json!({"textDocument": {"uri": kite}}));
    let show = |symbol: &Value| format!("{} {}", symbol["name"].as_str().unwrap(), symbol["range"]["start"]["line"]);
    let names: Vec<String> = found.as_array().unwrap().iter().map(show).collect();
    assert_eq!(names, ["Kite red 0", "Pod a 11", "Pod b 12"]);
    let suite = uri(folder.path(), "a.testsuite.yaml");
    let case = "{name: x, initial: 'kind: Kite'}";
    let text = format!(
        "crdName: kites.toys.example.com\ntests:\n  onCreate:\n  - {case}\n  - {case}\n  onDelete:\n  - {case}\n"
    );
    editor.open(&suite, &text);
    let found = editor.request("textDocument/documentSymbol", &json!({"textDocument": {"uri": suite}}));
    let groups: Vec<String> = found.as_array().unwrap().iter().map(show).collect();
    assert_eq!(groups, ["onCreate 2", "onDelete 5"]);
    let cases: Vec<String> = found[0]["children"].as_array().unwrap().iter().map(show).collect();
    assert_eq!(cases, ["x 3", "x 4"]);
}

#[test]
fn hover_shows_what_rules_cost() {
    let (folder, kite) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&kite, KITE);
    let hover = editor.request("textDocument/hover", &at(&kite, 3, 1));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert!(text.ends_with("- rule: `self.length != 13` unlucky (cost 2, 1 times: <0.01% of the limit)"), "{text}");
    // In the CRD itself, where `lint` prints the same.
    let crd = uri(folder.path(), "crds/kites.yaml");
    let list = "list: {type: array, maxItems: 7, items: {type: object, x-kubernetes-validations: [{rule: \"true\", messageExpression: \"'a' + 'b'\"}]}}";
    let text = CRD.replace("              colour:", &format!("              {list}\n              colour:"));
    editor.open(&crd, &text);
    let line = text.lines().position(|line| line.contains("maxItems")).unwrap();
    let mut shown = |word: &str| {
        let character = text.lines().nth(line).unwrap().find(word).unwrap() as u64;
        editor.request("textDocument/hover", &at(&crd, line as u64, character))["contents"]["value"].clone()
    };
    let rule = shown("true");
    assert_eq!(rule, "**rule** on `spec.list[*]`\n\ncost 0, 7 times: 0 (<0.01% of the limit of 10,000,000)");
    assert!(shown("'a'").as_str().unwrap().starts_with("**messageExpression** on `spec.list[*]`\n\ncost "));
    assert_eq!(shown("maxItems"), Value::Null);
}

#[test]
fn kinds_and_versions_are_completed() {
    let (folder, kite) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let mut labels = |text: &str, line: u64, character: u64| {
        editor.open(&kite, text);
        let items = editor.request("textDocument/completion", &at(&kite, line, character));
        items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // Those of the CRDs come first.
    assert_eq!(labels("apiVersion: \n", 0, 12)[..2], ["toys.example.com/v1", "admissionregistration.k8s.io/v1"]);
    assert_eq!(labels("apiVersion: toys.example.com/v1\nkind: \n", 1, 6), ["Kite"]);
    assert_eq!(labels("apiVersion: example.com/v1\nkind: \n", 1, 6), [""; 0]);
    assert_eq!(labels("kind: Pod\n---\napiVersion: \n", 2, 12)[0], "toys.example.com/v1", "another document");
}

/// A change of the configuration keeps the options that it does not name; `null` asks the client.
#[test]
fn settings_are_those_of_the_client() {
    let (folder, kite) = workspace();
    let mut editor = Editor::start(folder.path(), &json!({"searchWorkspace": false, "crds": ["crds"]}));
    editor.open(&kite, &KITE.replace("colour: red", "colour: grey"));
    let found = editor.diagnostics(&kite);
    assert!(found[0].contains("colour"), "{found:?}");
    // Some clients send an empty object first.
    editor.notify("workspace/didChangeConfiguration", &json!({"settings": {}}));
    editor.notify("workspace/didChangeConfiguration", &json!({"settings": {"kubernetesVersion": "1.2"}}));
    let shown = editor.notified("window/showMessage");
    assert!(shown["message"].as_str().unwrap().contains("kubernetesVersion: "), "{shown}");
    editor.notify("workspace/didChangeConfiguration", &json!({"settings": {"kubernetesVersion": "1.31..1.32"}}));
    let found = editor.diagnostics(&kite);
    assert!(found[0].ends_with("\nKubernetes 1.31, 1.32"), "{found:?}");
    fs::create_dir(folder.path().join("policies")).unwrap();
    let policy = "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: a}\nspec:\n  matchConstraints: {resourceRules: [{apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['*']}]}\n  validations: [{expression: 'false', message: never}]\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\nspec: {policyName: a, validationActions: [Deny]}\n";
    fs::write(folder.path().join("policies/a.yaml"), policy).unwrap();
    editor.notify("workspace/didChangeConfiguration", &json!({"settings": null}));
    editor.respond("workspace/configuration", &json!([{"policies": ["policies"]}]));
    editor.open(&kite, KITE);
    let mut found = editor.diagnostics(&kite);
    while found.iter().all(|found| !found.contains("never")) {
        found = editor.diagnostics(&kite);
    }
    assert_eq!(found.len(), 1, "{found:?}");
}
