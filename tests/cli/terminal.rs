//! What objects and files contain neither controls the terminal nor a pipeline; and a full standard error changes nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Every kind of character that must not reach the terminal, and commands of pipelines.
const HOSTILE: &str = "x\u{1b}[2J\u{7}\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}##vso[task.complete]\n::error::injected\n  ::stop-commands::x\n##[group]";

/// The same as a YAML scalar, in JSON's escapes.
fn scalar() -> String {
    serde_json::to_string(HOSTILE).unwrap().replace('\u{7f}', "\\u007f").replace('\u{9b}', "\\u009b")
}

fn place(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("terminal").join(name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    let text = scalar();
    let crd = format!(
        r#"{{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{{"name":"widgets.fake.example.com"}},"spec":{{"group":"fake.example.com","scope":"Namespaced","names":{{"plural":"widgets","singular":"widget","kind":"Widget","listKind":"WidgetList"}},"versions":[{{"name":"v1","served":true,"storage":true,"schema":{{"openAPIV3Schema":{{"type":"object","description":{text},"properties":{{"spec":{{"type":"object","properties":{{"color":{{"type":"string","description":{text},"enum":["red",{text}]}},"size":{{"type":"integer","x-kubernetes-validations":[{{"rule":"self < 3","message":{text}}}]}}}}}}}}}}}}}}]}}}}"#
    );
    fs::write(dir.join("crd.yaml"), crd).unwrap();
    let object = |name: &str, more: &str| {
        format!(
            "apiVersion: fake.example.com/v1\nkind: Widget\nmetadata: {{name: {name}, namespace: {text}}}\nspec: {{size: 7, color: {text}{more}}}\n"
        )
    };
    let bad = format!("{}---\n{}", object(&text, &format!(", {text}: 1")), object("fine", ""));
    fs::write(dir.join("a.yaml"), bad).unwrap();
    fs::write(
        dir.join("good.yaml"),
        object("fine", "").replace("size: 7", "size: 1").replace(&format!(", namespace: {text}"), ""),
    )
    .unwrap();
    fs::write(
        dir.join("old.yaml"),
        object("fine", "").replace("size: 7", "size: 2").replace(&format!(", namespace: {text}"), ""),
    )
    .unwrap();
    // The excerpt of a syntax error, and a kind that does not exist.
    fs::write(dir.join("broken.yaml"), "a: [\u{1b}[2J\u{202e}::error::\n::error::x\n").unwrap();
    fs::write(dir.join("kind.yaml"), format!("apiVersion: v1\nkind: {text}\nmetadata: {{name: {text}}}\n")).unwrap();
    #[cfg(unix)]
    for name in ["f\u{1b}[2J\u{202e}.yaml", "::error::f.yaml", "g\n::error::.yaml"] {
        fs::copy(dir.join("a.yaml"), dir.join(name.replace('/', "_"))).unwrap();
    }
    fs::create_dir(dir.join("suites")).unwrap();
    let suite = format!(
        "crds: [../crd.yaml]\ncases:\n- name: {text}\n  object: {{apiVersion: fake.example.com/v1, kind: Widget, metadata: {{name: {text}}}, spec: {{size: 7}}}}\n  accepted: true\n"
    );
    fs::write(dir.join("suites/suite.yaml"), suite).unwrap();
    dir
}

const LINES: &[&str] = &[
    "validate -f . --crds crd.yaml --offline",
    "validate -f . --crds crd.yaml --offline -o wide",
    "validate -f . --crds crd.yaml --offline -o name",
    "validate -f . --crds crd.yaml --offline -o github",
    "validate -f . --crds crd.yaml --offline -o tap",
    "validate -f . --crds crd.yaml --offline -o junit",
    "validate -f . --crds crd.yaml --offline -o html",
    "validate -f . --crds crd.yaml --offline --kubernetes-version 1.30..1.31",
    "diff -f good.yaml --old old.yaml --crds crd.yaml --offline",
    "diff -f a.yaml --old old.yaml --crds crd.yaml --offline",
    "diff -f a.yaml --old old.yaml --crds crd.yaml --offline -o github",
    "lint crd.yaml",
    "lint crd.yaml -o github",
    "lint kind.yaml broken.yaml",
    "lint crd.yaml --old a.yaml",
    "rehearse crd.yaml --old crd.yaml -f a.yaml --offline",
    "rehearse crd.yaml --old crd.yaml -f a.yaml --offline -o html",
    "test suites",
    "test suites -o github",
    "test suites -o tap",
    "test suites --coverage",
    "explain widgets.spec.color -f crd.yaml",
    "explain widgets --recursive -f crd.yaml",
    "scale widget/fine --replicas 1 -f good.yaml --crds crd.yaml --offline",
    "cel self.color -f good.yaml",
    "get widgets -f broken.yaml --crds crd.yaml --offline",
    "rbac --crds kind.yaml",
    "example kind.yaml broken.yaml",
    "schema kind.yaml",
    "openapi broken.yaml",
    "validate -f nothing\u{1b}[2J::.yaml --offline",
];

fn run(dir: &Path, line: &str, stderr: impl Into<Stdio>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"))
        .args(line.split(' '))
        .current_dir(dir)
        .env("KUBECONFIG", "/nonexistent/kubeconfig")
        .env_remove("KUBERNETES_SERVICE_HOST")
        .env_remove("NO_COLOR")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(stderr)
        .spawn()
        .unwrap()
        .wait_with_output()
        .unwrap()
}

/// Returns true for a character that no text for people may contain. ESC is checked separately.
fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[track_caller]
fn check(line: &str, text: &str, writes_commands: bool) {
    let found: String = text.chars().filter(|c| is_hidden(*c)).flat_map(char::escape_unicode).collect();
    assert!(found.is_empty(), "{line}: {found} in\n{text}");
    for (at, one) in text.lines().enumerate() {
        let start = one.trim_start();
        let is_own = writes_commands
            && ["error", "warning", "notice"].iter().any(|word| start.starts_with(&format!("::{word} ")));
        assert!(!start.starts_with("::") || is_own, "{line}: line {at} is a command: {one}");
        // GitHub and Azure look for these anywhere in a line.
        let is_data = line.contains("-o junit") || line.contains("-o html") || line.contains("-o github");
        assert!(is_data || !(one.contains("##vso[") || one.contains("##[")), "{line}: line {at} is a command: {one}");
    }
}

#[test]
fn no_input_controls_the_terminal_or_a_pipeline() {
    let dir = place("hostile");
    let mut shown = 0;
    let colors = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
    for line in LINES {
        for color in ["never", "always"] {
            let output = run(&dir, &format!("{line} --color {color}"), Stdio::piped());
            let output = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
            for text in &output {
                // The colours of this program; the inputs have another escape sequence.
                let text = if color == "always" { colors.replace_all(text, "").into_owned() } else { text.clone() };
                shown += usize::from(text.contains("u001b"));
                check(line, &text, line.contains("-o github"));
            }
            assert!(!output[1].contains("panicked"), "{line}: {}", output[1]);
        }
    }
    assert!(shown > 20, "only {shown} outputs show an escaped character");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_error_does_not_change_the_exit_code() {
    let dir = place("full");
    for line in LINES {
        let piped = run(&dir, line, Stdio::piped());
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = run(&dir, line, full);
        assert_eq!(output.status.code(), piped.status.code(), "{line}");
        assert_eq!(output.stdout, piped.stdout, "{line}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = run(&dir, line, writer);
        assert_eq!(output.status.code(), piped.status.code(), "{line}: closed");
        assert_eq!(output.stdout, piped.stdout, "{line}: closed");
    }
}
