//! Objects of real projects with random edits: the diagnostics are the findings of `validate -o json` for the same text.

use super::editor::{Editor, uri};
use super::{findings, places};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const OBJECTS: usize = 500;
/// The edits of each object.
const EDITS: usize = 3;
const PIECES: &[&str] = &[
    "", "", "", "x", "0", "-1", ": ", "\n", "\r\n", "  ", "- ", "😀", "\"", "true", "null", "~", "{", "}", "[a]", "#",
    "é", "\n---\n", "name", "spec",
];

/// The program; a release build is faster.
fn binary() -> PathBuf {
    std::env::var_os("CRDX_BINARY").map_or_else(|| env!("CARGO_BIN_EXE_kubectl-crdx").into(), PathBuf::from)
}

/// The number of objects; `CRDX_OBJECTS` takes fewer.
fn number_of_objects() -> usize {
    std::env::var("CRDX_OBJECTS").map_or(OBJECTS, |number| number.parse().unwrap())
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// The value of a member at the beginning of a line, such as `kind`.
fn member<'t>(text: &'t str, indent: &str, key: &str) -> Option<&'t str> {
    let prefix = format!("{indent}{key}: ");
    text.lines().find_map(|line| line.strip_prefix(&prefix)).map(|value| value.trim().trim_matches('"'))
}

/// The objects of the corpus by the file of their CRD.
fn objects(corpus: &Path) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut all: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for project in files(corpus).into_iter().filter(|path| path.is_dir()) {
        let mut definitions: BTreeMap<(String, String), PathBuf> = BTreeMap::new();
        for file in files(&project.join("crds")) {
            let text = fs::read_to_string(&file).unwrap();
            for document in text.split("\n---") {
                let kind = document.split("\n  names:").nth(1).and_then(|names| member(names, "    ", "kind"));
                if let (Some(group), Some(kind)) = (member(document, "  ", "group"), kind) {
                    definitions.entry((group.to_owned(), kind.to_owned())).or_insert_with(|| file.clone());
                }
            }
        }
        for file in files(&project.join("objects")).into_iter().chain(files(&project.join("invalid"))) {
            let text = fs::read_to_string(&file).unwrap();
            let group =
                member(&text, "", "apiVersion").and_then(|version| version.split_once('/')).map(|(group, _)| group);
            if let (Some(group), Some(kind)) = (group, member(&text, "", "kind"))
                && let Some(crd) = definitions.get(&(group.to_owned(), kind.to_owned()))
            {
                all.entry(crd.clone()).or_default().push(file);
            }
        }
    }
    all
}

#[test]
#[ignore = "compares 500 objects of ../shared/corpus with separate runs of validate; minutes (CRDX_BINARY names a release build)"]
fn diagnostics_of_real_objects_are_the_findings_of_validate() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    assert!(corpus.is_dir(), "there is no ../shared/corpus");
    let all = objects(&corpus);
    // Some of every CRD first.
    let most = all.values().map(Vec::len).max().unwrap_or_default();
    let rounds = (0..most).flat_map(|n| all.iter().filter_map(move |(crd, files)| Some((crd, files.get(n)?))));
    let mut chosen: BTreeMap<&Path, Vec<&PathBuf>> = BTreeMap::new();
    rounds.take(number_of_objects()).for_each(|(crd, file)| chosen.entry(crd).or_default().push(file));
    let mut state = 3_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let (mut compared, mut objects, mut with_findings, mut found_all) = (0, 0, 0, 0);
    for (crd, files) in &chosen {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("object.yaml");
        let uri = uri(folder.path(), "object.yaml");
        let mut command = Command::new(binary());
        let options = json!({"searchWorkspace": false, "crds": [crd]});
        let mut editor = Editor::spawn(command.arg("lsp").env("KUBECONFIG", "/nonexistent"), folder.path(), &options);
        for object in files {
            objects += 1;
            let mut text = fs::read_to_string(object).unwrap();
            editor.open(&uri, &text);
            let mut shown = editor.diagnostics(&uri);
            for edit in 0..=EDITS {
                if edit > 0 {
                    let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                    let first = random(ends.len());
                    let last = (first + random(5)).min(ends.len() - 1);
                    let (start, end) = (ends[first], ends[last]);
                    let position = |offset: usize| {
                        // A carriage return of its own ends a line, too, but the objects have none.
                        let line = text[..offset].rsplit('\n').next().unwrap();
                        (text[..offset].matches('\n').count() as u64, line.encode_utf16().count() as u64)
                    };
                    // The protocol has no position between the two characters of a line break.
                    let is_inside = |offset: usize| text[..offset].ends_with('\r') && text[offset..].starts_with('\n');
                    if is_inside(start) || is_inside(end) {
                        continue;
                    }
                    let (from, to) = (position(start), position(end));
                    let piece = PIECES[random(PIECES.len())];
                    editor.replace(&uri, from, to, piece);
                    text.replace_range(start..end, piece);
                    shown = editor.diagnostics(&uri);
                }
                fs::write(&file, &text).unwrap();
                let output = Command::new(binary())
                    .args(["validate", "--offline", "-o", "json", "--skip-non-objects", "--crds"])
                    .args([crd, file.as_path()])
                    .env("KUBECONFIG", "/nonexistent")
                    .output()
                    .unwrap();
                let report: Value = serde_json::from_slice(&output.stdout).unwrap();
                let wanted = findings(&report, &text);
                assert_eq!(places(&shown), wanted, "{} after edit {edit}:\n{text}", object.display());
                compared += 1;
                with_findings += usize::from(!wanted.is_empty());
                found_all += wanted.len();
            }
        }
        println!("{objects} objects, {compared} texts, {with_findings} with findings");
    }
    println!(
        "{objects} objects of {} CRD files, {compared} texts, {with_findings} with findings ({found_all}): all equal",
        chosen.len()
    );
    assert!(objects == number_of_objects() && with_findings > objects);
}
