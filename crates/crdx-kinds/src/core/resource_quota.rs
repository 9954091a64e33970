//! `ResourceQuota`s.

use crate::declared_kind::DeclaredKind;
use crate::printer::{AGE, NAMED, column};
use crdx_server::server::{Behaviour, PrinterColumn};
use crdx_value::Value;
use crdx_value::release::Minor;
use std::collections::BTreeMap;

/// The strategy.
pub(crate) static RESOURCE_QUOTA: DeclaredKind = DeclaredKind {
    behaviour: Behaviour { relaxes_prefix_since: Minor::ALWAYS, ..Behaviour::RETURNED },
    columns: Some(COLUMNS),
    ..DeclaredKind::MOST
};

static COLUMNS: &[PrinterColumn] = &[
    NAMED,
    column("Request", "Request represents a minimum amount of cpu/memory that a container may consume.", |o, _| {
        quota(o, false).into()
    }),
    column(
        "Limit",
        "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
        |o, _| quota(o, true).into(),
    ),
    AGE,
];

/// The used and the hard limits of a quota: those of limits, or all others.
fn quota(object: &Value, limits: bool) -> String {
    let hard = object.at(&["status", "hard"]).and_then(Value::as_object).into_iter().flatten();
    let sorted: BTreeMap<&String, &Value> = hard.collect();
    let shown = sorted.into_iter().filter(|(name, _)| name.starts_with("limits.") == limits).map(|(name, hard)| {
        let used = object.at(&["status", "used"]).and_then(|used| used.get(name)).and_then(Value::as_str);
        format!("{name}: {}/{}", used.unwrap_or("0"), hard.as_str().unwrap_or_default())
    });
    shown.collect::<Vec<_>>().join(", ")
}
