//! The reports of `rehearse`: the effects of a new CRD ([`definition`]), of the CRDs and policies of an [`operator`], of new [`policies`], or of an upgrade
//! of [`kubernetes`].

pub mod admission;
pub mod definition;
mod deleted_counts;
pub mod kubernetes;
mod kubernetes_counts;
mod kubernetes_page;
pub mod kubernetes_request;
pub mod operator;
mod operator_page;
pub mod page;
pub mod policies;
pub mod rehearsed_object;

use super::matrix::Matrix;
use super::objects::Rehearsed;
use super::possible_objects::{self, PossibleObjects};
use crate::commands::exit::Exit;
use crate::commands::sink::{Ending, Output, Page, PageItem, Report};
use crdx_engine::rehearsal::Plan;
use crdx_engine::rehearsal::policies::Effects;
use crdx_engine::report::{ObjectReport, Verdict};
use crdx_output::printable;
use crdx_output::report::case::Case;
use crdx_output::report::json;
use crdx_output::report::repeated::Repeated;
use crdx_output::report::text::{Style, TextReport};
use crdx_output::{Column, Columns, Paint, TableStyle};
use crdx_value::json::to_string;
use crdx_value::{Map, Value};
use rehearsed_object::RehearsedObject;
use std::io;

/// The table of objects, and the messages about inputs that cannot be rehearsed.
struct Common {
    look: TableStyle,
    /// True to leave out objects for which nothing breaks.
    quiet: bool,
    table: Columns,
    messages: TextReport,
}

impl Common {
    fn new(columns: &[Column], look: TableStyle, quiet: bool) -> Self {
        let messages = TextReport::new(Style { color: look.color, ..Style::default() });
        Self { look, quiet, table: Columns::new(columns, look), messages }
    }

    fn message<T>(&mut self, done: &Rehearsed<T>) -> String {
        match done {
            Rehearsed::Reported(item) => self.messages.details(item),
            Rehearsed::Object(_) => String::new(),
        }
    }

    /// Formats the effects on objects that need not be stored.
    fn possible<'a>(&self, definitions: impl Iterator<Item = (&'a str, &'a PossibleObjects)>) -> String {
        if self.quiet { String::new() } else { possible_objects::section(definitions) }
    }

    /// Prints the table, the details, the messages that several inputs share, and the counts.
    fn end(&mut self, counts: &str, out: &mut Output) -> io::Result<()> {
        let separator = if self.table.is_empty() { "" } else { "\n" };
        out.print_table(&self.table)?;
        out.print(separator)?;
        out.print_details()?;
        out.show(&self.messages.common_details())?;
        out.end_of_text()?;
        out.print(separator)?;
        out.print(counts)
    }
}

/// The update of a CRD.
#[derive(Clone, Copy)]
pub struct UpgradedDefinition<'a> {
    /// The server's response to the new CRD.
    pub item: &'a ObjectReport,
    pub plan: &'a Plan,
    pub possible: &'a PossibleObjects,
    pub matrix: &'a Matrix<'a>,
}

/// The effects of a new CRD.
pub struct UpgradeReport<'a> {
    upgraded: UpgradedDefinition<'a>,
    common: Common,
    /// Effects that many objects share.
    repeated: Repeated,
    counts: definition::EffectCounts,
}

impl<'a> UpgradeReport<'a> {
    /// Creates a report without objects.
    pub fn new(upgraded: UpgradedDefinition<'a>, look: TableStyle, quiet: bool) -> Self {
        let common = Common::new(definition::COLUMNS, look, quiet);
        Self { upgraded, common, repeated: Repeated::default(), counts: definition::EffectCounts::default() }
    }

    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        let UpgradedDefinition { item, plan, matrix, .. } = self.upgraded;
        if self.counts.is_unsure() || item.verdict == Verdict::CannotTell {
            Exit::CannotTell
        } else if self.counts.breaks() || !(plan.is_accepted() || item.is_known()) {
            Exit::Rejected
        } else {
            matrix.exit(self.counts.known() > 0 || item.is_known())
        }
    }
}

/// Returns the entry of an object that the upgrade affects; if `quiet`, of one that it breaks.
fn touched(done: &Rehearsed<RehearsedObject>, quiet: bool) -> Option<&RehearsedObject> {
    match done {
        Rehearsed::Object(entry) if entry.fails() || (entry.is_touched() && !quiet) => Some(entry),
        _ => None,
    }
}

impl Report for UpgradeReport<'_> {
    type Item = Rehearsed<RehearsedObject>;
    const COMMAND: &'static str = "rehearse";
    const KIND: &'static str = "RehearsalReport";

    fn count(&mut self, done: &Self::Item) {
        match done {
            Rehearsed::Reported(_) => self.counts.add_unknown(),
            Rehearsed::Object(entry) => self.counts.add(entry),
        }
    }

    fn json(&mut self, done: &Self::Item) -> impl IntoIterator<Item = String> {
        touched(done, self.common.quiet).map(|entry| to_string(&definition::value(entry)))
    }

    fn cases(&mut self, done: &Self::Item) -> impl IntoIterator<Item = Case> {
        match done {
            Rehearsed::Reported(item) => Some(Case::from_report(item)),
            Rehearsed::Object(_) => touched(done, self.common.quiet).map(definition::case),
        }
    }

    fn begin_cases(&mut self) -> Vec<Case> {
        let UpgradedDefinition { item, plan, possible, .. } = self.upgraded;
        vec![definition::definition_case(item, &plan.columns, possible)]
    }

    /// Returns the server's response to the new CRD.
    fn begin_text(&mut self) -> String {
        let mut text = String::new();
        let Self { upgraded: UpgradedDefinition { item: crd, plan, .. }, common, .. } = self;
        if crd.verdict == Verdict::Accepted {
            let releases = plan.releases();
            let upgrade = match releases.single() {
                Some(_) => "The".to_owned(),
                None => format!("Upgrade from Kubernetes {} to {}: the", releases.oldest(), releases.newest()),
            };
            let line = format!("{upgrade} server would accept {}.", plan.name);
            text.extend([Paint::Bold.when(common.look.color, &line).as_str(), "\n"]);
        }
        let mut report = TextReport::new(Style { color: common.look.color, ..Style::default() });
        text.push_str(&report.details(crd));
        text.push_str(&report.common_details());
        if !plan.is_accepted() {
            text.push_str("The following would happen if the server accepted the CRD.\n");
        }
        text.push_str(&definition::columns(&plan.columns));
        text.push('\n');
        text
    }

    fn page_item(&mut self, done: &Self::Item, n: usize) -> Option<PageItem> {
        touched(done, self.common.quiet).map(|entry| page::item(entry, n))
    }

    fn text(&mut self, done: &Self::Item, out: &mut Output) -> io::Result<()> {
        let Some(entry) = touched(done, self.common.quiet) else { return Ok(()) };
        out.row(self.common.table.row(&definition::row(entry)))?;
        let details = definition::details(entry, self.common.look.color);
        let mut is_hidden = || {
            let called = format!("{} {}", entry.identity.kind, entry.identity.full_name());
            let what = if entry.fails() { "errors" } else { "changes" };
            self.repeated.hides_equal(definition::effects(entry), ("object", what), &called, &entry.location)
        };
        if details.is_empty() || is_hidden() { Ok(()) } else { out.details(&details) }
    }

    fn message(&mut self, done: &Self::Item) -> String {
        self.common.message(done)
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.counts.line()
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        let UpgradedDefinition { item, plan, possible, matrix } = self.upgraded;
        let mut members = vec![
            ("definition", json::value(item)),
            ("columns", definition::columns_value(&plan.columns)),
            ("possibleObjects", possible.value()),
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("notes", json::notes(end.notes)),
            ("summary", self.counts.value()),
        ];
        members.extend(matrix.members());
        members
    }

    fn page(&mut self, end: &Ending) -> Page {
        let UpgradedDefinition { item, plan, possible, matrix } = self.upgraded;
        let head = page::head(&self.counts, item, (&plan.columns, possible), end.releases) + &matrix.html();
        Page { head, ..page::objects() }
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        let mut repeated = String::new();
        for line in self.repeated.lines() {
            repeated.extend([&*printable::line(&line), "\n"]);
        }
        out.details(&repeated)?;
        let UpgradedDefinition { plan, possible, matrix, .. } = self.upgraded;
        let possible = self.common.possible(std::iter::once((plan.name.as_str(), possible)));
        let matrix = matrix.text(self.common.look);
        self.common.end(&(possible + &matrix + &self.counts.text()), out)
    }
}

/// The effects of new policies.
pub struct PolicyReport {
    common: Common,
    counts: policies::PolicyCounts,
    /// The policies that the server would refuse, and other inputs that cannot be used.
    refused: Vec<ObjectReport>,
}

impl PolicyReport {
    /// Creates a report without objects.
    pub fn new(counts: policies::PolicyCounts, refused: Vec<ObjectReport>, look: TableStyle, quiet: bool) -> Self {
        Self { common: Common::new(policies::COLUMNS, look, quiet), counts, refused }
    }

    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        let objects = match &self.counts {
            counts if counts.is_unsure() => Exit::CannotTell,
            counts if counts.denies() => Exit::Rejected,
            _ => Exit::Accepted,
        };
        let policies = self.refused.iter().map(|item| match item.verdict {
            Verdict::Rejected if item.is_known() => Exit::Accepted,
            Verdict::Rejected => Exit::Rejected,
            _ => Exit::CannotTell,
        });
        policies.fold(objects, Exit::max)
    }
}

/// The report about an object, and the effects of the policies on it.
type Effect = (ObjectReport, Effects);

/// Returns the policies to show; if `quiet`, without those that are refused as in the baseline.
fn shown(refused: &[ObjectReport], quiet: bool) -> impl Iterator<Item = &ObjectReport> {
    refused.iter().filter(move |item| !(quiet && item.is_known()))
}

/// Returns the effects on an object that has some; if `quiet`, on one that is denied or for which they are not known.
fn affected(done: &Rehearsed<Effect>, quiet: bool) -> Option<&Effect> {
    match done {
        Rehearsed::Object(effect) => {
            let (item, effects) = &**effect;
            let fails = effects.cannot_tell || !(effects.denied.is_empty() || item.is_known());
            (fails || (effects.is_touched() && !quiet)).then_some(&**effect)
        }
        Rehearsed::Reported(_) => None,
    }
}

impl Report for PolicyReport {
    type Item = Rehearsed<Effect>;
    const COMMAND: &'static str = "rehearse";
    const KIND: &'static str = "PolicyRehearsalReport";

    fn count(&mut self, done: &Self::Item) {
        match done {
            Rehearsed::Reported(_) => self.counts.add_unknown(),
            Rehearsed::Object(effect) => self.counts.add(&effect.0, &effect.1),
        }
    }

    fn json(&mut self, done: &Self::Item) -> impl IntoIterator<Item = String> {
        affected(done, self.common.quiet).map(|(item, _)| json::item(item, Map::new()))
    }

    fn cases(&mut self, done: &Self::Item) -> impl IntoIterator<Item = Case> {
        match done {
            Rehearsed::Reported(item) => Some(Case::from_report(item)),
            Rehearsed::Object(_) => {
                affected(done, self.common.quiet).map(|(item, effects)| policies::case(item, effects))
            }
        }
    }

    fn begin_cases(&mut self) -> Vec<Case> {
        self.refused.iter().map(Case::from_report).collect()
    }

    fn begin_text(&mut self) -> String {
        let Self { refused, common, .. } = self;
        shown(refused, common.quiet).map(|item| common.messages.details(item)).collect()
    }

    fn text(&mut self, done: &Self::Item, out: &mut Output) -> io::Result<()> {
        let Some((item, effects)) = affected(done, self.common.quiet) else { return Ok(()) };
        out.row(self.common.table.row(&policies::row(item, effects)))?;
        out.details(&self.common.messages.details(item))?;
        out.details(&policies::changes(item))
    }

    fn message(&mut self, done: &Self::Item) -> String {
        self.common.message(done)
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.counts.line()
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        vec![
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("notes", json::notes(end.notes)),
            ("policies", self.counts.policies()),
            ("refusedPolicies", self.refused.iter().map(json::value).collect::<Vec<_>>().into()),
            ("summary", self.counts.summary()),
        ]
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        let has_refused = shown(&self.refused, self.common.quiet).next().is_some();
        out.print(if has_refused { "\n" } else { "" })?;
        self.common.end(&self.counts.text(self.common.look), out)
    }
}
