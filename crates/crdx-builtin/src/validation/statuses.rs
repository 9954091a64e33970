//! Validates writes of the subresource `status`: `Validate…StatusUpdate` in `pkg/apis/*/validation`.

mod attachments;
mod certificate_requests;
mod conditions;
pub(super) mod jobs;
mod load_balancers;
mod migrations;
mod pods;
mod policies;
mod resource_claims;
mod workloads;

use crate::validation::certificates::certificate_signing_request;
use crate::validation::core::{namespace, node, resource_quota, resources};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::flowcontrol;
use crdx_types::amounts::is_native;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::field::names;
use crdx_value::field::{ErrorList, FieldError, ROOT};
use crdx_value::release::{Release, V1_32, V1_34, V1_37};
use crdx_value::time::Timestamp;

/// Validates the status of one kind; the last argument is the existing object.
type StatusValidator = fn(&mut Errors, &FieldValue<'_, '_>, &FieldValue<'_, '_>);

fn validator(group: &str, kind: &str) -> Option<StatusValidator> {
    Some(match (group, kind) {
        ("", "Namespace") => namespace::status,
        ("", "Node") => node::status,
        ("", "PersistentVolume")
        | ("batch", "CronJob")
        | ("networking.k8s.io", "ServiceCIDR")
        | ("storage.k8s.io", "CSINode") => metadata_only,
        ("", "PersistentVolumeClaim") => claim,
        ("", "Pod") => pods::pod,
        ("", "ReplicationController") | ("apps", "ReplicaSet") => workloads::replica_set,
        ("", "ResourceQuota") => quota,
        ("", "Service") => load_balancers::service,
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => policies::validating_policy,
        ("apps", "DaemonSet") => workloads::daemon_set,
        ("apps", "Deployment") => workloads::deployment,
        ("apps", "StatefulSet") => workloads::stateful_set,
        ("apiregistration.k8s.io", "APIService") => conditions::api_service,
        ("autoscaling", "HorizontalPodAutoscaler") => autoscaler,
        ("batch", "Job") => jobs::job,
        ("certificates.k8s.io", "CertificateSigningRequest") => certificate_signing_request::status,
        ("certificates.k8s.io", "PodCertificateRequest") => certificate_requests::pod_request,
        ("flowcontrol.apiserver.k8s.io", "FlowSchema" | "PriorityLevelConfiguration") => flowcontrol::status,
        ("networking.k8s.io", "Ingress") => load_balancers::ingress,
        ("policy", "PodDisruptionBudget") => conditions::disruption_budget,
        ("resource.k8s.io", "DeviceTaintRule") => conditions::taint_rule,
        ("resource.k8s.io", "ResourceClaim") => resource_claims::claim,
        ("storage.k8s.io", "VolumeAttachment") => attachments::volume_attachment,
        ("storagemigration.k8s.io", "StorageVersionMigration") => migrations::migration,
        _ => return None,
    })
}

/// Returns true if the status of the kind is validated.
pub fn covers_status(group: &str, kind: &str) -> bool {
    validator(group, kind).is_some()
}

/// Validates a write of the status of an object, without its metadata; `empties` are the empty lists and maps that its
/// encoded form does not have, `old` is the existing object, and `now` the time of the request.
pub fn validate_status(
    (group, kind): (&str, &str),
    object: &Value,
    empties: Option<&Empties>,
    old: &Value,
    (release, now): (Release, Timestamp),
) -> ErrorList {
    let mut errors = Errors::new(release);
    errors.now = now;
    if let Some(validate) = validator(group, kind) {
        let object = FieldValue::with_empties(Some(object), ROOT, empties);
        validate(&mut errors, &object, &FieldValue::new(Some(old), ROOT));
    }
    errors.list.finish()
}

/// A kind whose status can have any content, as far as the server keeps it: it drops the health of the storage of a
/// `CSINode`.
fn metadata_only(_: &mut Errors, _: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {}

/// Reports the negative numbers among the fields of `status`.
fn nonnegative(errors: &mut Errors, status: &FieldValue<'_, '_>, fields: &[&str]) {
    for field in fields {
        errors.nonnegative(&status.child(field));
    }
}

/// `ValidateResourceQuotaStatusUpdate`
fn quota(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (status, old_status) = (object.child("status"), old.child("status"));
    // The controller copies `spec.hard`.
    let old_spec = old.child("spec");
    let hard = [old_status.child("hard"), old_spec.child("hard")];
    resource_quota::quantities(errors, &status.child("hard"), &hard);
    resource_quota::quantities(errors, &status.child("used"), &[old_status.child("used")]);
}

/// `ValidateHorizontalPodAutoscalerStatusUpdate`
fn autoscaler(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    let status = object.child("status");
    if errors.release.since(V1_37) {
        for condition in status.child("conditions").items() {
            errors.nonnegative(&condition.child("observedGeneration"));
        }
    }
    nonnegative(errors, &status, &["currentReplicas", "desiredReplicas"]);
}

/// The states of a resize, sorted.
const RESIZE_STATUSES: &[&str] = &[
    "ControllerResizeInProgress",
    "ControllerResizeInfeasible",
    "NodeResizeInProgress",
    "NodeResizeInfeasible",
    "NodeResizePending",
];

/// `ValidatePersistentVolumeClaimStatusUpdate`
fn claim(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    let (spec, status) = (object.child("spec"), object.child("status"));
    if spec.child("accessModes").len() == 0 {
        errors.list.push(FieldError::required(&ROOT.child("Spec").child("accessModes"), ""));
    }
    for (_, quantity) in status.child("capacity").entries() {
        resources::basic(errors, &quantity);
    }
    if !errors.release.since(V1_32) {
        return;
    }
    // The field had another name in messages before 1.34.
    let resizes = if errors.release.since(V1_34) { "allocatedResourceStatuses" } else { "allocatedResourceStatus" };
    let resizes = status.path.child(resizes);
    let states = status.child("allocatedResourceStatuses");
    for (name, state) in states.entries() {
        let path = FieldValue { path: resizes, ..states };
        claim_resource(errors, &path, name);
        if !RESIZE_STATUSES.contains(&state.text()) {
            // The server shows the name of the resource.
            let bad = errors.stringer(name);
            errors.list.push(FieldError::not_supported(&resizes, bad, RESIZE_STATUSES));
        }
    }
    let allocated = status.child("allocatedResources");
    for (name, quantity) in allocated.entries() {
        if claim_resource(errors, &allocated, name) && resources::basic(errors, &quantity) {
            resources::quantity_of(errors, &quantity, "storage");
        }
    }
}

/// `validatePersistentVolumeClaimResourceKey`. Returns true without errors.
fn claim_resource(errors: &mut Errors, field: &FieldValue<'_, '_>, name: &str) -> bool {
    let before = errors.list.len();
    let messages = names::qualified_name(name, errors.release);
    errors.messages_at(&field.path, name, messages);
    if errors.list.len() == before && is_native(name) && name != "storage" {
        errors.list.push(FieldError::not_supported(&field.path, name, &["storage"]));
    }
    errors.list.len() == before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_types::resources::resources;

    /// The errors about a write of a status; the objects are in JSON.
    pub(super) fn errors(group_kind: (&str, &str), old: &str, new: &str, release: &str) -> Vec<String> {
        errors_at(group_kind, old, new, release, Timestamp::default())
    }

    /// The errors about a write at a time
    pub(super) fn errors_at(
        group_kind: (&str, &str),
        old: &str,
        new: &str,
        release: &str,
        now: Timestamp,
    ) -> Vec<String> {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        assert!(covers_status(group_kind.0, group_kind.1));
        let at = (release.parse().unwrap(), now);
        let errors = validate_status(group_kind, &read(new), None, &read(old), at);
        errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
    }

    #[test]
    fn the_status_of_every_stored_kind_is_validated() {
        for resource in crdx_types::table::table().releases().flat_map(resources) {
            // CRDs have a validation of their own.
            let is_validated = covers_status(resource.group, resource.kind) || resource.group == "apiextensions.k8s.io";
            let has_status = resource.status && resource.writable;
            assert!(is_validated || !has_status, "{} {}", resource.group, resource.kind);
        }
    }

    /// `ValidateResourceQuotaStatusUpdate` passes both lists to `validateResourceQuotaResourceList` since 1.38.
    #[test]
    fn quantities_of_a_quota_that_are_stored_are_accepted_since_1_38() {
        let old = r#"{"spec":{"hard":{"pods":"1500m"}},"status":{"used":{"pods":"500m"}}}"#;
        let new = r#"{"status":{"hard":{"pods":"1500m"},"used":{"pods":"500m"}}}"#;
        let found = |release| errors(("", "ResourceQuota"), old, new, release);
        assert_eq!(found("1.37").len(), 2);
        assert_eq!(found("1.38"), [""; 0]);
        let other = errors(("", "ResourceQuota"), old, r#"{"status":{"used":{"pods":"1500m"}}}"#, "1.38");
        assert_eq!(other, [r#"status.used[pods]: Invalid value: "1500m": must be an integer"#]);
    }

    /// `validateBasicResource`
    #[test]
    fn negative_capacities_are_shown_as_quantities_since_1_38() {
        let new = r#"{"spec":{"accessModes":["ReadWriteOnce"]},"status":{"capacity":{"storage":"QUANTITY"}}}"#;
        let of = |quantity: &str, release| {
            errors(("", "PersistentVolumeClaim"), "{}", &new.replace("QUANTITY", quantity), release)
        };
        let detail = "must be a valid resource quantity";
        assert_eq!(of("-1Gi", "1.37"), [format!("status.capacity[storage]: Invalid value: -1073741824: {detail}")]);
        assert_eq!(of("-1Gi", "1.38"), [format!(r#"status.capacity[storage]: Invalid value: "-1Gi": {detail}"#)]);
        // `Value` has the wrong sign.
        assert_eq!(of("-9.5Gi", "1.37"), [""; 0]);
        assert_eq!(of("-9.5Gi", "1.38"), [format!(r#"status.capacity[storage]: Invalid value: "-9728Mi": {detail}"#)]);
    }

    #[test]
    fn resources_of_a_claim_are_storage() {
        let new =
            r#"{"spec":{"accessModes":["ReadWriteOnce"]},"status":{"allocatedResourceStatuses":{"cpu":"Other"}}}"#;
        assert_eq!(
            errors(("", "PersistentVolumeClaim"), "{}", new, "1.37"),
            [
                r#"status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "storage""#,
                r#"status.allocatedResourceStatuses: Unsupported value: "cpu": supported values: "ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending""#
            ]
        );
    }
}
