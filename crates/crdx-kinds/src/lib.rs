//! The strategies of Kubernetes' built-in kinds, in folders as in Kubernetes: what a server does with a Pod that it does not do
//! with other objects is in `core/pod`. The files are named after kinds, those of a kind after `pkg/registry/*/*/strategy.go`
//! and `pkg/printers`. The validation of objects is in the same folders of `crdx_builtin::validation`.
//!
//! A strategy implements [`KindStrategy`](crdx_server::server::KindStrategy), or is a static `DeclaredKind` if facts are
//! enough. [`builder`] gives all of them to a server.

mod admission;
mod admissionregistration;
mod apiregistration;
mod apps;
mod autoscaling;
mod batch;
mod certificates;
mod cluster_fields;
mod content;
mod coordination;
mod core;
mod declared_kind;
mod discovery;
mod events;
mod features;
mod flowcontrol;
pub mod gates;
pub mod kubernetes_service;
mod networking;
mod node;
mod policy;
mod printer;
mod rbac;
mod resource;
mod scheduling;
mod storage;
mod storagemigration;
#[cfg(test)]
mod tests;

use crate::core::service::allocator::Allocations;
pub use crate::core::service::allocator::needs_other_families;
pub use crate::core::service::network::ServiceNetwork;
use admission::PLUGINS;
pub use admission::configuration::{ConfigurationError, check as check_configuration};
use cluster_fields::FieldsOfCluster;
use content::Content;
use crdx_server::server::{BuiltInKinds, Server, ServerBuilder};
use crdx_value::release::Release;

/// The strategies of all built-in kinds.
pub static KINDS: BuiltInKinds = BuiltInKinds {
    strategies: STRATEGIES,
    content: &Content,
    cluster_fields: &FieldsOfCluster,
    allocator: |ranges, node_ports, is_partial| Box::new(Allocations::new(ranges, node_ports, is_partial)),
    initial_objects: scheduling::priority_class::system_classes,
};

static STRATEGIES: &[(&str, &str, &dyn crdx_server::server::KindStrategy)] = &[
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicy",
        &admissionregistration::mutating_admission_policy::MUTATING_ADMISSION_POLICY,
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingAdmissionPolicyBinding",
        &admissionregistration::mutating_admission_policy_binding::MUTATING_ADMISSION_POLICY_BINDING,
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        &admissionregistration::mutating_webhook_configuration::MUTATING_WEBHOOK_CONFIGURATION,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicy",
        &admissionregistration::validating_admission_policy::VALIDATING_ADMISSION_POLICY,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingAdmissionPolicyBinding",
        &admissionregistration::validating_admission_policy_binding::VALIDATING_ADMISSION_POLICY_BINDING,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        &admissionregistration::validating_webhook_configuration::VALIDATING_WEBHOOK_CONFIGURATION,
    ),
    ("apiregistration.k8s.io", "APIService", &apiregistration::api_service::API_SERVICE),
    ("apps", "ControllerRevision", &apps::controller_revision::CONTROLLER_REVISION),
    ("apps", "DaemonSet", &apps::daemon_set::DaemonSet),
    ("apps", "Deployment", &apps::deployment::DEPLOYMENT),
    ("apps", "ReplicaSet", &apps::replica_set::REPLICA_SET),
    ("apps", "StatefulSet", &apps::stateful_set::STATEFUL_SET),
    ("autoscaling", "HorizontalPodAutoscaler", &autoscaling::horizontal_pod_autoscaler::HorizontalPodAutoscaler),
    ("batch", "CronJob", &batch::cron_job::CRON_JOB),
    ("batch", "Job", &batch::job::Job),
    (
        "certificates.k8s.io",
        "CertificateSigningRequest",
        &certificates::certificate_signing_request::CertificateSigningRequest,
    ),
    ("certificates.k8s.io", "ClusterTrustBundle", &certificates::cluster_trust_bundle::CLUSTER_TRUST_BUNDLE),
    ("certificates.k8s.io", "PodCertificateRequest", &certificates::pod_certificate_request::POD_CERTIFICATE_REQUEST),
    ("coordination.k8s.io", "Lease", &coordination::lease::LEASE),
    ("", "ConfigMap", &core::config_map::CONFIG_MAP),
    ("", "Endpoints", &core::endpoints::ENDPOINTS),
    ("", "Event", &core::event::EVENT),
    ("", "LimitRange", &core::limit_range::LimitRange),
    ("", "Namespace", &core::namespace::NAMESPACE),
    ("", "Node", &core::node::NODE),
    ("", "PersistentVolume", &core::persistent_volume::PersistentVolume),
    ("", "PersistentVolumeClaim", &core::persistent_volume_claim::PersistentVolumeClaim),
    ("", "Pod", &core::pod::Pod),
    ("", "PodTemplate", &core::pod_template::POD_TEMPLATE),
    ("", "ReplicationController", &core::replication_controller::REPLICATION_CONTROLLER),
    ("", "ResourceQuota", &core::resource_quota::RESOURCE_QUOTA),
    ("", "Secret", &core::secret::SECRET),
    ("", "Service", &core::service::Service),
    ("", "ServiceAccount", &core::service_account::ServiceAccount),
    ("discovery.k8s.io", "EndpointSlice", &discovery::endpoint_slice::EndpointSlice),
    ("events.k8s.io", "Event", &events::event::Event),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema", &flowcontrol::flow_schema::FLOW_SCHEMA),
    (
        "flowcontrol.apiserver.k8s.io",
        "PriorityLevelConfiguration",
        &flowcontrol::priority_level_configuration::PriorityLevelConfiguration,
    ),
    ("networking.k8s.io", "IPAddress", &networking::ip_address::IP_ADDRESS),
    ("networking.k8s.io", "Ingress", &networking::ingress::INGRESS),
    ("networking.k8s.io", "IngressClass", &networking::ingress_class::INGRESS_CLASS),
    ("networking.k8s.io", "NetworkPolicy", &networking::network_policy::NETWORK_POLICY),
    ("networking.k8s.io", "ServiceCIDR", &networking::service_cidr::ServiceCidr),
    ("node.k8s.io", "RuntimeClass", &node::runtime_class::RUNTIME_CLASS),
    ("policy", "PodDisruptionBudget", &policy::pod_disruption_budget::PodDisruptionBudget),
    ("rbac.authorization.k8s.io", "ClusterRole", &rbac::cluster_role::CLUSTER_ROLE),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", &rbac::cluster_role_binding::CLUSTER_ROLE_BINDING),
    ("rbac.authorization.k8s.io", "Role", &rbac::role::ROLE),
    ("rbac.authorization.k8s.io", "RoleBinding", &rbac::role_binding::ROLE_BINDING),
    ("resource.k8s.io", "DeviceClass", &resource::device_class::DEVICE_CLASS),
    ("resource.k8s.io", "DeviceTaintRule", &resource::device_taint_rule::DeviceTaintRule),
    ("resource.k8s.io", "ResourceClaim", &resource::resource_claim::ResourceClaim),
    ("resource.k8s.io", "ResourceClaimTemplate", &resource::resource_claim_template::ResourceClaimTemplate),
    ("resource.k8s.io", "ResourceSlice", &resource::resource_slice::ResourceSlice),
    ("scheduling.k8s.io", "PriorityClass", &scheduling::priority_class::PriorityClass),
    ("storage.k8s.io", "CSIDriver", &storage::csi_driver::CSI_DRIVER),
    ("storage.k8s.io", "CSINode", &storage::csi_node::CSI_NODE),
    ("storage.k8s.io", "CSIStorageCapacity", &storage::csi_storage_capacity::CSI_STORAGE_CAPACITY),
    ("storage.k8s.io", "StorageClass", &storage::storage_class::STORAGE_CLASS),
    ("storage.k8s.io", "VolumeAttachment", &storage::volume_attachment::VOLUME_ATTACHMENT),
    ("storage.k8s.io", "VolumeAttributesClass", &storage::volume_attributes_class::VOLUME_ATTRIBUTES_CLASS),
    (
        "storagemigration.k8s.io",
        "StorageVersionMigration",
        &storagemigration::storage_version_migration::STORAGE_VERSION_MIGRATION,
    ),
];

/// The options of a server that knows built-in kinds; see [`Server::builder`].
pub fn builder(release: Release, seed: u64) -> ServerBuilder {
    with_kinds(Server::builder(release, seed))
}

/// Gives the built-in kinds to a server: their strategies, and the plugins that know them.
pub fn with_kinds(builder: ServerBuilder) -> ServerBuilder {
    builder.with_kinds(&KINDS, PLUGINS)
}
