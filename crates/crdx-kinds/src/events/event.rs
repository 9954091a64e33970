//! Events of `events.k8s.io`, which are stored as those of the core group (`pkg/apis/events/v1/conversion.go`).

use crate::core::event::COLUMNS;
use crdx_server::server::behaviour;
use crdx_server::server::{
    Behaviour, Conversion, ConversionUse, ConvertedKind, FieldLabel, KindStrategy, PrinterColumn,
};
use crdx_value::Value;
use crdx_value::release::{Minor, Release};

/// The strategy.
#[derive(Debug)]
pub(crate) struct Event;

static BEHAVIOUR: Behaviour = Behaviour {
    fields: Some(FIELDS),
    creates_on_update: true,
    relaxes_prefix_since: Minor::ALWAYS,
    stored_group: Some(""),
    ..Behaviour::MOST
};

static FIELDS: &[FieldLabel] = &[
    behaviour::NAMESPACE,
    behaviour::text("regarding.kind", &[&["regarding", "kind"]]),
    behaviour::text("regarding.namespace", &[&["regarding", "namespace"]]),
    behaviour::text("regarding.name", &[&["regarding", "name"]]),
    behaviour::text("regarding.uid", &[&["regarding", "uid"]]),
    behaviour::text("regarding.apiVersion", &[&["regarding", "apiVersion"]]),
    behaviour::text("regarding.resourceVersion", &[&["regarding", "resourceVersion"]]),
    behaviour::text("regarding.fieldPath", &[&["regarding", "fieldPath"]]),
    behaviour::text("reason", &[&["reason"]]),
    behaviour::text("reportingController", &[&["reportingController"]]),
    behaviour::text("type", &[&["type"]]),
];

/// The fields of `events.k8s.io/v1`, and those of the stored form.
const RENAMED: [(&str, &str); 7] = [
    ("regarding", "involvedObject"),
    ("note", "message"),
    ("deprecatedSource", "source"),
    ("deprecatedFirstTimestamp", "firstTimestamp"),
    ("deprecatedLastTimestamp", "lastTimestamp"),
    ("deprecatedCount", "count"),
    ("reportingController", "reportingComponent"),
];

impl KindStrategy for Event {
    fn behaviour(&self) -> &'static Behaviour {
        &BEHAVIOUR
    }

    fn columns(&self) -> Option<&'static [PrinterColumn]> {
        Some(COLUMNS)
    }

    fn conversion(&self, _: &str, _: bool) -> Option<&'static dyn Conversion> {
        Some(&Renamed)
    }
}

/// Renames top-level fields.
#[derive(Debug)]
struct Renamed;

impl Conversion for Renamed {
    fn default(&self, mut object: Value, _: &ConvertedKind<'_>, set_defaults: &dyn Fn(&mut Value)) -> Value {
        set_defaults(&mut object);
        object
    }

    fn to_stored(&self, object: &Value, _: &ConvertedKind<'_>) -> Option<Value> {
        rename(object, RENAMED.into_iter())
    }

    fn of_stored(&self, stored: &Value, _: Release, _: ConversionUse) -> Option<Value> {
        rename(stored, RENAMED.into_iter().map(|(here, stored)| (stored, here)))
    }

    fn shows_stored_fields(&self) -> bool {
        false
    }
}

fn rename(object: &Value, names: impl Iterator<Item = (&'static str, &'static str)>) -> Option<Value> {
    let mut members = object.as_object()?.clone();
    for (from, to) in names {
        if let Some(value) = members.remove(from) {
            members.insert(to.to_owned(), value);
        }
    }
    Some(Value::Object(members))
}
