//! The report of `rehearse` about an upgrade of Kubernetes.

use super::Common;
use super::kubernetes_counts::KubernetesCounts;
use super::kubernetes_page;
use super::kubernetes_request::{RehearsedRequest, difference_lines, members, note};
use crate::commands::exit::Exit;
use crate::commands::sink::{Ending, Output, Page, PageItem, Report};
use crdx_engine::rehearsal::gate_changes::{GateChange, gate_changes};
use crdx_engine::rehearsal::kubernetes::{KubernetesEffect, ReleaseOutcome, StoredRequest};
use crdx_engine::report::Verdict;
use crdx_output::report::case::{Case, Finding, Level};
use crdx_output::report::json;
use crdx_output::{Cell, Column, Paint, TableStyle, printable};
use crdx_value::json::to_string;
use crdx_value::release::{Release, ReleaseSet, Spec, all_gates};
use crdx_value::{Value, object};
use std::fmt::Write as _;
use std::io;

/// The effects of an upgrade of Kubernetes.
pub struct KubernetesReport {
    common: Common,
    releases: ReleaseSet,
    gates: Vec<GateChange>,
    counts: KubernetesCounts,
}

impl KubernetesReport {
    /// Creates a report without objects.
    pub fn new(releases: &ReleaseSet, look: TableStyle, quiet: bool) -> Self {
        let before =
            [Column::location("LOCATION"), Column::text("KIND"), Column::text("NAME"), Column::text("REQUEST")];
        let verdicts: Vec<Column> = releases.iter().map(Column::of_release).collect();
        let columns = [&before[..], &verdicts, &[Column::note("NOTE")]].concat();
        Self {
            common: Common::new(&columns, look, quiet),
            releases: releases.clone(),
            gates: gate_changes(releases.oldest(), releases.newest()),
            counts: KubernetesCounts::default(),
        }
    }

    /// Returns the exit code.
    pub fn exit(&self) -> Exit {
        if self.counts.is_unsure() {
            Exit::CannotTell
        } else if self.counts.breaks() {
            Exit::Rejected
        } else {
            Exit::Accepted
        }
    }

    /// Returns the effect on an object that has one; if `quiet`, on one that the upgrade breaks. What both requests show is reported
    /// with the create.
    fn shown(&self, done: &RehearsedRequest) -> Option<KubernetesEffect> {
        let effect = KubernetesEffect::of(&done.item);
        let is_shown = match done.request {
            StoredRequest::Create => effect.is_touched(),
            StoredRequest::Update => matches!(effect.outcome, ReleaseOutcome::Rejected | ReleaseOutcome::CannotTell),
        };
        let fails = effect.breaks() && !done.item.is_known();
        (is_shown && (!self.common.quiet || fails)).then_some(effect)
    }
}

/// A kind of change.
type IsChange = fn(&GateChange) -> bool;

/// Formats the gates that change, a line for each kind of change: the names of those that change what the API server accepts or
/// stores, and the numbers of those that a server must not set.
pub fn gates_text(gates: &[GateChange], releases: &ReleaseSet) -> String {
    let newest = releases.newest();
    let mut text = String::new();
    let simulated = [("enabled", GateChange::is_enabled as IsChange), ("disabled", GateChange::is_disabled)];
    for (words, is) in simulated {
        let names: Vec<&str> =
            gates.iter().filter(|gate| is_simulated(gate.name) && is(gate)).map(|gate| gate.name).collect();
        if !names.is_empty() {
            let _ = writeln!(text, "  {words} by default: {}", names.join(", "));
        }
    }
    let counted = [
        ("locked", "if one of them is set to another value", GateChange::is_locked as IsChange),
        ("removed", "if one of them is set", GateChange::is_removed),
    ];
    for (words, when, is) in counted {
        let count = gates.iter().filter(|gate| is(gate)).count();
        if count > 0 {
            let _ = writeln!(text, "  {words}: {count} (-o json lists them); {newest} does not start {when}");
        }
    }
    let title = format!("Feature gates of the API server that change from {} to {newest}:\n", releases.oldest());
    if text.is_empty() { text } else { title + &text }
}

/// Returns true if the simulation depends on a gate: it changes what the API server accepts or stores.
fn is_simulated(name: &str) -> bool {
    all_gates().any(|row| row.name == name && row.gate.is_some())
}

fn gate_value(change: &GateChange) -> Value {
    let spec = |spec: Spec| {
        object([
            ("stage", Value::from(format!("{:?}", spec.stage))),
            ("default", spec.default.into()),
            ("locked", spec.is_locked.into()),
        ])
    };
    let sides = [("before", change.before), ("after", change.after)];
    let sides = sides.into_iter().filter_map(|(key, side)| Some((key, spec(side?))));
    object(std::iter::once(("name", Value::from(change.name))).chain(sides))
}

impl Report for KubernetesReport {
    type Item = RehearsedRequest;
    const COMMAND: &'static str = "rehearse";
    const KIND: &'static str = "KubernetesRehearsalReport";

    fn count(&mut self, done: &RehearsedRequest) {
        if done.item.identity.kind.is_empty() {
            self.counts.add_unknown();
        } else {
            self.counts.add(done.request, &done.item, &KubernetesEffect::of(&done.item));
        }
    }

    fn json(&mut self, done: &RehearsedRequest) -> impl IntoIterator<Item = String> {
        self.shown(done).map(|effect| to_string(&Value::Object(members(done, &effect))))
    }

    fn cases(&mut self, done: &RehearsedRequest) -> impl IntoIterator<Item = Case> {
        self.shown(done).map(|effect| {
            let mut case = Case::from_report(&done.item);
            case.subject = format!("{} of {}", done.request.as_str(), case.subject);
            if let Some(difference) = &done.item.release_difference {
                let lines: String = difference_lines(difference).into_iter().map(|(_, line)| line + "\n").collect();
                case.findings.push(Finding {
                    level: Level::Note,
                    rule: "storedDifferently".to_owned(),
                    field: None,
                    message: note(&done.item, &effect, &self.releases),
                    diff: Some(lines),
                    replacement: None,
                    known: None,
                    help: None,
                    location: done.item.location.clone(),
                });
            }
            case
        })
    }

    fn begin_text(&mut self) -> String {
        let line = format!("Upgrade from Kubernetes {} to {}", self.releases.oldest(), self.releases.newest());
        Paint::Bold.when(self.common.look.color, &line) + "\n\n"
    }

    fn page_item(&mut self, done: &RehearsedRequest, n: usize) -> Option<PageItem> {
        self.shown(done)
            .map(|effect| kubernetes_page::item(done, &effect, &note(&done.item, &effect, &self.releases), n))
    }

    fn text(&mut self, done: &RehearsedRequest, out: &mut Output) -> io::Result<()> {
        let Some(effect) = self.shown(done) else { return Ok(()) };
        let item = &done.item;
        let verdict = |release: Release| {
            let verdict = item.verdict_of(release);
            let paint = match verdict {
                Verdict::Accepted | Verdict::Decodes => Paint::Green,
                Verdict::Rejected => Paint::Red,
                Verdict::Skipped => Paint::Dim,
                Verdict::CannotTell => Paint::Yellow,
            };
            Cell::painted(verdict.text(), paint)
        };
        let mut row = vec![
            Cell::from(item.location.to_string()),
            Cell::from(item.identity.kind.as_str()),
            Cell::from(item.identity.full_name()),
            Cell::from(done.request.as_str()),
        ];
        row.extend(self.releases.iter().map(verdict));
        row.push(Cell::from(note(item, &effect, &self.releases)));
        out.row(self.common.table.row(&row))?;
        // The steps have the warnings about deprecated versions.
        if effect.outcome != ReleaseOutcome::Accepted {
            out.details(&self.common.messages.details(item))?;
        }
        let Some(difference) = &item.release_difference else { return Ok(()) };
        let mut text = format!(
            "{} {} is stored differently by Kubernetes {}:\n",
            item.identity.kind,
            item.identity.full_name(),
            self.releases.newest()
        );
        for (paint, line) in difference_lines(difference) {
            text.extend([paint.when(self.common.look.color, &printable::line(&line)).as_str(), "\n"]);
        }
        out.details(&text)
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.counts.line()
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        vec![
            ("featureGates", self.gates.iter().map(gate_value).collect::<Vec<_>>().into()),
            ("steps", self.counts.steps(&self.releases).value()),
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("notes", json::notes(end.notes)),
            ("summary", self.counts.value()),
        ]
    }

    fn page(&mut self, end: &Ending) -> Page {
        let steps = self.counts.steps(&self.releases);
        let gates = gates_text(&self.gates, &self.releases);
        Page { head: kubernetes_page::head(&self.counts, &steps, &gates, end.releases), ..kubernetes_page::objects() }
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        let gates = if self.common.quiet { String::new() } else { gates_text(&self.gates, &self.releases) + "\n" };
        let steps = self.counts.steps(&self.releases).text();
        self.common.end(&format!("{gates}{steps}\n{}\n", self.counts.line()), out)
    }
}
