//! The admission plugins that know kinds (`plugin/pkg/admission`).

mod certificate_subject_restriction;
mod default_class;
mod default_toleration_seconds;
mod limit_ranger;
mod persistent_volume_claim_resize;
mod pod_resize;
mod pod_security;
mod pod_topology_labels;
mod priority;
mod resource_quota;
mod runtime_class;
mod service_account;
mod storage_object_in_use_protection;
mod taint_nodes_by_condition;

use crdx_server::server::KindPlugin;
use crdx_value::Value;

/// The plugins, in any order.
pub(crate) static PLUGINS: &[&KindPlugin] = &[
    &certificate_subject_restriction::CERTIFICATE_SUBJECT_RESTRICTION,
    &default_class::DEFAULT_INGRESS_CLASS,
    &default_class::DEFAULT_STORAGE_CLASS,
    &default_toleration_seconds::DEFAULT_TOLERATION_SECONDS,
    &limit_ranger::LIMIT_RANGER,
    &persistent_volume_claim_resize::PERSISTENT_VOLUME_CLAIM_RESIZE,
    &pod_resize::POD_RESIZE,
    &pod_security::POD_SECURITY,
    &pod_topology_labels::POD_TOPOLOGY_LABELS,
    &priority::PRIORITY,
    &resource_quota::RESOURCE_QUOTA,
    &runtime_class::RUNTIME_CLASS,
    &service_account::SERVICE_ACCOUNT,
    &storage_object_in_use_protection::STORAGE_OBJECT_IN_USE_PROTECTION,
    &taint_nodes_by_condition::TAINT_NODES_BY_CONDITION,
];

fn items<'o>(object: &'o Value, path: &[&str]) -> &'o [Value] {
    object.at(path).and_then(Value::as_array).unwrap_or_default()
}

fn append(object: &mut Value, path: &[&str], item: Value) {
    let mut items = items(object, path).to_vec();
    items.push(item);
    object.insert_at(path, items.into());
}
