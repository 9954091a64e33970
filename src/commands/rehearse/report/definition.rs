//! Formats the results of `rehearse`. The JSON is documented in `docs/output.md`.

use super::rehearsed_object::{RehearsedObject, blocking};
use crate::commands::rehearse::known::UNREADABLE;
use crate::commands::rehearse::possible_objects::PossibleObjects;
use crdx_engine::rehearsal::{ColumnChange, Edit, ObjectOutcome, RehearsalError};
use crdx_engine::report::{KnownFinding, ObjectReport, SourceLocation};
use crdx_output::excerpt::{self, MessageSeverity};
pub use crdx_output::html::plural;
use crdx_output::report::case::{self, Case, Finding, Level};
use crdx_output::report::json::{identified, known_finding};
use crdx_output::report::members::location_object;
use crdx_output::{Cell, Column, Paint};
use crdx_value::sort::sort_by;
use crdx_value::{Map, Value, json, object};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

/// The maximum number of paths that are counted separately.
const MAX_PATHS: usize = 1000;
/// The maximum number of paths that are shown.
const MAX_SHOWN: usize = 20;

/// The number of objects by effect.
#[derive(Clone, Debug, Default)]
pub struct EffectCounts {
    objects: usize,
    untouched: usize,
    losing: usize,
    appearing: usize,
    defaulted: usize,
    changed: usize,
    invalid: usize,
    editable: usize,
    blocked: usize,
    already_invalid: usize,
    unreadable: usize,
    shown_otherwise: usize,
    to_migrate: usize,
    moved: usize,
    /// The version in which objects of versions that are no longer served are read.
    moved_to: Option<String>,
    unknown: usize,
    /// The objects that break.
    breaking: usize,
    /// The objects that break only as in the baseline.
    known: usize,
    /// The number of objects that lose a field, by path without indices.
    lost: BTreeMap<String, usize>,
}

impl EffectCounts {
    /// Counts an object.
    pub fn add(&mut self, entry: &RehearsedObject) {
        self.objects += 1;
        self.untouched += usize::from(!entry.is_touched());
        self.to_migrate += usize::from(entry.must_migrate);
        self.breaking += usize::from(entry.breaks() && !matches!(entry.outcome, Err(RehearsalError::Old(_))));
        self.known += usize::from(entry.is_known());
        let outcome = match &entry.outcome {
            Ok(outcome) => outcome,
            Err(RehearsalError::Old(_)) => {
                self.unknown += 1;
                return;
            }
            Err(RehearsalError::New(_)) => {
                self.unreadable += 1;
                return;
            }
        };
        self.losing += usize::from(!outcome.difference.lost.is_empty());
        self.appearing += usize::from(!outcome.difference.appearing.is_empty());
        self.defaulted += usize::from(!outcome.difference.defaulted.is_empty());
        self.changed += usize::from(!outcome.difference.changed.is_empty());
        if let Some(version) = &outcome.moved_to {
            self.moved += 1;
            self.moved_to.get_or_insert_with(|| version.clone());
        }
        self.already_invalid += usize::from(outcome.was_invalid);
        self.invalid += usize::from(outcome.becomes_invalid());
        self.shown_otherwise += usize::from(!outcome.cells.is_empty());
        match outcome.edit {
            Edit::Untried => {}
            _ if outcome.was_invalid => {}
            Edit::Passes => self.editable += 1,
            Edit::Blocked(_) => self.blocked += 1,
        }
        let mut paths: Vec<String> = outcome.difference.lost.iter().map(|(path, _)| without_indices(path)).collect();
        paths.dedup();
        for path in paths {
            if self.lost.len() < MAX_PATHS || self.lost.contains_key(&path) {
                *self.lost.entry(path).or_default() += 1;
            }
        }
    }

    /// Counts an input without an object.
    pub fn add_unknown(&mut self) {
        self.unknown += 1;
    }

    /// Returns true if the effect on some object is unknown.
    pub fn is_unsure(&self) -> bool {
        self.unknown > 0
    }

    /// Returns true if some object loses fields, becomes invalid or becomes unreadable, except as in the baseline.
    pub fn breaks(&self) -> bool {
        self.breaking > self.known
    }

    /// The number of objects that break only as in the baseline.
    pub fn known(&self) -> usize {
        self.known
    }

    /// The number of objects.
    pub fn objects(&self) -> usize {
        self.objects
    }
    /// The number of objects that the upgrade does not affect.
    pub fn untouched(&self) -> usize {
        self.untouched
    }
    /// The number of objects that lose fields.
    pub fn losing(&self) -> usize {
        self.losing
    }
    /// The number of objects with stored fields that the old schema prunes and the new schema declares.
    pub fn appearing(&self) -> usize {
        self.appearing
    }
    /// The number of objects that get defaults.
    pub fn defaulted(&self) -> usize {
        self.defaulted
    }
    /// The number of objects whose printer columns change.
    pub fn shown_otherwise(&self) -> usize {
        self.shown_otherwise
    }
    /// The number of objects that become invalid.
    pub fn invalid(&self) -> usize {
        self.invalid
    }
    /// The number of invalid objects whose unrelated updates would be accepted.
    pub fn editable(&self) -> usize {
        self.editable
    }
    /// The number of invalid objects whose unrelated updates would be rejected.
    pub fn blocked(&self) -> usize {
        self.blocked
    }
    /// The number of objects that were invalid before the upgrade, too.
    pub fn already_invalid(&self) -> usize {
        self.already_invalid
    }
    /// The number of objects that can no longer be read.
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }
    /// The number of objects that must be rewritten before the upgrade.
    pub fn to_migrate(&self) -> usize {
        self.to_migrate
    }
    /// The number of objects in versions that are no longer served, and the version in which they are read.
    pub fn moved(&self) -> Option<(usize, &str)> {
        Some((self.moved, self.moved_to.as_deref()?))
    }
    /// The number of objects for which the effect is unknown.
    pub fn unknown(&self) -> usize {
        self.unknown
    }

    /// Returns the lost paths with the number of objects, the most frequent path first.
    pub fn most_lost(&self) -> Vec<(&str, usize)> {
        let mut most: Vec<(&str, usize)> = self.lost.iter().map(|(path, n)| (path.as_str(), *n)).collect();
        sort_by(&mut most, |a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        most
    }

    /// Formats the summary as text.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let most = self.most_lost();
        if !most.is_empty() {
            text.push_str("Lost:\n");
        }
        for (path, n) in most.iter().take(MAX_SHOWN) {
            let _ = writeln!(text, "  {path} in {}", plural(*n, "object"));
        }
        if most.len() > MAX_SHOWN {
            let _ = writeln!(text, "  and {} more paths", most.len() - MAX_SHOWN);
        }
        if !most.is_empty() {
            text.push('\n');
        }
        text + &self.line() + "\n"
    }

    /// Formats the counts that are not 0.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        let mut part = |n: usize, words: &str| {
            if n > 0 {
                parts.push(format!("{n} {words}"));
            }
        };
        part(self.untouched, "untouched");
        part(self.losing, if self.losing == 1 { "loses fields" } else { "lose fields" });
        part(self.appearing, "with fields that appear");
        part(self.defaulted, if self.defaulted == 1 { "gets defaults" } else { "get defaults" });
        part(self.changed, "changed in other ways");
        part(self.shown_otherwise, "shown differently");
        let outcomes = match (self.editable, self.blocked) {
            (0, 0) => "invalid".to_owned(),
            (n, 0) => format!("invalid ({n} still editable)"),
            (0, n) => format!("invalid ({n} blocked)"),
            (a, b) => format!("invalid ({a} still editable, {b} blocked)"),
        };
        part(self.invalid, &outcomes);
        part(self.already_invalid, "invalid before the upgrade, too");
        part(self.unreadable, "unreadable under the new CRD");
        part(self.moved, "in a version that is no longer served");
        part(self.to_migrate, "to rewrite before the upgrade");
        part(self.known, "in the baseline");
        part(self.unknown, "cannot tell");
        let objects = plural(self.objects, "object");
        if parts.is_empty() { objects } else { format!("{objects}: {}", parts.join(", ")) }
    }

    /// Returns the summary as JSON.
    pub fn value(&self) -> Value {
        let counts = [
            ("objects", self.objects),
            ("untouched", self.untouched),
            ("losing", self.losing),
            ("appearing", self.appearing),
            ("defaulted", self.defaulted),
            ("changed", self.changed),
            ("shownOtherwise", self.shown_otherwise),
            ("invalid", self.invalid),
            ("editable", self.editable),
            ("blocked", self.blocked),
            ("alreadyInvalid", self.already_invalid),
            ("unreadable", self.unreadable),
            ("moved", self.moved),
            ("toMigrate", self.to_migrate),
            ("cannotTell", self.unknown),
        ];
        let mut members: Map = counts.iter().map(|(k, n)| ((*k).to_owned(), Value::Int(*n as i64))).collect();
        let lost: Map = self.lost.iter().map(|(path, n)| (path.clone(), Value::Int(*n as i64))).collect();
        members.insert("lost".to_owned(), lost.into());
        if self.known > 0 {
            members.insert("known".to_owned(), Value::Int(self.known as i64));
        }
        members.into()
    }
}

/// Replaces the indices in a path: `spec.list[3].x` becomes `spec.list[*].x`.
fn without_indices(path: &str) -> String {
    let mut out = String::with_capacity(path.len());
    let mut rest = path;
    while let Some((before, tail)) = rest.split_once('[') {
        out.push_str(before);
        match tail.split_once(']') {
            Some((index, after)) if !index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()) => {
                out.push_str("[*]");
                rest = after;
            }
            _ => {
                out.push('[');
                rest = tail;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The beginning of a message about an update that changes nothing but a label.
const UPDATE_REJECTED: &str = "an update of only a label would be rejected";
/// The note of an object that the upgrade does not make invalid.
const ALREADY_INVALID: &str = "invalid before the upgrade, too";

/// The outcome of an object that breaks only as in the baseline.
pub const KNOWN: &str = "breaks as in the baseline";

/// The columns of the table.
pub const COLUMNS: &[Column] = &[
    Column::location("LOCATION"),
    Column::text("NAME"),
    Column::always("NEXT WRITE"),
    Column::optional("LOST"),
    Column::optional("APPEARS"),
    Column::optional("DEFAULTED"),
    Column::optional("CHANGED"),
    Column::optional("ERRORS"),
    Column::note("NOTE"),
];

/// Returns the row of an object.
pub fn row(entry: &RehearsedObject) -> Vec<Cell> {
    let mut cells = vec![Cell::from(entry.location.to_string()), Cell::from(entry.identity.full_name())];
    match &entry.outcome {
        Ok(outcome) => {
            let difference = &outcome.difference;
            let (next, note) = match outcome.edit {
                Edit::Untried if entry.must_migrate => (Cell::from("accepted"), "rewrite it before the upgrade"),
                Edit::Untried if outcome.moved_to.is_some() => {
                    (Cell::from("accepted"), "its version is no longer served")
                }
                Edit::Untried => (Cell::from("accepted"), ""),
                Edit::Passes if outcome.was_invalid => (Cell::from("accepted"), ALREADY_INVALID),
                Edit::Blocked(_) if outcome.was_invalid => (Cell::from("rejected"), ALREADY_INVALID),
                Edit::Passes => (Cell::painted("accepted", Paint::Yellow), "if it leaves the invalid fields unchanged"),
                Edit::Blocked(_) => (Cell::painted("rejected", Paint::Red), ""),
            };
            cells.push(next);
            cells.push(Cell::count(difference.lost.len(), Paint::Red));
            cells.push(Cell::count(difference.appearing.len(), Paint::Yellow));
            cells.push(Cell::count(difference.defaulted.len(), Paint::None));
            cells.push(Cell::count(difference.changed.len(), Paint::Yellow));
            cells.push(Cell::count(outcome.errors.len(), Paint::Red));
            let known = entry.is_known().then_some("in the baseline");
            let notes: Vec<&str> = [note].into_iter().filter(|note| !note.is_empty()).chain(known).collect();
            cells.push(Cell::from(notes.join("; ")));
        }
        Err(error) => {
            let (verdict, reason) = match error {
                RehearsalError::Old(reason) => ("cannot tell", reason),
                RehearsalError::New(reason) => ("unreadable", reason),
            };
            cells.push(Cell::painted(verdict, Paint::Red));
            cells.extend(["-"; 5].map(Cell::from));
            let known = if entry.is_known() { "; in the baseline" } else { "" };
            cells.push(Cell::from(format!("{}{known}", reason.as_str())));
        }
    }
    cells
}

/// Returns the case of an object, whose difference has the changed fields.
pub fn case(entry: &RehearsedObject) -> Case {
    let mut findings = Vec::new();
    let mut finding =
        |level, rule: &str, message: String, location: &SourceLocation, known: Option<&Arc<KnownFinding>>| {
            findings.push(Finding {
                level: if known.is_some() { Level::Note } else { level },
                rule: rule.to_owned(),
                field: None,
                message,
                diff: None,
                replacement: None,
                known: known.cloned(),
                help: help(known),
                location: location.clone(),
            });
        };
    let result = match &entry.outcome {
        Err(RehearsalError::Old(reason)) => {
            finding(Level::Error, "cannotTell", reason.clone().into(), &entry.location, None);
            "cannot tell"
        }
        Err(RehearsalError::New(reason)) => {
            let known = entry.known.unreadable.as_ref();
            finding(Level::Error, UNREADABLE, reason.clone().into(), &entry.location, known);
            UNREADABLE
        }
        Ok(outcome) => {
            let level = if outcome.was_invalid { Level::Note } else { Level::Error };
            for (index, (error, location)) in outcome.errors.iter().zip(&entry.locations).enumerate() {
                finding(level, error.kind.reason(), error.to_string(), location, entry.known.error(index));
            }
            for (index, error) in blocking(outcome).iter().enumerate() {
                let message = format!("{UPDATE_REJECTED}: {error}");
                let known = entry.known.error(outcome.errors.len() + index);
                finding(level, error.kind.reason(), message, &entry.location, known);
            }
            match (&outcome.edit, outcome.difference.lost.is_empty()) {
                (_, true) if outcome.was_invalid => "already invalid",
                (Edit::Blocked(_), _) => "blocked",
                (Edit::Passes, _) => "invalid, still editable",
                (Edit::Untried, false) => "loses fields",
                (Edit::Untried, true) => "changed",
            }
        }
    };
    if let Ok(outcome) = &entry.outcome {
        let difference = &outcome.difference;
        let counts = [
            (difference.lost.len(), "lost"),
            (difference.appearing.len(), "appearing"),
            (difference.defaulted.len(), "defaulted"),
            (difference.changed.len(), "changed"),
        ];
        let counts: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect();
        let without_changes =
            if outcome.moved_to.is_some() { "in a version that is no longer served" } else { "shown differently" };
        let mut message = if counts.is_empty() { without_changes.to_owned() } else { counts.join(", ") };
        if entry.must_migrate {
            message.push_str("; rewrite it before the upgrade");
        }
        let diff = lines(entry, outcome).into_iter().map(|(_, line)| line + "\n").collect::<String>();
        finding(Level::Note, result, message, &entry.location, None);
        if let Some(last) = findings.last_mut().filter(|_| !diff.is_empty()) {
            last.diff = Some(diff);
        }
    }
    let outcome = match &entry.outcome {
        Err(RehearsalError::Old(_)) => case::Outcome::CannotTell,
        _ if entry.fails() => case::Outcome::Failed,
        _ if entry.is_known() => case::Outcome::Skipped(KNOWN.to_owned()),
        _ => case::Outcome::Passed,
    };
    let subject = format!("{} {}", entry.identity.kind, entry.identity.full_name());
    Case { subject, location: entry.location.clone(), outcome, result, findings }
}

/// Returns the case of the new CRD.
pub fn definition_case(crd: &ObjectReport, changes: &[ColumnChange], possible: &PossibleObjects) -> Case {
    let mut case = Case::from_report(crd);
    case.findings.extend(possible.findings(&crd.location));
    if !changes.is_empty() {
        case.findings.push(Finding {
            level: Level::Note,
            rule: "columns".to_owned(),
            field: None,
            message: "the printer columns change".to_owned(),
            diff: Some(columns(changes)),
            replacement: None,
            known: None,
            help: None,
            location: crd.location.clone(),
        });
    }
    case
}

/// Formats the details of an object.
pub fn details(entry: &RehearsedObject, color: bool) -> String {
    let Ok(outcome) = &entry.outcome else { return String::new() };
    let blocking = blocking(outcome);
    let is_unchanged = outcome.difference.is_empty() && outcome.errors.is_empty() && outcome.cells.is_empty();
    if is_unchanged && blocking.is_empty() && outcome.moved_to.is_none() {
        return String::new();
    }
    let name = format!("{} {}", entry.identity.kind, entry.identity.full_name());
    let mut text = Paint::Bold.when(color, &format!("{name} ({})", entry.location)) + "\n";
    for (paint, line) in lines(entry, outcome) {
        text.extend([paint.when(color, &line).as_str(), "\n"]);
    }
    for (index, (error, location)) in outcome.errors.iter().zip(&entry.locations).enumerate() {
        let known = entry.known.error(index);
        let (severity, help) = (severity(known), help(known));
        text.push_str(&excerpt::render(severity, &error.to_string(), location, help.as_deref(), color));
    }
    for (index, error) in blocking.iter().enumerate() {
        let known = entry.known.error(outcome.errors.len() + index);
        let (severity, help) = (severity(known), help(known));
        let message = format!("{UPDATE_REJECTED}: {error}");
        text.push_str(&excerpt::render(severity, &message, &entry.location, help.as_deref(), color));
    }
    text
}

/// Returns the severity of an error, which is a note if the baseline has it.
pub fn severity(known: Option<&Arc<KnownFinding>>) -> MessageSeverity {
    if known.is_some() { MessageSeverity::Note } else { MessageSeverity::Error }
}

/// Says why the baseline accepts a finding that it has.
pub fn help(known: Option<&Arc<KnownFinding>>) -> Option<String> {
    known.map(|known| known.text())
}

/// Returns what identifies the effects on an object: its kind, its changes and its errors.
pub fn effects(entry: &RehearsedObject) -> (&str, Vec<String>) {
    let Ok(outcome) = &entry.outcome else { return (&entry.identity.kind, Vec::new()) };
    let changes = lines(entry, outcome).into_iter().map(|(_, line)| line);
    let errors = outcome.errors.iter().chain(blocking(outcome)).enumerate().map(|(index, error)| {
        let known = help(entry.known.error(index)).unwrap_or_default();
        format!("{error} {known}")
    });
    (&entry.identity.kind, changes.chain(errors).collect())
}

/// Formats the changes of an object, one per line.
fn lines(entry: &RehearsedObject, outcome: &ObjectOutcome) -> Vec<(Paint, String)> {
    let mut lines = Vec::new();
    let mut line = |paint: Paint, line: String| lines.push((paint, line));
    if let Some(version) = &outcome.moved_to {
        line(Paint::Yellow, format!("  its version is no longer served: read as {version}"));
    }
    for (index, (path, value)) in outcome.difference.lost.iter().enumerate() {
        let known = help(entry.known.lost_field(index)).map_or_else(String::new, |text| format!(" ({text})"));
        line(Paint::Red, format!("- {path}: {}{known}", json::to_string(value)));
    }
    for (path, value) in &outcome.difference.appearing {
        line(
            Paint::Yellow,
            format!("+ {path}: {} (appears: it is stored, and the old CRD prunes it)", json::to_string(value)),
        );
    }
    for (path, value) in &outcome.difference.defaulted {
        line(Paint::Green, format!("+ {path}: {} (default)", json::to_string(value)));
    }
    for (path, before, after) in &outcome.difference.changed {
        line(Paint::Yellow, format!("~ {path}: {} becomes {}", json::to_string(before), json::to_string(after)));
    }
    for (column, before, after) in &outcome.cells {
        line(Paint::Dim, format!("  column {column}: {before:?} becomes {after:?}"));
    }
    lines
}

/// Formats the changes of printer columns; empty if there are none.
pub fn columns(changes: &[ColumnChange]) -> String {
    let mut text = String::new();
    for ColumnChange { version, name, before, after } in changes {
        let _ = match (before, after) {
            (Some(before), Some(after)) => writeln!(text, "~ column {name} of {version}: {before} becomes {after}"),
            (Some(before), None) => writeln!(text, "- column {name} of {version}: {before}"),
            (None, Some(after)) => writeln!(text, "+ column {name} of {version}: {after}"),
            (None, None) => Ok(()),
        };
    }
    text
}

/// Returns the changes of printer columns as JSON.
pub fn columns_value(changes: &[ColumnChange]) -> Value {
    let change = |c: &ColumnChange| {
        let mut members = Map::new();
        let texts = [("version", Some(&c.version)), ("name", Some(&c.name)), ("before", c.before.as_ref())];
        for (key, text) in texts.into_iter().chain([("after", c.after.as_ref())]) {
            if let Some(text) = text {
                members.insert(key.to_owned(), Value::from(text.as_str()));
            }
        }
        Value::Object(members)
    };
    Value::Array(changes.iter().map(change).collect())
}

/// Returns an object as JSON.
pub fn value(entry: &RehearsedObject) -> Value {
    members(entry).into()
}

/// Returns the members of an object in JSON.
pub fn members(entry: &RehearsedObject) -> Map {
    let mut members = identified(&entry.identity, &entry.location);
    let mut put = |key: &str, value: Value| members.insert(key.to_owned(), value);
    if entry.must_migrate {
        put("mustMigrate", true.into());
    }
    match &entry.outcome {
        Err(RehearsalError::Old(reason)) => drop(put("cannotTell", reason.as_str().into())),
        Err(RehearsalError::New(reason)) => {
            put("unreadable", reason.as_str().into());
            if let Some(known) = &entry.known.unreadable {
                put("baseline", known_finding(known));
            }
        }
        Ok(outcome) => {
            let lost = outcome.difference.lost.iter().enumerate().map(|(index, (path, value))| {
                let members = [("path", Value::from(path.as_str())), ("value", value.clone())];
                object(members.into_iter().chain(baseline(entry.known.lost_field(index))))
            });
            put("lost", lost.collect::<Vec<_>>().into());
            put("appearing", pairs(&outcome.difference.appearing));
            put("defaulted", pairs(&outcome.difference.defaulted));
            put("changed", changes(&outcome.difference.changed));
            let errors = outcome.errors.iter().zip(&entry.locations).enumerate();
            let errors = errors.map(|(index, (error, location))| {
                let members = [
                    ("type", Value::from(error.kind.reason())),
                    ("field", Value::from(error.field.as_str())),
                    ("message", Value::from(error.to_string())),
                    ("location", location_object(location)),
                ];
                object(members.into_iter().chain(baseline(entry.known.error(index))))
            });
            put("errors", Value::Array(errors.collect()));
            let cells = outcome.cells.iter().map(|(column, before, after)| {
                object([("column", column.as_str()), ("before", before.as_str()), ("after", after.as_str())])
            });
            put("cells", Value::Array(cells.collect()));
            if let Some(version) = &outcome.moved_to {
                put("readAs", version.as_str().into());
            }
            if outcome.was_invalid {
                put("alreadyInvalid", true.into());
            }
            match &outcome.edit {
                Edit::Untried => {}
                Edit::Passes => drop(put("unrelatedEdit", "passes".into())),
                Edit::Blocked(errors) => {
                    put("unrelatedEdit", "blocked".into());
                    let errors = errors.iter().map(|error| Value::from(error.to_string()));
                    put("blockedBy", Value::Array(errors.collect()));
                }
            }
        }
    }
    members
}

/// Returns the member `baseline` of a finding that the baseline has.
fn baseline(known: Option<&Arc<KnownFinding>>) -> Option<(&'static str, Value)> {
    known.map(|known| ("baseline", known_finding(known)))
}

/// Returns the paths and values of a difference in JSON.
pub fn pairs(pairs: &[(String, Value)]) -> Value {
    let pair =
        |(path, value): &(String, Value)| object([("path", Value::from(path.as_str())), ("value", value.clone())]);
    Value::Array(pairs.iter().map(pair).collect())
}

/// Returns the changed values of a difference in JSON.
pub fn changes(changed: &[(String, Value, Value)]) -> Value {
    let change = |(path, before, after): &(String, Value, Value)| {
        object([("path", Value::from(path.as_str())), ("before", before.clone()), ("after", after.clone())])
    };
    Value::Array(changed.iter().map(change).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_do_not_count() {
        assert_eq!(without_indices("spec.a[12].b[0]"), "spec.a[*].b[*]");
        assert_eq!(without_indices("spec.a[x].b[0"), "spec.a[x].b[0");
    }
}
