//! Repositories in which objects are stored next to Helm charts, kustomizations and files of other programs.

use serde_json::Value;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const CRD: &str = "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.toys.example.com}
spec:
  group: toys.example.com
  scope: Namespaced
  names: {plural: kites, kind: Kite}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {length: {type: integer, minimum: 1}, text: {type: string}}}
";

const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec: {validations: [{expression: 'true'}], matchConstraints: {resourceRules: [{apiGroups: [a], apiVersions: [v1], operations: [CREATE], resources: [bs]}]}}
";

fn kite(name: &str, length: i64) -> String {
    format!(
        "apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {{name: {name}, labels: {{app: {name}}}}}\nspec: {{length: {length}}}\n"
    )
}

fn write(root: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = root.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// A repository with one object, one CRD and many other files.
fn repository() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    write(root, "package.json", "{\"name\": \"x\", \"scripts\": {}}");
    write(root, "compose.yaml", "services: {web: {image: nginx}}\n");
    write(root, "empty.yaml", "");
    write(root, "comment.yaml", "# to be written\n---\n");
    write(root, "chart/Chart.yaml", "apiVersion: v2\nname: chart\nversion: 1.0.0\n");
    write(root, "chart/values.yaml", "replicas: 1\n");
    write(root, "chart/templates/kite.yaml", "{{- if .Values.x }}\nkind: Kite\n{{- end }}\n");
    write(root, "config/crd/kustomization.yaml", "resources: [kites.yaml]\n");
    write(root, "config/crd/kites.yaml", CRD);
    write(root, "config/crd/policy.yaml", POLICY);
    let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n";
    write(root, "objects/component.yaml", component);
    write(root, "objects/kite.yaml", kite("a", 3));
    dir
}

fn command(root: &Path, line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-crdx"));
    command.args(line.split_whitespace()).current_dir(root).env("KUBECONFIG", "/nonexistent/kubeconfig");
    command
}

fn run(root: &Path, line: &str) -> (Option<i32>, String) {
    finished(&command(root, line).stdin(Stdio::null()).output().unwrap())
}

fn run_with(root: &Path, line: &str, input: &[u8]) -> (Option<i32>, String) {
    let mut child =
        command(root, line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    finished(&child.wait_with_output().unwrap())
}

fn finished(output: &Output) -> (Option<i32>, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

fn json(root: &Path, line: &str) -> Value {
    let output = command(root, line).stdin(Stdio::null()).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_repository_with_other_files_is_validated() {
    let dir = repository();
    let (code, text) = run(dir.path(), "validate -R . --offline");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("objects/kite.yaml"), "{text}");
    assert!(text.contains("9 documents that are not Kubernetes objects were skipped"), "{text}");
    assert!(
        text.contains("1 of them is a template of Helm: render it first (kubectl crdx validate --render"),
        "{text}"
    );
    let report = json(dir.path(), "validate -R . --offline -o json");
    assert_eq!(report["notes"][0]["type"], "skippedInputs");
    assert_eq!(report["summary"]["cannotTell"], 0);
}

#[test]
fn a_directory_without_an_object_is_an_error() {
    let dir = repository();
    for line in ["validate chart --offline", "validate objects --crds chart --offline", "lint chart", "get -f chart"] {
        let (code, text) = run(dir.path(), line);
        assert_eq!(code, Some(2), "{line}: {text}");
        assert!(text.contains("no Kubernetes object in this directory"), "{line}: {text}");
    }
}

#[test]
fn a_named_file_must_be_an_object_unless_others_are_skipped() {
    let dir = repository();
    // kubectl refuses a document that is no object, and has nothing to send for an empty file.
    for (file, expected, message) in [
        ("chart/values.yaml", 1, "not a Kubernetes object"),
        ("chart/Chart.yaml", 1, "a file of Helm,"),
        ("config/crd/kustomization.yaml", 1, "configuration of kustomize"),
        (
            "chart/templates/kite.yaml",
            1,
            "help: kubectl crdx validate --render CHART, or helm template … | kubectl crdx validate -f -",
        ),
        ("empty.yaml", 2, "there is no object in empty.yaml"),
    ] {
        let (code, text) = run(dir.path(), &format!("validate {file} --offline"));
        assert_eq!(code, Some(expected), "{file}: {text}");
        assert!(text.contains(message), "{file}: {text}");
        let (code, text) = run(dir.path(), &format!("validate --skip-non-objects {file} --offline"));
        assert_eq!(code, Some(0), "{file}: {text}");
        assert!(text.contains("1 document that is not a Kubernetes object was skipped"), "{file}: {text}");
    }
}

#[test]
fn an_object_with_only_one_of_api_version_and_kind_is_an_error() {
    let dir = repository();
    write(dir.path(), "config/crd/mistake.yaml", "kind: Kite\nmetadata: {name: a}\n");
    for (line, expected) in
        [("validate -R . --offline", 1), ("validate objects --crds config/crd --offline", 2), ("lint config/crd", 1)]
    {
        let (code, text) = run(dir.path(), line);
        assert_eq!(code, Some(expected), "{line}: {text}");
        assert!(text.contains("no apiVersion"), "{line}: {text}");
    }
}

/// Like `config/crd/experimental` in Gateway API.
#[test]
fn every_flag_takes_a_directory_with_a_kustomization_and_a_policy() {
    let dir = repository();
    write(dir.path(), "old/kite.yaml", kite("a", 2));
    write(dir.path(), "old/kustomization.yaml", "resources: [kite.yaml]\n");
    for line in [
        "validate objects --crds config/crd --offline",
        "validate objects --crds config/crd --old old --offline",
        "get kites -f objects --crds config/crd",
        "get -f objects --crds config/crd",
        "lint config/crd",
        "lint config/crd --old config/crd",
        "rehearse config/crd --old config/crd -f objects --offline",
        "openapi config/crd",
        "rbac --crds config/crd",
        "cel self.spec.length==3 -f objects/kite.yaml --crds config/crd",
    ] {
        let (code, text) = run(dir.path(), line);
        assert_eq!(code, Some(0), "{line}: {text}");
    }
    let (code, text) = run(dir.path(), "scale kites/a --replicas 1 -f objects --crds config/crd");
    assert_eq!(code, Some(1), "it has no scale, but it was found: {text}");
    assert!(text.contains("no scale subresource"), "{text}");
}

#[test]
fn ignored_files_are_skipped() {
    let dir = repository();
    write(dir.path(), "objects/drafts/bad.yaml", kite("bad", 0));
    write(dir.path(), "objects/bad.gen.yaml", kite("bad", 0));
    let (code, text) = run(dir.path(), "validate -R objects --crds config/crd --offline");
    assert_eq!(code, Some(1), "{text}");
    let line = "validate -R objects --crds config/crd --offline --ignore drafts/ --ignore *.gen.yaml";
    let (code, text) = run(dir.path(), line);
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = run(
        dir.path(),
        "validate objects/bad.gen.yaml objects/kite.yaml --crds config/crd --offline --ignore *.gen.yaml",
    );
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = run(dir.path(), "lint -R . --ignore objects --ignore config/crd");
    assert_eq!(code, Some(2), "nothing is left: {text}");
    let (code, text) = run(dir.path(), "validate objects --ignore a{b --offline");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("syntax of .gitignore"), "{text}");
}

#[test]
fn kinds_are_skipped_and_labels_selected() {
    let dir = repository();
    write(dir.path(), "all.yaml", format!("{CRD}---\n{}---\n{}", kite("a", 1), kite("b", 0)));
    let counts = |flags: &str| {
        let report = json(dir.path(), &format!("validate all.yaml --offline -o json {flags}"));
        let count = |verdict: &str| report["summary"][verdict].as_u64().unwrap();
        (count("accepted"), count("rejected"), count("skipped"))
    };
    assert_eq!(counts(""), (2, 1, 0));
    assert_eq!(counts("--skip Kite"), (1, 0, 2));
    assert_eq!(counts("--skip Kite.example.com --skip Pod"), (2, 1, 0));
    assert_eq!(counts("--skip CustomResourceDefinition"), (1, 1, 1), "a CRD that is skipped still defines its kind");
    assert_eq!(counts("-l app=a"), (1, 0, 0));
    assert_eq!(counts("--selector app!=b"), (2, 0, 0));
    let output = command(dir.path(), "diff all.yaml --offline").args(["-l", "app in (b, c)"]).output().unwrap();
    let (code, text) = finished(&output);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("2 objects do not match the selector and were left out"), "{text}");
    let (code, text) = run(dir.path(), "validate all.yaml --offline -l a=b=c");
    assert_eq!(code, Some(2), "{text}");
}

#[cfg(unix)]
#[test]
fn a_directory_is_built_by_kubectl_or_kustomize() {
    use std::os::unix::fs::PermissionsExt;
    let dir = repository();
    let program = |name: &str, text: &str| {
        write(dir.path(), name, format!("#!/bin/sh\necho \"warning of $0 $*\" >&2\n{text}\n"));
        fs::set_permissions(dir.path().join(name), fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("first/kubectl", "exec /bin/cat all.yaml");
    program("second/kustomize", "exec /bin/cat all.yaml");
    program("third/kubectl", "exit 3");
    write(dir.path(), "all.yaml", format!("{CRD}---\n{}", kite("a", 1)));
    let run = |path: &str| {
        let path = dir.path().join(path);
        finished(&command(dir.path(), "validate -k overlays/a --offline").env("PATH", path).output().unwrap())
    };
    for (path, called) in [("first", "kubectl kustomize overlays/a"), ("second", "kustomize build overlays/a")] {
        let (code, text) = run(path);
        assert_eq!(code, Some(0), "{text}");
        assert!(text.contains(called) && text.contains("overlays/a:"), "{text}");
    }
    write(dir.path(), "crd.yaml", CRD);
    let rehearse = "rehearse crd.yaml --old crd.yaml -k overlays/a --offline";
    let path = dir.path().join("first");
    let (code, text) = finished(&command(dir.path(), rehearse).env("PATH", path).output().unwrap());
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("1 object") && text.contains("kubectl kustomize overlays/a"), "{text}");
    let (code, text) = run("third");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("kubectl kustomize overlays/a failed: exit status: 3"), "{text}");
    let (code, text) = run("none");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("neither kubectl nor kustomize is on the PATH"), "{text}");
}

/// kubectl decodes the same objects from these files.
#[test]
fn files_are_decoded_as_by_kubectl() {
    let dir = repository();
    let text = kite("a", 1).replace("length: 1", "length: 1, text: \"é\"");
    let utf16 = |unit: fn(u16) -> [u8; 2]| -> Vec<u8> {
        std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(unit).collect()
    };
    write(dir.path(), "little.yaml", utf16(u16::to_le_bytes));
    write(dir.path(), "big.yaml", utf16(u16::to_be_bytes));
    let latin1: Vec<u8> = text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect();
    write(dir.path(), "latin1.yaml", &latin1);
    for (file, stored) in [("little.yaml", "é"), ("big.yaml", "é"), ("latin1.yaml", "\u{fffd}")] {
        let report = json(dir.path(), &format!("validate {file} --crds config/crd --offline -o json"));
        assert_eq!(report["items"][0]["result"]["spec"]["text"], stored, "{file}");
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_in_a_directory_is_skipped_and_one_by_name_is_read() {
    let dir = repository();
    let pipe = dir.path().join("objects/pipe.yaml");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (code, text) = run(dir.path(), "validate objects --crds config/crd --offline");
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("objects/pipe.yaml"), "{text}");
    let writer = std::thread::spawn(move || fs::write(pipe, kite("b", 1)).unwrap());
    let (code, text) = run(dir.path(), "validate objects/pipe.yaml --crds config/crd --offline");
    writer.join().unwrap();
    assert_eq!(code, Some(0), "{text}");
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_file_ends_with_an_error_and_the_others_are_read() {
    let dir = repository();
    let (code, text) = run(dir.path(), "validate /dev/zero objects/kite.yaml --crds config/crd --offline");
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("the document is larger than 256 MiB"), "{text}");
    assert!(text.contains("1 accepted"), "{text}");
}

#[test]
fn the_template_of_a_rendered_object_is_shown() {
    let dir = repository();
    let text = format!("{CRD}---\n# Source: chart/templates/x.yaml\n{}", kite("a", 0));
    let (code, shown) = run_with(dir.path(), "validate - --offline", text.as_bytes());
    assert_eq!(code, Some(1), "{shown}");
    assert!(shown.contains("<stdin>:19 (chart/templates/x.yaml)"), "{shown}");
    assert!(shown.contains("note: made from chart/templates/x.yaml"), "{shown}");
    write(dir.path(), "all.yaml", text);
    let report = json(dir.path(), "validate all.yaml --offline -o json");
    assert_eq!(report["items"][1]["source"], "chart/templates/x.yaml");
    assert_eq!(report["items"][1]["location"]["source"], "all.yaml");
}
