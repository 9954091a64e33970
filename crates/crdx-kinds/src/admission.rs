//! The admission plugins that know kinds (`plugin/pkg/admission`).

#![allow(clippy::unnecessary_wraps, reason = "all functions of a `KindPlugin` have the types of its table")]

mod always_pull_images;
mod certificate_subject_restriction;
pub(crate) mod configuration;
mod default_class;
mod default_toleration_seconds;
mod deny_service_external_ips;
mod extended_resource_toleration;
mod limit_pod_hard_anti_affinity_topology;
mod limit_ranger;
mod namespace_exists;
mod persistent_volume_claim_resize;
mod pod_node_selector;
mod pod_resize;
mod pod_security;
mod pod_toleration_restriction;
mod pod_topology_labels;
mod priority;
mod resource_quota;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;

use crdx_server::cluster_state::{Lookup, NAMESPACES, Wanted};
use crdx_server::server::{AdmissionRequest, KindPlugin, Refusal};
use crdx_value::Value;
use std::sync::Arc;

/// The plugins, in any order.
pub(crate) static PLUGINS: &[&KindPlugin] = &[
    &always_pull_images::ALWAYS_PULL_IMAGES,
    &certificate_subject_restriction::CERTIFICATE_SUBJECT_RESTRICTION,
    &default_class::DEFAULT_INGRESS_CLASS,
    &default_class::DEFAULT_STORAGE_CLASS,
    &default_toleration_seconds::DEFAULT_TOLERATION_SECONDS,
    &deny_service_external_ips::DENY_SERVICE_EXTERNAL_IPS,
    &extended_resource_toleration::EXTENDED_RESOURCE_TOLERATION,
    &limit_pod_hard_anti_affinity_topology::LIMIT_POD_HARD_ANTI_AFFINITY_TOPOLOGY,
    &limit_ranger::LIMIT_RANGER,
    &namespace_exists::NAMESPACE_EXISTS,
    &persistent_volume_claim_resize::PERSISTENT_VOLUME_CLAIM_RESIZE,
    &pod_node_selector::POD_NODE_SELECTOR,
    &pod_resize::POD_RESIZE,
    &pod_security::POD_SECURITY,
    &pod_toleration_restriction::POD_TOLERATION_RESTRICTION,
    &pod_topology_labels::POD_TOPOLOGY_LABELS,
    &priority::PRIORITY,
    &resource_quota::RESOURCE_QUOTA,
    &runtime_class::RUNTIME_CLASS,
    &service_account::SERVICE_ACCOUNT,
    &storage_object_in_use_protection::STORAGE_OBJECT_IN_USE_PROTECTION,
    &taint_nodes_by_condition::TAINT_NODES_BY_CONDITION,
];

/// Returns the namespace of an object; `None` if it is not known, which leaves the answer open.
fn namespace(request: &mut AdmissionRequest<'_>) -> Result<Option<Arc<Value>>, Refusal> {
    match request.object(NAMESPACES, "", request.namespace)? {
        Lookup::Found(namespace) => Ok(Some(namespace)),
        // `NamespaceLifecycle` refuses objects in a namespace that does not exist.
        Lookup::Absent => Ok(Some(Arc::default())),
        Lookup::Unknown => {
            request.leave_open(Wanted::new(NAMESPACES, "", Some(request.namespace)));
            Ok(None)
        }
    }
}

fn items<'o>(object: &'o Value, path: &[&str]) -> &'o [Value] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

fn append(object: &mut Value, path: &[&str], item: Value) {
    let mut items = items(object, path).to_vec();
    items.push(item);
    object.insert_at(path, items.into());
}
