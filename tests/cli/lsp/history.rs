//! Objects and CRDs are compared with their committed versions.

use super::editor::{Editor, uri};
use super::{CRD, KITE, places, validate};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

fn git(folder: &Path, arguments: &[&str]) {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(folder).args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// A repository with a CRD that has a transition rule, and a committed object.
fn repository() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let crd = CRD.replace("colour: {type: string, enum: [red, blue]}", "colour: {type: string, enum: [red, blue], x-kubernetes-validations: [{rule: self == oldSelf, message: a kite keeps its colour}]}");
    fs::create_dir(folder.path().join("crds")).unwrap();
    fs::write(folder.path().join("crds/kites.yaml"), crd).unwrap();
    fs::write(folder.path().join("kite.yaml"), KITE).unwrap();
    git(folder.path(), &["init", "-q"]);
    git(folder.path(), &["add", "."]);
    git(folder.path(), &["commit", "-qm", "a"]);
    folder
}

const KEEPS: &str = "a kite keeps its colour";

#[test]
fn objects_are_updates_of_their_committed_versions() {
    let folder = repository();
    let (file, uri) = (folder.path().join("kite.yaml"), uri(folder.path(), "kite.yaml"));
    let mut editor = Editor::start(folder.path(), &json!({"compareWithCommitted": true}));
    editor.open(&uri, KITE);
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
    let old = folder.path().join("old.txt");
    fs::write(&old, KITE).unwrap();
    let other = |text: &str| format!("{text}---\n{}", text.replace("name: red", "name: other"));
    for text in [
        KITE.replace("colour: red", "colour: blue"),
        other(&KITE.replace("colour: red", "colour: blue")),
        KITE.replace("length: 3", "length: 13"),
        KITE.replace("name: red", "name: rad, namespace: x").replace("colour: red", "colour: blue"),
    ] {
        editor.replace(&uri, (0, 0), (999, 0), &text);
        let found = editor.diagnostics(&uri);
        fs::write(&file, &text).unwrap();
        let wanted = validate(&file, &[folder.path().join("crds")], &["--old", old.to_str().unwrap()], &text);
        assert_eq!(places(&found), wanted, "{text}");
        assert_eq!(found.iter().any(|found| found.contains(KEEPS)), text.contains("blue") && !text.contains("rad"));
    }
}

#[test]
fn without_the_option_or_a_committed_version_objects_are_new() {
    let folder = repository();
    let blue = KITE.replace("colour: red", "colour: blue");
    let uris = [uri(folder.path(), "kite.yaml"), uri(folder.path(), "untracked.yaml"), "untitled:a.yaml".to_owned()];
    for (options, number) in [(json!({}), 0), (json!({"compareWithCommitted": true}), 1)] {
        let mut editor = Editor::start(folder.path(), &options);
        for (uri, number) in uris.iter().zip([number, 0, 0]) {
            editor.open(uri, &blue);
            assert_eq!(editor.diagnostics(uri).len(), number, "{uri}");
        }
    }
    // Without git on the PATH.
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.arg("lsp").env("KUBECONFIG", "/nonexistent").env("PATH", "/nonexistent");
    let mut editor = Editor::spawn(&mut command, folder.path(), &json!({"compareWithCommitted": true}));
    editor.open(&uris[0], &blue);
    assert_eq!(editor.diagnostics(&uris[0]), [""; 0]);
}

/// A commit changes the diagnostics with the next edit, at the latest after two seconds.
#[test]
fn a_commit_is_noticed() {
    let folder = repository();
    let uri = uri(folder.path(), "kite.yaml");
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let blue = KITE.replace("colour: red", "colour: blue");
    editor.open(&uri, &blue);
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
    let settings = json!({"settings": {"kubectl-crdx": {"compareWithCommitted": true}}});
    editor.notify("workspace/didChangeConfiguration", &settings);
    assert!(editor.diagnostics(&uri)[0].contains(KEEPS));
    fs::write(folder.path().join("kite.yaml"), &blue).unwrap();
    git(folder.path(), &["commit", "-qam", "b"]);
    std::thread::sleep(std::time::Duration::from_millis(2100));
    editor.replace(&uri, (4, 10), (4, 11), "4");
    let first = editor.diagnostics(&uri);
    let last = if first.is_empty() { first } else { editor.diagnostics(&uri) };
    assert_eq!(last, [""; 0]);
}

#[test]
fn a_crd_is_compared_with_its_committed_version() {
    let folder = repository();
    let uri = uri(folder.path(), "crds/kites.yaml");
    let mut editor = Editor::start(folder.path(), &json!({"compareWithCommitted": true}));
    let text = fs::read_to_string(folder.path().join("crds/kites.yaml")).unwrap();
    editor.open(&uri, &text.replace("minimum: 1", "minimum: 2"));
    let found = editor.diagnostics(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains(" 2 breaking: spec.length: "), "{found:?}");
}
