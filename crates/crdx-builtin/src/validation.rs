//! Validates objects of built-in kinds as the API servers of Kubernetes 1.30 to 1.38 do after decoding and defaulting:
//! `pkg/apis/*/validation`, and what the strategies in `pkg/registry` add.
//!
//! A validator takes an object as its Go type encodes it, with defaults, and the existing object of an update. Its
//! functions have the names of the Go functions that they follow in their comments. The metadata of the object is
//! validated elsewhere (`crdx_server::pipeline::metadata`).

mod annotations;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod coordination;
mod core;
mod difference;
mod discovery;
mod driver_names;
mod events;
mod field_value;
mod flowcontrol;
mod formats;
mod image_reference;
mod immutable;
mod int_or_percent;
mod internal;
mod network;
mod networking;
mod node;
mod pem;
mod policy;
mod private_key;
mod rbac;
mod resource;
mod scheduling;
mod selectors;
mod statuses;
mod storage;
mod storagemigration;
mod versioned;
mod warnings;
pub mod x509;

pub use certificates::certificate_signing_request::subject_refusal;
pub use core::pod::{validate_bound_annotations, validate_ephemeral_containers, validate_resize};
pub use core::service::service_addresses;
use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::field::{ErrorList, ROOT};
use crdx_value::release::Release;
use field_value::{Errors, FieldValue};
pub use statuses::{covers_status, validate_status};
pub use warnings::{app_armor_warnings, status_warnings, warnings};

/// Validates one kind; the last argument is the existing object of an update.
type Validator = fn(&mut Errors, &FieldValue<'_, '_>, Option<&Value>);

/// The kinds with a validator, by group and kind. All versions of a kind have the same fields.
const VALIDATORS: &[(&str, &str, Validator)] = &[
    ("", "ConfigMap", core::config_map::validate),
    ("", "Endpoints", core::endpoints::validate),
    ("", "Event", core::event::validate),
    ("", "LimitRange", core::limit_range::validate),
    ("", "Namespace", core::namespace::validate),
    ("", "Node", core::node::validate),
    ("", "PersistentVolume", core::persistent_volume::validate),
    ("", "PersistentVolumeClaim", core::persistent_volume_claim::validate),
    ("", "Pod", core::pod::validate),
    ("", "PodTemplate", core::pod_template::kind),
    ("", "ReplicationController", core::replication_controller::validate),
    ("", "ResourceQuota", core::resource_quota::validate),
    ("", "Secret", core::secret::validate),
    ("", "Service", core::service::validate),
    ("", "ServiceAccount", core::service_account::validate),
    ("apiregistration.k8s.io", "APIService", apiregistration::api_service::validate),
    ("apps", "ControllerRevision", apps::controller_revision::validate),
    ("apps", "DaemonSet", apps::daemon_set::validate),
    ("apps", "Deployment", apps::deployment::validate),
    ("apps", "ReplicaSet", apps::replica_set::validate),
    ("apps", "StatefulSet", apps::stateful_set::validate),
    ("autoscaling", "HorizontalPodAutoscaler", autoscaling::horizontal_pod_autoscaler::validate),
    ("batch", "CronJob", batch::cron_job::validate),
    ("batch", "Job", batch::job::validate),
    ("certificates.k8s.io", "CertificateSigningRequest", certificates::certificate_signing_request::validate),
    ("certificates.k8s.io", "ClusterTrustBundle", certificates::cluster_trust_bundle::validate),
    ("certificates.k8s.io", "PodCertificateRequest", certificates::pod_certificate_request::validate),
    ("coordination.k8s.io", "Lease", coordination::lease::validate),
    ("discovery.k8s.io", "EndpointSlice", discovery::endpoint_slice::validate),
    ("events.k8s.io", "Event", events::event::validate),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", flowcontrol::flow_schema::validate),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", flowcontrol::priority_level_configuration::validate),
    ("networking.k8s.io", "IPAddress", networking::ip_address::validate),
    ("networking.k8s.io", "Ingress", networking::ingress::validate),
    ("networking.k8s.io", "IngressClass", networking::ingress_class::validate),
    ("networking.k8s.io", "NetworkPolicy", networking::network_policy::validate),
    ("networking.k8s.io", "ServiceCIDR", networking::service_cidr::validate),
    ("node.k8s.io", "RuntimeClass", node::runtime_class::validate),
    ("policy", "PodDisruptionBudget", policy::pod_disruption_budget::validate),
    ("rbac.authorization.k8s.io", "ClusterRole", rbac::cluster_role::validate),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", rbac::cluster_role_binding::validate),
    ("rbac.authorization.k8s.io", "Role", rbac::role::validate),
    ("rbac.authorization.k8s.io", "RoleBinding", rbac::role_binding::validate),
    ("resource.k8s.io", "DeviceClass", resource::device_class::validate),
    ("resource.k8s.io", "DeviceTaintRule", resource::device_taint_rule::validate),
    ("resource.k8s.io", "ResourceClaim", resource::resource_claim::validate),
    ("resource.k8s.io", "ResourceClaimTemplate", resource::resource_claim_template::validate),
    ("resource.k8s.io", "ResourceSlice", resource::resource_slice::validate),
    ("scheduling.k8s.io", "PriorityClass", scheduling::priority_class::validate),
    ("storage.k8s.io", "CSIDriver", storage::csi_driver::validate),
    ("storage.k8s.io", "CSINode", storage::csi_node::validate),
    ("storage.k8s.io", "CSIStorageCapacity", storage::csi_storage_capacity::validate),
    ("storage.k8s.io", "StorageClass", storage::storage_class::validate),
    ("storage.k8s.io", "VolumeAttachment", storage::volume_attachment::validate),
    ("storage.k8s.io", "VolumeAttributesClass", storage::volume_attributes_class::validate),
    ("storagemigration.k8s.io", "StorageVersionMigration", storagemigration::storage_version_migration::validate),
];

fn validator(group: &str, kind: &str) -> Option<Validator> {
    let (.., validate) = VALIDATORS.iter().find(|(g, k, _)| (*g, *k) == (group, kind))?;
    Some(*validate)
}

/// Returns true if objects of the kind are validated.
pub fn covers(group: &str, kind: &str) -> bool {
    validator(group, kind).is_some()
}

/// Validates an object, without its metadata; `empties` are the empty lists and maps that its encoded form does not have,
/// and `old` is the existing object of an update.
pub fn validate(
    (group, kind): (&str, &str),
    object: &Value,
    empties: Option<&Empties>,
    old: Option<&Value>,
    release: Release,
) -> ErrorList {
    let mut errors = Errors::new(release);
    if let Some(validate) = validator(group, kind) {
        validate(&mut errors, &FieldValue::with_empties(Some(object), ROOT, empties), old);
    }
    errors.list.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_types::types::Types;
    use crdx_types::{defaults, encode};
    use crdx_value::release::FeatureGates;

    /// An object as the server validates it: encoded, and with defaults.
    fn object(api_version: &str, kind: &str, text: &str, release: Release) -> Value {
        let types = Types::for_release(release.minor().number().into());
        let id = types.of_kind(api_version, kind).unwrap();
        let mut object = encode::encode(types, id, &json::read(text.as_bytes()).unwrap()).object;
        defaults::set(types, id, &mut object, release);
        object
    }

    fn errors(api_version: &str, kind: &str, new: &str, old: Option<&str>, release: &str) -> Vec<String> {
        errors_of(api_version, kind, new, old, release.parse().unwrap())
    }

    /// The errors about a write on a configured release.
    pub fn errors_of(api_version: &str, kind: &str, new: &str, old: Option<&str>, release: Release) -> Vec<String> {
        let read = |text: &str| object(api_version, kind, text, release);
        let empties = Empties::from_value(&json::read(new.as_bytes()).unwrap());
        let (new, old) = (read(new), old.map(read));
        let (group, _) = crdx_value::group_version::split(api_version);
        assert!(covers(group, kind), "{kind}");
        let errors = validate((group, kind), &new, empties.as_ref(), old.as_ref(), release);
        errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
    }

    /// The errors about a new object in JSON, such as `spec.a: Required value`.
    pub fn created(api_version: &str, kind: &str, object: &str, release: &str) -> Vec<String> {
        errors(api_version, kind, object, None, release)
    }

    /// The errors about a new object, with a state of a gate.
    pub fn created_with(
        gate: &str,
        enabled: bool,
        (api_version, kind): (&str, &str),
        object: &str,
        release: &str,
    ) -> Vec<String> {
        let mut gates = FeatureGates::default();
        gates.set(gate, enabled);
        let release: Release = release.parse().unwrap();
        errors_of(api_version, kind, object, None, release.with_gates(&gates).unwrap())
    }

    /// The validation of a write of a part of a Pod.
    type PartValidator = fn(&Value, Option<&Empties>, &Value, Release) -> ErrorList;

    /// The errors about an update of a part of a Pod.
    pub fn part_updated(validate: PartValidator, old: &str, new: &str, release: &str) -> Vec<String> {
        let release = release.parse().unwrap();
        let read = |text: &str| object("v1", "Pod", text, release);
        let empties = Empties::from_value(&json::read(new.as_bytes()).unwrap());
        let errors = validate(&read(new), empties.as_ref(), &read(old), release);
        errors.iter().map(|error| format!("{}: {}", error.field, error.body())).collect()
    }

    /// The errors about an update.
    pub fn updated(api_version: &str, kind: &str, old: &str, new: &str, release: &str) -> Vec<String> {
        errors(api_version, kind, new, Some(old), release)
    }

    #[test]
    fn every_stored_kind_is_validated() {
        // Policies and webhook configurations are validated elsewhere (`crdx_server::policies`).
        let elsewhere = "admissionregistration.k8s.io";
        for resource in crdx_types::table::table().releases().flat_map(crdx_types::resources::resources) {
            let is_validated = resource.group == elsewhere || covers(resource.group, resource.kind);
            assert!(is_validated || !resource.writable, "{} {}", resource.group, resource.kind);
        }
    }
}
