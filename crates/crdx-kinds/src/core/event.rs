//! Events of the core group.

use crate::declared_kind::DeclaredKind;
use crate::printer::{NAMED, between, column, either, int, moment, or, since, text, wide};
use crdx_server::pipeline::metadata::NameRule;
use crdx_server::server::behaviour;
use crdx_server::server::{Behaviour, FieldLabel, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::Minor;
use crdx_value::time::Timestamp;

/// The strategy.
pub(crate) static EVENT: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        name: NameRule::PathSegment,
        qualifies_finalizers: false,
        creates_on_update: true,
        fields: Some(FIELDS),
        relaxes_prefix_since: Minor::ALWAYS,
        validates_metadata_last: true,
        ..Behaviour::MOST
    },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static FIELDS: &[FieldLabel] = &[
    behaviour::NAMESPACE,
    behaviour::text("involvedObject.kind", &[&["involvedObject", "kind"]]),
    behaviour::text("involvedObject.namespace", &[&["involvedObject", "namespace"]]),
    behaviour::text("involvedObject.name", &[&["involvedObject", "name"]]),
    behaviour::text("involvedObject.uid", &[&["involvedObject", "uid"]]),
    behaviour::text("involvedObject.apiVersion", &[&["involvedObject", "apiVersion"]]),
    behaviour::text("involvedObject.resourceVersion", &[&["involvedObject", "resourceVersion"]]),
    behaviour::text("involvedObject.fieldPath", &[&["involvedObject", "fieldPath"]]),
    behaviour::text("reason", &[&["reason"]]),
    behaviour::text("reportingComponent", &[&["reportingComponent"]]),
    behaviour::text("source", &[&["source", "component"], &["reportingComponent"]]),
    behaviour::text("type", &[&["type"]]),
];

pub(crate) static COLUMNS: &[PrinterColumn] = &[
    column("Last Seen", "", |o, now| last_seen(o, now).into()),
    column("Type", "", |o, _| text(o, &["type"]).into()),
    column("Reason", "", |o, _| text(o, &["reason"]).into()),
    column("Object", "", |o, _| {
        let part = |key: &str| either(o, &["involvedObject", key], &["regarding", key]).to_owned();
        let (kind, name) = (part("kind").to_lowercase(), part("name"));
        if name.is_empty() { kind.into() } else { format!("{kind}/{name}").into() }
    }),
    wide("Subobject", "", |o, _| either(o, &["involvedObject", "fieldPath"], &["regarding", "fieldPath"]).into()),
    wide("Source", "", |o, _| event_source(o).into()),
    column("Message", "", |o, _| either(o, &["message"], &["note"]).trim().into()),
    wide("First Seen", "", |o, now| first_seen(o, now).into()),
    wide("Count", "", |o, _| {
        let counted = int(o, &["count"]).max(int(o, &["deprecatedCount"]));
        if o.get("series").is_some() { int(o, &["series", "count"]).into() } else { counted.max(1).into() }
    }),
    PrinterColumn { priority: 1, ..NAMED },
];

fn first_seen(object: &Value, now: Timestamp) -> String {
    let first = moment(object, &["firstTimestamp"]).or_else(|| moment(object, &["deprecatedFirstTimestamp"]));
    first.map_or_else(|| since(object, &["eventTime"], now), |first| between(first, now))
}

fn last_seen(object: &Value, now: Timestamp) -> String {
    if object.get("series").is_some() {
        return since(object, &["series", "lastObservedTime"], now);
    }
    let last = moment(object, &["lastTimestamp"]).or_else(|| moment(object, &["deprecatedLastTimestamp"]));
    last.map_or_else(|| first_seen(object, now), |last| between(last, now))
}

/// `formatEventSource`
fn event_source(object: &Value) -> String {
    let of = |key: &str| either(object, &["source", key], &["deprecatedSource", key]).to_owned();
    let (component, host) = (of("component"), of("host"));
    let reporter = either(object, &["reportingComponent"], &["reportingController"]);
    let component = or(&component, reporter);
    match or(&host, text(object, &["reportingInstance"])) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    }
}
