//! The pictures in `docs` (`scripts/terminal-picture.py`, `scripts/editor-picture.py`).

use crate::cli::screens::place;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn pictures() -> Vec<PathBuf> {
    let docs = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs")).unwrap();
    docs.map(|entry| entry.unwrap().path()).filter(|path| path.extension().is_some_and(|e| e == "svg")).collect()
}

/// The lines of text in a picture, with one character for each character's width.
fn lines(picture: &str) -> Vec<String> {
    let document = roxmltree::Document::parse(picture).unwrap();
    let mut lines: BTreeMap<i64, String> = BTreeMap::new();
    for node in document.descendants().filter(|node| node.has_tag_name("text")) {
        let number = |name: &str| node.attribute(name).unwrap().parse::<f64>().unwrap();
        let line = lines.entry(number("y") as i64).or_default();
        let column = ((number("x") - 18.0) / 8.4).round() as usize;
        line.extend(std::iter::repeat_n(' ', column - line.chars().count()));
        line.push_str(node.text().unwrap_or_default());
    }
    lines.into_values().collect()
}

#[test]
fn spaces_are_kept_in_browsers() {
    let pictures = pictures();
    assert_eq!(pictures.len(), 4);
    for path in pictures {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains("style=\"white-space:pre\""), "{}", path.display());
        let kept = text.matches("xml:space=\"preserve\"").count();
        assert!(kept > 20 && kept == text.matches("<text ").count(), "{}: {kept}", path.display());
    }
}

#[test]
fn the_terminal_shows_what_the_program_prints() {
    let dir = place("pictures");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/terminal.svg");
    let shown = lines(&fs::read_to_string(path).unwrap());
    let mut commands = 0;
    let mut output: Vec<String> = Vec::new();
    for line in &shown {
        if let Some(command) = line.strip_prefix("$ kubectl crdx ") {
            commands += 1;
            let mut program = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
            let run =
                program.args(command.split(' ')).current_dir(&dir).env("KUBECONFIG", "/nonexistent").output().unwrap();
            let text = String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap();
            // Empty lines have no text in the picture.
            output =
                text.lines().rev().map(|line| line.trim_end().to_owned()).filter(|line| !line.is_empty()).collect();
        } else {
            assert_eq!(Some(line.trim_end().to_owned()), output.pop(), "scripts/terminal-picture.py draws it again");
        }
    }
    assert_eq!(commands, 2);
}
