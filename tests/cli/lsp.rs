//! The language server, driven as an editor drives it: over standard input and output.

mod client;
mod corpus;
pub mod editor;
mod fuzzed;
mod history;
mod kinds;
mod lint;
mod live;
mod messages;
mod navigation;
mod suites;
mod text;

use editor::Editor;
use regex::Regex;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const KITE: &str =
    "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: red}\nspec:\n  length: 3\n  colour: red\n";

const CRD: &str = include_str!("../clients/lsp/kites.crd.yaml");

/// A workspace with the CRD, and the URI of a file in it.
fn workspace() -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("crds")).unwrap();
    std::fs::write(folder.path().join("crds/kites.yaml"), CRD).unwrap();
    let uri = format!("file://{}/kite.yaml", folder.path().display());
    (folder, uri)
}

#[test]
fn diagnostics_follow_the_text() {
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&uri, KITE);
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
    editor.replace(&uri, (4, 10), (4, 11), "0");
    let small = "4:10-4:11 1 spec.length: Invalid value: 0: spec.length in body should be greater than or equal to 1";
    assert_eq!(editor.diagnostics(&uri), [small]);
    editor.replace(&uri, (4, 10), (4, 11), "13");
    assert_eq!(editor.diagnostics(&uri), ["3:0-3:4 1 spec: Invalid value: unlucky"]);
    editor.replace(&uri, (4, 10), (4, 12), "3 # 😀\n  lenght: 1");
    let unknown = "5:2-5:8 1 unknown field \"spec.lenght\"\nhelp: did you mean `length`?";
    assert_eq!(editor.diagnostics(&uri), [unknown]);
    editor.notify("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
}

#[test]
fn broken_yaml_is_an_error_at_a_line_of_the_file() {
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&uri, &format!("{KITE}---\n{}", KITE.replace("length: 3", "length: [3")));
    let broken = "12:8-12:9 1 error converting YAML to JSON: yaml: line 12: did not find expected ',' or ']'";
    assert_eq!(editor.diagnostics(&uri), [broken]);
}

#[test]
fn the_project_sets_severities() {
    let (folder, uri) = workspace();
    let settings = folder.path().join(".crdx.yaml");
    let found = |severity: &str| {
        std::fs::write(&settings, format!("severities: {{Input: {severity}}}\n")).unwrap();
        let mut editor = Editor::start(folder.path(), &Value::Null);
        editor.open(&uri, &format!("{KITE}  colour: blue\n"));
        editor.diagnostics(&uri)
    };
    let message = "key \"colour\" already set in map: first at 6:3, and the last one is used";
    for (severity, number) in [("error", 1), ("warning", 2), ("note", 4)] {
        assert_eq!(found(severity), [format!("6:2-6:3 {number} {message}")], "{severity}");
    }
    assert_eq!(found("off"), [""; 0]);
}

#[test]
fn positions_are_in_utf16_units() {
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let text = KITE.replace("{name: red}", "{name: red, labels: {a: 😀, b: c}}");
    editor.open(&uri, &text);
    let found = editor.diagnostics(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].starts_with("2:30-2:43 1 metadata.labels: Invalid value: \"😀\""), "{found:?}");
}

#[test]
fn a_suggestion_is_a_quick_fix() {
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&uri, &KITE.replace("  colour: red\n", "  \"colur\": red\n"));
    assert_eq!(editor.diagnostics(&uri).len(), 1);
    let actions = editor.actions(&uri, (5, 4));
    assert_eq!(actions[0]["title"], "Change to `colour`");
    let edit = &actions[0]["edit"]["changes"][&uri][0];
    assert_eq!(edit["newText"], "\"colour\"");
    assert_eq!(edit["range"], json!({"start": {"line": 5, "character": 2}, "end": {"line": 5, "character": 9}}));
}

#[test]
fn fields_are_described_and_completed() {
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&uri, "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {name: red}\nspec:\n  length: 3\n  \n");
    editor.diagnostics(&uri);
    let at = |line: u64, character: u64| json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
    let hover = editor.request("textDocument/hover", &at(4, 4));
    let text = hover["contents"]["value"].as_str().unwrap();
    assert_eq!(text, "**length** `integer` required\n\nIts length in metres.\n\n- minimum: `1`");
    let fields = editor.request("textDocument/completion", &at(5, 2));
    let labels = |items: &Value| items.as_array().unwrap().iter().map(|item| item["label"].clone()).collect::<Vec<_>>();
    assert_eq!(labels(&fields), [json!("colour")]);
    editor.replace(&uri, (5, 2), (5, 2), "colour: ");
    editor.diagnostics(&uri);
    let values = editor.request("textDocument/completion", &at(5, 10));
    assert_eq!(labels(&values), [json!("red"), json!("blue")]);
}

#[test]
fn a_saved_definition_changes_the_diagnostics() {
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.open(&uri, KITE);
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
    let crd = folder.path().join("crds/kites.yaml");
    std::fs::write(&crd, CRD.replace("minimum: 1", "minimum: 5")).unwrap();
    let saved = json!({"textDocument": {"uri": format!("file://{}", crd.display())}});
    editor.notify("textDocument/didSave", &saved);
    let found = editor.diagnostics(&uri);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].ends_with("should be greater than or equal to 5"), "{found:?}");
}

#[test]
fn files_of_other_programs_have_no_diagnostics() {
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    for text in ["a: 1\nb: [2]\n", "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n", ""] {
        editor.open(&uri, text);
        assert_eq!(editor.diagnostics(&uri), [""; 0], "{text}");
    }
    let template = uri.replace("kite.yaml", "templates/kite.yaml");
    editor.open(&template, "apiVersion: v1\n{{- if .Values.x }}\nkind: A\n{{- end }}\n");
    assert_eq!(editor.diagnostics(&template), [""; 0]);
}

#[test]
fn the_clients_options_are_used() {
    let (folder, uri) = workspace();
    let options = json!({"searchWorkspace": false});
    let mut editor = Editor::start(folder.path(), &options);
    editor.open(&uri, KITE);
    let found = editor.diagnostics(&uri);
    assert!(found[0].contains(" 3 "), "without its CRD the answer is unknown: {found:?}");
    let settings = json!({"settings": {"searchWorkspace": false, "crds": ["crds"]}});
    editor.notify("workspace/didChangeConfiguration", &settings);
    assert_eq!(editor.diagnostics(&uri), [""; 0]);
}

#[test]
fn the_server_exits_on_request() {
    let (folder, _) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    editor.request("shutdown", &Value::Null);
    editor.notify("exit", &Value::Null);
    assert_eq!(editor.server.wait().unwrap().code(), Some(0));
}

/// What `validate` prints for a text: line, character and message of every finding.
fn validated(folder: &Path, text: &str) -> Vec<String> {
    let file = folder.join("kite.yaml");
    std::fs::write(&file, text).unwrap();
    validate(&file, &[folder.join("crds")], &[], text)
}

/// As [`validated`], for a file with `text`, and with more arguments.
fn validate(file: &Path, crds: &[std::path::PathBuf], more: &[&str], text: &str) -> Vec<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.args(["validate", "--offline", "-o", "json", "--skip-non-objects", "-R"]).args(more);
    for crds in crds {
        command.arg("--crds").arg(crds);
    }
    let output = command.arg(file).env("KUBECONFIG", "/nonexistent").output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    findings(&report, text)
}

/// The findings of a report about a text: line, character and message.
fn findings(report: &Value, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for item in report["items"].as_array().unwrap() {
        let show = |problem: &Value, message: &str| {
            let help = problem["help"].as_str().map_or_else(String::new, |help| format!("\nhelp: {help}"));
            let location_line = problem["location"]["line"].as_u64().unwrap_or(1).max(1) as usize;
            let column = problem["location"]["column"].as_u64().unwrap_or(1).max(1) as usize;
            // An error at the end of the input may be on the line after the last one.
            let line = location_line.min(text.split('\n').count());
            let before: String = text.split('\n').nth(line - 1).unwrap().chars().take(column - 1).collect();
            let character = if location_line > line {
                text.rsplit('\n').next().unwrap().encode_utf16().count()
            } else {
                before.encode_utf16().count()
            };
            format!("{}:{character} {message}{help}", line - 1)
        };
        for name in ["errors", "hiddenErrors", "warnings"] {
            let problems = item[name].as_array().into_iter().flatten();
            found.extend(problems.map(|problem| show(problem, problem["message"].as_str().unwrap())));
        }
        if item["verdict"] == "cannotTell" {
            found.push(show(item, item["reason"].as_str().unwrap()));
        }
        // A rejection without field errors, such as a policy's.
        if item["verdict"] == "rejected" && item["errors"].as_array().is_none_or(Vec::is_empty) {
            found.push(show(item, item["answer"]["message"].as_str().unwrap()));
        }
    }
    found.sort();
    found
}

/// The diagnostics of [`Editor::diagnostics`] without the end and the severity.
fn places(diagnostics: &[String]) -> Vec<String> {
    let place = |found: &String| {
        let (range, rest) = found.split_once(' ').unwrap();
        format!("{} {}", range.split_once('-').unwrap().0, rest.split_once(' ').unwrap().1)
    };
    let mut places: Vec<String> = diagnostics.iter().map(place).collect();
    places.sort();
    places
}

/// Random edits: after each one the diagnostics are the findings of `validate` for the text that the client has.
#[test]
fn diagnostics_are_the_findings_of_validate() {
    const PIECES: &[&str] = &[
        "", "", "x", "0", "13", ": ", "\n", "  ", "- ", "😀", "\"", "red", "length", "null", "{", "}", "#", "é",
        "\n---\n",
    ];
    let (folder, uri) = workspace();
    let mut editor = Editor::start(folder.path(), &Value::Null);
    let mut text = KITE.to_owned();
    editor.open(&uri, &text);
    editor.diagnostics(&uri);
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let line = Regex::new("yaml: line [0-9]+").unwrap();
    for edit in 0..60 {
        if edit % 12 == 0 {
            text = format!("{KITE}---\n{KITE}").replace("name: red", &format!("name: k{edit}"));
            editor.replace(&uri, (0, 0), (9999, 0), &text);
            editor.diagnostics(&uri);
        }
        let boundaries: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let start = random(boundaries.len());
        let end = (start + random(4)).min(boundaries.len() - 1);
        let (start, end) = (boundaries[start], boundaries[end]);
        let position = |offset: usize| {
            let before = &text[..offset];
            let line = before.rsplit('\n').next().unwrap();
            (before.matches('\n').count() as u64, line.encode_utf16().count() as u64)
        };
        let (from, to) = (position(start), position(end));
        let piece = PIECES[random(PIECES.len())];
        editor.replace(&uri, from, to, piece);
        text.replace_range(start..end, piece);
        // The editor counts lines from the start of the file, and kubectl from that of the document.
        let without_lines = |found: &[String]| -> Vec<String> {
            found.iter().map(|found| line.replace(found, "yaml: line N").into_owned()).collect()
        };
        let shown = without_lines(&places(&editor.diagnostics(&uri)));
        let expected = without_lines(&validated(folder.path(), &text));
        assert_eq!(shown, expected, "after edit {edit}:\n{text}");
    }
}
