//! The settings of a project: which file is read, what takes precedence, and where they apply.

use super::lsp::editor::Editor;
use super::screens::{command, place};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Creates a repository with the examples and these settings.
pub fn project(name: &str, settings: &str) -> PathBuf {
    let dir = place(name);
    git(&dir, &["init", "-q", "-b", "main"]);
    fs::write(dir.join(".crdx.yaml"), settings).unwrap();
    dir
}

pub fn git(dir: &Path, arguments: &[&str]) -> String {
    let identity = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"];
    let output = Command::new("git").arg("-C").arg(dir).args(identity).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Runs a command line with variables. Returns standard output, standard error and the exit code.
fn run(dir: &Path, line: &str, variables: &[(&str, &str)]) -> (String, String, Option<i32>) {
    let output = command(dir, line).envs(variables.iter().copied()).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn commands_use_the_settings_of_the_project() {
    let dir = project("settings", "crds: examples/crds\nskip: Gate\nignore: /examples/objects/rejected.yaml\n");
    let folder = dir.join("examples/objects");
    let (out, err, exit) = run(&folder, "validate . --offline", &[]);
    assert_eq!(exit, Some(0), "{out}{err}");
    let restrictions = "../../.crdx.yaml skips Gate; ../../.crdx.yaml ignores /examples/objects/rejected.yaml\n";
    assert!(out.ends_with(&format!("3 objects: 2 accepted, 1 skipped; {restrictions}")), "{out}");
    let (out, ..) = run(&folder, "validate . --offline -q", &[]);
    assert!(out.contains(restrictions), "{out}");
    let (out, ..) = run(&folder, "validate . --offline -o json", &[]);
    let report: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["notes"][0], json!({"type": "restrictions", "message": restrictions.trim()}));
    let (_, err, _) = run(&folder, "diff . --offline", &[]);
    assert!(err.contains(restrictions), "{err}");
    // A path is read itself; a name needs the CRDs.
    for line in ["example crontabs --offline", "explain crontabs.spec", "schema ../crds/gate.yaml", "lint ../crds"] {
        let (out, err, exit) = run(&folder, line, &[]);
        assert_eq!(exit, Some(0), "{line}: {out}{err}");
    }
    let (out, ..) = run(&dir, "schema examples/crds --output-dir schemas", &[]);
    assert!(out.contains("crontab_v1.json") && out.contains("gate_v1.json"), "{out}");
    let (out, ..) = run(&dir, "rbac kites.toys.example.com", &[]);
    assert!(out.contains("kites") && !out.contains("crontabs"), "a role permits only what was named: {out}");
    let (out, ..) = run(&dir, "rbac", &[]);
    assert!(out.contains("crontabs"), "{out}");
}

#[test]
fn flags_take_precedence_over_variables_and_variables_over_the_file() {
    let dir = project("precedence", "kubernetesVersion: '1.31'\ncrds: nowhere\noutput: {validate: json}\n");
    let version = |line: &str, variables: &[(&str, &str)]| {
        let (out, err, _) = run(&dir, &format!("validate examples/objects --offline {line}"), variables);
        let report: Value = serde_json::from_str(&out).unwrap_or_else(|_| panic!("{out}{err}"));
        report["kubernetesVersions"].clone()
    };
    let crds = ("CRDX_CRDS", "examples/crds");
    assert_eq!(version("", &[crds]), json!(["1.31"]));
    assert_eq!(version("", &[crds, ("CRDX_KUBERNETES_VERSION", "1.32..1.33")]), json!(["1.32", "1.33"]));
    let newest = "--crds examples/crds --kubernetes-version 1.36";
    assert_eq!(version(newest, &[("CRDX_KUBERNETES_VERSION", "1.32")]), json!(["1.36"]));
    // Commands that simulate one version use the newest.
    let (_, err, exit) =
        run(&dir, "diff examples/objects/accepted.yaml --offline", &[crds, ("CRDX_KUBERNETES_VERSION", "1.32..1.33")]);
    assert_eq!(exit, Some(1), "{err}");
    let (_, err, exit) = run(&dir, "validate examples/objects --offline", &[]);
    assert_eq!(exit, Some(2));
    assert!(err.contains("the path \"nowhere\" does not exist") && err.contains(".crdx.yaml:2:1 names it"), "{err}");
    let (out, _, exit) = run(&dir, "validate examples/objects/accepted.yaml --offline --no-config", &[crds]);
    assert!(exit == Some(0) && out.starts_with("LOCATION"), "{out}");
    let (out, _, exit) =
        run(&dir, "validate examples/objects/accepted.yaml --offline", &[crds, ("CRDX_NO_CONFIG", "1")]);
    assert!(exit == Some(0) && out.starts_with("LOCATION"), "{out}");
}

#[test]
fn an_invalid_file_stops_commands_that_use_it() {
    let dir = project("invalid", "crds: examples/crds\ncdrs: a\n");
    for line in ["validate examples/objects", "lint examples/crds", "config", "envtest --dir bin", "get crontabs"] {
        let (out, err, exit) = run(&dir, line, &[]);
        assert_eq!((out.as_str(), exit), ("", Some(2)), "{line}");
        assert!(err.contains(".crdx.yaml:2:1") && err.contains("did you mean `crds`?"), "{err}");
    }
    assert_eq!(run(&dir, "version", &[]).2, Some(0));
    fs::write(dir.join(".crdx.yaml"), "output: {lint: jsno}\n").unwrap();
    let (_, err, exit) = run(&dir, "lint examples/crds", &[]);
    assert!(
        exit == Some(2) && err.contains("unknown format \"jsno\"") && err.contains("did you mean `json`?"),
        "{err}"
    );
    let (_, err, exit) = run(&dir, "config", &[("CRDX_CDRS", "a"), ("CRDX_OUTPUT", "json")]);
    assert!(exit == Some(0) && err.contains("CRDX_CDRS has no effect"), "{err}");
}

#[test]
fn the_file_of_a_commit_can_be_read() {
    let dir = project("commit", "crds: examples/crds\n");
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "a"]);
    fs::write(dir.join(".crdx.yaml"), "crds: examples/crds\nskip: [CronTab, Gate]\n").unwrap();
    let line = "validate examples/objects/rejected.yaml --offline";
    assert_eq!(run(&dir, line, &[]).2, Some(0), "everything is skipped");
    assert_eq!(run(&dir, &format!("{line} --config git:main"), &[]).2, Some(1));
    assert_eq!(
        run(&dir.join("examples"), "validate objects/rejected.yaml --offline --config git:main", &[]).2,
        Some(1)
    );
    let (_, err, exit) = run(&dir, &format!("{line} --config git:none"), &[]);
    assert!(exit == Some(2) && err.contains("git finds no commit \"none\""), "{err}");
}

#[test]
fn the_language_server_reads_the_file_of_the_workspace() {
    let dir = project("workspace", "crds: hidden\nskip: Gate\n");
    // CRDs in a hidden directory are found only by the settings.
    fs::rename(dir.join("examples/crds"), dir.join(".crds")).unwrap();
    fs::write(dir.join(".crdx.yaml"), "crds: .crds\nskip: Gate\n").unwrap();
    let mut editor = Editor::start(&dir, &json!({}));
    let rejected = fs::read_to_string(dir.join("examples/objects/rejected.yaml")).unwrap();
    let uri = format!("file://{}", dir.join("examples/objects/rejected.yaml").display());
    editor.open(&uri, &rejected);
    let text = editor.diagnostics(&uri).join("\n");
    assert!(text.contains("replcas") && !text.contains("south"), "{text}");
}

#[test]
fn targets_of_the_settings_are_validated_on_their_own() {
    let settings = "crds: examples/crds\ntargets:\n- examples/clusters/s*\n- name: live\n  paths: examples/clusters/production\n  kubernetesVersion: '1.34'\n";
    let dir = project("targets", settings);
    let json = |line: &str| -> Value { serde_json::from_str(&run(&dir, line, &[]).0).unwrap() };
    let targets = |report: &Value| -> Vec<String> {
        let items = report["items"].as_array().unwrap();
        items.iter().map(|item| format!("{} {}", item["target"], item["verdict"]).replace('"', "")).collect()
    };
    let all = json("validate --offline -o json");
    let staging = ["examples/clusters/staging accepted", "examples/clusters/staging rejected"];
    assert_eq!(targets(&all), [staging[0], staging[1], "live accepted", "live accepted"]);
    assert_eq!(all["kubernetesVersions"], json!(["1.34", "1.37"]));
    // A path is validated in the target that has it, and one of no target as before.
    let report = json("validate examples/clusters/production/db.yaml examples/objects/accepted.yaml --offline -o json");
    assert_eq!(targets(&report), ["live accepted", "live accepted", "null accepted", "null accepted"]);
    let report = json("validate -R examples/clusters --offline -o json --kubernetes-version 1.36");
    assert_eq!((targets(&report).len(), &report["kubernetesVersions"]), (4, &json!(["1.36"])));
    assert_eq!(targets(&json("validate --target live --offline -o json")), ["live accepted"; 2]);
    let (out, err, exit) = run(&dir, "diff --offline --target live", &[]);
    assert!(out.contains("+  host: db.example.com") && !out.contains("staging"), "{out}");
    assert_eq!(exit, Some(1), "{err}");
    // Each target is compared with its own files of the commit.
    git(&dir, &["add", "."]);
    git(&dir, &["commit", "-qm", "first"]);
    let (out, err, exit) = run(&dir, "diff --offline --old git:main", &[]);
    assert_eq!((out.as_str(), exit), ("", Some(0)), "{err}");
    let file = dir.join("examples/clusters/staging/db.yaml");
    fs::write(&file, fs::read_to_string(&file).unwrap().replace("replicas: 20", "replicas: 3")).unwrap();
    let (out, err, exit) = run(&dir, "diff --offline --old git:main", &[]);
    assert!(out.contains("-  replicas: 20") && out.contains("+  replicas: 3"), "{out}{err}");
    assert_eq!(exit, Some(1), "{err}");
    let (out, _, exit) = run(&dir, "diff --offline --old git:main --ignore-field spec.replicas", &[]);
    assert_eq!((out.as_str(), exit), ("", Some(0)), "a field that is left out does not differ");
    fs::write(dir.join(".crdx.yaml"), format!("{settings}ignoreFields: [.spec.replicas]\n")).unwrap();
    assert_eq!(run(&dir, "diff --offline --old git:main", &[]).2, Some(0));
}

#[test]
fn targets_name_only_files_of_the_project() {
    let dir = project("target-trust", "targets: [{paths: ../outside.yaml}]\n");
    let (_, err, exit) = run(&dir, "validate --offline", &[]);
    assert!(err.contains("targets: ") && err.contains("is not a file of the project"), "{err}");
    assert_eq!(exit, Some(2), "{err}");
}
