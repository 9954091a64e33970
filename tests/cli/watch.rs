//! Tests of `validate --watch` as a user in a terminal sees it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

const GOOD: &str = "apiVersion: stable.example.com/v1\nkind: CronTab\nmetadata:\n  name: x\nspec:\n  image: a\n";

/// Reads until each of `words` has occurred in a line, in any order, because there are two streams. Fails instead of
/// blocking if one never occurs.
fn until(lines: &Receiver<String>, words: &[&str]) {
    let mut seen: Vec<String> = Vec::new();
    while !words.iter().all(|word| seen.iter().any(|line| line.contains(word))) {
        match lines.recv_timeout(Duration::from_mins(2)) {
            Ok(line) => seen.push(line),
            Err(error) => panic!("{words:?} did not come ({error}): {seen:?}"),
        }
    }
}

/// The lines of both streams of a process.
fn lines_of(child: &mut Child) -> Receiver<String> {
    let (send, lines) = mpsc::channel();
    let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
    let both = send.clone();
    thread::spawn(move || BufReader::new(out).lines().map_while(Result::ok).try_for_each(|line| send.send(line)));
    thread::spawn(move || BufReader::new(err).lines().map_while(Result::ok).try_for_each(|line| both.send(line)));
    lines
}

/// Starts a command in `dir`.
fn start(dir: &Path, line: &str) -> (Child, Receiver<String>) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(line.split(' '))
        .current_dir(dir)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = lines_of(&mut child);
    (child, lines)
}

#[test]
fn changed_files_are_validated_again() {
    let dir = crate::cli::screens::place("watch");
    let objects = dir.join("objects");
    fs::create_dir(&objects).unwrap();
    fs::write(objects.join("a.yaml"), GOOD).unwrap();
    let (mut child, lines) = start(&dir, "validate -f objects --crds examples/crds --offline --watch");
    until(&lines, &["1 object: 1 accepted", "watching 3 files"]);
    fs::write(objects.join("a.yaml"), GOOD.replace("image", "imaje")).unwrap();
    until(&lines, &[" UTC changed: objects/a.yaml", "1 object: 1 rejected", "watching 3 files"]);
    // New files are validated, and new CRDs are used.
    fs::write(objects.join("b.yaml"), GOOD.replace("name: x", "name: second")).unwrap();
    until(&lines, &["2 objects: 1 accepted, 1 rejected", "watching 4 files"]);
    fs::remove_file(dir.join("examples/crds/crontab.yaml")).unwrap();
    until(&lines, &["2 objects: 2 cannot tell", "watching 3 files"]);

    if cfg!(unix) {
        let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(told.success());
        assert_eq!(child.wait().unwrap().code(), Some(2), "the last exit code");
    } else {
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[test]
fn standard_input_is_not_watched() {
    let output = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(["validate", "-f", "-", "--offline", "--watch"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "error: standard input cannot be watched: give files or directories with --watch\n");
}

#[test]
fn lint_and_diff_watch_files_and_settings() {
    let dir = crate::cli::configuration::project("watch-others", "crds: examples/crds\n");
    fs::write(dir.join("a.yaml"), GOOD).unwrap();
    let (mut child, lines) = start(&dir, "diff a.yaml --old a.yaml --offline --watch");
    until(&lines, &["watching 4 files"]);
    fs::write(dir.join("a.yaml"), GOOD.replace("image", "imaje")).unwrap();
    until(&lines, &["changed: a.yaml", "1 rejected", "watching 4 files"]);
    // New settings are used.
    fs::write(dir.join(".crdx.yaml"), "crds: examples/crds\nskip: CronTab\n").unwrap();
    until(&lines, &[".crdx.yaml skips CronTab", "watching 4 files"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let (mut child, lines) = start(&dir, "lint examples/crds/gate.yaml -q --watch");
    until(&lines, &["1 object: 1 accepted", "watching "]);
    let crd = fs::read_to_string(dir.join("examples/crds/gate.yaml")).unwrap();
    fs::write(dir.join("examples/crds/gate.yaml"), crd.replace("scope: ", "scoop: ")).unwrap();
    until(&lines, &["1 object: 1 rejected"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The commands that watch, with the line that says that the settings are used.
#[test]
fn settings_that_cannot_be_used_do_not_end_a_watch() {
    let dir = crate::cli::configuration::project("watch-settings", "kubernetesVersion: '1.34'\n");
    fs::write(dir.join("a.yaml"), GOOD).unwrap();
    let suite = "crd: examples/crds/crontab.yaml\ntests:\n  onCreate:\n  - name: a\n    initial: |\n      apiVersion: stable.example.com/v1\n      kind: CronTab\n      spec: {image: a}\n";
    fs::write(dir.join("a.testsuite.yaml"), suite).unwrap();
    let settings = dir.join(".crdx.yaml");
    for line in [
        "validate a.yaml --crds examples/crds --offline --watch",
        "diff a.yaml --old a.yaml --crds examples/crds --offline --watch",
        "lint examples/crds/gate.yaml --watch",
        "test a.testsuite.yaml --watch",
    ] {
        fs::write(&settings, "kubernetesVersion: '1.34'\n").unwrap();
        let (mut child, lines) = start(&dir, line);
        until(&lines, &["watching "]);
        for wrong in ["kubernetesVersion: [\n", "kubernetesVersion: '1.2'\n", "version: '1.34'\n"] {
            fs::write(&settings, wrong).unwrap();
            until(&lines, &["changed: .crdx.yaml", "error: ", "watching 1 file;"]);
        }
        // The file may be empty, too.
        for right in ["# nothing\n", "kubernetesVersion: '1.35'\n"] {
            fs::write(&settings, right).unwrap();
            until(&lines, &["changed: .crdx.yaml", "watching "]);
            assert_eq!(child.try_wait().unwrap(), None, "{line}");
        }
        // It is watched again.
        fs::write(&settings, "kubernetesVersion: '1.36'\n").unwrap();
        until(&lines, &["changed: .crdx.yaml", "watching "]);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
