//! The names of admission plugins, as `--enable-admission-plugins` and `--disable-admission-plugins` have them.

use super::{AdmissionPlugin, AdmissionPlugins};
use crate::server::admission::Operation;
use crdx_value::Value;
use crdx_value::release::{Minor, Release, V1_31, V1_32, V1_33, V1_35, V1_36, V1_37};
use std::collections::BTreeSet;

/// The objects that a plugin changes or rejects.
#[derive(Clone, Copy, Debug)]
enum Concern {
    /// Those of a group and a resource.
    Resource(&'static str, &'static str),
    /// Those whose owner references need permissions: new ones that block the deletion of the owner, and all of an update.
    OwnerReferences,
}

/// The effect of a plugin.
#[derive(Clone, Copy, Debug)]
enum Effect {
    /// It is simulated.
    Simulated(AdmissionPlugin),
    /// It changes or rejects these objects, but is not simulated, or the simulation cannot disable it.
    Unsimulated(&'static [Concern]),
    /// It does not change the answer to requests of users with all permissions.
    None,
}

/// A plugin of kube-apiserver.
#[derive(Clone, Copy, Debug)]
struct Name {
    name: &'static str,
    since: Minor,
    /// The first release without it.
    removed: Minor,
    is_default: bool,
    effect: Effect,
}

const fn on(name: &'static str, effect: Effect) -> Name {
    Name { name, since: Minor::ALWAYS, removed: Minor::NEVER, is_default: true, effect }
}

const fn off(name: &'static str, effect: Effect) -> Name {
    Name { is_default: false, ..on(name, effect) }
}

const fn simulated(plugin: AdmissionPlugin) -> Effect {
    Effect::Simulated(plugin)
}

const PODS: &[Concern] = &[Concern::Resource("", "pods")];

/// The plugins, in the order of `kubeapiserver/options/plugins.go`.
const NAMES: [Name; 41] = [
    off("AlwaysAdmit", Effect::None),
    off("NamespaceAutoProvision", simulated(AdmissionPlugin::NamespaceAutoProvision)),
    on("NamespaceLifecycle", simulated(AdmissionPlugin::NamespaceLifecycle)),
    off("NamespaceExists", simulated(AdmissionPlugin::NamespaceExists)),
    off("LimitPodHardAntiAffinityTopology", simulated(AdmissionPlugin::LimitPodHardAntiAffinityTopology)),
    on("LimitRanger", simulated(AdmissionPlugin::LimitRanger)),
    on("ServiceAccount", simulated(AdmissionPlugin::ServiceAccount)),
    // It limits the requests of nodes only.
    off("NodeRestriction", Effect::None),
    on("TaintNodesByCondition", simulated(AdmissionPlugin::TaintNodesByCondition)),
    off("AlwaysPullImages", simulated(AdmissionPlugin::AlwaysPullImages)),
    off("ImagePolicyWebhook", Effect::Unsimulated(PODS)),
    on("PodSecurity", simulated(AdmissionPlugin::PodSecurity)),
    off("PodNodeSelector", simulated(AdmissionPlugin::PodNodeSelector)),
    on("Priority", simulated(AdmissionPlugin::Priority)),
    on("DefaultTolerationSeconds", simulated(AdmissionPlugin::DefaultTolerationSeconds)),
    off("PodTolerationRestriction", simulated(AdmissionPlugin::PodTolerationRestriction)),
    off(
        "EventRateLimit",
        Effect::Unsimulated(&[Concern::Resource("", "events"), Concern::Resource("events.k8s.io", "events")]),
    ),
    off("ExtendedResourceToleration", simulated(AdmissionPlugin::ExtendedResourceToleration)),
    Name {
        removed: V1_31,
        ..off("PersistentVolumeLabel", Effect::Unsimulated(&[Concern::Resource("", "persistentvolumes")]))
    },
    on("DefaultStorageClass", simulated(AdmissionPlugin::DefaultStorageClass)),
    on("StorageObjectInUseProtection", simulated(AdmissionPlugin::StorageObjectInUseProtection)),
    Name { since: V1_37, ..on("PodGroupProtection", Effect::None) },
    off("OwnerReferencesPermissionEnforcement", Effect::Unsimulated(&[Concern::OwnerReferences])),
    on("PersistentVolumeClaimResize", simulated(AdmissionPlugin::PersistentVolumeClaimResize)),
    on("RuntimeClass", simulated(AdmissionPlugin::RuntimeClass)),
    on("CertificateApproval", Effect::None),
    on("CertificateSigning", Effect::None),
    on("ClusterTrustBundleAttest", Effect::None),
    on("CertificateSubjectRestriction", simulated(AdmissionPlugin::CertificateSubjectRestriction)),
    on("DefaultIngressClass", simulated(AdmissionPlugin::DefaultIngressClass)),
    off("DenyServiceExternalIPs", simulated(AdmissionPlugin::DenyServiceExternalIPs)),
    Name { since: V1_33, ..on("PodTopologyLabels", simulated(AdmissionPlugin::PodTopologyLabels)) },
    Name { since: V1_35, ..on("NodeDeclaredFeatureValidator", Effect::Unsimulated(PODS)) },
    Name { since: V1_36, ..on("PodResizeValidator", Effect::Unsimulated(PODS)) },
    Name { since: V1_32, ..on("MutatingAdmissionPolicy", simulated(AdmissionPlugin::MutatingAdmissionPolicy)) },
    on("MutatingAdmissionWebhook", simulated(AdmissionPlugin::MutatingAdmissionWebhook)),
    on("ValidatingAdmissionPolicy", simulated(AdmissionPlugin::ValidatingAdmissionPolicy)),
    on("ValidatingAdmissionWebhook", simulated(AdmissionPlugin::ValidatingAdmissionWebhook)),
    on("ResourceQuota", simulated(AdmissionPlugin::ResourceQuota)),
    off("AlwaysDeny", simulated(AdmissionPlugin::AlwaysDeny)),
    // The simulation of both `NodeDeclaredFeatureValidator` and `PodResizeValidator`.
    Name { since: Minor::NEVER, ..on("PodResize", simulated(AdmissionPlugin::PodResize)) },
];

/// Returns true if API servers enable a plugin by default.
pub(super) fn is_default(plugin: AdmissionPlugin) -> bool {
    NAMES.iter().any(|row| row.is_default && matches!(row.effect, Effect::Simulated(own) if own == plugin))
}

/// Returns the name of a plugin; `None` for one that is no single plugin of the server.
pub(super) fn name(plugin: AdmissionPlugin) -> Option<&'static str> {
    let mut rows = NAMES.iter().filter(|row| row.since != Minor::NEVER);
    rows.find(|row| matches!(row.effect, Effect::Simulated(own) if own == plugin)).map(|row| row.name)
}

/// A plugin that is enabled or disabled, which the simulation does not follow.
#[derive(Clone, Copy, Debug)]
pub struct UnsimulatedPlugin {
    /// The name.
    pub name: &'static str,
    /// True if it is enabled.
    pub is_enabled: bool,
    concerns: &'static [Concern],
}

impl UnsimulatedPlugin {
    /// Returns true if the plugin may change or reject an object of a resource.
    pub fn concerns(&self, group: &str, resource: &str, object: &Value, operation: Operation) -> bool {
        self.concerns.iter().any(|concern| match *concern {
            Concern::Resource(own_group, own) => (group, resource) == (own_group, own),
            Concern::OwnerReferences => {
                let owners = object.at(&["metadata", "ownerReferences"]).and_then(Value::as_array);
                let blocks = |owner: &Value| owner.get("blockOwnerDeletion") == Some(&Value::Bool(true));
                owners.is_some_and(|owners| owners.iter().any(|owner| operation != Operation::Create || blocks(owner)))
            }
        })
    }
}

/// The default plugins that are called for updates only.
const OF_UPDATES: [&str; 3] = ["NodeDeclaredFeatureValidator", "PersistentVolumeClaimResize", "PodResizeValidator"];

/// Returns the names with which `--enable-admission-plugins` and `--disable-admission-plugins` enable the plugins that a server has
/// called. Plugins that it has not called are only known to be disabled if it has `admitted_create`.
pub fn plugin_flags(release: Release, called: &BTreeSet<&str>, admitted_create: bool) -> (Vec<String>, Vec<String>) {
    let names = |is_listed: &dyn Fn(&Name) -> bool| {
        of_release(release).filter(|row| is_listed(row)).map(|row| row.name.to_owned()).collect()
    };
    let enabled = names(&|row| !row.is_default && called.contains(row.name));
    let has_effect = |row: &Name| !matches!(row.effect, Effect::None) && !OF_UPDATES.contains(&row.name);
    let disabled = names(&|row| admitted_create && row.is_default && !called.contains(row.name) && has_effect(row));
    (enabled, disabled)
}

fn of_release(release: Release) -> impl Iterator<Item = &'static Name> {
    NAMES.iter().filter(move |row| release.since(row.since) && !release.since(row.removed))
}

/// The error for plugins that cannot be enabled or disabled, in the server's words (`AdmissionOptions.Validate`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PluginFlagError {
    /// No plugin has this name.
    #[error("{flag} plugin {name:?} is unknown")]
    Unknown {
        /// The flag, without hyphens.
        flag: &'static str,
        /// The name.
        name: String,
    },
    /// A plugin is enabled and disabled.
    #[error("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", .0.join(" "))]
    Overlapped(Vec<String>),
}

impl AdmissionPlugins {
    /// Enables and disables plugins by name. Also returns those whose state the simulation does not follow.
    ///
    /// # Errors
    /// Returns the server's error if a release has no such plugin, or if a plugin is enabled and disabled.
    pub fn with_flags(
        mut self,
        release: Release,
        enable: &[String],
        disable: &[String],
    ) -> Result<(Self, Vec<UnsimulatedPlugin>), PluginFlagError> {
        let names: Vec<&Name> = of_release(release).collect();
        for (flag, given) in [("enable-admission-plugins", enable), ("disable-admission-plugins", disable)] {
            if let Some(name) = given.iter().find(|name| names.iter().all(|row| row.name != *name)) {
                return Err(PluginFlagError::Unknown { flag, name: name.clone() });
            }
        }
        let mut both: Vec<String> = enable.iter().filter(|name| disable.contains(name)).cloned().collect();
        both.sort();
        both.dedup();
        if !both.is_empty() {
            return Err(PluginFlagError::Overlapped(both));
        }
        let mut unsimulated = Vec::new();
        for row in names {
            let has = |list: &[String]| list.iter().any(|name| name == row.name);
            let is_enabled = has(enable) || row.is_default && !has(disable);
            match row.effect {
                Effect::Simulated(plugin) if has(enable) => self = self.with(plugin),
                Effect::Simulated(plugin) if has(disable) => self = self.without(plugin),
                Effect::Unsimulated(concerns) if is_enabled != row.is_default => {
                    unsimulated.push(UnsimulatedPlugin { name: row.name, is_enabled, concerns });
                }
                _ => {}
            }
        }
        Ok((self, unsimulated))
    }
}

#[cfg(test)]
mod tests {
    use super::super::ALL;
    use super::*;
    use crdx_value::object;

    fn flags(
        release: &str,
        enable: &str,
        disable: &str,
    ) -> Result<(AdmissionPlugins, Vec<UnsimulatedPlugin>), PluginFlagError> {
        let list = |text: &str| text.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>();
        AdmissionPlugins::all().with_flags(release.parse().unwrap(), &list(enable), &list(disable))
    }

    #[test]
    fn every_simulated_plugin_has_a_name() {
        for plugin in ALL {
            let count =
                NAMES.iter().filter(|row| matches!(row.effect, Effect::Simulated(own) if own == plugin)).count();
            assert_eq!(count, 1, "{plugin:?}");
        }
    }

    #[test]
    fn plugins_are_enabled_and_disabled() {
        let (plugins, unsimulated) = flags("1.37", "DenyServiceExternalIPs,NodeRestriction", "PodSecurity").unwrap();
        assert!(plugins.enabled.contains(&AdmissionPlugin::DenyServiceExternalIPs));
        assert!(!plugins.enabled.contains(&AdmissionPlugin::PodSecurity));
        assert!(unsimulated.is_empty());
        let (_, unsimulated) = flags("1.37", "ImagePolicyWebhook,PodSecurity", "PodResizeValidator").unwrap();
        let states: Vec<(&str, bool)> = unsimulated.iter().map(|plugin| (plugin.name, plugin.is_enabled)).collect();
        assert_eq!(states, [("ImagePolicyWebhook", true), ("PodResizeValidator", false)]);
        assert!(
            unsimulated[0].concerns("", "pods", &Value::Null, Operation::Create)
                && !unsimulated[0].concerns("apps", "deployments", &Value::Null, Operation::Create)
        );
    }

    #[test]
    fn a_new_object_may_have_an_owner_whose_deletion_it_does_not_block() {
        let (_, unsimulated) = flags("1.37", "OwnerReferencesPermissionEnforcement", "").unwrap();
        let concerned = |blocks: bool, operation| {
            let owner = object([("name", Value::from("o")), ("blockOwnerDeletion", Value::Bool(blocks))]);
            let dependent = object([("metadata", object([("ownerReferences", Value::Array(vec![owner]))]))]);
            unsimulated[0].concerns("", "configmaps", &dependent, operation)
        };
        assert!(concerned(true, Operation::Create) && !concerned(false, Operation::Create));
        assert!(concerned(true, Operation::Update) && concerned(false, Operation::Update));
    }

    /// As the metrics of kube-apiserver 1.34.4 show them, without `PodSecurity` and with `AlwaysPullImages`.
    #[test]
    fn plugins_that_were_called_are_those_of_flags() {
        let called = "AlwaysPullImages CertificateSubjectRestriction ClusterTrustBundleAttest DefaultIngressClass DefaultStorageClass \
            DefaultTolerationSeconds LimitRanger MutatingAdmissionPolicy MutatingAdmissionWebhook NamespaceLifecycle PodTopologyLabels \
            Priority ResourceQuota RuntimeClass ServiceAccount StorageObjectInUseProtection TaintNodesByCondition \
            ValidatingAdmissionPolicy ValidatingAdmissionWebhook";
        let called: BTreeSet<&str> = called.split_whitespace().collect();
        let release = "1.34".parse().unwrap();
        let (enabled, disabled) = plugin_flags(release, &called, true);
        assert_eq!((enabled.join(","), disabled.join(",")), ("AlwaysPullImages".to_owned(), "PodSecurity".to_owned()));
        assert!(plugin_flags(release, &called, false).1.is_empty());
    }

    #[test]
    fn errors_are_those_of_the_server() {
        assert_eq!(flags("1.37", "X", "").unwrap_err().to_string(), "enable-admission-plugins plugin \"X\" is unknown");
        assert_eq!(
            flags("1.36", "", "PodGroupProtection").unwrap_err().to_string(),
            "disable-admission-plugins plugin \"PodGroupProtection\" is unknown"
        );
        assert_eq!(
            flags("1.37", "Priority", "Priority").unwrap_err().to_string(),
            "[Priority] in enable-admission-plugins and disable-admission-plugins overlapped"
        );
    }
}
