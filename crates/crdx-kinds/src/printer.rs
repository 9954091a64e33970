//! Helpers for the Tables of built-in kinds (`pkg/printers/internalversion/printers.go` of Kubernetes). The
//! descriptions of columns that Kubernetes takes from its documentation of fields are empty.

use crdx_server::server::{CREATED_COLUMN, NAME_COLUMN, PrinterColumn, label_selector_of};
use crdx_value::jsonpath::duration;
use crdx_value::time::{self, Timestamp};
use crdx_value::{self as value, Value};

type Cell = fn(&Value, Timestamp) -> Value;

pub(crate) const fn column(name: &'static str, description: &'static str, cell: Cell) -> PrinterColumn {
    PrinterColumn { name, type_: "string", format: "", description, priority: 0, cell }
}

pub(crate) const fn wide(name: &'static str, description: &'static str, cell: Cell) -> PrinterColumn {
    PrinterColumn { priority: 1, ..column(name, description, cell) }
}

pub(crate) const NAMED: PrinterColumn =
    PrinterColumn { format: "name", ..column("Name", NAME_COLUMN, |o, _| text(o, &["metadata", "name"]).into()) };

pub(crate) const AGE: PrinterColumn =
    column("Age", CREATED_COLUMN, |o, now| since(o, &["metadata", "creationTimestamp"], now).into());

pub(crate) const CONTAINERS: PrinterColumn =
    wide("Containers", "Names of each container in the template.", |o, _| of_containers(o, "name").into());

pub(crate) const IMAGES: PrinterColumn =
    wide("Images", "Images referenced by each container in the template.", |o, _| of_containers(o, "image").into());

pub(crate) const READY_OF_REPLICAS: PrinterColumn = column("Ready", "Number of the pod with ready state", |o, _| {
    format!("{}/{}", int(o, &["status", "readyReplicas"]), int(o, &["spec", "replicas"])).into()
});

pub(crate) const DESIRED: PrinterColumn = column("Desired", "", |o, _| int(o, &["spec", "replicas"]).into());

pub(crate) const CURRENT: PrinterColumn = column("Current", "", |o, _| int(o, &["status", "replicas"]).into());

pub(crate) const READY: PrinterColumn = column("Ready", "", |o, _| int(o, &["status", "readyReplicas"]).into());

/// The columns of `NewDefaultTableConvertor`.
pub(crate) static WITH_CREATION: &[PrinterColumn] = &[
    NAMED,
    PrinterColumn {
        type_: "date",
        ..column("Created At", CREATED_COLUMN, |o, _| text(o, &["metadata", "creationTimestamp"]).into())
    },
];

pub(crate) fn text<'v>(object: &'v Value, path: &[&str]) -> &'v str {
    object.str_at(path).unwrap_or_default()
}

pub(crate) fn either<'v>(object: &'v Value, one: &[&str], other: &[&str]) -> &'v str {
    or(text(object, one), text(object, other))
}

pub(crate) fn or<'v>(text: &'v str, otherwise: &'v str) -> &'v str {
    if text.is_empty() { otherwise } else { text }
}

pub(crate) fn int(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_int).unwrap_or_default()
}

pub(crate) fn list<'v>(object: &'v Value, path: &[&str]) -> &'v [Value] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

pub(crate) fn count(object: &Value, path: &[&str]) -> i64 {
    object.at(path).and_then(Value::as_object).map_or(0, |members| members.len() as i64)
}

pub(crate) fn first_of<'v>(object: &'v Value, path: &[&str], key: &str) -> &'v str {
    or(list(object, path).first().map(|item| text(item, &[key])).unwrap_or_default(), "<none>")
}

/// A time; `None` if it is absent or malformed.
pub(crate) fn moment(object: &Value, path: &[&str]) -> Option<Timestamp> {
    object.str_at(path).and_then(|text| time::parse(text).ok())
}

/// The duration between two times, as people read it.
pub(crate) fn between(from: Timestamp, to: Timestamp) -> String {
    let seconds = to.seconds.saturating_sub(from.seconds).saturating_mul(1_000_000_000);
    duration::human(seconds.saturating_add(i64::from(to.nanos) - i64::from(from.nanos)))
}

/// `translateTimestampSince`
pub(crate) fn since(object: &Value, path: &[&str], now: Timestamp) -> String {
    moment(object, path).map_or_else(|| "<unknown>".to_owned(), |then| between(then, now))
}

/// `layoutContainerCells`
pub(crate) fn of_containers(object: &Value, key: &str) -> String {
    let containers = list(object, &["spec", "template", "spec", "containers"]);
    containers.iter().map(|container| text(container, &[key])).collect::<Vec<_>>().join(",")
}

/// `FormatLabels`
pub(crate) fn labels_or_none(object: &Value, path: &[&str]) -> String {
    or(&labels(object, path), "<none>").to_owned()
}

/// `FormatLabelSelector`
pub(crate) fn label_selector(object: &Value, path: &[&str]) -> String {
    let selector = object.at(path).cloned().unwrap_or_default();
    let holder = value::object([("spec", value::object([("selector", selector)]))]);
    or(&label_selector_of(&holder).unwrap_or_default(), "<none>").to_owned()
}

/// `printBoolPtr`
pub(crate) fn bool_text(object: &Value, path: &[&str]) -> &'static str {
    match object.at(path).and_then(Value::as_bool) {
        Some(true) => "True",
        Some(false) => "False",
        None => "<unset>",
    }
}

pub(crate) fn labels(object: &Value, path: &[&str]) -> String {
    let labels = object.at(path).and_then(Value::as_object).into_iter().flatten();
    labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect::<Vec<_>>().join(",")
}

/// Returns true if an object has a condition with the status `True`.
pub(crate) fn has_condition(object: &Value, type_: &str) -> bool {
    list(object, &["status", "conditions"])
        .iter()
        .any(|c| text(c, &["type"]) == type_ && text(c, &["status"]) == "True")
}

pub(crate) fn containers(object: &Value, path: &[&str], key: &str) -> String {
    list(object, path).iter().map(|container| text(container, &[key])).collect::<Vec<_>>().join(",")
}

/// The number of items that a cell shows.
pub(crate) const MOST: usize = 3;

/// `listWithMoreString`
pub(crate) fn first_items(items: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = items.collect();
    let text = all.iter().take(MOST).map(String::as_str).collect::<Vec<_>>().join(",");
    if all.len() > MOST { format!("{text} + {} more...", all.len() - MOST) } else { or(&text, "<unset>").to_owned() }
}
