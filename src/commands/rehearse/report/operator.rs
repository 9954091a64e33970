//! The report of `rehearse` about all CRDs of an operator.

use super::definition::{self, EffectCounts, plural};
use super::deleted_counts::DeletedCounts;
use super::operator_page::{self, OperatorPage};
use super::{Common, Rehearsed, page};
use crate::commands::exit::Exit;
use crate::commands::rehearse::known::{DELETED, DELETED_MESSAGE};
use crate::commands::rehearse::planned::{DeletedDefinition, DeletedObject, OperatorObject, PlannedDefinition};
use crate::commands::rehearse::steps::{PlannedUpdate, UpgradeSteps};
use crate::commands::sink::{Ending, Output, Page, PageItem, Report};
use crdx_engine::report::Verdict;
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::json::{self, identified};
use crdx_output::report::repeated::Repeated;
use crdx_output::report::text::{Style, TextReport};
use crdx_output::{Cell, Paint, TableStyle, printable};
use crdx_value::json::to_string;
use crdx_value::{Value, object};
use std::fmt::Write as _;
use std::io;

/// The effects of the new CRDs of an operator.
pub struct OperatorReport<'a> {
    planned: &'a [PlannedDefinition],
    deleted: &'a [DeletedDefinition],
    common: Common,
    /// Effects that many objects share.
    repeated: Repeated,
    /// The effects on the objects of each CRD.
    counts: Vec<EffectCounts>,
    /// The objects of each CRD that disappears.
    lost: Vec<DeletedCounts>,
    /// Inputs for which the effect is unknown.
    unknown: usize,
}

impl<'a> OperatorReport<'a> {
    /// Creates a report without objects.
    pub fn new(
        planned: &'a [PlannedDefinition],
        deleted: &'a [DeletedDefinition],
        look: TableStyle,
        quiet: bool,
    ) -> Self {
        Self {
            planned,
            deleted,
            common: Common::new(definition::COLUMNS, look, quiet),
            repeated: Repeated::default(),
            counts: vec![EffectCounts::default(); planned.len()],
            lost: vec![DeletedCounts::default(); deleted.len()],
            unknown: 0,
        }
    }

    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        let verdict = |verdict: Verdict| self.planned.iter().any(|one| one.item.verdict == verdict);
        if self.unknown > 0 || self.counts.iter().any(EffectCounts::is_unsure) || verdict(Verdict::CannotTell) {
            Exit::CannotTell
        } else if self.counts.iter().any(EffectCounts::breaks)
            || self.lost.iter().any(DeletedCounts::breaks)
            || self.planned.iter().any(|one| !(one.plan.is_accepted() || one.item.is_known()))
        {
            Exit::Rejected
        } else {
            Exit::Accepted
        }
    }

    /// Returns true if an object is printed: if the upgrade affects it; if `quiet`, if it breaks it.
    fn is_shown(&self, object: &OperatorObject) -> bool {
        match object {
            OperatorObject::Updated(_, entry) => entry.fails() || (entry.is_touched() && !self.common.quiet),
            OperatorObject::Deleted(deleted) => deleted.known.is_none() || !self.common.quiet,
        }
    }

    fn shown<'d>(&self, done: &'d Rehearsed<OperatorObject>) -> Option<&'d OperatorObject> {
        match done {
            Rehearsed::Object(object) if self.is_shown(object) => Some(object),
            _ => None,
        }
    }

    fn steps(&self) -> UpgradeSteps {
        let updates = self.planned.iter().map(PlannedUpdate::from).zip(self.counts.iter().cloned());
        let deleted: Vec<(&DeletedDefinition, usize)> =
            self.deleted.iter().zip(self.lost.iter().map(|one| one.objects)).collect();
        UpgradeSteps::new(updates, &deleted)
    }

    /// Returns a line for each CRD.
    fn lines(&self) -> Vec<String> {
        let updated = self.planned.iter().zip(&self.counts);
        let updated = updated.map(|(one, counts)| {
            let verdict = if one.item.verdict == Verdict::Accepted { "" } else { one.item.verdict.text() };
            let separator = if verdict.is_empty() { "" } else { "; " };
            format!("{}: {verdict}{separator}{}", one.plan.name, counts.line())
        });
        let deleted = self.deleted.iter().zip(&self.lost);
        let deleted = deleted.map(|(one, count)| format!("{}: removed; {}", one.name, count.line()));
        updated.chain(deleted).collect()
    }
}

/// Returns the case of an object whose CRD disappears.
fn deleted_case(deleted: &DeletedObject) -> Case {
    let DeletedObject { identity, location, known, .. } = deleted;
    let (level, outcome) = match known {
        Some(_) => (Level::Note, Outcome::Skipped(definition::KNOWN.to_owned())),
        None => (Level::Error, Outcome::Failed),
    };
    let finding = Finding {
        level,
        rule: DELETED.to_owned(),
        field: None,
        message: DELETED_MESSAGE.to_owned(),
        diff: None,
        replacement: None,
        known: known.clone(),
        help: known.as_ref().map(|known| known.text()),
        location: location.clone(),
    };
    Case {
        subject: format!("{} {}", identity.kind, identity.full_name()),
        location: location.clone(),
        outcome,
        result: "deleted",
        findings: vec![finding],
    }
}

impl Report for OperatorReport<'_> {
    type Item = Rehearsed<OperatorObject>;
    const COMMAND: &'static str = "rehearse";
    const KIND: &'static str = "OperatorRehearsalReport";

    fn count(&mut self, done: &Self::Item) {
        match done {
            Rehearsed::Reported(_) => self.unknown += 1,
            Rehearsed::Object(object) => match &**object {
                OperatorObject::Updated(index, entry) => {
                    self.counts.get_mut(*index).into_iter().for_each(|counts| counts.add(entry));
                }
                OperatorObject::Deleted(deleted) => {
                    if let Some(count) = self.lost.get_mut(deleted.definition) {
                        count.objects += 1;
                        count.known += usize::from(deleted.known.is_some());
                    }
                }
            },
        }
    }

    fn json(&mut self, done: &Self::Item) -> impl IntoIterator<Item = String> {
        self.shown(done).map(|object| match object {
            OperatorObject::Updated(_, entry) => to_string(&definition::value(entry)),
            OperatorObject::Deleted(DeletedObject { identity, location, known, .. }) => {
                let mut members = identified(identity, location);
                members.insert("deleted".to_owned(), true.into());
                members.extend(known.as_ref().map(|known| ("baseline".to_owned(), json::known_finding(known))));
                to_string(&Value::Object(members))
            }
        })
    }

    fn cases(&mut self, done: &Self::Item) -> impl IntoIterator<Item = Case> {
        match done {
            Rehearsed::Reported(item) => Some(Case::from_report(item)),
            Rehearsed::Object(_) => self.shown(done).map(|object| match object {
                OperatorObject::Updated(_, entry) => definition::case(entry),
                OperatorObject::Deleted(deleted) => deleted_case(deleted),
            }),
        }
    }

    fn begin_cases(&mut self) -> Vec<Case> {
        self.planned
            .iter()
            .map(|one| definition::definition_case(&one.item, &one.plan.columns, &one.possible))
            .collect()
    }

    /// Returns the server's responses to the new CRDs.
    fn begin_text(&mut self) -> String {
        let accepted = self.planned.iter().filter(|one| one.item.verdict == Verdict::Accepted).count();
        let line = format!("The server would accept {accepted} of {}.", plural(self.planned.len(), "CRD"));
        let mut text = Paint::Bold.when(self.common.look.color, &line) + "\n";
        let mut report = TextReport::new(Style { color: self.common.look.color, ..Style::default() });
        for one in self.planned {
            text.push_str(&report.details(&one.item));
            let columns = definition::columns(&one.plan.columns);
            if !columns.is_empty() {
                let _ = write!(text, "{}\n{columns}", one.plan.name);
            }
        }
        text.push_str(&report.common_details());
        for one in self.deleted {
            let _ = writeln!(text, "{} is not among the new CRDs ({})", one.name, one.location);
        }
        text + "\n"
    }

    fn page_item(&mut self, done: &Self::Item, n: usize) -> Option<PageItem> {
        self.shown(done).map(|object| match object {
            OperatorObject::Updated(_, entry) => page::item(entry, n),
            OperatorObject::Deleted(deleted) => operator_page::deleted_item(deleted, n),
        })
    }

    fn page(&mut self, end: &Ending) -> Page {
        let operator = OperatorPage {
            planned: self.planned,
            counts: &self.counts,
            deleted: self.deleted,
            lost: &self.lost,
            unknown: self.unknown,
            steps: self.steps(),
        };
        Page { head: operator.head(end.releases), ..page::objects() }
    }

    fn text(&mut self, done: &Self::Item, out: &mut Output) -> io::Result<()> {
        let Some(object) = self.shown(done) else { return Ok(()) };
        match object {
            OperatorObject::Updated(_, entry) => {
                let called = format!("{} {}", entry.identity.kind, entry.identity.full_name());
                let mut row = definition::row(entry);
                if let Some(name) = row.get_mut(1) {
                    *name = Cell::from(called.clone());
                }
                out.row(self.common.table.row(&row))?;
                let details = definition::details(entry, self.common.look.color);
                let what = if entry.fails() { "errors" } else { "changes" };
                let mut is_hidden = || {
                    self.repeated.hides_equal(definition::effects(entry), ("object", what), &called, &entry.location)
                };
                if details.is_empty() || is_hidden() { Ok(()) } else { out.details(&details) }
            }
            OperatorObject::Deleted(DeletedObject { identity, location, known, .. }) => {
                let called = format!("{} {}", identity.kind, identity.full_name());
                let mut row = vec![Cell::from(location.to_string()), Cell::from(called)];
                row.push(Cell::painted("deleted", Paint::Red));
                row.extend(["-"; 5].map(Cell::from));
                row.push(Cell::from(match known {
                    Some(_) => "its CRD disappears; in the baseline",
                    None => "its CRD disappears",
                }));
                out.row(self.common.table.row(&row))
            }
        }
    }

    fn message(&mut self, done: &Self::Item) -> String {
        self.common.message(done)
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.lines().join("; ")
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        let definition = |(one, counts): (&PlannedDefinition, &EffectCounts)| {
            object([
                ("definition", json::value(&one.item)),
                ("columns", definition::columns_value(&one.plan.columns)),
                ("possibleObjects", one.possible.value()),
                ("summary", counts.value()),
            ])
        };
        let definitions: Vec<Value> = self.planned.iter().zip(&self.counts).map(definition).collect();
        let removed = self.deleted.iter().zip(&self.lost).map(|(one, count)| {
            let count = i64::try_from(count.objects).unwrap_or(i64::MAX);
            object([("name", Value::from(one.name.as_str())), ("objects", Value::Int(count))])
        });
        vec![
            ("definitions", definitions.into()),
            ("removed", removed.collect::<Vec<_>>().into()),
            ("steps", self.steps().value()),
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("notes", json::notes(end.notes)),
        ]
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        let mut repeated = String::new();
        for line in self.repeated.lines() {
            repeated.extend([&*printable::line(&line), "\n"]);
        }
        out.details(&repeated)?;
        let possible = self.common.possible(self.planned.iter().map(|one| (one.plan.name.as_str(), &one.possible)));
        let steps = self.steps().text();
        let separator = if steps.is_empty() { "" } else { "\n" };
        let counts: String = self.lines().into_iter().map(|line| line + "\n").collect();
        self.common.end(&format!("{possible}{steps}{separator}{counts}"), out)
    }
}
