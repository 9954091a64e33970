//! `PriorityLevelConfiguration`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column, text};
use conversion::OldLevel;
use crdx_server::server::behaviour::ALL_BUT_STATUS;
use crdx_server::server::{Behaviour, Conversion, KindStrategy, PrinterColumn};
use crdx_value::Value;

mod conversion;

/// The strategy.
#[derive(Debug)]
pub(crate) struct PriorityLevelConfiguration;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { status_keeps: ALL_BUT_STATUS, ..Behaviour::GENERATION },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

impl KindStrategy for PriorityLevelConfiguration {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn conversion(&self, _: &str, is_newest: bool) -> Option<&'static dyn Conversion> {
        (!is_newest).then_some(&OldLevel)
    }
}

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Type", "", |o, _| text(o, &["spec", "type"]).into()),
    column("NominalConcurrencyShares", "", |o, _| number(o, &["spec", "limited", "nominalConcurrencyShares"])),
    column("Queues", "", |o, _| queuing(o, "queues")),
    column("HandSize", "", |o, _| queuing(o, "handSize")),
    column("QueueLengthLimit", "", |o, _| queuing(o, "queueLengthLimit")),
    AGE,
];

fn number(object: &Value, path: &[&str]) -> Value {
    object.at(path).cloned().unwrap_or_else(|| "<none>".into())
}

fn queuing(object: &Value, key: &str) -> Value {
    number(object, &["spec", "limited", "limitResponse", "queuing", key])
}
