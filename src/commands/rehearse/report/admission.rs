//! The parts of the report about an operator that concern its policies and webhook configurations.

use super::policies::PolicyCounts;
use crate::commands::rehearse::admission::{
    AdmissionChange, AdmissionEffect, AdmissionObject, AdmissionUpgrade, ChangedWebhook,
};
use crdx_engine::rehearsal::policies::Effects;
use crdx_engine::simulation::admission::Admission;
use crdx_output::report::members::location_object;
use crdx_output::{Cell, Column, Paint, TableStyle, bounded_table};
use crdx_value::{Map, Value, object};
use std::collections::{BTreeMap, BTreeSet};

/// The number of objects by effect of the policies, and of those for which each webhook is called.
#[derive(Clone, Debug, Default)]
pub struct AdmissionCounts {
    pub policies: PolicyCounts,
    /// By the names of the webhooks that an object has in common, as configuration and webhook.
    called: BTreeMap<BTreeSet<(String, String)>, usize>,
}

impl AdmissionCounts {
    /// Creates counts of zero for the new policies.
    pub fn new(given: Option<&Admission>) -> Self {
        let policies = given.map(|given| PolicyCounts::new(given.given())).unwrap_or_default();
        Self { policies, called: BTreeMap::new() }
    }

    /// Counts an object.
    pub fn add(&mut self, effect: &AdmissionEffect) {
        self.policies.add(&effect.item, &effect.effects);
        if !effect.webhooks.is_empty() {
            let webhooks = effect.webhooks.iter().cloned().collect();
            *self.called.entry(webhooks).or_default() += 1;
        }
    }

    /// Returns the number of objects for which at least one of the webhooks is called.
    pub fn called_by_any(&self, webhooks: &[(&str, &str)]) -> usize {
        let is_one = |(name, webhook): &(String, String)| webhooks.contains(&(name.as_str(), webhook.as_str()));
        self.called.iter().filter(|(called, _)| called.iter().any(is_one)).map(|(_, count)| count).sum()
    }
}

const CHANGES: &[Column] = &[
    Column::text("KIND"),
    Column::text("NAME"),
    Column::always("CHANGE"),
    Column::optional("WEBHOOK"),
    Column::optional("FAILURE POLICY"),
    Column::optional("OBJECTS"),
];

/// Formats the table of the policies and webhooks that the upgrade changes; empty if there are none.
pub fn changes(admission: &AdmissionUpgrade<'_>, counts: &AdmissionCounts, look: TableStyle) -> String {
    let rows: Vec<Vec<Cell>> = admission.objects.iter().flat_map(|object| rows(object, counts)).collect();
    if rows.is_empty() { String::new() } else { bounded_table::table(CHANGES, look, &rows) }
}

fn rows(object: &AdmissionObject, counts: &AdmissionCounts) -> Vec<Vec<Cell>> {
    if object.change == AdmissionChange::Unchanged {
        return Vec::new();
    }
    let start =
        |change: AdmissionChange| vec![Cell::from(&object.kind), Cell::from(&object.name), Cell::from(change.word())];
    let changed = object.webhooks.iter().filter(|webhook| webhook.change != AdmissionChange::Unchanged);
    let webhook = |webhook: &ChangedWebhook| {
        let objects = counts.called_by_any(&[(&object.name, &webhook.name)]);
        let mut row = start(webhook.change);
        row.extend([Cell::from(&webhook.name), Cell::from(failure_policy(webhook)), Cell::count(objects, Paint::None)]);
        row
    };
    let webhooks: Vec<Vec<Cell>> = changed.map(webhook).collect();
    if webhooks.is_empty() {
        let mut row = start(object.change);
        row.extend(["", "", ""].map(Cell::from));
        return vec![row];
    }
    webhooks
}

fn failure_policy(webhook: &ChangedWebhook) -> &'static str {
    if webhook.fails_closed { "Fail" } else { "Ignore" }
}

/// Returns the policies and webhook configurations of both sides as JSON.
pub fn value(admission: &AdmissionUpgrade<'_>, counts: &AdmissionCounts) -> Value {
    let one = |admission: &AdmissionObject| {
        let mut members = Map::new();
        let mut put = |key: &str, value: Value| members.insert(key.to_owned(), value);
        put("kind", admission.kind.as_str().into());
        put("name", admission.name.as_str().into());
        put("change", admission.change.word().into());
        put("location", location_object(&admission.location));
        if admission.has_webhooks() {
            let webhooks = admission.webhooks.iter().map(|webhook| {
                let objects = counts.called_by_any(&[(&admission.name, &webhook.name)]);
                let service = webhook.service.iter().map(|service| ("service", Value::from(service.as_str())));
                let members = [
                    ("name", Value::from(webhook.name.as_str())),
                    ("change", webhook.change.word().into()),
                    ("failurePolicy", failure_policy(webhook).into()),
                    ("objects", Value::Int(i64::try_from(objects).unwrap_or(i64::MAX))),
                ];
                object(members.into_iter().chain(service))
            });
            put("webhooks", webhooks.collect::<Vec<_>>().into());
        }
        Value::Object(members)
    };
    admission.objects.iter().map(one).collect::<Vec<_>>().into()
}

/// Returns the names of the policies with an effect as JSON.
pub fn effects_value(effects: &Effects) -> Value {
    let Effects { denied, warned, audited, changed, .. } = effects;
    let all = [("denied", denied), ("warned", warned), ("audited", audited), ("changed", changed)];
    let named = all.into_iter().filter(|(_, policies)| !policies.is_empty());
    let names = named.map(|(key, policies)| {
        (key, Value::from(policies.iter().map(|(_, name)| Value::from(name.as_str())).collect::<Vec<_>>()))
    });
    object(names)
}
