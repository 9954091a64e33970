//! The admission plugins ([`AdmissionPlugin`]), policies and webhooks. They read the resources of the server and the given state of
//! the cluster.

mod always_deny;
mod auto_provision;
mod cluster;
mod configuration;
mod kind_plugin;
mod lifecycle;
mod names;
mod policies;
#[cfg(test)]
mod tests;
mod view;
mod webhooks;

use crate::policies::model::PolicyKind;
use crate::server::admission::Plugin;
use crate::server::strategy::resources::Resources;
use always_deny::AlwaysDeny;
use auto_provision::NamespaceAutoProvision;
pub use configuration::{AdmissionConfiguration, StaticOrderError};
pub use kind_plugin::{AdmissionRequest, KindPlugin, PluginServers};
use lifecycle::NamespaceLifecycle;
pub use names::{PluginFlagError, UnsimulatedPlugin, plugin_flags};
use policies::{MutatingAdmissionPolicy, ValidatingAdmissionPolicy};
use std::sync::Arc;
pub(in crate::server) use view::Inputs;
use webhooks::AdmissionWebhooks;

/// An admission plugin, or two that follow each other, in the order of the API server (`kubeapiserver/options/plugins.go`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdmissionPlugin {
    /// `NamespaceAutoProvision`
    NamespaceAutoProvision,
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
    /// `TaintNodesByCondition`
    TaintNodesByCondition,
    /// `AlwaysPullImages`
    AlwaysPullImages,
    /// `PodSecurity`
    PodSecurity,
    /// `PodNodeSelector`
    PodNodeSelector,
    /// `Priority`
    Priority,
    /// `DefaultTolerationSeconds`
    DefaultTolerationSeconds,
    /// `PodTolerationRestriction`
    PodTolerationRestriction,
    /// `ExtendedResourceToleration`
    ExtendedResourceToleration,
    /// `DefaultStorageClass`
    DefaultStorageClass,
    /// `StorageObjectInUseProtection`
    StorageObjectInUseProtection,
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

const ALL: [AdmissionPlugin; 29] = [
    AdmissionPlugin::NamespaceAutoProvision,
    // Before the plugins that change objects, so that it rejects a request first.
    AdmissionPlugin::NamespaceLifecycle,
    AdmissionPlugin::NamespaceExists,
    AdmissionPlugin::LimitPodHardAntiAffinityTopology,
    AdmissionPlugin::LimitRanger,
    AdmissionPlugin::ServiceAccount,
    AdmissionPlugin::TaintNodesByCondition,
    AdmissionPlugin::AlwaysPullImages,
    AdmissionPlugin::PodSecurity,
    AdmissionPlugin::PodNodeSelector,
    AdmissionPlugin::Priority,
    AdmissionPlugin::DefaultTolerationSeconds,
    AdmissionPlugin::PodTolerationRestriction,
    AdmissionPlugin::ExtendedResourceToleration,
    AdmissionPlugin::DefaultStorageClass,
    AdmissionPlugin::StorageObjectInUseProtection,
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
    configuration: Arc<AdmissionConfiguration>,
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
    pub fn with_configuration(self, configuration: AdmissionConfiguration) -> Self {
        Self { configuration: Arc::new(configuration), ..self }
    }
}

impl Default for AdmissionPlugins {
    fn default() -> Self {
        Self::all().without(AdmissionPlugin::ServiceAccount).without(AdmissionPlugin::ResourceQuota)
    }
}

/// Creates the enabled plugins for which the server has the resources: those of `kinds`, and those for policies and webhooks
/// only with `inputs`.
pub(in crate::server) fn plugins(
    resources: &Arc<Resources>,
    enabled: &AdmissionPlugins,
    kinds: &'static [&'static KindPlugin],
    inputs: Option<&Inputs>,
) -> Vec<Box<dyn Plugin>> {
    let of_kinds = |plugin| {
        let found = kinds.iter().find(|of_kind| of_kind.plugin == plugin)?;
        kind_plugin::create(found, resources, &enabled.configuration)
    };
    let create = |plugin: &AdmissionPlugin| create(*plugin, resources, inputs).or_else(|| of_kinds(*plugin));
    enabled.enabled.iter().filter_map(create).collect()
}

/// Creates a plugin that knows no kinds.
fn create(plugin: AdmissionPlugin, resources: &Arc<Resources>, inputs: Option<&Inputs>) -> Option<Box<dyn Plugin>> {
    fn boxed(plugin: impl Plugin + 'static) -> Box<dyn Plugin> {
        Box::new(plugin)
    }
    if plugin == AdmissionPlugin::NamespaceAutoProvision {
        return NamespaceAutoProvision::new(resources).map(boxed);
    }
    if plugin == AdmissionPlugin::NamespaceLifecycle {
        return NamespaceLifecycle::new(resources).map(boxed);
    }
    if plugin == AdmissionPlugin::AlwaysDeny {
        return Some(boxed(AlwaysDeny));
    }
    let inputs = inputs?.clone();
    Some(match plugin {
        AdmissionPlugin::MutatingAdmissionPolicy => boxed(MutatingAdmissionPolicy::new(resources, inputs)),
        AdmissionPlugin::MutatingAdmissionWebhook => {
            boxed(AdmissionWebhooks::new(PolicyKind::Mutating, resources, inputs))
        }
        AdmissionPlugin::ValidatingAdmissionPolicy => boxed(ValidatingAdmissionPolicy::new(resources, inputs)),
        AdmissionPlugin::ValidatingAdmissionWebhook => {
            boxed(AdmissionWebhooks::new(PolicyKind::Validating, resources, inputs))
        }
        _ => return None,
    })
}
