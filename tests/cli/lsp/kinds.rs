//! Kinds and API versions, built-in kinds, defaults, and objects for empty documents.

use super::editor::{Editor, applied, uri};
use super::{CRD, KITE, workspace};
use serde_json::{Value, json};
use std::fs;
use std::process::Command;

const DEPLOYMENT: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
    spec:
      containers:
      - name: web
        image: nginx
";

fn at(uri: &str, line: u64, character: u64) -> Value {
    json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}})
}

fn hover(editor: &mut Editor, uri: &str, line: u64, character: u64) -> String {
    let found = editor.request("textDocument/hover", &at(uri, line, character));
    found["contents"]["value"].as_str().unwrap_or_default().to_owned()
}

fn labels(editor: &mut Editor, uri: &str, line: u64, character: u64) -> Vec<String> {
    let items = editor.request("textDocument/completion", &at(uri, line, character));
    items.as_array().unwrap().iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_empty_document_can_become_an_object() {
    let (folder, kite) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let mut offered = |name: &str, text: &str, line: u64, character: u64| {
        let file = uri(folder.path(), name);
        editor.open(&file, text);
        editor.request("textDocument/completion", &at(&file, line, character)).as_array().unwrap().clone()
    };
    for (text, line, character) in
        [("", 0, 0), ("Ki", 0, 2), ("# a comment\n\n", 1, 0), (&format!("{KITE}---\n\n---\n{KITE}"), 7, 0)]
    {
        let found = offered("kite.yaml", text, line, character);
        let shown: Vec<&Value> = found.iter().map(|item| &item["label"]).collect();
        assert_eq!(shown, ["Kite", "apiVersion", "kind"], "{text:?}");
        assert_eq!((&found[0]["detail"], &found[0]["kind"]), (&json!("toys.example.com/v1"), &json!(15)));
        // The server accepts the object.
        let object = folder.path().join("object.yaml");
        fs::write(&object, found[0]["insertText"].as_str().unwrap()).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
            .args(["validate", "--offline", "--crds", "crds", "object.yaml"])
            .current_dir(folder.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        fs::remove_file(object).unwrap();
    }
    for (name, text, line, character) in [
        ("kite.yaml", KITE, 4, 2),
        ("kite.yaml", "a: b\n\n", 1, 0),
        ("kite.yaml", "- \n", 0, 2),
        ("kite.json", "", 0, 0),
    ] {
        let found = offered(name, text, line, character);
        assert!(found.iter().all(|item| item["label"] != "Kite"), "{text:?}: {found:?}");
    }
    // With many kinds, an example of each would take too long.
    for n in 0..40 {
        let other = CRD.replace("kite", &format!("kite{n}")).replace("Kite", &format!("Kite{n}"));
        fs::write(folder.path().join(format!("crds/{n}.yaml")), other).unwrap();
    }
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&kite, "");
    let items = editor.request("textDocument/completion", &at(&kite, 0, 0));
    assert_eq!(items.as_array().unwrap().len(), 43);
    assert_eq!(items[0]["insertText"], "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata:\n  name: ");
}

#[test]
fn kinds_and_api_versions_are_described() {
    let (folder, kite) = workspace();
    let mut editor = Editor::start(folder.path(), &json!({"kubernetesVersion": "1.34"}));
    editor.open(&kite, &format!("{KITE}---\n{DEPLOYMENT}---\napiVersion: a/v1\nkind: B\n"));
    let wanted = format!(
        "**Kite** `toys.example.com/v1`\n\n- scope: Namespaced\n- resource: `kites`\n- versions: `v1` (stored)\n- CRD: {}",
        folder.path().join("crds/kites.yaml").display()
    );
    for (line, character) in [(0, 2), (0, 15), (1, 3), (1, 7)] {
        assert_eq!(hover(&mut editor, &kite, line, character), wanted);
    }
    let wanted = "**Deployment** `apps/v1`\n\n- scope: Namespaced\n- resource: `deployments`, short `deploy`\n- versions: `apps/v1`\n- a built-in kind of Kubernetes 1.34";
    assert_eq!(hover(&mut editor, &kite, 8, 7), wanted);
    assert_eq!(hover(&mut editor, &kite, 22, 7), "");
}

#[test]
fn built_in_kinds_have_diagnostics_descriptions_and_completions() {
    let (folder, file) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&file, DEPLOYMENT);
    assert_eq!(editor.diagnostics(&file), [""; 0]);
    assert_eq!(
        hover(&mut editor, &file, 10, 8),
        "**containers** `[]object` required\n\n- x-kubernetes-list-type: `\"map\"`\n- x-kubernetes-list-map-keys: `[\"name\"]`"
    );
    assert_eq!(hover(&mut editor, &file, 12, 9), "**image** `string`");
    let line = DEPLOYMENT.lines().count() as u64;
    editor.replace(&file, (line, 0), (line, 0), "        \n");
    let fields = labels(&mut editor, &file, line, 8);
    assert!(
        fields.iter().any(|name| name == "livenessProbe") && fields.iter().all(|name| name != "image"),
        "{fields:?}"
    );
    editor.replace(&file, (line, 8), (line, 8), "imagePullPolicy: ");
    assert_eq!(labels(&mut editor, &file, line, 25), ["Always", "IfNotPresent", "Never"]);
    editor.replace(&file, (line, 25), (line, 25), "Sometimes");
    let found = loop {
        let found = editor.diagnostics(&file);
        if found.iter().any(|found| found.contains("Sometimes")) {
            break found;
        }
    };
    assert!(found[0].contains("spec.template.spec.containers[0].imagePullPolicy: Unsupported value"), "{found:?}");
    // Kinds and API versions.
    editor.open(&file, "apiVersion: apps/v1\nkind: \n");
    let kinds = labels(&mut editor, &file, 1, 6);
    assert!(kinds.contains(&"StatefulSet".to_owned()) && !kinds.contains(&"Kite".to_owned()), "{kinds:?}");
    editor.open(&file, "apiVersion: \nkind: HorizontalPodAutoscaler\n");
    assert_eq!(labels(&mut editor, &file, 0, 12), ["autoscaling/v1", "autoscaling/v2"]);
}

#[test]
fn defaults_are_inlay_hints() {
    let (folder, file) = workspace();
    let with_defaults = CRD.replace(
        "              colour:",
        "              parts:\n                type: array\n                items: {type: object, properties: {a: {type: integer}, b: {type: integer, default: 7}}}\n              tail: {type: object, default: {}, properties: {knots: {type: integer, default: 2}}}\n              colour:",
    );
    assert_ne!(with_defaults, CRD);
    fs::write(folder.path().join("crds/kites.yaml"), with_defaults).unwrap();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let parts = "  parts:\n  - a: 1 # one\n  - {b: 3}\n";
    let second = KITE.replace("name: red", "name: blue") + parts;
    editor.open(&file, &format!("{KITE}---\n# 😀\n{second}"));
    let mut hints = |from: u64, to: u64| {
        let range = json!({"start": {"line": from, "character": 0}, "end": {"line": to, "character": 0}});
        let found = editor.request("textDocument/inlayHint", &json!({"textDocument": {"uri": file}, "range": range}));
        let show = |hint: &Value| {
            format!(
                "{}:{} {}",
                hint["position"]["line"],
                hint["position"]["character"],
                hint["label"].as_str().unwrap()
            )
        };
        found.as_array().unwrap().iter().map(show).collect::<Vec<_>>()
    };
    assert_eq!(hints(0, 99), ["3:5 tail: {\"knots\":2}", "11:5 tail: {\"knots\":2}", "15:14 b: 7"]);
    assert_eq!(hints(4, 12), ["11:5 tail: {\"knots\":2}"]);
    // The hints of an edit are those of the new text.
    editor.replace(&file, (0, 0), (0, 0), "\n");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let found = editor.request("textDocument/inlayHint", &json!({"textDocument": {"uri": file}, "range": range}));
    assert_eq!(found[0]["position"], json!({"line": 4, "character": 5}), "{found}");
    assert!(found[0]["tooltip"]["value"].as_str().unwrap().contains("tail:\n  knots: 2\n"), "{found}");
    // Objects that the server rejects get none, and those of built-in kinds do.
    editor.open(&file, &format!("{}---\n{DEPLOYMENT}", KITE.replace("length: 3", "length: 13")));
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let found = editor.request("textDocument/inlayHint", &json!({"textDocument": {"uri": file}, "range": range}));
    let all = found.as_array().unwrap();
    assert!(all.iter().all(|hint| hint["position"]["line"].as_u64().unwrap() > 6), "{found}");
    assert!(all.iter().any(|hint| hint["label"].as_str().unwrap().contains("replicas: 1")), "{found}");
    assert!(all.iter().any(|hint| hint["label"].as_str().unwrap().contains("imagePullPolicy: \"Always\"")), "{found}");
}

#[test]
fn a_fix_accepts_the_answer_in_a_suite() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("crds")).unwrap();
    fs::write(folder.path().join("crds/kites.yaml"), CRD).unwrap();
    let kite = "\n      apiVersion: toys.example.com/v1\n      kind: Kite\n      spec: ";
    let suite = format!(
        "name: Kites\ncrdName: kites.toys.example.com\ntests:\n  onCreate:\n  - name: short\n    initial: |{kite}{{length: 0}}\n    expectedError: too long # why\n  - name: long\n    initial: |{kite}{{length: 3}}\n    expected: |{kite}{{length: 4}}\n  # the end\n"
    );
    let name = "kites.testsuite.yaml";
    let (file, path) = (uri(folder.path(), name), folder.path().join(name));
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&file, &suite);
    let mut found = editor.diagnostics(&file);
    assert_eq!(found.len(), 2, "{found:?}");
    let mut text = suite.clone();
    while let Some(first) = found.first() {
        let place = first.split('-').next().unwrap().split_once(':').unwrap();
        let position = (place.0.parse().unwrap(), place.1.parse().unwrap());
        let actions = editor.actions(&file, position);
        assert_eq!(actions.len(), 1, "{actions:?}");
        assert!(actions[0]["title"].as_str().unwrap().starts_with("Accept the server's answer to `"), "{actions:?}");
        assert_eq!(actions[0]["isPreferred"], false);
        // Only the lines of this case change.
        let edits = actions[0]["edit"]["changes"][&file].as_array().unwrap();
        assert_eq!(edits.len(), 1, "{edits:?}");
        text = applied(&text, &actions[0]);
        editor.open(&file, &text);
        found = editor.diagnostics(&file);
    }
    // `test --update` writes the same.
    fs::write(&path, &suite).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(["test", name, "--crds", "crds", "--update"])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    assert!(text.contains("# why") && text.ends_with("  # the end\n"), "{text}");
}
