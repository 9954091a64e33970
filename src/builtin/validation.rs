//! Validates objects of built-in kinds as the API server does after decoding and defaulting: `pkg/apis/*/validation`, and
//! what the strategies in `pkg/registry` add.
//!
//! A validator takes an object as its Go type encodes it, with defaults, and the existing object of an update. Its
//! functions have the names of the Go functions that they follow in their comments. The metadata of the object is
//! validated elsewhere ([`crate::pipeline::metadata`]).

mod annotations;
mod certificates;
mod claims;
mod field_value;
mod formats;
mod immutable;
mod int_or_percent;
mod network;
mod pod_spec;
mod pod_template;
mod pods;
mod resources;
mod selectors;
mod tolerations;
mod workloads;

use crate::field::{ErrorList, ROOT};
use crate::release::Release;
use crate::value::Value;
use field_value::{Errors, FieldValue};

/// Validates one kind; the last argument is the existing object of an update.
type Validator = fn(&mut Errors, &FieldValue<'_, '_>, Option<&Value>);

/// The kinds with a validator, by group and kind. All versions of a kind have the same fields.
const VALIDATORS: &[(&str, &str, Validator)] = &[
    ("", "Pod", pods::pod),
    ("", "PodTemplate", pod_template::kind),
    ("", "ReplicationController", workloads::replication_controller),
    ("apps", "DaemonSet", workloads::daemon_set),
    ("apps", "Deployment", workloads::deployment),
    ("apps", "ReplicaSet", workloads::replica_set),
    ("apps", "StatefulSet", workloads::stateful_set),
];

fn validator(group: &str, kind: &str) -> Option<Validator> {
    let (.., validate) = VALIDATORS.iter().find(|(g, k, _)| (*g, *k) == (group, kind))?;
    Some(*validate)
}

/// Returns true if objects of the kind are validated.
pub fn covers(group: &str, kind: &str) -> bool {
    validator(group, kind).is_some()
}

/// Validates an object, without its metadata; `old` is the existing object of an update.
pub fn validate(group: &str, kind: &str, object: &Value, old: Option<&Value>, release: Release) -> ErrorList {
    let mut errors = Errors::new(release);
    if let Some(validate) = validator(group, kind) {
        validate(&mut errors, &FieldValue::new(Some(object), ROOT), old);
    }
    errors.list
}
