//! Prints the results of `lint`.

mod evidence;
mod page;

use crate::commands::exit::Exit;
use crate::commands::sink::{Ending, Output, Page, PageItem, Report};
use crdx_cel::eval::PER_CALL_LIMIT;
use crdx_engine::lint::advice::{self, shortened};
use crdx_engine::lint::bounds::Bound;
use crdx_engine::lint::breaking::Ratcheting;
use crdx_engine::lint::breaking::evidence::LocatedChange;
use crdx_engine::lint::check::Linted;
use crdx_engine::lint::costs::{Estimate, ExpressionCost, SchemaCost};
use crdx_engine::lint::needs::Needs;
use crdx_engine::lint::policies;
use crdx_engine::report::{ObjectReport, SourceLocation, Verdict};
use crdx_output::cost::{count, percent};
use crdx_output::excerpt::{self, MessageSeverity};
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::json;
use crdx_output::report::members::location_object;
use crdx_output::report::text::{Style, TextReport};
use crdx_output::{Cell, Column, Columns, Paint, TableStyle, printable};
use crdx_server::crd::validation::rules::{EXPRESSION_COST_LIMIT, SCHEMA_COST_LIMIT};
use crdx_value::release::{Release, ReleaseSet};
use crdx_value::{Value, object};
use std::fmt::Write as _;
use std::io;

/// The columns of the table of costs.
const COSTS: &[Column] = &[
    Column::location("LOCATION"),
    Column::location("PATH"),
    Column::always("COST"),
    Column::always("TIMES"),
    Column::always("TOTAL"),
    Column::always("SHARE"),
    Column::note("RULE"),
];

/// The columns of the table of a policy's expressions.
const EXPRESSIONS: &[Column] = &[
    Column::location("LOCATION"),
    Column::location("FIELD"),
    Column::always("COST"),
    Column::always("SHARE"),
    Column::note("EXPRESSION"),
];

/// What `lint` prints for CRDs and policies.
pub struct LintReport {
    look: TableStyle,
    /// True to leave out what is accepted and breaks nothing, and the costs.
    quiet: bool,
    /// True if an item was written.
    has_items: bool,
    counts: page::Counts,
    /// The exit code.
    pub exit: Exit,
}

impl Report for LintReport {
    type Item = Linted;
    const COMMAND: &'static str = "lint";
    const KIND: &'static str = "LintReport";

    fn count(&mut self, linted: &Linted) {
        let exit = match linted.item.verdict {
            Verdict::CannotTell => Exit::CannotTell,
            _ if breaks(linted) || linted.item.fails() => Exit::Rejected,
            _ => Exit::Accepted,
        };
        self.exit = self.exit.max(exit);
        self.counts.add(&linted.item, &linted.breaking);
    }

    fn json(&mut self, linted: &Linted) -> impl IntoIterator<Item = String> {
        (!self.hides(linted)).then(|| json_item(linted))
    }

    fn cases(&mut self, linted: &Linted) -> impl IntoIterator<Item = Case> {
        (!self.hides(linted)).then(|| case(linted))
    }

    fn page_item(&mut self, linted: &Linted, _: usize) -> Option<PageItem> {
        let Linted { item, costs, breaking, expressions } = linted;
        (!self.hides(linted)).then(|| {
            let details = page::details(item, costs, breaking, expressions);
            PageItem { rank: 0, group: None, row: String::new(), details }
        })
    }

    fn text(&mut self, linted: &Linted, out: &mut Output) -> io::Result<()> {
        if self.hides(linted) {
            return Ok(());
        }
        let separator = if std::mem::replace(&mut self.has_items, true) { "\n" } else { "" };
        out.show(&(separator.to_owned() + &self.text_item(linted)))
    }

    fn buffers_text(&self) -> bool {
        false
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.counts.line()
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        vec![("kubernetesVersions", json::releases(end.releases.iter()))]
    }

    fn page(&mut self, end: &Ending) -> Page {
        Page { head: page::head(&self.counts, end.releases), table: None, empty: "" }
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        out.end_of_text()?;
        if !self.quiet {
            return Ok(());
        }
        out.print(&format!("{}{}\n", if self.has_items { "\n" } else { "" }, self.counts.line()))
    }
}

impl LintReport {
    /// Returns true if a result is not shown.
    fn hides(&self, linted: &Linted) -> bool {
        self.quiet && linted.item.verdict != Verdict::CannotTell && !linted.item.fails() && !breaks(linted)
    }

    /// Creates a report without items.
    pub fn new(look: TableStyle, quiet: bool) -> Self {
        Self { look, quiet, has_items: false, counts: page::Counts::default(), exit: Exit::Accepted }
    }

    fn text_item(&self, linted: &Linted) -> String {
        let item = &linted.item;
        let mut text = String::new();
        let mut report = TextReport::new(Style { color: self.look.color, ..Style::default() });
        // A name must not look like another line of the report.
        let subject = match (&*item.identity.kind, &*item.identity.name) {
            ("" | "CustomResourceDefinition", "") => "the CRD".to_owned(),
            ("" | "CustomResourceDefinition", name) => name.to_owned(),
            _ => item.called(),
        };
        let verdicts_text = match item.verdicts().as_slice() {
            [] if item.verdict == Verdict::Accepted => {
                Some(format!("the server would accept this {}", item.action.as_str()))
            }
            [] => None,
            verdicts => Some(verdicts.iter().map(by_releases).collect::<Vec<_>>().join(", ")),
        };
        if let Some(verdicts_text) = verdicts_text {
            text.push_str(
                &Paint::Bold.when(self.look.color, &format!("{}: {verdicts_text}", printable::line(&subject))),
            );
            text.push('\n');
        }
        text.push_str(&report.details(item));
        text.push_str(&report.common_details());
        if !self.quiet {
            text.push_str(&self.costs(&linted.costs));
        }
        text.push_str(&self.breaking(&linted.breaking));
        if !self.quiet {
            text.push_str(&self.expressions(&linted.expressions));
        }
        text
    }

    fn expressions(&self, expressions: &[(policies::ExpressionCost, SourceLocation)]) -> String {
        if expressions.is_empty() {
            return String::new();
        }
        let row = |(cost, location): &(policies::ExpressionCost, SourceLocation)| {
            let share = cost.percent();
            let paint = if share.is_some_and(|share| share > 100.0) { Paint::Yellow } else { Paint::None };
            vec![
                Cell::from(format!("{}:{}", location.source, location.line)),
                Cell::from(&cost.field),
                Cell::from(cost.cost.map_or_else(|| "-".to_owned(), count)),
                Cell::painted(share.map_or_else(|| "-".to_owned(), percent), paint),
                Cell::from(shortened(cost.text.trim())),
            ]
        };
        let rows: Vec<Vec<Cell>> = expressions.iter().map(row).collect();
        let head = format!("\nExpressions, against the limit of {} for one evaluation:\n", count(PER_CALL_LIMIT));
        head + &Columns::text(EXPRESSIONS, self.look, &rows)
    }

    fn costs(&self, costs: &[(SchemaCost, Vec<SourceLocation>)]) -> String {
        if costs.is_empty() {
            return String::new();
        }
        let mut rows = Vec::new();
        for (cost, location) in costs.iter().flat_map(|(schema, locations)| schema.expressions.iter().zip(locations)) {
            let paint = if cost.too_high() { Paint::Red } else { Paint::None };
            let number = |n: u64| if cost.error.is_some() { "-".to_owned() } else { count(n) };
            let share = if cost.error.is_some() { "-".to_owned() } else { percent(cost.percent()) };
            rows.push(vec![
                Cell::from(format!("{}:{}", location.source, location.line)),
                Cell::from(&cost.path),
                Cell::from(number(cost.each)),
                Cell::from(number(cost.times)),
                Cell::from(number(cost.total)),
                Cell::painted(share, paint),
                Cell::from(advice::name(cost)),
            ]);
        }
        let mut text = format!("\nRules, against the limit of {} each:\n", count(EXPRESSION_COST_LIMIT));
        text.push_str(&Columns::text(COSTS, self.look, &rows));
        for (cost, location) in costs.iter().flat_map(|(schema, locations)| schema.expressions.iter().zip(locations)) {
            text.push_str(&estimates(cost, location));
        }
        for (schema, _) in costs {
            let of = if costs.len() > 1 { format!(" in {}", schema.versions.join(", ")) } else { String::new() };
            let _ = writeln!(
                text,
                "All rules{of}: {} ({} of the limit of {} for a schema)",
                count(schema.total()),
                percent(schema.percent()),
                count(SCHEMA_COST_LIMIT)
            );
            if let [_, _, ..] = schema.totals().as_slice() {
                let estimates_text =
                    schema.totals().into_iter().map(|(total, releases)| format!("{} on {releases}", count(total)));
                let _ = writeln!(text, "By version: {}", estimates_text.collect::<Vec<_>>().join(", "));
            }
            for advice in advice::advice(schema, costs.len() > 1) {
                let _ = writeln!(text, "help: {}", advice.message);
            }
        }
        text
    }

    fn breaking(&self, changes: &[LocatedChange]) -> String {
        let mut text = String::new();
        for located in changes {
            let LocatedChange { change, location, evidence, known } = located;
            let help = located.help_text();
            let severity = if known.is_some() { MessageSeverity::Note } else { MessageSeverity::Warning };
            let versions = if change.versions.is_empty() || change.path.starts_with("spec.versions[") {
                String::new()
            } else {
                format!(" ({})", change.versions.join(", "))
            };
            let message = format!("breaking: {}{versions}: {}", change.path, change.detail);
            text.push('\n');
            text.push_str(&excerpt::render(severity, &message, location, Some(&help), self.look.color));
            text.push_str(&evidence::text(evidence));
        }
        if !changes.is_empty() {
            let s = if changes.len() == 1 { "" } else { "s" };
            let known = match changes.iter().filter(|change| change.known.is_some()).count() {
                0 => String::new(),
                n => format!(" ({n} in the baseline)"),
            };
            let _ = writeln!(text, "\n{} breaking change{s}{known}", changes.len());
        }
        text
    }
}

/// Formats an item of the JSON report.
fn json_item(linted: &Linted) -> String {
    let item = ObjectReport { object: None, pruned: Vec::new(), defaulted: Vec::new(), ..linted.item.clone() };
    let expressions = linted.costs.iter().flat_map(|(schema, locations)| {
        let one = |(cost, location)| cost_value(cost, &schema.versions, location);
        schema.expressions.iter().zip(locations).map(one)
    });
    let rules: Vec<Value> = expressions.collect();
    let schemas: Vec<Value> = linted.costs.iter().map(|(schema, _)| schema_value(schema)).collect();
    let breaking: Vec<Value> = linted.breaking.iter().map(change_value).collect();
    let more = [
        ("rules".to_owned(), rules.into()),
        ("schemas".to_owned(), schemas.into()),
        ("breaking".to_owned(), breaking.into()),
        ("expressions".to_owned(), linted.expressions.iter().map(expression_value).collect::<Vec<_>>().into()),
    ];
    json::item(&item, more.into())
}

/// Returns true if a breaking change is not in the baseline.
fn breaks(linted: &Linted) -> bool {
    linted.breaking.iter().any(|change| change.known.is_none())
}

/// Returns a failed case for a CRD that breaks stored objects, as in the exit code.
fn case(linted: &Linted) -> Case {
    let mut case = Case::from_report(&linted.item);
    if case.outcome == Outcome::Passed && breaks(linted) {
        case.outcome = Outcome::Failed;
        case.result = "breaking";
    }
    case.findings.extend(linted.breaking.iter().map(|LocatedChange { change, location, known, .. }| Finding {
        level: if known.is_some() { Level::Note } else { Level::Warning },
        rule: format!("breaking/{}", change.kind.as_str()),
        field: Some(change.path.clone()),
        message: format!("breaking: {}: {}", change.path, change.detail),
        diff: None,
        replacement: None,
        help: Some(change.ratcheting.text()),
        location: location.clone(),
        known: known.clone(),
    }));
    case
}

fn expression_value((cost, location): &(policies::ExpressionCost, SourceLocation)) -> Value {
    let mut value = object([
        ("field", Value::from(cost.field.as_str())),
        ("expression", cost.text.as_str().into()),
        ("location", location_object(location)),
    ]);
    if let (Some(highest), Some(percent), Some(members)) = (cost.cost, cost.percent(), value.as_object_mut()) {
        members.insert("cost".to_owned(), number(highest));
        members.insert("percent".to_owned(), Value::Float(percent));
    }
    value
}

/// Formats a verdict with its releases.
fn by_releases((verdict, releases): &(Verdict, ReleaseSet)) -> String {
    match verdict {
        Verdict::CannotTell => format!("cannot tell for {releases}"),
        _ => format!("{} by Kubernetes {releases}", verdict.text()),
    }
}

/// Formats the estimate of each release, if they differ.
fn estimates(cost: &ExpressionCost, location: &SourceLocation) -> String {
    let estimates = cost.estimates();
    if estimates.len() < 2 {
        return String::new();
    }
    let estimates_text = estimates.iter().map(|(total, releases)| match total {
        Some(total) => format!("{} on {releases}", count(*total)),
        None => format!("does not compile on {releases}"),
    });
    let estimates_text: Vec<String> = estimates_text.collect();
    format!("{}:{}: `{}`: {}\n", location.source, location.line, advice::name(cost), estimates_text.join(", "))
}

fn number(n: u64) -> Value {
    Value::Int(i64::try_from(n).unwrap_or(i64::MAX))
}

fn bounds_value(bounds: &[Bound]) -> Value {
    let value = |b: &Bound| {
        let path = Value::from(b.path());
        object([("path", path), ("keyword", b.keyword.into()), ("limit", Value::Int(b.limit))])
    };
    bounds.iter().map(value).collect::<Vec<_>>().into()
}

fn cost_value(cost: &ExpressionCost, versions: &[String], location: &SourceLocation) -> Value {
    let mut value = object([
        ("path", Value::from(cost.path.as_str())),
        ("versions", texts(versions)),
        ("location", location_object(location)),
        ("cost", number(cost.each)),
        ("times", number(cost.times)),
        ("limited", Value::Bool(cost.limited)),
        ("total", number(cost.total)),
        ("percent", Value::Float(cost.percent())),
        ("bounds", bounds_value(&cost.bounds)),
    ]);
    if let Some(members) = value.as_object_mut() {
        let kind = if cost.message { "messageExpression" } else { "rule" };
        members.insert(kind.to_owned(), cost.text.as_str().into());
        if let Some(error) = &cost.error {
            members.insert("error".to_owned(), error.as_str().into());
        }
        if let Some(needs) = &cost.needs {
            members.insert("needs".to_owned(), needs_value(needs));
        }
        if cost.by_release.len() > 1 {
            let estimates: Vec<Value> = cost.by_release.iter().map(estimate_value).collect();
            members.insert("byVersion".to_owned(), estimates.into());
        }
    }
    value
}

/// Returns the estimate of one of several releases.
fn estimate_value(one: &Estimate) -> Value {
    let mut value = object([
        ("version", Value::from(one.release.minor().to_string())),
        ("cost", number(one.each)),
        ("times", number(one.times)),
        ("total", number(one.total)),
    ]);
    if let (Some(error), Some(members)) = (&one.error, value.as_object_mut()) {
        members.insert("error".to_owned(), error.as_str().into());
    }
    value
}

fn needs_value(needs: &Needs) -> Value {
    let one = |(name, since): &(&str, Release)| {
        object([("name", Value::from(*name)), ("since", since.minor().to_string().into())])
    };
    let functions: Vec<Value> = needs.functions.iter().map(one).collect();
    object([("since", Value::from(needs.since.minor().to_string())), ("functions", functions.into())])
}

fn schema_value(schema: &SchemaCost) -> Value {
    let mut value = object([
        ("versions", texts(&schema.versions)),
        ("total", number(schema.total())),
        ("percent", Value::Float(schema.percent())),
        ("bounds", bounds_value(&schema.bounds)),
    ]);
    if let (None, Some(members)) = (schema.releases.single(), value.as_object_mut()) {
        let total = |release: Release| {
            object([("version", Value::from(release.minor().to_string())), ("total", number(schema.total_on(release)))])
        };
        members.insert("byVersion".to_owned(), schema.releases.iter().map(total).collect::<Vec<_>>().into());
    }
    value
}

fn change_value(LocatedChange { change, location, evidence, known }: &LocatedChange) -> Value {
    let mut value = object([
        ("path", Value::from(change.path.as_str())),
        ("type", change.kind.as_str().into()),
        ("detail", change.detail.as_str().into()),
        ("versions", texts(&change.versions)),
        ("location", location_object(location)),
    ]);
    let ratcheting = match &change.ratcheting {
        Ratcheting::No => None,
        Ratcheting::While(path) => Some(("softenedWhileUnchanged", path.as_str().into())),
        Ratcheting::Always => Some(("softened", Value::Bool(true))),
    };
    if let (Some((key, how)), Some(members)) = (ratcheting, value.as_object_mut()) {
        members.insert(key.to_owned(), how);
    }
    if let Some(members) = value.as_object_mut() {
        members.extend(evidence::members(evidence));
        members.extend(known.as_ref().map(|known| ("baseline".to_owned(), json::known_finding(known))));
    }
    value
}

fn texts(texts: &[String]) -> Value {
    texts.iter().map(|text| Value::from(text.as_str())).collect::<Vec<_>>().into()
}
