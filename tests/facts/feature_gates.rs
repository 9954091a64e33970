//! Compares the table of feature gates with the sources of Kubernetes (`tests/apiserver/feature_gates.py` extracts
//! `tests/facts/feature-gates.jsonl`), and generates docs/feature-gates.md.

use crdx_kinds::gates::{INEFFECTIVE, unsimulated};
use crdx_text::json;
use crdx_value::release::{GateRow, Spec, Stage, all_gates};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

const FACTS: &str = include_str!("feature-gates.jsonl");

/// A row as a line of the facts.
fn line(row: &GateRow) -> String {
    let spec = |Spec { since, stage, default, is_locked, minimum }: &Spec| {
        let minimum = if *minimum == 0 { String::new() } else { format!(", {minimum}") };
        format!("[{since}, \"{stage:?}\", {default}, {is_locked}{minimum}]")
    };
    let specs: Vec<String> = row.specs.iter().map(spec).collect();
    let needs: Vec<String> = row.needs.iter().map(|need| format!("\"{need}\"")).collect();
    let needs = if needs.is_empty() { String::new() } else { format!(", \"needs\": [{}]", needs.join(", ")) };
    let (first, last) = row.releases();
    format!(
        "{{\"name\": \"{}\", \"first\": {}, \"last\": {}, \"specs\": [{}]{needs}}}",
        row.name,
        first.number(),
        last.number(),
        specs.join(", ")
    )
}

#[test]
fn the_table_is_that_of_the_sources() {
    let rows: Vec<String> = all_gates().map(line).collect();
    let facts: Vec<&str> = FACTS.lines().collect();
    assert_eq!(rows, facts);
}

/// The name of every gate in the facts.
fn names() -> BTreeSet<String> {
    let name = |line| json::read(str::as_bytes(line)).unwrap().str_at(&["name"]).unwrap().to_owned();
    FACTS.lines().map(name).collect()
}

#[test]
fn every_gate_is_in_a_list() {
    let simulated: BTreeSet<&str> = all_gates().filter(|row| row.gate.is_some()).map(|row| row.name).collect();
    let concerning: BTreeSet<&str> = unsimulated().collect();
    let ineffective: BTreeSet<&str> = INEFFECTIVE.iter().copied().collect();
    for name in names() {
        let effective = simulated.contains(name.as_str()) || concerning.contains(name.as_str());
        assert_ne!(effective, ineffective.contains(name.as_str()), "{name} is in no list, or in two");
    }
    let known = names();
    for name in concerning.iter().chain(&ineffective) {
        assert!(known.contains(*name), "no release has the gate {name}");
    }
}

/// The page of docs/feature-gates.md.
fn page() -> String {
    let concerning: BTreeSet<&str> = unsimulated().collect();
    let mut rows: BTreeMap<&str, Vec<&GateRow>> = BTreeMap::new();
    for row in all_gates() {
        rows.entry(row.name).or_default().push(row);
    }
    let mut page = fs::read_to_string(PAGE).unwrap();
    let start = page.find(START).unwrap() + START.len();
    page.truncate(start);
    page.push_str("\n| gate | releases | stages and defaults | effect |\n|---|---|---|---|\n");
    for (name, rows) in rows {
        let effect = match (rows.iter().any(|row| row.gate.is_some()), concerning.contains(name)) {
            (true, false) => "simulated",
            (true, true) => "simulated in part",
            (false, true) => "not simulated",
            (false, false) => continue,
        };
        let releases = |row: &GateRow| match row.releases() {
            (first, last) if first == last => first.to_string(),
            (first, last) => format!("{first}..{last}"),
        };
        let stages = |row: &GateRow| {
            let state = |spec: &Spec| {
                let stage = format!("{:?}", spec.stage).to_lowercase().replace("ga", "GA");
                let since = if spec.since == 0 { String::new() } else { format!(" since 1.{}", spec.since) };
                let lock = if spec.is_locked { ", locked" } else { "" };
                format!("{stage}{since}: {}{lock}", if spec.default { "on" } else { "off" })
            };
            row.specs.iter().filter(|spec| spec.stage != Stage::PRE_ALPHA).map(state).collect::<Vec<_>>().join("; ")
        };
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { continue };
        let (first, _) = first.releases();
        let (_, until) = last.releases();
        let range = if first == until { releases(last) } else { format!("{first}..{until}") };
        writeln!(page, "| `{name}` | {range} | {} | {effect} |", stages(last)).unwrap();
    }
    page
}

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/feature-gates.md");
/// The table follows this line.
const START: &str = "<!-- generated: UPDATE_SNAPSHOTS=1 cargo test --test tests feature_gates -->\n";

#[test]
fn the_page_lists_every_gate_with_an_effect() {
    let expected = page();
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        fs::write(PAGE, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(PAGE).unwrap(), expected);
}
