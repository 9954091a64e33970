//! The admission plugins ([`AdmissionPlugin`]), policies and webhooks. They read the resources of the server and the given state of
//! the cluster.

mod certificate_subject;
mod cluster;
mod configuration;
mod default_class;
mod lifecycle;
mod limit_ranger;
mod names;
mod optional;
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
pub use configuration::{Configuration, ConfigurationError, PluginDocument};
use default_class::DefaultClasses;
use lifecycle::NamespaceLifecycle;
use limit_ranger::LimitRanger;
pub use names::{PluginFlagError, UnsimulatedPlugin};
use optional::OptionalPlugin;
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
    /// `NamespaceExists`
    NamespaceExists,
    /// `LimitPodHardAntiAffinityTopology`
    LimitPodHardAntiAffinityTopology,
    /// `LimitRanger`
    LimitRanger,
    /// `ServiceAccount`, as far as it refuses new Pods
    ServiceAccount,
    /// `AlwaysPullImages`
    AlwaysPullImages,
    /// `PodSecurity`
    PodSecurity,
    /// `PodNodeSelector`
    PodNodeSelector,
    /// `Priority`
    Priority,
    /// `PodTolerationRestriction`
    PodTolerationRestriction,
    /// `ExtendedResourceToleration`
    ExtendedResourceToleration,
    /// `DefaultStorageClass`
    DefaultStorageClass,
    /// `PersistentVolumeClaimResize`
    PersistentVolumeClaimResize,
    /// `RuntimeClass`
    RuntimeClass,
    /// `CertificateSubjectRestriction`
    CertificateSubjectRestriction,
    /// `DefaultIngressClass`
    DefaultIngressClass,
    /// `DenyServiceExternalIPs`
    DenyServiceExternalIPs,
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
    /// `AlwaysDeny`
    AlwaysDeny,
}

const ALL: [AdmissionPlugin; 25] = [
    // Before all others, so that it rejects a request before other plugins change the object.
    AdmissionPlugin::NamespaceLifecycle,
    AdmissionPlugin::NamespaceExists,
    AdmissionPlugin::LimitPodHardAntiAffinityTopology,
    AdmissionPlugin::LimitRanger,
    AdmissionPlugin::ServiceAccount,
    AdmissionPlugin::AlwaysPullImages,
    AdmissionPlugin::PodSecurity,
    AdmissionPlugin::PodNodeSelector,
    AdmissionPlugin::Priority,
    AdmissionPlugin::PodTolerationRestriction,
    AdmissionPlugin::ExtendedResourceToleration,
    AdmissionPlugin::DefaultStorageClass,
    AdmissionPlugin::PersistentVolumeClaimResize,
    AdmissionPlugin::RuntimeClass,
    AdmissionPlugin::CertificateSubjectRestriction,
    AdmissionPlugin::DefaultIngressClass,
    AdmissionPlugin::DenyServiceExternalIPs,
    AdmissionPlugin::PodTopologyLabels,
    AdmissionPlugin::PodResize,
    AdmissionPlugin::MutatingAdmissionPolicy,
    AdmissionPlugin::MutatingAdmissionWebhook,
    AdmissionPlugin::ValidatingAdmissionPolicy,
    AdmissionPlugin::ValidatingAdmissionWebhook,
    AdmissionPlugin::ResourceQuota,
    AdmissionPlugin::AlwaysDeny,
];

/// The enabled admission plugins of a server, and their configuration. By default, those of an API server without the
/// controllers that create service accounts and count what is used of quotas: without `ServiceAccount` and `ResourceQuota`.
#[derive(Clone, Debug, PartialEq)]
pub struct AdmissionPlugins {
    enabled: Vec<AdmissionPlugin>,
    configuration: Arc<Configuration>,
}

impl AdmissionPlugins {
    /// Returns all plugins that API servers enable by default.
    pub fn all() -> Self {
        let enabled = ALL.into_iter().filter(|plugin| names::is_default(*plugin)).collect();
        Self { enabled, configuration: Arc::default() }
    }

    /// Disables a plugin.
    #[must_use]
    pub fn without(mut self, plugin: AdmissionPlugin) -> Self {
        self.enabled.retain(|enabled| *enabled != plugin);
        self
    }

    /// Enables a plugin.
    #[must_use]
    pub fn with(self, plugin: AdmissionPlugin) -> Self {
        let enabled = ALL.into_iter().filter(|each| *each == plugin || self.enabled.contains(each)).collect();
        Self { enabled, ..self }
    }

    /// Configures the plugins (`--admission-control-config-file`).
    #[must_use]
    pub fn with_configuration(self, configuration: Configuration) -> Self {
        Self { configuration: Arc::new(configuration), ..self }
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
    let configuration = &enabled.configuration;
    enabled.enabled.iter().filter_map(|plugin| create(*plugin, resources, inputs, configuration)).collect()
}

fn create(
    plugin: AdmissionPlugin,
    resources: &Arc<Resources>,
    inputs: Option<&Inputs>,
    configuration: &Arc<Configuration>,
) -> Option<Box<dyn Plugin>> {
    fn boxed(plugin: impl Plugin + 'static) -> Box<dyn Plugin> {
        Box::new(plugin)
    }
    let has_built_in_kinds = resources.serves_built_in_kinds;
    let inputs = || inputs.cloned();
    match plugin {
        AdmissionPlugin::NamespaceLifecycle => NamespaceLifecycle::new(resources).map(boxed),
        AdmissionPlugin::LimitRanger => LimitRanger::new(resources).map(boxed),
        AdmissionPlugin::ServiceAccount => ServiceAccount::new(resources).map(boxed),
        AdmissionPlugin::PodSecurity => PodSecurity::new(resources, configuration).map(boxed),
        AdmissionPlugin::Priority => Priority::new(resources).map(boxed),
        AdmissionPlugin::DefaultStorageClass => DefaultClasses::of_claims(resources).map(boxed),
        AdmissionPlugin::DefaultIngressClass => DefaultClasses::of_ingresses(resources).map(boxed),
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
        AdmissionPlugin::ResourceQuota => Some(boxed(ResourceQuota::new(resources, configuration))),
        AdmissionPlugin::NamespaceExists
        | AdmissionPlugin::LimitPodHardAntiAffinityTopology
        | AdmissionPlugin::AlwaysPullImages
        | AdmissionPlugin::PodNodeSelector
        | AdmissionPlugin::PodTolerationRestriction
        | AdmissionPlugin::ExtendedResourceToleration
        | AdmissionPlugin::DenyServiceExternalIPs
        | AdmissionPlugin::AlwaysDeny => Some(boxed(OptionalPlugin::new(plugin, resources, configuration))),
    }
}
