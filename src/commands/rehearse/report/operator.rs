//! The report of `rehearse` about all CRDs, policies and webhook configurations of an operator.

use super::admission::{self, AdmissionCounts};
use super::definition::{self, EffectCounts, plural};
use super::deleted_counts::DeletedCounts;
use super::operator_page::{self, OperatorPage};
use super::{Common, Rehearsed, page, policies};
use crate::commands::exit::Exit;
use crate::commands::rehearse::admission::AdmissionEffect;
use crate::commands::rehearse::known::{DELETED, DELETED_MESSAGE};
use crate::commands::rehearse::planned::{
    DefinitionEffect, DeletedDefinition, DeletedObject, OperatorObject, PlannedDefinition, Upgraded,
};
use crate::commands::rehearse::steps::{PlannedUpdate, UpgradeSteps};
use crate::commands::sink::{Ending, Output, Page, PageItem, Report};
use crdx_engine::rehearsal::Releases;
use crdx_engine::report::{Identity, ObjectReport, SourceLocation, Verdict};
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::json::{self, identified};
use crdx_output::report::repeated::Repeated;
use crdx_output::report::text::{Style, TextReport};
use crdx_output::{Cell, Paint, TableStyle, printable};
use crdx_value::json::to_string;
use crdx_value::{Value, object};
use std::fmt::Write as _;
use std::io;

/// The effects of an upgrade of an operator.
pub struct OperatorReport<'a> {
    upgraded: Upgraded<'a>,
    common: Common,
    /// Effects that many objects share.
    repeated: Repeated,
    /// The effects on the objects of each CRD.
    counts: Vec<EffectCounts>,
    /// The objects of each CRD that disappears.
    lost: Vec<DeletedCounts>,
    /// The effects of policies and webhooks.
    admission: AdmissionCounts,
    /// Inputs for which the effect is unknown.
    unknown: usize,
}

impl<'a> OperatorReport<'a> {
    /// Creates a report without objects.
    pub fn new(upgraded: Upgraded<'a>, look: TableStyle, quiet: bool) -> Self {
        Self {
            upgraded,
            common: Common::new(definition::COLUMNS, look, quiet),
            repeated: Repeated::default(),
            counts: vec![EffectCounts::default(); upgraded.planned.len()],
            lost: vec![DeletedCounts::default(); upgraded.deleted.len()],
            admission: AdmissionCounts::new(upgraded.admission.given()),
            unknown: 0,
        }
    }

    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        let Upgraded { planned, admission, .. } = self.upgraded;
        let verdict = |verdict: Verdict| {
            let definitions = planned.iter().map(|one| &one.item);
            definitions.chain(&admission.refused).any(|item| item.verdict == verdict && !item.is_known())
        };
        let policies = &self.admission.policies;
        if self.unknown > 0
            || self.counts.iter().any(EffectCounts::is_unsure)
            || policies.is_unsure()
            || verdict(Verdict::CannotTell)
        {
            Exit::CannotTell
        } else if self.counts.iter().any(EffectCounts::breaks)
            || self.lost.iter().any(DeletedCounts::breaks)
            || policies.denies()
            || planned.iter().any(|one| !(one.plan.is_accepted() || one.item.is_known()))
            || verdict(Verdict::Rejected)
        {
            Exit::Rejected
        } else {
            self.upgraded.matrix.exit(self.has_known())
        }
    }

    /// Returns true if the baseline has an effect of the new CRDs.
    fn has_known(&self) -> bool {
        let mut items = self.upgraded.planned.iter().map(|one| &one.item);
        self.counts.iter().any(|counts| counts.known() > 0) || items.any(ObjectReport::is_known)
    }

    /// Returns the effect of the CRDs, if it is printed: if the upgrade affects the object; if `quiet`, if it breaks it.
    fn shown_definition<'o>(&self, object: &'o OperatorObject) -> Option<&'o DefinitionEffect> {
        object.definition.as_ref().filter(|effect| match effect {
            DefinitionEffect::Updated(_, entry) => entry.fails() || (entry.is_touched() && !self.common.quiet),
            DefinitionEffect::Deleted(deleted) => deleted.known.is_none() || !self.common.quiet,
        })
    }

    /// Returns the effect of the policies, if it is printed.
    fn shown_admission<'o>(&self, object: &'o OperatorObject) -> Option<&'o AdmissionEffect> {
        let is_shown = |effect: &&AdmissionEffect| effect.fails() || (effect.is_touched() && !self.common.quiet);
        object.admission.as_ref().filter(is_shown)
    }

    /// Returns an object that is printed, with its effects.
    fn shown<'o>(&self, done: &'o Rehearsed<OperatorObject>) -> Option<Shown<'o>> {
        let Rehearsed::Object(object) = done else { return None };
        let (definition, admission) = (self.shown_definition(object), self.shown_admission(object));
        (definition.is_some() || admission.is_some()).then_some(Shown { definition, admission })
    }

    fn steps(&self) -> UpgradeSteps {
        let Upgraded { planned, deleted, admission, .. } = self.upgraded;
        let updates = planned.iter().map(PlannedUpdate::from).zip(self.counts.iter().cloned());
        let deleted: Vec<(&DeletedDefinition, usize)> =
            deleted.iter().zip(self.lost.iter().map(|one| one.objects)).collect();
        UpgradeSteps::new(updates, &deleted, (admission, &self.admission))
    }

    /// Returns a line for each CRD, and one for the policies.
    fn lines(&self) -> Vec<String> {
        let updated = self.upgraded.planned.iter().zip(&self.counts);
        let updated = updated.map(|(one, counts)| {
            let verdict = if one.item.verdict == Verdict::Accepted { "" } else { one.item.verdict.text() };
            let separator = if verdict.is_empty() { "" } else { "; " };
            format!("{}: {verdict}{separator}{}", one.plan.name, counts.line())
        });
        let deleted = self.upgraded.deleted.iter().zip(&self.lost);
        let deleted = deleted.map(|(one, count)| format!("{}: removed; {}", one.name, count.line()));
        let policies = self.upgraded.admission.given();
        let policies = policies.map(|_| format!("policies and webhooks: {}", self.admission.policies.line()));
        updated.chain(deleted).chain(policies).collect()
    }
}

/// The effects on an object that are printed.
#[derive(Clone, Copy)]
struct Shown<'o> {
    definition: Option<&'o DefinitionEffect>,
    admission: Option<&'o AdmissionEffect>,
}

impl Shown<'_> {
    fn identity(&self) -> (Identity, SourceLocation) {
        match (self.definition, self.admission) {
            (Some(DefinitionEffect::Updated(_, entry)), _) => (entry.identity.clone(), entry.location.clone()),
            (Some(DefinitionEffect::Deleted(DeletedObject { identity, location, .. })), _) => {
                (identity.clone(), location.clone())
            }
            (None, Some(effect)) => (effect.item.identity.clone(), effect.item.location.clone()),
            (None, None) => Default::default(),
        }
    }

    fn row(&self) -> Vec<Cell> {
        let (identity, location) = self.identity();
        let called = format!("{} {}", identity.kind, identity.full_name());
        let unaffected = |next: Cell, note: Cell| {
            let mut row = vec![Cell::from(location.to_string()), Cell::from(called.clone()), next];
            row.extend(["-"; 5].map(Cell::from));
            row.push(note);
            row
        };
        let mut row = match self.definition {
            Some(DefinitionEffect::Updated(_, entry)) => definition::row(entry),
            Some(DefinitionEffect::Deleted(DeletedObject { known, .. })) => {
                let note = if known.is_some() { "its CRD disappears; in the baseline" } else { "its CRD disappears" };
                unaffected(Cell::painted("deleted", Paint::Red), Cell::from(note))
            }
            None => unaffected(Cell::from("accepted"), Cell::from("")),
        };
        if let Some(name) = row.get_mut(1) {
            *name = Cell::from(called.clone());
        }
        if let Some(effect) = self.admission {
            if let (Some(next), Some(words)) = (row.get_mut(2), effect.next_write()) {
                *next = Cell::painted(words, Paint::Red);
            }
            if let Some(note) = row.last_mut() {
                *note = Cell::from(effect.note());
            }
        }
        row
    }

    fn value(&self) -> Value {
        let mut members = match self.definition {
            Some(DefinitionEffect::Updated(_, entry)) => definition::members(entry),
            Some(DefinitionEffect::Deleted(DeletedObject { identity, location, known, .. })) => {
                let mut members = identified(identity, location);
                members.insert("deleted".to_owned(), true.into());
                members.extend(known.as_ref().map(|known| ("baseline".to_owned(), json::known_finding(known))));
                members
            }
            None => {
                let (identity, location) = self.identity();
                identified(&identity, &location)
            }
        };
        if let Some(effect) = self.admission {
            members.insert("policies".to_owned(), admission::effects_value(&effect.effects));
            members.insert("nextWrite".to_owned(), json::value(&effect.item));
        }
        members.into()
    }

    fn cases(&self) -> impl Iterator<Item = Case> {
        let definition = self.definition.map(|effect| match effect {
            DefinitionEffect::Updated(_, entry) => definition::case(entry),
            DefinitionEffect::Deleted(deleted) => deleted_case(deleted),
        });
        let admission = self.admission.map(|effect| policies::case(&effect.item, &effect.effects));
        definition.into_iter().chain(admission)
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
        let object = match done {
            Rehearsed::Reported(_) => {
                self.unknown += 1;
                return;
            }
            Rehearsed::Object(object) => object,
        };
        match &object.definition {
            Some(DefinitionEffect::Updated(index, entry)) => {
                self.counts.get_mut(*index).into_iter().for_each(|counts| counts.add(entry));
            }
            Some(DefinitionEffect::Deleted(deleted)) => {
                if let Some(count) = self.lost.get_mut(deleted.definition) {
                    count.objects += 1;
                    count.known += usize::from(deleted.known.is_some());
                }
            }
            None => {}
        }
        object.admission.iter().for_each(|effect| self.admission.add(effect));
    }

    fn json(&mut self, done: &Self::Item) -> impl IntoIterator<Item = String> {
        self.shown(done).map(|shown| to_string(&shown.value()))
    }

    fn cases(&mut self, done: &Self::Item) -> impl IntoIterator<Item = Case> {
        match done {
            Rehearsed::Reported(item) => vec![Case::from_report(item)],
            Rehearsed::Object(_) => self.shown(done).iter().flat_map(Shown::cases).collect(),
        }
    }

    fn begin_cases(&mut self) -> Vec<Case> {
        let Upgraded { planned, admission, .. } = self.upgraded;
        let definitions =
            planned.iter().map(|one| definition::definition_case(&one.item, &one.plan.columns, &one.possible));
        definitions.chain(admission.refused.iter().map(Case::from_report)).collect()
    }

    /// Returns the server's responses to the new CRDs.
    fn begin_text(&mut self) -> String {
        let Upgraded { planned, deleted, admission, .. } = self.upgraded;
        let accepted = planned.iter().filter(|one| one.item.verdict == Verdict::Accepted).count();
        let mut text = String::new();
        if !planned.is_empty() {
            let server = match self.upgraded.releases {
                Releases { old, new } if old == new => "The".to_owned(),
                Releases { old, new } => {
                    format!("Upgrade from Kubernetes {} to {}: the", old.minor(), new.minor())
                }
            };
            let line = format!("{server} server would accept {accepted} of {}.", plural(planned.len(), "CRD"));
            text.extend([Paint::Bold.when(self.common.look.color, &line).as_str(), "\n"]);
        }
        let mut report = TextReport::new(Style { color: self.common.look.color, ..Style::default() });
        for one in planned {
            text.push_str(&report.details(&one.item));
            let columns = definition::columns(&one.plan.columns);
            if !columns.is_empty() {
                let _ = write!(text, "{}\n{columns}", one.plan.name);
            }
        }
        for item in super::shown(&admission.refused, self.common.quiet) {
            text.push_str(&report.details(item));
        }
        text.push_str(&report.common_details());
        for one in deleted {
            let _ = writeln!(text, "{} is not among the new CRDs ({})", one.name, one.location);
        }
        text + "\n"
    }

    fn page_item(&mut self, done: &Self::Item, n: usize) -> Option<PageItem> {
        let shown = self.shown(done)?;
        match (shown.definition, shown.admission) {
            (Some(DefinitionEffect::Updated(_, entry)), Some(effect)) => {
                Some(operator_page::item_with_policies(entry, effect, n))
            }
            (Some(DefinitionEffect::Updated(_, entry)), None) => Some(page::item(entry, n)),
            (Some(DefinitionEffect::Deleted(deleted)), _) => Some(operator_page::deleted_item(deleted, n)),
            (None, effect) => effect.map(|effect| operator_page::policy_item(effect, n)),
        }
    }

    fn page(&mut self, end: &Ending) -> Page {
        let operator = OperatorPage {
            upgraded: self.upgraded,
            counts: &self.counts,
            lost: &self.lost,
            admission: &self.admission,
            unknown: self.unknown,
            steps: self.steps(),
        };
        Page { head: operator.head(end.releases), ..page::objects() }
    }

    fn text(&mut self, done: &Self::Item, out: &mut Output) -> io::Result<()> {
        let Some(shown) = self.shown(done) else { return Ok(()) };
        out.row(self.common.table.row(&shown.row()))?;
        if let Some(DefinitionEffect::Updated(_, entry)) = shown.definition {
            let called = format!("{} {}", entry.identity.kind, entry.identity.full_name());
            let details = definition::details(entry, self.common.look.color);
            let what = if entry.fails() { "errors" } else { "changes" };
            let mut is_hidden =
                || self.repeated.hides_equal(definition::effects(entry), ("object", what), &called, &entry.location);
            if !details.is_empty() && !is_hidden() {
                out.details(&details)?;
            }
        }
        if let Some(effect) = shown.admission {
            out.details(&self.common.messages.details(&effect.item))?;
            out.details(&policies::changes(&effect.item))?;
        }
        Ok(())
    }

    fn message(&mut self, done: &Self::Item) -> String {
        self.common.message(done)
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.lines().join("; ")
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        let Upgraded { planned, deleted, admission, matrix, .. } = self.upgraded;
        let definition = |(one, counts): (&PlannedDefinition, &EffectCounts)| {
            object([
                ("definition", json::value(&one.item)),
                ("columns", definition::columns_value(&one.plan.columns)),
                ("possibleObjects", one.possible.value()),
                ("summary", counts.value()),
            ])
        };
        let definitions: Vec<Value> = planned.iter().zip(&self.counts).map(definition).collect();
        let removed = deleted.iter().zip(&self.lost).map(|(one, count)| {
            let count = i64::try_from(count.objects).unwrap_or(i64::MAX);
            object([("name", Value::from(one.name.as_str())), ("objects", Value::Int(count))])
        });
        let mut members = vec![
            ("definitions", definitions.into()),
            ("removed", removed.collect::<Vec<_>>().into()),
            ("steps", self.steps().value()),
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("notes", json::notes(end.notes)),
        ];
        if admission.given().is_some() || !admission.objects.is_empty() {
            members.push(("admission", admission::value(admission, &self.admission)));
            members.push(("policies", self.admission.policies.policies()));
            members.push(("policySummary", self.admission.policies.summary()));
            members.push(("refusedPolicies", admission.refused.iter().map(json::value).collect::<Vec<_>>().into()));
        }
        members.extend(matrix.members());
        members
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        let mut repeated = String::new();
        for line in self.repeated.lines() {
            repeated.extend([&*printable::line(&line), "\n"]);
        }
        out.details(&repeated)?;
        let planned = self.upgraded.planned;
        let mut text = self.common.possible(planned.iter().map(|one| (one.plan.name.as_str(), &one.possible)));
        let changes = admission::changes(self.upgraded.admission, &self.admission, self.common.look);
        let matrix = self.upgraded.matrix.text(self.common.look);
        for part in [changes, matrix, self.steps().text()] {
            if !part.is_empty() {
                text.extend([part.trim_end_matches('\n'), "\n\n"]);
            }
        }
        text.extend(self.lines().into_iter().map(|line| line + "\n"));
        self.common.end(&text, out)
    }
}
