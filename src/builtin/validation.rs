//! Validates objects of built-in kinds as the API server does after decoding and defaulting: `pkg/apis/*/validation`, and
//! what the strategies in `pkg/registry` add.
//!
//! A validator takes an object as its Go type encodes it, with defaults, and the existing object of an update. Its
//! functions have the names of the Go functions that they follow in their comments. The metadata of the object is
//! validated elsewhere ([`crate::pipeline::metadata`]).

mod annotations;
mod autoscalers;
mod certificates;
mod claims;
mod classes;
mod configuration;
mod cron;
mod disruption_budgets;
mod endpoints;
mod field_value;
mod formats;
mod immutable;
mod ingresses;
mod int_or_percent;
mod jobs;
mod limit_ranges;
mod network;
mod network_policies;
mod persistent_volumes;
mod pod_spec;
mod pod_template;
mod pods;
mod quotas;
mod rbac;
mod resources;
mod selectors;
mod services;
mod storage;
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
    ("", "ConfigMap", configuration::config_map),
    ("", "Endpoints", endpoints::endpoints),
    ("", "LimitRange", limit_ranges::limit_range),
    ("", "PersistentVolume", persistent_volumes::volume),
    ("", "PersistentVolumeClaim", persistent_volumes::claim),
    ("", "Pod", pods::pod),
    ("", "PodTemplate", pod_template::kind),
    ("", "ReplicationController", workloads::replication_controller),
    ("", "ResourceQuota", quotas::quota),
    ("", "Secret", configuration::secret),
    ("", "Service", services::service),
    ("", "ServiceAccount", classes::metadata_only),
    ("apps", "DaemonSet", workloads::daemon_set),
    ("apps", "Deployment", workloads::deployment),
    ("apps", "ReplicaSet", workloads::replica_set),
    ("apps", "StatefulSet", workloads::stateful_set),
    ("autoscaling", "HorizontalPodAutoscaler", autoscalers::autoscaler),
    ("batch", "CronJob", jobs::cron_job),
    ("batch", "Job", jobs::job),
    ("coordination.k8s.io", "Lease", classes::lease),
    ("discovery.k8s.io", "EndpointSlice", endpoints::endpoint_slice),
    ("networking.k8s.io", "Ingress", ingresses::ingress),
    ("networking.k8s.io", "IngressClass", ingresses::ingress_class),
    ("networking.k8s.io", "NetworkPolicy", network_policies::network_policy),
    ("node.k8s.io", "RuntimeClass", classes::runtime_class),
    ("policy", "PodDisruptionBudget", disruption_budgets::budget),
    ("rbac.authorization.k8s.io", "ClusterRole", rbac::cluster_role),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", rbac::cluster_role_binding),
    ("rbac.authorization.k8s.io", "Role", rbac::role),
    ("rbac.authorization.k8s.io", "RoleBinding", rbac::role_binding),
    ("scheduling.k8s.io", "PriorityClass", classes::priority_class),
    ("storage.k8s.io", "CSIDriver", storage::csi_driver),
    ("storage.k8s.io", "CSIStorageCapacity", storage::storage_capacity),
    ("storage.k8s.io", "StorageClass", storage::storage_class),
    ("storage.k8s.io", "VolumeAttributesClass", storage::attributes_class),
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
