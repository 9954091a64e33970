//! Formats the results of `rehearse --policies`. The JSON is documented in `docs/output.md`.

use crdx_engine::rehearsal::policies::Effects;
use crdx_engine::report::admission::FieldChange;
use crdx_engine::report::{ObjectReport, SourceLocation, Verdict};
use crdx_output::printable;
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::members::location_object;
use crdx_output::{Cell, Column, Paint, TableStyle, bounded_table};
use crdx_server::policies::model::PolicyKind;
use crdx_value::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The number of objects by effect.
#[derive(Clone, Copy, Debug, Default)]
struct Numbers {
    denied: usize,
    warned: usize,
    audited: usize,
    changed: usize,
    undecided: usize,
}

/// The number of objects by effect, in total and for each policy.
#[derive(Clone, Debug, Default)]
pub struct PolicyCounts {
    objects: usize,
    untouched: usize,
    refused_anyway: usize,
    cannot_tell: usize,
    /// The objects that are denied for errors in the baseline.
    known: usize,
    all: Numbers,
    /// By kind and name, with the source location.
    policies: BTreeMap<(PolicyKind, String), (Option<SourceLocation>, Numbers)>,
}

impl PolicyCounts {
    /// Creates counts of zero for these policies.
    pub fn new(policies: impl IntoIterator<Item = ((PolicyKind, String), SourceLocation)>) -> Self {
        let policies =
            policies.into_iter().map(|(key, location)| (key, (Some(location), Numbers::default()))).collect();
        Self { policies, ..Self::default() }
    }

    /// Counts an object.
    pub fn add(&mut self, item: &ObjectReport, effects: &Effects) {
        let Effects { denied, warned, audited, changed, undecided, .. } = effects;
        self.objects += 1;
        self.untouched += usize::from(!effects.is_touched());
        self.refused_anyway += usize::from(effects.refused_anyway);
        self.cannot_tell += usize::from(effects.cannot_tell);
        self.known += usize::from(item.is_known());
        self.all.add(|policies| !policies.is_empty(), effects);
        let all = [denied, warned, audited, changed, undecided];
        let named: BTreeSet<&(PolicyKind, String)> = all.into_iter().flatten().collect();
        for policy in named {
            let numbers = &mut self.policies.entry(policy.clone()).or_default().1;
            numbers.add(|policies| policies.contains(policy), effects);
        }
    }

    /// Counts an input without an object.
    pub fn add_unknown(&mut self) {
        self.cannot_tell += 1;
    }

    /// Returns true if the effect on some object is unknown.
    pub fn is_unsure(&self) -> bool {
        self.cannot_tell > 0
    }

    /// The number of objects for which the effect is unknown.
    pub fn unknown(&self) -> usize {
        self.cannot_tell
    }

    /// The number of objects that would be denied.
    pub fn all_denied(&self) -> usize {
        self.all.denied
    }

    /// Returns true if some object would be denied, except as in the baseline.
    pub fn denies(&self) -> bool {
        self.all.denied > self.known
    }

    /// Returns the names of the policies that deny objects, with the number of objects.
    pub fn denied(&self) -> impl Iterator<Item = (&str, usize)> {
        let denied = self.policies.iter().filter(|(_, (_, numbers))| numbers.denied > 0);
        denied.map(|((_, name), (_, numbers))| (name.as_str(), numbers.denied))
    }

    /// Formats the table of policies and the summary.
    pub fn text(&self, look: TableStyle) -> String {
        let row = |((policy_kind, name), (_, numbers)): (&(PolicyKind, String), &(Option<SourceLocation>, Numbers))| {
            vec![
                Cell::from(policy_kind.kind()),
                Cell::from(name),
                Cell::count(numbers.denied, Paint::Red),
                Cell::count(numbers.warned, Paint::Yellow),
                Cell::count(numbers.audited, Paint::Yellow),
                Cell::count(numbers.changed, Paint::Yellow),
                Cell::count(numbers.undecided, Paint::Red),
            ]
        };
        let rows: Vec<Vec<Cell>> = self.policies.iter().map(row).collect();
        let mut text = bounded_table::table(POLICIES, look, &rows);
        let _ = writeln!(text, "\n{}", self.line());
        text
    }

    /// Formats the counts that are not 0.
    pub fn line(&self) -> String {
        let s = if self.objects == 1 { "" } else { "s" };
        let mut text = format!("{} object{s}", self.objects);
        let parts = [
            (self.untouched, "untouched"),
            (self.all.denied, "denied"),
            (self.known, "in the baseline"),
            (self.all.warned, "with warnings"),
            (self.all.audited, "recorded in the audit log"),
            (self.all.changed, "changed"),
            (self.refused_anyway, "rejected without the new policies, too"),
            (self.cannot_tell, "cannot tell"),
        ];
        let parts: Vec<String> =
            parts.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")).collect();
        if !parts.is_empty() {
            let _ = write!(text, ": {}", parts.join(", "));
        }
        text
    }

    /// Returns the policies as JSON.
    pub fn policies(&self) -> Value {
        let one = |((policy_kind, name), (location, numbers)): (
            &(PolicyKind, String),
            &(Option<SourceLocation>, Numbers),
        )| {
            let mut members = numbers.members();
            members.insert("kind".to_owned(), policy_kind.kind().into());
            members.insert("name".to_owned(), name.as_str().into());
            members.extend(location.as_ref().map(|location| ("location".to_owned(), location_object(location))));
            Value::from(members)
        };
        self.policies.iter().map(one).collect::<Vec<_>>().into()
    }

    /// Returns the summary as JSON.
    pub fn summary(&self) -> Value {
        let mut members = self.all.members();
        let own = [
            ("objects", self.objects),
            ("untouched", self.untouched),
            ("refusedAnyway", self.refused_anyway),
            ("cannotTell", self.cannot_tell),
        ];
        let known = Some(("known", self.known)).filter(|(_, n)| *n > 0);
        members.extend(own.into_iter().chain(known).map(|(key, n)| (key.to_owned(), number(n))));
        members.into()
    }
}

impl Numbers {
    /// Counts an object for each effect whose policies satisfy `counts`.
    fn add(&mut self, counts: impl Fn(&BTreeSet<(PolicyKind, String)>) -> bool, effects: &Effects) {
        self.denied += usize::from(counts(&effects.denied));
        self.warned += usize::from(counts(&effects.warned));
        self.audited += usize::from(counts(&effects.audited));
        self.changed += usize::from(counts(&effects.changed));
        self.undecided += usize::from(counts(&effects.undecided));
    }

    fn members(self) -> Map {
        let Self { denied, warned, audited, changed, undecided } = self;
        let counts = [
            ("denied", denied),
            ("warned", warned),
            ("audited", audited),
            ("changed", changed),
            ("undecided", undecided),
        ];
        counts.map(|(key, n)| (key.to_owned(), number(n))).into_iter().collect()
    }
}

fn number(n: usize) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

const POLICIES: &[Column] = &[
    Column::text("KIND"),
    Column::text("POLICY"),
    Column::always("DENIED"),
    Column::always("WARNED"),
    Column::always("AUDITED"),
    Column::always("CHANGED"),
    Column::optional("UNDECIDED"),
];

/// The columns of the table of objects.
pub const COLUMNS: &[Column] = &[
    Column::location("LOCATION"),
    Column::text("KIND"),
    Column::text("NAME"),
    Column::always("NEXT WRITE"),
    Column::text("POLICIES"),
    Column::note("NOTE"),
];

/// Returns the effects with the names of the policies.
pub fn words(effects: &Effects) -> String {
    let Effects { denied, warned, audited, changed, .. } = effects;
    let words = [(denied, "denies"), (warned, "warns"), (audited, "audits"), (changed, "changes")];
    let each = words.iter().flat_map(|(policies, does)| policies.iter().map(move |(_, name)| format!("{name} {does}")));
    each.collect::<Vec<_>>().join(", ")
}

/// Returns the row of an object.
pub fn row(item: &ObjectReport, effects: &Effects) -> Vec<Cell> {
    let next = match item.verdict {
        Verdict::Rejected if effects.refused_anyway => Cell::painted("rejected", Paint::Yellow),
        Verdict::Rejected => Cell::painted("denied", Paint::Red),
        Verdict::CannotTell => Cell::painted("cannot tell", Paint::Red),
        _ => Cell::from("accepted"),
    };
    let note = match item {
        _ if effects.refused_anyway => "without the new policies, too",
        item if item.is_known() => "in the baseline",
        item => &item.reason,
    };
    vec![
        Cell::from(item.location.to_string()),
        Cell::from(&item.identity.kind),
        Cell::from(item.identity.full_name()),
        next,
        Cell::from(words(effects)),
        Cell::from(note),
    ]
}

/// Returns the case of an object, whose difference has the fields that policies change.
pub fn case(item: &ObjectReport, effects: &Effects) -> Case {
    let mut case = Case::from_report(item);
    let changes = changed_fields(item);
    if !changes.is_empty() {
        case.findings.push(Finding {
            level: Level::Note,
            rule: "changed".to_owned(),
            field: None,
            message: "policies change it".to_owned(),
            diff: Some(changes),
            replacement: None,
            known: None,
            help: None,
            location: item.location.clone(),
        });
    }
    if effects.refused_anyway {
        // The exit code is that of the new policies.
        case.outcome = Outcome::Passed;
    }
    case.result = match item.verdict {
        Verdict::Rejected if effects.refused_anyway => "rejected without the new policies, too",
        Verdict::Rejected => "denied",
        Verdict::Accepted if !effects.changed.is_empty() => "changed",
        verdict => verdict.text(),
    };
    case
}

/// Formats the fields that policies change in an object, after its name.
pub fn changes(item: &ObjectReport) -> String {
    match changed_fields(item) {
        text if text.is_empty() => text,
        text => format!("{}\n{text}", printable::line(&format!("{} ({})", item.called(), item.location))),
    }
}

fn changed_fields(item: &ObjectReport) -> String {
    let mut text = String::new();
    let shown = |value: &Value| json::to_string(value);
    for change in item.admission.iter().flat_map(|admission| &admission.mutated) {
        for FieldChange { path, before, after } in &change.fields {
            let what = match (before, after) {
                (None, Some(after)) => format!("+ {path}: {}", shown(after)),
                (Some(before), None) => format!("- {path}: {}", shown(before)),
                (Some(before), Some(after)) => format!("~ {path}: {} becomes {}", shown(before), shown(after)),
                (None, None) => continue,
            };
            let _ = writeln!(text, "{what} (policy {})", change.policy);
        }
    }
    text
}
