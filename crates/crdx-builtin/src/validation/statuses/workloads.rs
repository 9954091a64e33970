//! Statuses of workloads (`pkg/apis/apps/validation`), and of `ReplicationController`s (`pkg/apis/core/validation`).

use super::nonnegative;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::release::V1_35;

/// `ValidateDeploymentStatusUpdate`
pub fn deployment(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let status = object.child("status");
    nonnegative(
        errors,
        &status,
        &[
            "observedGeneration",
            "replicas",
            "updatedReplicas",
            "readyReplicas",
            "availableReplicas",
            "unavailableReplicas",
            "collisionCount",
        ],
    );
    terminating(errors, &status);
    at_most_replicas(errors, &status, &["updatedReplicas", "readyReplicas", "availableReplicas"]);
    at_most(errors, &status, ("availableReplicas", "readyReplicas"), "cannot be greater than readyReplicas");
    never_decremented(errors, &status, old);
}

/// `ValidateReplicaSetStatusUpdate` and `ValidateReplicationControllerStatusUpdate`
pub fn replica_set(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let fields = ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "observedGeneration"];
    nonnegative(errors, &status, &fields);
    terminating(errors, &status);
    at_most_replicas(errors, &status, &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]);
    at_most(errors, &status, ("availableReplicas", "readyReplicas"), "cannot be greater than readyReplicas");
}

/// `ValidateStatefulSetStatusUpdate`
pub fn stateful_set(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let status = object.child("status");
    let counts = ["readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"];
    nonnegative(errors, &status, &["replicas"]);
    nonnegative(errors, &status, &counts);
    nonnegative(errors, &status, &["observedGeneration", "collisionCount"]);
    at_most_replicas(errors, &status, &counts);
    at_most(errors, &status, ("availableReplicas", "readyReplicas"), "cannot be greater than status.readyReplicas");
    never_decremented(errors, &status, old);
}

/// `ValidateDaemonSetStatusUpdate`
pub fn daemon_set(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let status = object.child("status");
    nonnegative(
        errors,
        &status,
        &[
            "currentNumberScheduled",
            "numberMisscheduled",
            "desiredNumberScheduled",
            "numberReady",
            "observedGeneration",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberUnavailable",
            "collisionCount",
        ],
    );
    never_decremented(errors, &status, old);
}

/// Terminating replicas are dropped before 1.35 (`DeploymentReplicaSetTerminatingReplicas`).
fn terminating(errors: &mut Errors, status: &FieldValue<'_, '_>) {
    if errors.release.since(V1_35) {
        nonnegative(errors, status, &["terminatingReplicas"]);
    }
}

fn at_most_replicas(errors: &mut Errors, status: &FieldValue<'_, '_>, fields: &[&str]) {
    for field in fields {
        at_most(errors, status, (field, "replicas"), "cannot be greater than status.replicas");
    }
}

/// Reports a number that is greater than another one. Absent numbers are 0.
fn at_most(errors: &mut Errors, status: &FieldValue<'_, '_>, (field, limit): (&str, &str), detail: &str) {
    let (field, limit) = (status.child(field), status.child(limit));
    let value = field.int().unwrap_or_default();
    if value > limit.int().unwrap_or_default() {
        errors.invalid_value(&field.path, value, detail);
    }
}

/// Reports a `collisionCount` that became smaller (`IsDecremented`).
fn never_decremented(errors: &mut Errors, status: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let count = status.child("collisionCount");
    let (old_status, new) = (old.child("status"), count.int());
    let is_decremented = old_status.child("collisionCount").int().is_some_and(|old| new.is_none_or(|new| new < old));
    if is_decremented {
        errors.invalid_value(&count.path, new.unwrap_or_default(), "cannot be decremented");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    #[test]
    fn available_replicas_are_ready() {
        let new = r#"{"status":{"replicas":3,"readyReplicas":1,"availableReplicas":2}}"#;
        let error = "status.availableReplicas: Invalid value: 2: cannot be greater than readyReplicas";
        assert_eq!(errors(("apps", "Deployment"), "{}", new, "1.37"), [error]);
        assert_eq!(errors(("", "ReplicationController"), "{}", new, "1.31"), [error]);
        assert_eq!(
            errors(("apps", "StatefulSet"), "{}", new, "1.37"),
            ["status.availableReplicas: Invalid value: 2: cannot be greater than status.readyReplicas"]
        );
    }

    #[test]
    fn counts_are_not_negative() {
        let new = r#"{"status":{"numberReady":-1}}"#;
        assert_eq!(
            errors(("apps", "DaemonSet"), "{}", new, "1.37"),
            ["status.numberReady: Invalid value: -1: must be greater than or equal to 0"]
        );
        let terminating = r#"{"status":{"terminatingReplicas":-1}}"#;
        assert_eq!(errors(("apps", "ReplicaSet"), "{}", terminating, "1.34"), [""; 0]);
        assert_eq!(errors(("apps", "ReplicaSet"), "{}", terminating, "1.35").len(), 1);
    }

    #[test]
    fn the_count_of_collisions_never_decreases() {
        let (old, removed) = (r#"{"status":{"collisionCount":2}}"#, r#"{"status":{}}"#);
        assert_eq!(
            errors(("apps", "Deployment"), old, removed, "1.37"),
            ["status.collisionCount: Invalid value: 0: cannot be decremented"]
        );
        assert_eq!(errors(("apps", "Deployment"), removed, old, "1.37"), [""; 0]);
    }
}
