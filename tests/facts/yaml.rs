//! Compares the YAML decoder with recorded results of kubectl (`tests/facts`).

use crate::facts::unpacked;
use crdx_text::{json, yaml};

struct Fact {
    text: String,
    want: String,
}

fn facts(lines: &str) -> Vec<Fact> {
    let fact = |line: &str| {
        let object = json::read(line.as_bytes()).ok()?;
        Some(Fact { text: object.str_at(&["in"])?.to_owned(), want: object.str_at(&["out"])?.to_owned() })
    };
    lines.lines().filter_map(fact).collect()
}

/// The difference, if any; the flag is true if only the error messages differ.
fn difference(fact: &Fact) -> Option<(bool, String)> {
    let got = yaml::read(fact.text.as_bytes());
    match (&got, fact.want.strip_prefix("ERR ")) {
        (Ok(got), None) if json::read(fact.want.as_bytes()) == Ok(got.clone()) => None,
        (Err(got), Some(want)) if got.message == want => None,
        (Err(got), Some(want)) => Some((true, format!("{:?}\n   got {}\n  want {want}", fact.text, got.message))),
        (got, _) => Some((false, format!("{:?}\n   got {got:?}\n  want {}", fact.text, fact.want))),
    }
}

#[test]
fn chosen_texts_are_decoded_like_kubectl() {
    let facts = facts(include_str!("yaml.jsonl"));
    assert_eq!(facts.len(), 197);
    let differences: Vec<String> = facts.iter().filter_map(difference).map(|d| d.1).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

#[test]
fn mutated_texts_are_decoded_like_kubectl() {
    let facts = facts(&unpacked("yaml-fuzz.jsonl.gz"));
    assert_eq!(facts.len(), 40_000);
    let differences: Vec<(bool, String)> = facts.iter().filter_map(difference).collect();
    let verdicts = differences.iter().filter(|d| !d.0).count();
    let shown: Vec<&str> = differences.iter().take(20).map(|d| d.1.as_str()).collect();
    println!("{} verdicts and {} error texts differ", verdicts, differences.len() - verdicts);
    assert!(differences.is_empty(), "{}", shown.join("\n"));
}

#[test]
fn duplicates_have_the_servers_messages() {
    let facts = facts(include_str!("yaml-strict.jsonl"));
    assert_eq!(facts.len(), 300);
    for fact in facts {
        let error = yaml::read_strict(fact.text.as_bytes()).unwrap().error().map(|error| error.to_string());
        assert_eq!(error, Some(fact.want), "{:?}", fact.text);
    }
}

#[test]
fn values_are_encoded_like_kubectl() {
    let lines: Vec<&str> = include_str!("yaml-write.jsonl").lines().collect();
    assert_eq!(lines.len(), 400);
    for line in lines {
        let fact = json::read(line.as_bytes()).unwrap();
        let value = json::read(fact.str_at(&["json"]).unwrap().as_bytes()).unwrap();
        assert_eq!(yaml::write::to_string(&value), fact.str_at(&["yaml"]).unwrap(), "{line}");
    }
}

#[test]
fn values_are_written_as_kyaml_like_kubectl() {
    let lines = unpacked("kyaml.jsonl.gz");
    assert_eq!(lines.lines().count(), 1501);
    for line in lines.lines() {
        let fact = json::read(line.as_bytes()).unwrap();
        let value = json::read(fact.str_at(&["json"]).unwrap().as_bytes()).unwrap();
        assert_eq!(yaml::kyaml::to_string(&value), fact.str_at(&["kyaml"]).unwrap(), "{line}");
    }
}
