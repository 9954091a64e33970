//! Names and values of more than 65,535 characters, in every table and page.

use crate::cli::screens::{command, place};
use std::fs;
use std::path::Path;
use std::process::Output;

const CRD: &str = r"apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: kites.toys.example.com}
spec:
  group: toys.example.com
  names: {kind: Kite, plural: kites}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    additionalPrinterColumns:
    - {name: Tail, type: string, jsonPath: .spec.tail}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              tail: {type: string}
";

fn run(dir: &Path, line: &str) -> Output {
    let output = command(dir, line).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stderr.contains("panicked") && !stderr.contains("itself failed"), "{line}: {stderr}");
    assert!(matches!(output.status.code(), Some(0..=2)), "{line}: {:?}", output.status);
    output
}

/// Creates a directory with `crd.yaml`, `new.yaml` (without `spec.tail`), `rules.yaml`, `good.yaml` and `bad.yaml`.
fn prepare(name: &str) -> std::path::PathBuf {
    let dir = place(name);
    let long = "x".repeat(70_000);
    let object = |name: &str, tail: &str| {
        format!("apiVersion: toys.example.com/v1\nkind: Kite\nmetadata: {{name: {name}}}\nspec: {{tail: {tail}}}\n")
    };
    let files = [
        ("crd.yaml", CRD.to_owned()),
        ("new.yaml", CRD.replace("tail: {type: string}", "other: {type: string}")),
        (
            "rules.yaml",
            CRD.replace(
                "tail: {type: string}",
                &format!("tail: {{type: string, x-kubernetes-validations: [{{rule: \"self != '{long}'\"}}]}}"),
            ),
        ),
        ("bad-crd.yaml", CRD.replace("name: kites", &format!("name: {long}"))),
        ("good.yaml", object("a", &long)),
        ("bad.yaml", object(&long, "b")),
    ];
    for (file, text) in files {
        fs::write(dir.join(file), text).unwrap();
    }
    dir
}

#[test]
fn names_of_any_length_are_shown() {
    let dir = prepare("long-names");
    for (code, line) in [
        (1, "validate -f bad.yaml --crds crd.yaml --offline"),
        (1, "validate -f bad.yaml --crds crd.yaml --offline -o html"),
        (1, "validate -f bad.yaml --crds crd.yaml --offline -o wide"),
        (0, "validate -f good.yaml --crds crd.yaml --offline -o wide"),
        (2, "validate -f bad.yaml --offline"),
        (1, "diff -f good.yaml --crds crd.yaml --offline"),
        (2, "diff -f bad.yaml --crds crd.yaml --offline"),
        (1, "rehearse new.yaml --old crd.yaml -f good.yaml --offline"),
        (1, "rehearse new.yaml --old crd.yaml -f bad.yaml --offline"),
        (1, "rehearse new.yaml --old crd.yaml -f bad.yaml --offline -o html"),
        (0, "lint rules.yaml"),
        (0, "lint rules.yaml -o html"),
        (1, "lint bad-crd.yaml"),
        (0, "get -f good.yaml --crds crd.yaml kites"),
        (0, "get -f bad.yaml --crds crd.yaml kites"),
        (0, "get -f good.yaml --crds crd.yaml kites -o custom-columns=TAIL:.spec.tail,NAME:.metadata.name"),
        (0, "get -f bad.yaml --crds crd.yaml kites -o json"),
    ] {
        let output = run(&dir, line);
        assert_eq!(output.status.code(), Some(code), "{line}");
        let shown = [output.stdout, output.stderr].concat();
        assert!(String::from_utf8(shown).unwrap().contains(&"x".repeat(40)), "{line} shows the name or the value");
    }
}

#[test]
fn nothing_is_shortened_where_output_is_no_terminal() {
    let dir = prepare("long-names-whole");
    let long = "x".repeat(70_000);
    for line in [
        "validate -f bad.yaml --crds crd.yaml --offline",
        "rehearse new.yaml --old crd.yaml -f bad.yaml --offline",
        "get -f good.yaml --crds crd.yaml kites",
    ] {
        let output = run(&dir, line);
        let table = String::from_utf8(output.stdout).unwrap();
        assert!(table.lines().any(|line| line.contains(&long)), "{line}: {table:.300}");
    }
}
