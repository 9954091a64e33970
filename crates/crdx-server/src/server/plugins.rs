//! The admission plugins: `NamespaceLifecycle`, `LimitRanger`, `ServiceAccount`, `PodSecurity`, `Priority`, `DefaultStorageClass`,
//! `DefaultIngressClass`, `PersistentVolumeClaimResize`, `RuntimeClass`, `CertificateSubjectRestriction`,
//! `PodTopologyLabels`, `NodeDeclaredFeatureValidator`, `PodResizeValidator`, policies and webhooks. They read the resources of the server.

mod certificate_subject;
mod classes;
mod cluster;
mod default_class;
mod lifecycle;
mod limit_ranger;
mod pod_resize;
mod pod_security;
mod policies;
mod priority;
mod runtime_class;
mod service_account;
#[cfg(test)]
mod tests;
mod topology_labels;
mod view;
mod volume_resize;
mod webhooks;

use crate::policies::model::PolicyKind;
use crate::server::admission::Plugin;
use crate::server::strategy::resources::Resources;
use certificate_subject::CertificateSubjectRestriction;
use default_class::DefaultClasses;
use lifecycle::NamespaceLifecycle;
use limit_ranger::LimitRanger;
use pod_resize::PodResize;
use pod_security::PodSecurity;
use policies::{MutatingAdmissionPolicy, ValidatingAdmissionPolicy};
use priority::Priority;
use runtime_class::RuntimeClass;
use service_account::ServiceAccount;
use std::sync::Arc;
use topology_labels::PodTopologyLabels;
pub(in crate::server) use view::Inputs;
use volume_resize::PersistentVolumeClaimResize;
use webhooks::AdmissionWebhooks;

/// The plugins of a server, in the order of the API server (`kubeapiserver/options/plugins.go`); those for policies and
/// webhooks only with `inputs`.
pub(in crate::server) fn plugins(resources: &Arc<Resources>, inputs: Option<Inputs>) -> Vec<Box<dyn Plugin>> {
    let mut plugins: Vec<Box<dyn Plugin>> = Vec::new();
    if resources.namespaces.is_some() {
        // Before all others, so that it rejects a request before other plugins mutate the object.
        plugins.push(Box::new(NamespaceLifecycle::new(resources)));
    }
    if let Some(plugin) = LimitRanger::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if resources.serves_built_in_kinds {
        plugins.push(Box::new(ServiceAccount));
    }
    if let Some(plugin) = PodSecurity::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if let Some(plugin) = Priority::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if let Some(plugin) = DefaultClasses::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if let Some(plugin) = PersistentVolumeClaimResize::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if let Some(plugin) = RuntimeClass::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if resources.serves_built_in_kinds {
        plugins.push(Box::new(CertificateSubjectRestriction(resources.kinds.content)));
    }
    if let Some(plugin) = PodTopologyLabels::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if let Some(plugin) = PodResize::new(resources) {
        plugins.push(Box::new(plugin));
    }
    if let Some(inputs) = inputs {
        plugins.push(Box::new(MutatingAdmissionPolicy::new(resources, inputs.clone())));
        plugins.push(Box::new(AdmissionWebhooks::new(PolicyKind::Mutating, resources, inputs.clone())));
        plugins.push(Box::new(ValidatingAdmissionPolicy::new(resources, inputs.clone())));
        plugins.push(Box::new(AdmissionWebhooks::new(PolicyKind::Validating, resources, inputs)));
    }
    plugins
}
