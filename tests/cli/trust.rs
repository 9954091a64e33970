//! Inputs of people who are not trusted: names and descriptions that control a terminal or a pipeline, settings that name
//! files elsewhere, and lists with Secrets.

use super::configuration::project;
use super::screens::{command, place};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

/// Runs a command line. Returns the exit code, standard output and standard error.
fn run(dir: &Path, line: &str) -> (Option<i32>, String, String) {
    let output = command(dir, line).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn has_control(text: &str) -> bool {
    text.chars().any(|c| (c.is_control() && !matches!(c, '\n' | '\t')) || ('\u{202a}'..='\u{202e}').contains(&c))
}

const HOSTILE: &str = r"\e]0;title\a\e[2J\x9b31m\u202E";

fn crd(description: &str, group: &str, plural: &str, kind: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: \"{plural}.{group}\"}}\nspec:\n  group: \"{group}\"\n  names: {{kind: \"{kind}\", plural: \"{plural}\"}}\n  scope: Namespaced\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            description: \"{description}\"\n            properties: {{a: {{type: string, description: \"{description}\"}}}}\n"
    )
}

#[test]
fn an_example_has_no_control_characters_and_can_be_validated() {
    let dir = place("trust-example");
    fs::write(dir.join("crd.yaml"), crd(HOSTILE, "toys.example.com", "kites", "Kite")).unwrap();
    let (code, example, err) = run(&dir, "example crd.yaml");
    assert_eq!((code, err.as_str()), (Some(0), ""), "{example}");
    assert!(!has_control(&example) && example.contains("# \\u001b]0;title\\u0007"), "{example:?}");
    fs::write(dir.join("example.yaml"), &example).unwrap();
    let (code, out, err) = run(&dir, "validate example.yaml --crds crd.yaml --offline");
    assert_eq!(code, Some(0), "{out}{err}");
    for line in ["schema crd.yaml", "explain kites --crds crd.yaml", "example crd.yaml -o json", "openapi crd.yaml"] {
        let (code, out, err) = run(&dir, line);
        assert!(code == Some(0) && !has_control(&out) && !has_control(&err), "{line}: {out:?}{err:?}");
    }
}

#[test]
fn json_of_an_expression_has_no_control_characters() {
    let dir = place("trust-cel");
    let output = command(&dir, "cel -o json").arg("'\u{9b}31m\u{202e}a\\u001b'").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!has_control(&text), "{text:?}");
    let report: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["value"], "\u{9b}31m\u{202e}a\u{1b}");
}

#[test]
fn a_kind_that_is_no_file_name_is_not_written() {
    let dir = place("trust-schema");
    for (file, kind) in [("line", "Kite\\nx"), ("up", "../x"), ("escape", "\\e[2J"), ("drive", "C:")] {
        fs::write(dir.join("crd.yaml"), crd("", "toys.example.com", "kites", kind)).unwrap();
        let (code, out, err) = run(&dir, &format!("schema crd.yaml --output-dir {file}"));
        assert_eq!((code, out.as_str()), (Some(2), ""), "{kind}: {err}");
        assert!(err.contains("cannot be the name of a file") && !dir.join(file).exists(), "{err}");
    }
}

#[test]
fn a_role_has_no_wildcards_of_a_definition() {
    let dir = place("trust-rbac");
    fs::write(dir.join("good.yaml"), crd("", "toys.example.com", "kites", "Kite")).unwrap();
    fs::write(dir.join("bad.yaml"), crd("", "*", "*", "Kite")).unwrap();
    let (code, out, err) = run(&dir, "rbac --crds bad.yaml --crds good.yaml");
    assert_eq!(code, Some(2), "{out}");
    assert!(out.contains("- kites") && !out.contains("'*'") && err.contains("cannot exist"), "{out}{err}");
    let (code, out, err) = run(&dir, "rbac *.*");
    assert_eq!((code, out.as_str()), (Some(2), ""), "{err}");
}

#[test]
fn settings_name_only_files_of_the_project() {
    let dir = project("trust-settings", "policies: ../netrc\n");
    fs::write(dir.parent().unwrap().join("netrc"), "machine example.com\n  password: hunter2: x\n").unwrap();
    let objects = "examples/objects/accepted.yaml --crds examples/crds --offline";
    let (code, out, err) = run(&dir, &format!("validate {objects}"));
    assert!(code == Some(2) && err.contains("../netrc is not a file of the project"), "{out}{err}");
    assert!(!err.contains("hunter2") && !out.contains("hunter2") && err.contains("CRDX_POLICIES"), "{out}{err}");
    // The same file, named by the user.
    let (code, _, err) = run(&dir, &format!("validate {objects} --policies ../netrc"));
    assert!(code == Some(2) && !err.contains("is not a file of the project"), "{err}");
    fs::write(dir.join(".crdx.yaml"), "crds: /dev/zero\n").unwrap();
    for line in ["validate examples/objects", "explain kites", "example kites", "rbac", "lint examples/crds"] {
        let (code, out, err) = run(&dir, line);
        assert!(code == Some(2) && err.contains("/dev/zero is not a file of the project"), "{line}: {out}{err}");
    }
}

#[cfg(unix)]
#[test]
fn a_list_with_a_secret_shows_no_lines() {
    let dir = place("trust-lists");
    let secret =
        "apiVersion: v1\n  kind: Secret\n  metadata: {name: s}\n  stringData: {p: hunter2}\n  unknown: hunter2";
    let other = "apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n  unknown: 1";
    let one_line = r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s"},"stringData":{
"p":"hunter2"}},{"apiVersion":"v1","unknown":1,"kind":"ConfigMap","metadata":{"name":"c"}}]}"#;
    let texts = [
        ("list", format!("apiVersion: v1\nkind: List\nitems:\n- {secret}\n- {other}\n")),
        ("typed", "apiVersion: v1\nkind: SecretList\nitems:\n- metadata: {name: s}\n  data: {p: hunter2}\n".to_owned()),
        ("broken", format!("apiVersion: v1\nkind: List\nitems:\n- {secret}\n- a: [hunter2\n")),
        ("secrets", "apiVersion: v1\nkind: SecretList\nitems: {p: hunter2}\n".to_owned()),
        ("lines", one_line.to_owned()),
    ];
    for (name, text) in texts {
        fs::write(dir.join(name), text).unwrap();
        for format in ["table", "json", "junit", "sarif", "github", "html", "markdown", "tap", "wide"] {
            let (code, out, err) = run(&dir, &format!("validate {name} --offline -o {format}"));
            assert!(matches!(code, Some(1 | 2)), "{name}: {out}{err}");
            assert!(!out.contains("hunter2") && !err.contains("hunter2"), "{name} -o {format}: {out}{err}");
        }
    }
}

/// File names with a line break begin a line of a log, where a pipeline would read a command.
#[cfg(unix)]
#[test]
fn file_names_are_no_commands_of_a_pipeline() {
    let dir = place("trust-commands");
    for command in ["::error::x", "##[error]x", "##vso[task.complete]x", "##teamcity[x]"] {
        let folder = dir.join(format!("f\n{command}"));
        fs::create_dir_all(&folder).unwrap();
        fs::copy(dir.join("input/costly-crd.yaml"), folder.join("crd.yaml")).unwrap();
        fs::write(folder.join("a.testsuite.yaml"), "crd: none.yaml\ntests: {onCreate: [{name: a}]}\n").unwrap();
        fs::write(folder.join("object.yaml"), "apiVersion: v1\nkind: 5\n").unwrap();
        let path = folder.display().to_string();
        let lines: [&[&str]; 4] = [
            &["lint", &path],
            &["test", &path],
            &["validate", "--offline", &path],
            &["rehearse", "examples/crds/crontab.yaml", "--old", "examples/crds/crontab.yaml", "-f", &path],
        ];
        for words in lines {
            for format in ["", "markdown", "tap"] {
                if format == "tap" && words[0] == "rehearse" {
                    continue;
                }
                let mut run = super::screens::command(&dir, "");
                run.args(words);
                if !format.is_empty() {
                    run.args(["-o", format]);
                }
                let output = run.output().unwrap();
                for shown in [output.stdout, output.stderr] {
                    let shown = String::from_utf8(shown).unwrap();
                    let is_command = |line: &str| {
                        line.trim_start().starts_with("::")
                            || ["##[", "##vso[", "##teamcity["].iter().any(|c| line.contains(c))
                    };
                    assert!(!shown.lines().any(is_command), "{words:?} -o {format}: {shown}");
                }
            }
        }
    }
}

/// Output for people and logs is bounded; the counts are complete.
#[test]
fn reports_of_many_broken_documents_are_bounded() {
    let dir = place("trust-bounds");
    let count = 12_000;
    let mut different = String::new();
    for n in 0..count {
        writeln!(different, "kind: K{n}\nname: {}\n---", "x".repeat(50)).unwrap();
    }
    fs::write(dir.join("different"), different).unwrap();
    fs::write(dir.join("equal"), "a: 1\n---\n".repeat(count)).unwrap();
    for (format, most) in
        [("table", 4 << 20), ("wide", 2 << 20), ("github", 2 << 20), ("tap", 2 << 20), ("markdown", 1 << 17)]
    {
        let (code, out, err) = run(&dir, &format!("validate different --offline -o {format}"));
        assert_eq!(code, Some(1), "{format}");
        assert!(out.len() + err.len() < most, "{format}: {} {}", out.len(), err.len());
        let has_count = [&out, &err].iter().any(|text| text.contains("12000") || text.contains(" more "));
        assert!(has_count, "{format}");
    }
    let (code, out, _) = run(&dir, "validate equal --offline");
    assert_eq!(code, Some(1));
    assert!(out.contains("and 11997 more documents have the errors of equal:1"), "{}", &out[out.len() - 500..]);
    assert!(out.ends_with("\n12000 objects: 12000 rejected\n"), "{}", &out[out.len() - 500..]);
}

#[test]
fn the_schema_of_a_deep_definition_is_bounded() {
    let dir = place("trust-deep");
    let deep = 1500;
    let text = crd("", "toys.example.com", "kites", "Kite");
    let nested = format!(
        "{}type: string{}",
        "{type: object, properties: {a: ".repeat(deep) + "{",
        "}".to_owned() + &"}}".repeat(deep)
    );
    let (head, _) = text.split_once("          spec:").unwrap();
    fs::write(dir.join("crd.yaml"), format!("{head}          spec: {nested}\n")).unwrap();
    for line in ["schema crd.yaml", "schema crd.yaml --output-dir out", "openapi crd.yaml"] {
        let (code, out, err) = run(&dir, line);
        assert_eq!((code, out.len()), (Some(2), 0), "{line}: {err:.500}");
        assert!(err.contains("the output would be longer than 1") && err.contains("help: "), "{line}: {err:.500}");
    }
    assert!(!dir.join("out").exists());
}
