//! Validates objects of built-in kinds as the API server does after decoding and defaulting: `pkg/apis/*/validation`, and
//! what the strategies in `pkg/registry` add.
//!
//! A validator takes an object as its Go type encodes it, with defaults, and the existing object of an update. Its
//! functions have the names of the Go functions that they follow in their comments. The metadata of the object is
//! validated elsewhere (`crdx_server::pipeline::metadata`).

mod annotations;
mod api_services;
mod autoscalers;
mod certificates;
mod claims;
mod classes;
mod configuration;
mod cron;
mod devices;
mod difference;
mod disruption_budgets;
mod driver_names;
mod endpoints;
mod events;
mod field_value;
mod flow_control;
mod formats;
mod immutable;
mod ingresses;
mod int_or_percent;
mod internal;
mod ip_addresses;
mod jobs;
mod limit_ranges;
mod namespaces;
mod network;
mod network_policies;
mod nodes;
mod pem;
mod persistent_volumes;
mod pod_spec;
mod pod_template;
mod pods;
mod private_key;
mod quotas;
mod rbac;
mod resources;
mod selectors;
mod services;
mod signing_requests;
mod statuses;
mod storage;
mod stored_data;
mod tolerations;
mod versioned;
mod volume_attachments;
mod warnings;
mod workloads;
mod x509;

use crdx_types::empties::Empties;
use crdx_value::Value;
use crdx_value::field::{ErrorList, ROOT};
use crdx_value::release::Release;
use field_value::{Errors, FieldValue};
pub use pods::{validate_ephemeral_containers, validate_resize};
pub use services::service_addresses;
pub use signing_requests::subject_refusal;
pub use statuses::{covers_status, validate_status};
pub use warnings::{app_armor_warnings, status_warnings, warnings};

/// Validates one kind; the last argument is the existing object of an update.
type Validator = fn(&mut Errors, &FieldValue<'_, '_>, Option<&Value>);

/// The kinds with a validator, by group and kind. All versions of a kind have the same fields.
const VALIDATORS: &[(&str, &str, Validator)] = &[
    ("", "ConfigMap", configuration::config_map),
    ("", "Endpoints", endpoints::endpoints),
    ("", "Event", events::core_event),
    ("", "LimitRange", limit_ranges::limit_range),
    ("", "Namespace", namespaces::namespace),
    ("", "Node", nodes::node),
    ("", "PersistentVolume", persistent_volumes::volume),
    ("", "PersistentVolumeClaim", persistent_volumes::claim),
    ("", "Pod", pods::pod),
    ("", "PodTemplate", pod_template::kind),
    ("", "ReplicationController", workloads::replication_controller),
    ("", "ResourceQuota", quotas::quota),
    ("", "Secret", configuration::secret),
    ("", "Service", services::service),
    ("", "ServiceAccount", classes::metadata_only),
    ("apiregistration.k8s.io", "APIService", api_services::api_service),
    ("apps", "ControllerRevision", stored_data::controller_revision),
    ("apps", "DaemonSet", workloads::daemon_set),
    ("apps", "Deployment", workloads::deployment),
    ("apps", "ReplicaSet", workloads::replica_set),
    ("apps", "StatefulSet", workloads::stateful_set),
    ("autoscaling", "HorizontalPodAutoscaler", autoscalers::autoscaler),
    ("batch", "CronJob", jobs::cron_job),
    ("batch", "Job", jobs::job),
    ("certificates.k8s.io", "CertificateSigningRequest", signing_requests::signing_request),
    ("certificates.k8s.io", "ClusterTrustBundle", signing_requests::trust_bundle),
    ("certificates.k8s.io", "PodCertificateRequest", signing_requests::pod_request),
    ("coordination.k8s.io", "Lease", classes::lease),
    ("discovery.k8s.io", "EndpointSlice", endpoints::endpoint_slice),
    ("events.k8s.io", "Event", events::event),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", flow_control::flow_schema),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration", flow_control::priority_level),
    ("networking.k8s.io", "IPAddress", ip_addresses::ip_address),
    ("networking.k8s.io", "Ingress", ingresses::ingress),
    ("networking.k8s.io", "IngressClass", ingresses::ingress_class),
    ("networking.k8s.io", "NetworkPolicy", network_policies::network_policy),
    ("networking.k8s.io", "ServiceCIDR", ip_addresses::service_cidr),
    ("node.k8s.io", "RuntimeClass", classes::runtime_class),
    ("policy", "PodDisruptionBudget", disruption_budgets::budget),
    ("rbac.authorization.k8s.io", "ClusterRole", rbac::cluster_role),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", rbac::cluster_role_binding),
    ("rbac.authorization.k8s.io", "Role", rbac::role),
    ("rbac.authorization.k8s.io", "RoleBinding", rbac::role_binding),
    ("resource.k8s.io", "DeviceClass", devices::device_class),
    ("resource.k8s.io", "DeviceTaintRule", devices::taint_rule),
    ("resource.k8s.io", "ResourceClaim", devices::claim),
    ("resource.k8s.io", "ResourceClaimTemplate", devices::claim_template),
    ("resource.k8s.io", "ResourceSlice", devices::slices::resource_slice),
    ("scheduling.k8s.io", "PriorityClass", classes::priority_class),
    ("storage.k8s.io", "CSIDriver", storage::csi_driver),
    ("storage.k8s.io", "CSINode", volume_attachments::csi_node),
    ("storage.k8s.io", "CSIStorageCapacity", storage::storage_capacity),
    ("storage.k8s.io", "StorageClass", storage::storage_class),
    ("storage.k8s.io", "VolumeAttachment", volume_attachments::volume_attachment),
    ("storage.k8s.io", "VolumeAttributesClass", storage::attributes_class),
    ("storagemigration.k8s.io", "StorageVersionMigration", stored_data::migration),
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

    /// An object as the server validates it: encoded, and with defaults.
    fn object(api_version: &str, kind: &str, text: &str, release: Release) -> Value {
        let types = Types::for_release(release.minor().number().into());
        let id = types.of_kind(api_version, kind).unwrap();
        let mut object = encode::encode(types, id, &json::read(text.as_bytes()).unwrap()).object;
        defaults::set(types, id, &mut object);
        object
    }

    fn errors(api_version: &str, kind: &str, new: &str, old: Option<&str>, release: &str) -> Vec<String> {
        let release = release.parse().unwrap();
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
