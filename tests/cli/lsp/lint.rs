//! Diagnostics of CRDs and admission policies are what `lint` prints.

use super::editor::{Editor, applied, uri};
use super::{CRD, findings, places, workspace};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A CRD with a rule that costs too much, in two versions with the same schema.
fn expensive(schema: &str) -> String {
    let version = |name: &str, storage: bool| {
        format!(
            "  - name: {name}\n    served: true\n    storage: {storage}\n    schema:\n      openAPIV3Schema:\n{schema}"
        )
    };
    let head = CRD.split("  - name: v1\n").next().unwrap();
    format!("{head}{}{}", version("v1", true), version("v2", false))
}

const BLOCK: &str = "        type: object
        properties:
          spec:
            type: object
            properties:
              list:
                type: array
                items:
                  type: string
                  maxLength: 500
                x-kubernetes-validations:
                - rule: self.all(a, self.all(b, a == b || a.contains(b)))
";
const FLOW: &str =
    "        {type: object, properties: {spec: {type: object, properties: {list: {type: array, items: {type: string},
          x-kubernetes-validations: [{rule: \"self.all(a, self.all(b, a == b || a.contains(b)))\"}]}}}}}
";

/// The report of `lint`, and its text.
fn lint(file: &Path, more: &[&str]) -> (Value, String) {
    let run = |format: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
        let output = command.arg("lint").arg(file).args(more).args(format).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    (serde_json::from_str(&run(&["-o", "json"])).unwrap(), run(&["--color", "never"]))
}

/// Opens a text and compares its diagnostics with `lint`; returns them.
fn compared(editor: &mut Editor, folder: &Path, name: &str, text: &str, more: &[&str]) -> Vec<String> {
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    let uri = uri(folder, name);
    editor.open(&uri, text);
    let found = editor.diagnostics(&uri);
    let (hints, others): (Vec<String>, Vec<String>) =
        found.iter().cloned().partition(|found| found.split(' ').nth(1) == Some("4"));
    let (report, printed) = lint(&file, more);
    assert_eq!(places(&others), findings(&report, text), "{text}");
    let advice: Vec<&str> = printed.lines().filter_map(|line| line.strip_prefix("help: ")).collect();
    let hints: Vec<&str> = hints.iter().map(|hint| hint.splitn(3, ' ').nth(2).unwrap()).collect();
    assert_eq!(hints, advice, "{printed}");
    found
}

#[test]
fn a_crd_has_the_findings_of_lint() {
    let (folder, _) = workspace();
    let mut editor = Editor::start(folder.path(), &json!({"searchWorkspace": false}));
    let accepted = compared(&mut editor, folder.path(), "a.yaml", CRD, &[]);
    assert_eq!(accepted, [""; 0]);
    for text in [
        CRD.replace("scope: Namespaced", "scope: Namespaced\n  scope: Cluster"),
        CRD.replace("storage: true", "storage: false"),
        CRD.replace("self.length != 13", "self.lenght != 13"),
        CRD.replace("minimum: 1", "minimun: 1"),
        CRD.replace("  group: toys.example.com\n", ""),
        CRD.replace("        type: object\n        properties", "        properties"),
        expensive(BLOCK),
        expensive(FLOW),
        format!("{CRD}---\n{}", CRD.replace("kites", "Kites")),
        CRD.replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"),
    ] {
        let found = compared(&mut editor, folder.path(), "a.yaml", &text, &[]);
        assert!(!found.is_empty(), "{text}");
    }
}

#[test]
fn the_limits_of_lint_are_a_quick_fix() {
    let (folder, _) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let json_text = serde_json::to_string_pretty(&json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "kites.toys.example.com"},
        "spec": {
            "group": "toys.example.com",
            "scope": "Namespaced",
            "names": {"plural": "kites", "singular": "kite", "kind": "Kite", "listKind": "KiteList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"list": {"type": "array", "items": {"type": "string"}, "x-kubernetes-validations": [
                    {"rule": "self.all(a, self.all(b, a == b || a.contains(b)))"}]}}}}}]
        }
    }))
    .unwrap();
    let cases = [
        ("block.yaml", expensive(BLOCK)),
        (
            "dash.yaml",
            expensive(&BLOCK.replace(
                "                items:\n                  type",
                "                items: # ü😀\n                  type",
            )),
        ),
        ("windows.yaml", expensive(BLOCK).replace('\n', "\r\n")),
        ("flow.yaml", expensive(FLOW)),
        ("crd.json", json_text),
    ];
    for (name, text) in cases {
        let uri = uri(folder.path(), name);
        editor.open(&uri, &text);
        let found = editor.diagnostics(&uri);
        let hint =
            found.iter().find(|found| found.contains(" cheap enough with ")).unwrap_or_else(|| panic!("{found:?}"));
        let (line, character) = hint.split('-').next().unwrap().split_once(':').unwrap();
        let actions = editor.actions(&uri, (line.parse().unwrap(), character.parse().unwrap()));
        let [action] = actions.as_slice() else { panic!("{name}: {actions:?}") };
        let title = action["title"].as_str().unwrap();
        assert!(title.starts_with("Set maxItems: "), "{title}");
        let new = applied(&text, action);
        editor.open(&uri, &new);
        assert_eq!(editor.diagnostics(&uri), [""; 0], "{new}");
        assert_eq!(new.matches("maxItems").count(), text.matches("self.all(a").count(), "{new}");
        assert!(!text.contains("\r\n") || !new.replace("\r\n", "").contains('\n'), "{new:?}");
    }
}

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: short}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [toys.example.com], apiVersions: [v1], operations: [CREATE], resources: [kites]}
  validations:
  - expression: object.spec.length < 100
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: short}
spec:
  policyName: short
  validationActions: [Deny]
";

#[test]
fn a_policy_has_the_findings_of_lint() {
    let (folder, _) = workspace();
    let crds = folder.path().join("crds").display().to_string();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let mut check = |text: &str| compared(&mut editor, folder.path(), "policy.yaml", text, &["--crds", &crds]);
    assert_eq!(check(POLICY), [""; 0]);
    for (from, to) in [
        ("object.spec.length", "object.spec.lenght"),
        ("< 100", "< 'a'"),
        ("policyName: short", "policyName: shrt"),
        ("operations: [CREATE]", "operations: [CREAT]"),
        ("validationActions: [Deny]", "validationActions: []"),
        ("matchConstraints", "matchConstraint"),
        ("admissionregistration.k8s.io/v1\n", "admissionregistration.k8s.io/v1alpha1\n"),
    ] {
        let found = check(&POLICY.replace(from, to));
        assert!(!found.is_empty(), "{to}");
    }
    // A CRD in the same file is checked against, too.
    let both = format!("{CRD}---\n{}", POLICY.replace("object.spec.length", "object.spec.lenght"));
    assert!(!check(&both).is_empty());
}

#[test]
fn templates_and_files_of_other_programs_have_no_diagnostics() {
    let (folder, _) = workspace();
    let chart = folder.path().join("chart/templates");
    fs::create_dir_all(&chart).unwrap();
    fs::write(folder.path().join("chart/Chart.yaml"), "apiVersion: v2\nname: a\nversion: 1.0.0\n").unwrap();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let broken = CRD.replace("storage: true", "storage: false");
    for (name, text) in [
        ("chart/templates/crd.yaml", broken.replace("name: kites.toys", "name: {{ .Values.x }}.toys")),
        ("chart/templates/valid.yaml", broken.replace("unlucky", "\"{{ .Values.text }}\"")),
        ("chart/templates/policy.yaml", POLICY.replace("name: short", "name: {{ .Release.Name }}")),
        ("chart/Chart.yaml", "apiVersion: v2\nname: a\n".to_owned()),
        ("chart/values.yaml", "spec: {storage: 1}\n".to_owned()),
        ("kustomization.yaml", "resources: [crds/kites.yaml]\npatches: 3\n".to_owned()),
        ("k.yaml", "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n".to_owned()),
        ("package.json", "{\"name\": \"x\"}".to_owned()),
        ("tests/x/values.yaml", "replicas: 1\n".to_owned()),
    ] {
        let uri = uri(folder.path(), name);
        editor.open(&uri, &text);
        assert_eq!(editor.diagnostics(&uri), [""; 0], "{name}");
    }
    let uri = uri(folder.path(), "crd.yaml");
    editor.open(&uri, &broken);
    assert_ne!(editor.diagnostics(&uri), [""; 0], "the same text outside of a chart");
}
