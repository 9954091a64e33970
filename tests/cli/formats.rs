//! Parses every output format of `-o` and compares the formats with each other and with the exit code.

use crate::cli::screens::{command, place};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Commands with the expected number of cases: total, failed, skipped and without verdict.
const COMMANDS: &[(&str, [usize; 4])] = &[
    ("validate -f examples/objects examples/mixed.yaml made/tabs.yaml --crds examples/crds --offline", [10, 5, 0, 0]),
    ("validate -f examples/objects/accepted.yaml --crds examples/crds --offline", [2, 0, 0, 0]),
    ("diff -f examples/updates/new.yaml --old examples/updates/old.yaml --crds examples/crds --offline", [5, 4, 0, 0]),
    ("lint input/new-crd.yaml examples/crds/crontab.yaml --old input/costly-crd-old.yaml", [2, 1, 0, 0]),
    ("lint input/costly-crd.yaml", [1, 1, 0, 0]),
];

fn run(line: &str, format: &str, dir: &Path) -> Output {
    command(dir, line).args(["-o", format]).output().unwrap()
}

fn text(line: &str, format: &str, dir: &Path) -> String {
    String::from_utf8(run(line, format, dir).stdout).unwrap()
}

/// The length of a line of a file in characters.
fn length(dir: &Path, file: &str, line: usize) -> usize {
    let text = fs::read_to_string(dir.join(file)).unwrap();
    text.lines().nth(line - 1).unwrap_or_else(|| panic!("{file} has no line {line}")).chars().count()
}

/// Asserts that a position is in a file.
fn assert_place(dir: &Path, file: &str, line: Option<usize>, columns: &[Option<usize>]) {
    assert!(dir.join(file).is_file(), "{file}");
    for column in columns.iter().flatten() {
        let most = length(dir, file, line.unwrap()) + 1;
        assert!((1..=most).contains(column), "{file}:{line:?}:{column}");
    }
}

#[test]
fn tap_is_read() {
    let place = place("tap");
    for (line, [cases, failed, skipped, unknown]) in COMMANDS {
        let text = text(line, "tap", &place);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("TAP version 14"));
        assert_eq!(lines.next(), Some(format!("1..{cases}").as_str()));
        let (mut number, mut bad, mut skips, mut block) = (0, 0, 0, None::<String>);
        for line in lines {
            if let Some(inner) = line.strip_prefix("  ") {
                match (inner, &mut block) {
                    ("---", None) => block = Some(String::new()),
                    ("...", Some(yaml)) => {
                        let read = crdx_text::yaml::read(yaml.as_bytes()).unwrap();
                        assert!(read.str_at(&["source"]).is_some_and(|source| place.join(source).is_file()), "{yaml}");
                        block = None;
                    }
                    (inner, Some(yaml)) => yaml.extend([inner, "\n"]),
                    other => panic!("{other:?}"),
                }
                continue;
            }
            assert_eq!(block, None, "{line}");
            number += 1;
            let failed = line.starts_with("not ok");
            bad += usize::from(failed);
            skips += usize::from(line.contains(" # SKIP "));
            assert!(line.starts_with(&format!("{} {number} - ", if failed { "not ok" } else { "ok" })), "{line}");
        }
        assert_eq!((number, bad, skips), (*cases, failed + unknown, *skipped), "{line}");
    }
}

#[test]
fn junit_is_read() {
    let place = place("junit");
    for (line, counts) in COMMANDS {
        let text = text(line, "junit", &place);
        let document = roxmltree::Document::parse(&text).unwrap();
        let suite = document.root_element().first_element_child().unwrap();
        let said: [usize; 4] =
            ["tests", "failures", "skipped", "errors"].map(|name| suite.attribute(name).unwrap().parse().unwrap());
        let count = |name: &str| suite.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!(said, *counts, "{line}");
        assert_eq!(["testcase", "failure", "skipped", "error"].map(count), *counts, "{line}");
        for case in suite.children().filter(roxmltree::Node::is_element) {
            assert!(case.attribute("name").is_some_and(|name| !name.is_empty()), "{case:?}");
            assert!(place.join(case.attribute("classname").unwrap()).is_file(), "{case:?}");
            assert!(case.children().filter(roxmltree::Node::is_element).count() < 2, "{case:?}");
        }
    }
}

#[test]
fn annotations_are_read() {
    let place = place("github");
    let mut seen = 0;
    for (line, [_, failed, _, unknown]) in COMMANDS {
        let text = text(line, "github", &place);
        assert!(failed + unknown == 0 || !text.is_empty());
        for annotation in text.lines() {
            seen += 1;
            let (head, message) = annotation.strip_prefix("::").unwrap().split_once("::").unwrap();
            let (command, properties) = head.split_once(' ').unwrap();
            assert!(["error", "warning", "notice"].contains(&command), "{annotation}");
            let unescaped = |text: &str| {
                let text = text.replace("%3A", ":").replace("%2C", ",");
                text.replace("%0A", "\n").replace("%0D", "\r").replace("%25", "%")
            };
            let property = |name: &str| {
                let pairs = properties.split(',').filter_map(|pair| pair.split_once('='));
                pairs.filter(|(key, _)| *key == name).map(|(_, value)| unescaped(value)).next()
            };
            let number = |name: &str| property(name).map(|n| n.parse().unwrap());
            assert_place(&place, &property("file").unwrap(), number("line"), &[number("col")]);
            assert!(!unescaped(message).trim().is_empty() && property("title").is_some(), "{annotation}");
        }
    }
    assert!(seen > 20, "{seen}");
}

#[test]
fn sarif_is_read() {
    let place = place("sarif");
    let mut seen = 0;
    for (line, [_, failed, _, unknown]) in COMMANDS {
        let log: Value = serde_json::from_str(&text(line, "sarif", &place)).unwrap();
        assert_eq!(log["version"], "2.1.0");
        let run = &log["runs"][0];
        assert_eq!(run["tool"]["driver"]["name"], "kubectl-crdx");
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        let results = run["results"].as_array().unwrap();
        assert!(results.len() >= failed + unknown, "{line}");
        for result in results {
            seen += 1;
            assert!(rules.iter().any(|rule| rule["id"] == result["ruleId"]), "{result}");
            assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let at = &result["locations"][0]["physicalLocation"];
            let number = |name: &str| at["region"][name].as_u64().map(|n| n as usize);
            let file = at["artifactLocation"]["uri"].as_str().unwrap();
            assert_place(&place, file, number("startLine"), &[number("startColumn"), number("endColumn")]);
        }
        for rule in rules {
            assert!(results.iter().any(|result| result["ruleId"] == rule["id"]), "{rule} is not used");
            assert!(!rule["shortDescription"]["text"].as_str().unwrap().is_empty());
        }
    }
    assert!(seen > 20, "{seen}");
}

/// All formats have the same exit code.
#[test]
fn the_format_does_not_change_the_verdict() {
    let place = place("verdicts");
    for (line, _) in COMMANDS {
        let codes: Vec<_> =
            ["json", "sarif", "junit", "github", "tap"].map(|f| run(line, f, &place).status.code()).into();
        assert!(codes.iter().all(|code| *code == codes[0]), "{line}: {codes:?}");
    }
}

/// Validates the formats with third-party tools: SARIF with its schema (the file in `CRDX_SARIF_SCHEMA`) and Python's
/// jsonschema, JUnit with the schema of Jenkins (`CRDX_JUNIT_XSD`) and xmllint, TAP with Python's tap.py.
#[test]
#[ignore = "needs Python with jsonschema, tap.py and PyYAML, xmllint, and both schemas"]
fn third_party_tools_accept_the_formats() {
    let place = place("others");
    let sarif = "import json, sys, jsonschema\nschema = json.load(open(sys.argv[1]))\n\
        validator = jsonschema.validators.validator_for(schema)\n\
        validator(schema, format_checker=validator.FORMAT_CHECKER).validate(json.load(open(sys.argv[2])))";
    let tap = "import sys\nfrom tap.parser import Parser\nlines = list(Parser().parse_file(sys.argv[2]))\n\
        assert not [line for line in lines if line.category == 'unknown'], 'unknown lines'\n\
        assert [line for line in lines if line.category == 'plan'][0].expected_tests == \
        len([line for line in lines if line.category == 'test']), 'plan'";
    let python = std::env::var("CRDX_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let has = |module: &str| {
        Command::new(&python).args(["-c", &format!("import {module}")]).output().is_ok_and(|o| o.status.success())
    };
    let read = |command: &mut Command, what: &str| {
        let output = command.output().unwrap();
        assert!(output.status.success(), "{what}: {}", String::from_utf8_lossy(&output.stderr));
        println!("read: {what}");
    };
    for (line, _) in COMMANDS {
        for format in ["sarif", "junit", "tap"] {
            fs::write(place.join(format), text(line, format, &place)).unwrap();
        }
        match std::env::var("CRDX_SARIF_SCHEMA") {
            Ok(schema) if has("jsonschema") => {
                let arguments = ["-c", sarif, schema.as_str(), "sarif"];
                read(Command::new(&python).args(arguments).current_dir(&place), "sarif");
            }
            _ => panic!("set CRDX_SARIF_SCHEMA to SARIF's schema, and install Python's jsonschema"),
        }
        let schema = std::env::var("CRDX_JUNIT_XSD").expect("CRDX_JUNIT_XSD is JUnit's schema");
        let arguments = ["--noout", "--schema", schema.as_str(), "junit"];
        read(Command::new("xmllint").args(arguments).current_dir(&place), "junit");
        assert!(has("tap.parser") && has("yaml"), "install Python's tap.py and PyYAML");
        read(Command::new(&python).args(["-c", tap, "-", "tap"]).current_dir(&place), "tap");
    }
}
