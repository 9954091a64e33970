//! The admission plugins ([`AdmissionPlugin`]), policies and webhooks. They read the resources of the server and the given state of
//! the cluster.

mod certificate_subject;
mod cluster;
mod default_class;
mod lifecycle;
mod limit_ranger;
mod pod_resize;
mod pod_security;
mod policies;
mod priority;
mod resource_quota;
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
use resource_quota::ResourceQuota;
use runtime_class::RuntimeClass;
use service_account::ServiceAccount;
use std::sync::Arc;
use topology_labels::PodTopologyLabels;
pub(in crate::server) use view::Inputs;
use volume_resize::PersistentVolumeClaimResize;
use webhooks::AdmissionWebhooks;

/// An admission plugin, or two that follow each other, in the order of the API server (`kubeapiserver/options/plugins.go`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionPlugin {
    /// `NamespaceLifecycle`
    NamespaceLifecycle,
    /// `LimitRanger`
    LimitRanger,
    /// `ServiceAccount`, as far as it refuses new Pods
    ServiceAccount,
    /// `PodSecurity`
    PodSecurity,
    /// `Priority`
    Priority,
    /// `DefaultStorageClass` and `DefaultIngressClass`
    DefaultClasses,
    /// `PersistentVolumeClaimResize`
    PersistentVolumeClaimResize,
    /// `RuntimeClass`
    RuntimeClass,
    /// `CertificateSubjectRestriction`
    CertificateSubjectRestriction,
    /// `PodTopologyLabels`
    PodTopologyLabels,
    /// `NodeDeclaredFeatureValidator` and `PodResizeValidator`
    PodResize,
    /// `MutatingAdmissionPolicy`
    MutatingAdmissionPolicy,
    /// `MutatingAdmissionWebhook`
    MutatingAdmissionWebhook,
    /// `ValidatingAdmissionPolicy`
    ValidatingAdmissionPolicy,
    /// `ValidatingAdmissionWebhook`
    ValidatingAdmissionWebhook,
    /// `ResourceQuota`
    ResourceQuota,
}

const ALL: [AdmissionPlugin; 16] = [
    // Before all others, so that it rejects a request before other plugins change the object.
    AdmissionPlugin::NamespaceLifecycle,
    AdmissionPlugin::LimitRanger,
    AdmissionPlugin::ServiceAccount,
    AdmissionPlugin::PodSecurity,
    AdmissionPlugin::Priority,
    AdmissionPlugin::DefaultClasses,
    AdmissionPlugin::PersistentVolumeClaimResize,
    AdmissionPlugin::RuntimeClass,
    AdmissionPlugin::CertificateSubjectRestriction,
    AdmissionPlugin::PodTopologyLabels,
    AdmissionPlugin::PodResize,
    AdmissionPlugin::MutatingAdmissionPolicy,
    AdmissionPlugin::MutatingAdmissionWebhook,
    AdmissionPlugin::ValidatingAdmissionPolicy,
    AdmissionPlugin::ValidatingAdmissionWebhook,
    AdmissionPlugin::ResourceQuota,
];

/// The enabled admission plugins of a server. By default, those of an API server without the controllers that create service
/// accounts and count what is used of quotas: all but `ServiceAccount` and `ResourceQuota`.
#[derive(Clone, Debug)]
pub struct AdmissionPlugins(Vec<AdmissionPlugin>);

impl AdmissionPlugins {
    /// Returns all plugins.
    pub fn all() -> Self {
        Self(ALL.to_vec())
    }

    /// Disables a plugin.
    #[must_use]
    pub fn without(mut self, plugin: AdmissionPlugin) -> Self {
        self.0.retain(|enabled| *enabled != plugin);
        self
    }
}

impl Default for AdmissionPlugins {
    fn default() -> Self {
        Self::all().without(AdmissionPlugin::ServiceAccount).without(AdmissionPlugin::ResourceQuota)
    }
}

/// Creates the enabled plugins for which the server has the resources; those for policies and webhooks only with `inputs`.
pub(in crate::server) fn plugins(
    resources: &Arc<Resources>,
    enabled: &AdmissionPlugins,
    inputs: Option<&Inputs>,
) -> Vec<Box<dyn Plugin>> {
    enabled.0.iter().filter_map(|plugin| create(*plugin, resources, inputs)).collect()
}

fn create(plugin: AdmissionPlugin, resources: &Arc<Resources>, inputs: Option<&Inputs>) -> Option<Box<dyn Plugin>> {
    fn boxed(plugin: impl Plugin + 'static) -> Box<dyn Plugin> {
        Box::new(plugin)
    }
    let has_built_in_kinds = resources.serves_built_in_kinds;
    let inputs = || inputs.cloned();
    match plugin {
        AdmissionPlugin::NamespaceLifecycle => NamespaceLifecycle::new(resources).map(boxed),
        AdmissionPlugin::LimitRanger => LimitRanger::new(resources).map(boxed),
        AdmissionPlugin::ServiceAccount => ServiceAccount::new(resources).map(boxed),
        AdmissionPlugin::PodSecurity => PodSecurity::new(resources).map(boxed),
        AdmissionPlugin::Priority => Priority::new(resources).map(boxed),
        AdmissionPlugin::DefaultClasses => DefaultClasses::new(resources).map(boxed),
        AdmissionPlugin::PersistentVolumeClaimResize => PersistentVolumeClaimResize::new(resources).map(boxed),
        AdmissionPlugin::RuntimeClass => RuntimeClass::new(resources).map(boxed),
        AdmissionPlugin::CertificateSubjectRestriction => {
            has_built_in_kinds.then(|| boxed(CertificateSubjectRestriction(resources.kinds.content)))
        }
        AdmissionPlugin::PodTopologyLabels => PodTopologyLabels::new(resources).map(boxed),
        AdmissionPlugin::PodResize => PodResize::new(resources).map(boxed),
        AdmissionPlugin::MutatingAdmissionPolicy => {
            inputs().map(|inputs| boxed(MutatingAdmissionPolicy::new(resources, inputs)))
        }
        AdmissionPlugin::MutatingAdmissionWebhook => {
            inputs().map(|inputs| boxed(AdmissionWebhooks::new(PolicyKind::Mutating, resources, inputs)))
        }
        AdmissionPlugin::ValidatingAdmissionPolicy => {
            inputs().map(|inputs| boxed(ValidatingAdmissionPolicy::new(resources, inputs)))
        }
        AdmissionPlugin::ValidatingAdmissionWebhook => {
            inputs().map(|inputs| boxed(AdmissionWebhooks::new(PolicyKind::Validating, resources, inputs)))
        }
        AdmissionPlugin::ResourceQuota => Some(boxed(ResourceQuota::new(resources))),
    }
}
