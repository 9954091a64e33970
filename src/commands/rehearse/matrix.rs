//! The matrix of an upgrade of Kubernetes and of CRDs: what the old and the new CRDs do to the stored objects on every release,
//! and the releases on which the CRDs can be replaced without breaking an object.

use super::objects::Rehearsal as _;
use super::report::definition::{EffectCounts, plural};
use super::update::{RehearsedDefinition, Upgrade, group_and_kind};
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::terminal;
use crdx_engine::rehearsal::{Plan, Releases};
use crdx_engine::simulation::identity::FieldLocator;
use crdx_engine::simulation::removed_versions::RemovedVersions;
use crdx_output::html::escaped;
use crdx_output::report::json;
use crdx_output::{Cell, Column, TableStyle, bounded_table};
use crdx_value::lock::lock;
use crdx_value::release::Release;
use crdx_value::{Value, object};
use std::fmt::Write as _;
use std::sync::Mutex;

/// The columns of the table.
const COLUMNS: &[Column] = &[Column::text("KUBERNETES"), Column::text("OLD CRDS"), Column::text("NEW CRDS")];

/// The updates of the CRDs of the old or the new side on one release.
struct PlannedCell {
    plans: Vec<(Plan, RemovedVersions)>,
}

/// The updates of both sides on one release.
struct PlannedRow {
    release: Release,
    old: PlannedCell,
    new: PlannedCell,
}

/// The updates of both sides on all releases.
pub struct MatrixPlan(Vec<PlannedRow>);

impl MatrixPlan {
    /// Plans the updates of `pairs` of an old CRD, if there is one, and a new one, if there is one, from the first of the releases.
    /// There is no row for a single release, or if no CRD changes.
    ///
    /// # Errors
    /// A CRD cannot be read.
    pub fn new(pairs: &[(Option<&Value>, Option<&RehearsedDefinition>)], releases: &[Release]) -> Result<Self, Error> {
        let spec = |crd: &Value| crd.get("spec").cloned();
        let is_changed = |(old, new): &(Option<&Value>, Option<&RehearsedDefinition>)| {
            old.and_then(spec) != new.and_then(|new| spec(&new.value))
        };
        let [first, _, ..] = releases else { return Ok(Self(Vec::new())) };
        if !pairs.iter().any(is_changed) {
            return Ok(Self(Vec::new()));
        }
        let row = |release: &Release| {
            let releases = Releases { old: *first, new: *release };
            let old = pairs.iter().filter_map(|(old, _)| Some((Some(*old)?, (*old)?)));
            let new = pairs.iter().filter_map(|(old, new)| Some((*old, &new.as_ref()?.value)));
            Ok(PlannedRow { release: *release, old: cell(old, releases)?, new: cell(new, releases)? })
        };
        releases.iter().map(row).collect::<Result<_, Error>>().map(Self)
    }

    /// Returns the matrix without objects.
    pub fn matrix<'a>(&'a self, namespace: &'a str) -> Matrix<'a> {
        let cell = |cell: &'a PlannedCell| {
            let upgrade = |(plan, removed): &'a (Plan, RemovedVersions)| Upgrade::new(plan, namespace, removed);
            let refused = cell.plans.iter().filter(|(plan, _)| !plan.is_accepted()).count();
            MatrixCell { upgrades: cell.plans.iter().map(upgrade).collect(), refused, counts: Mutex::default() }
        };
        // Nobody sends the old CRDs: they are stored.
        let old = |row: &'a PlannedRow| MatrixCell { refused: 0, ..cell(&row.old) };
        let row = |row: &'a PlannedRow| MatrixRow { release: row.release, old: old(row), new: cell(&row.new) };
        Matrix(self.0.iter().map(row).collect())
    }
}

/// Plans the updates of pairs of CRDs.
fn cell<'a>(
    pairs: impl Iterator<Item = (Option<&'a Value>, &'a Value)>,
    releases: Releases,
) -> Result<PlannedCell, Error> {
    let plan = |(old, new): (Option<&Value>, &Value)| {
        let removed = old.map(|old| RemovedVersions::between(old, new)).unwrap_or_default();
        let plan = Plan::new(old.cloned(), new.clone(), releases, terminal::now());
        plan.map(|plan| (plan, removed)).map_err(|error| Error::input(error.to_string()))
    };
    Ok(PlannedCell { plans: pairs.map(plan).collect::<Result<_, _>>()? })
}

/// The effects of one side on one release.
struct MatrixCell<'a> {
    upgrades: Vec<Upgrade<'a>>,
    /// The number of CRDs that the server rejects.
    refused: usize,
    counts: Mutex<EffectCounts>,
}

impl MatrixCell<'_> {
    fn add(&self, group: &str, kind: &str, object: &Value, locator: &dyn FieldLocator) {
        if let Some(upgrade) = self.upgrades.iter().find(|upgrade| upgrade.is_of(group, kind)) {
            let effect = upgrade.rehearse(object.clone(), locator);
            lock(&self.counts).add(&effect);
        }
    }

    fn breaks(&self) -> bool {
        self.refused > 0 || lock(&self.counts).breaks()
    }

    fn is_safe(&self) -> bool {
        !self.breaks() && !lock(&self.counts).is_unsure()
    }

    fn words(&self) -> String {
        let counts = lock(&self.counts);
        let all = [
            (self.refused, format!("{} rejected", plural(self.refused, "CRD"))),
            (counts.invalid(), format!("{} invalid", counts.invalid())),
            (counts.losing(), format!("{} losing fields", counts.losing())),
            (counts.unreadable(), format!("{} unreadable", counts.unreadable())),
            (counts.unknown(), format!("{} cannot tell", counts.unknown())),
        ];
        let words: Vec<String> = all.into_iter().filter(|(n, _)| *n > 0).map(|(_, words)| words).collect();
        if words.is_empty() { "nothing breaks".to_owned() } else { words.join(", ") }
    }

    fn value(&self) -> Value {
        let refused = Value::Int(i64::try_from(self.refused).unwrap_or(i64::MAX));
        object([("refused", refused), ("summary", lock(&self.counts).value())])
    }
}

struct MatrixRow<'a> {
    release: Release,
    old: MatrixCell<'a>,
    new: MatrixCell<'a>,
}

/// The effects of both sides on all releases, oldest first.
pub struct Matrix<'a>(Vec<MatrixRow<'a>>);

impl Matrix<'_> {
    /// Adds the effects on an object.
    pub fn add(&self, object: &Value, locator: &dyn FieldLocator) {
        let (group, kind) = group_and_kind(object);
        for row in &self.0 {
            row.old.add(group, kind, object, locator);
            row.new.add(group, kind, object, locator);
        }
    }

    /// Returns true if there is one release only.
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the rows: the release, and the effects of the old and the new CRDs.
    fn rows(&self) -> impl Iterator<Item = [String; 3]> {
        self.0.iter().map(|row| [row.release.minor().to_string(), row.old.words(), row.new.words()])
    }

    /// Formats the matrix as a table with the order of the upgrades; empty if there is no row.
    pub fn text(&self, look: TableStyle) -> String {
        let rows: Vec<Vec<Cell>> = self.rows().map(|row| row.map(Cell::from).to_vec()).collect();
        if rows.is_empty() {
            return String::new();
        }
        format!("{}\n{}\n\n", bounded_table::table(COLUMNS, look, &rows), self.order())
    }

    /// Formats the matrix as a part of a page.
    pub fn html(&self) -> String {
        if self.is_empty() {
            return String::new();
        }
        let titles = "<tr><th>Kubernetes</th><th>Old CRDs</th><th>New CRDs</th></tr>";
        let mut text = format!("<h2>Kubernetes and the CRDs</h2>\n<table>\n{titles}\n");
        for row in self.rows() {
            let cells = row.map(|cell| escaped(&cell)).join("</td><td>");
            let _ = writeln!(text, "<tr><td>{cells}</td></tr>");
        }
        let _ = writeln!(text, "</table>\n<p>{}</p>", escaped(&self.order()));
        text
    }

    /// Returns the members of a report in JSON.
    pub fn members(&self) -> Vec<(&'static str, Value)> {
        if self.is_empty() {
            return Vec::new();
        }
        vec![("matrix", self.value()), ("safeKubernetesVersions", json::releases(self.safe_releases()))]
    }

    /// Returns the releases on which replacing the CRDs breaks nothing: up to it, the old CRDs keep every object, and from it
    /// on the new ones.
    fn safe_releases(&self) -> Vec<Release> {
        let is_safe = |at: usize| {
            let (before, after) = (self.0.iter().take(at + 1), self.0.iter().skip(at));
            before.map(|row| &row.old).chain(after.map(|row| &row.new)).all(MatrixCell::is_safe)
        };
        let safe = self.0.iter().enumerate().filter(|(at, _)| is_safe(*at));
        safe.map(|(_, row)| row.release).collect()
    }

    /// Returns the sentence about the order of the two upgrades.
    fn order(&self) -> String {
        let names: Vec<String> = self.safe_releases().iter().map(|release| release.minor().to_string()).collect();
        match names.split_last() {
            None => "No order of the upgrades keeps every object as it is.".to_owned(),
            Some(_) if names.len() == self.0.len() => {
                "The CRDs can be replaced before, after or between the upgrades of Kubernetes.".to_owned()
            }
            Some((last, [])) => format!("Replace the CRDs while the cluster runs Kubernetes {last}."),
            Some((last, others)) => {
                format!("Replace the CRDs while the cluster runs Kubernetes {} or {last}.", others.join(", "))
            }
        }
    }

    /// Returns the exit code: an order that breaks nothing exists, or not, or that is unknown. If the baseline has an effect of the new
    /// CRDs, the cells of the new side count it, and only those of the old side decide.
    pub fn exit(&self, has_known: bool) -> Exit {
        if has_known {
            return if self.0.iter().any(|row| row.old.breaks()) { Exit::Rejected } else { Exit::Accepted };
        }
        let mut unsafe_cells = self.0.iter().flat_map(|row| [&row.old, &row.new]).filter(|cell| !cell.is_safe());
        match () {
            () if self.is_empty() || !self.safe_releases().is_empty() => Exit::Accepted,
            () if unsafe_cells.all(MatrixCell::breaks) => Exit::Rejected,
            () => Exit::CannotTell,
        }
    }

    /// Returns the rows as JSON.
    fn value(&self) -> Value {
        let row = |row: &MatrixRow<'_>| {
            let version = row.release.minor().to_string();
            object([("kubernetesVersion", Value::from(version)), ("old", row.old.value()), ("new", row.new.value())])
        };
        self.0.iter().map(row).collect::<Vec<_>>().into()
    }
}
