//! Statuses that do not come from the simulated server.

use super::state::StateFailure;
use crdx_value::{Value, object};

pub(super) fn status(code: u16, reason: &'static str, message: &str) -> Value {
    object([
        ("kind", Value::from("Status")),
        ("apiVersion", "v1".into()),
        ("metadata", object::<String, Value>([])),
        ("status", "Failure".into()),
        ("message", message.into()),
        ("reason", reason.into()),
        ("code", i64::from(code).into()),
    ])
}

/// Returns the Status of every request after a failure of the state file, as the API server answers errors of etcd.
pub(super) fn unsaved(failure: &StateFailure) -> Value {
    status(500, "InternalError", &format!("{failure}: {}", failure.help()))
}
