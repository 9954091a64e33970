//! The output of `discover`.

use crdx_input::configuration::FILE_NAME;
use crdx_input::discovery::{Discovery, Finding, FindingKind, UnresolvedKind};
use crdx_output::{Cell, Column, TableStyle, bounded_table};
use crdx_value::{Map, Value, json, object};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const COLUMNS: &[Column] = &[Column::always("FOUND"), Column::text("PATH"), Column::text("DETAILS")];

/// The most rows of one kind, and the most kinds without a CRD, that people see.
const SHOWN: usize = 30;

/// Returns the text for people. `written` is the file that was written.
pub fn text(found: &Discovery, directory: &str, written: Option<&str>, look: TableStyle) -> String {
    let Some(settings) = &found.settings else {
        return format!("Nothing for Kubernetes was found in {directory}.\n");
    };
    let mut text = bounded_table::table(COLUMNS, look, &rows(&found.found));
    if !found.unresolved.is_empty() {
        text.push_str(&unresolved(&found.unresolved));
    }
    match written {
        Some(file) => {
            let _ = writeln!(text, "\n{file} was written.");
        }
        None => {
            let _ = write!(text, "\n{FILE_NAME} for this repository (--write writes it):\n\n{settings}");
        }
    }
    let is_rendered = |finding: &Finding| {
        matches!(finding.kind, FindingKind::Chart | FindingKind::Kustomization | FindingKind::Component)
    };
    if found.found.iter().any(is_rendered) {
        text.push_str("\nCharts and kustomizations are rendered with: kubectl crdx validate --render\n");
    }
    text
}

fn rows(found: &[Finding]) -> Vec<Vec<Cell>> {
    let mut rows = Vec::new();
    for kind in found.chunk_by(|a, b| a.kind == b.kind) {
        for finding in kind.iter().take(SHOWN) {
            let line = finding.line.map_or_else(String::new, |line| format!(":{line}"));
            rows.push(vec![
                Cell::from(finding.kind.label()),
                Cell::from(format!("{}{line}", finding.path)),
                Cell::from(finding.details()),
            ]);
        }
        if let (Some(first), more @ 1..) = (kind.first(), kind.len().saturating_sub(SHOWN)) {
            let message = format!("and {more} more (-o json lists them)");
            rows.push(vec![Cell::from(first.kind.label()), Cell::from("…"), Cell::from(message)]);
        }
    }
    rows
}

fn unresolved(kinds: &[UnresolvedKind]) -> String {
    let named = |one: &UnresolvedKind| format!("{}.{}", one.kind, one.group);
    let mut names = kinds.iter().take(SHOWN).map(named).collect::<Vec<_>>().join(", ");
    if let more @ 1.. = kinds.len().saturating_sub(SHOWN) {
        let _ = write!(names, " and {more} more");
    }
    let objects: usize = kinds.iter().map(|one| one.objects).sum();
    let objects = if objects == 1 { "1 object has a kind".to_owned() } else { format!("{objects} objects have kinds") };
    let projects: BTreeSet<&str> = kinds.iter().flat_map(|one| &one.projects).map(String::as_str).collect();
    let catalog = if projects.is_empty() {
        String::new()
    } else {
        let names = projects.into_iter().collect::<Vec<_>>().join(", ");
        format!("The catalog has CRDs of {names}: add NAME@VERSION to `crds`, and run kubectl crdx fetch.\n")
    };
    format!(
        "\n{objects} without a CRD in this directory: {names}.\n\
         Add their CRDs to `crds`: a directory, an archive, a chart or a URL.\n{catalog}"
    )
}

/// Returns the report for programs.
pub fn json(found: &Discovery, directory: &str, written: Option<&str>) -> String {
    let findings: Vec<Value> = found.found.iter().map(finding).collect();
    let kind = |one: &UnresolvedKind| {
        object([
            ("group", Value::from(one.group.as_str())),
            ("kind", one.kind.as_str().into()),
            ("objects", count(one.objects)),
            ("projects", texts(&one.projects)),
        ])
    };
    let kinds: Vec<Value> = found.unresolved.iter().map(kind).collect();
    let problems: Vec<Value> = found.problems.iter().map(|problem| problem.text().into()).collect();
    let members = [
        ("apiVersion", Value::from("crdx/v1")),
        ("kind", "DiscoverReport".into()),
        ("directory", directory.into()),
        ("found", findings.into()),
        ("unresolvedKinds", kinds.into()),
        ("problems", problems.into()),
    ];
    let settings = found.settings.as_deref().map(|settings| ("settings", settings.into()));
    let file = written.map(|file| ("written", file.into()));
    json::to_string(&object(members.into_iter().chain(settings).chain(file))) + "\n"
}

fn finding(finding: &Finding) -> Value {
    let mut members =
        Map::from([("type".to_owned(), finding.kind.name().into()), ("path".to_owned(), finding.path.as_str().into())]);
    members.extend(finding.line.map(|line| ("line".to_owned(), count(line))));
    members.extend(finding.name.as_deref().map(|name| ("name".to_owned(), name.into())));
    members.extend(finding.count.map(|number| ("count".to_owned(), count(number))));
    for (name, list) in [("uses", &finding.uses), ("needs", &finding.needs)] {
        if !list.is_empty() {
            members.insert(name.to_owned(), texts(list));
        }
    }
    members.into()
}

fn texts(list: &[String]) -> Value {
    list.iter().map(|text| text.as_str().into()).collect::<Vec<Value>>().into()
}

fn count(number: usize) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}
