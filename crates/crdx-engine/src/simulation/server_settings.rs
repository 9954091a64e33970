//! The settings of the simulated server, and those of them that the simulation does not follow.

use crate::report::{ObjectReport, Verdict};
use crdx_kinds::gates::{self, ChangedGate};
use crdx_server::server::{
    AdmissionConfiguration, AdmissionPlugins, Operation, RuntimeConfig, ServerSettings, SettingsError,
    UnsimulatedPlugin,
};
use crdx_types::resources;
use crdx_types::service_families::ServiceRange;
use crdx_value::release::Release;
use crdx_value::{Value, group_version};
use std::sync::Arc;

/// The settings of a server as they apply to one release.
#[derive(Clone, Debug)]
pub struct ConfiguredServer {
    /// The release, with its emulated version and feature gates.
    pub release: Release,
    /// The enabled plugins.
    pub plugins: AdmissionPlugins,
    /// The settings that the simulation does not follow.
    pub unsimulated: Arc<UnsimulatedSettings>,
    /// The APIs, cluster IPs and node ports of the server.
    pub served: Arc<ServedSettings>,
}

impl ConfiguredServer {
    /// Configures a server.
    ///
    /// # Errors
    /// Returns an error if a server of the release does not accept the settings.
    pub fn new(settings: &ServerSettings, release: Release) -> Result<Self, SettingsError> {
        let release = settings.release(release)?;
        let (plugins, unsimulated) = settings.plugins(release, AdmissionPlugins::all())?;
        let unsimulated = UnsimulatedSettings {
            gates: gates::changed(release, &settings.feature_gates)?,
            plugins: unsimulated,
            configurations: settings.admission.unsimulated(release).map(configuration_flag).collect(),
            // The user of the cluster is not known.
            unread: exempts_users(&settings.admission).then_some(POD_SECURITY).into_iter().collect(),
        };
        let served = ServedSettings {
            runtime_config: settings.runtime_config.clone(),
            node_ports: settings.node_ports,
            service_ranges: settings.service_ranges.clone(),
            depends_on_cluster: false,
        };
        Ok(Self { release, plugins, unsimulated: Arc::new(unsimulated), served: Arc::new(served) })
    }

    /// Makes a cluster say which APIs the server serves, instead of the settings.
    #[must_use]
    pub fn with_apis_of_cluster(self) -> Self {
        Self {
            served: Arc::new(ServedSettings { depends_on_cluster: true, ..ServedSettings::clone(&self.served) }),
            ..self
        }
    }

    /// Leaves Pods undecided for the plugins of `enabled` whose configuration in a file decides about Pods, because it is not
    /// known whether there is one.
    #[must_use]
    pub fn with_unknown_configuration(self, enabled: &[String]) -> Self {
        let mut unsimulated = UnsimulatedSettings::clone(&self.unsimulated);
        let plugins = CONFIGURED_FOR_PODS.into_iter().filter(|plugin| enabled.iter().any(|name| name == plugin));
        unsimulated.unread.extend(plugins);
        Self { unsimulated: Arc::new(unsimulated), ..self }
    }

    /// Adds the configuration of admission plugins in a file that cannot be read, which may concern every object.
    #[must_use]
    pub fn with_unread_configuration(self, path: &str) -> Self {
        let mut unsimulated = UnsimulatedSettings::clone(&self.unsimulated);
        let text = format!("--admission-control-config-file={path}, of which this flag takes a copy,");
        unsimulated.configurations.push(text);
        Self { unsimulated: Arc::new(unsimulated), ..self }
    }
}

const POD_SECURITY: &str = "PodSecurity";
/// The plugins that are disabled by default, and whose configuration changes or rejects Pods.
const CONFIGURED_FOR_PODS: [&str; 2] = ["PodNodeSelector", "PodTolerationRestriction"];

/// The APIs that a server serves, and the cluster IPs and node ports that it allocates.
#[derive(Clone, Debug, Default)]
pub struct ServedSettings {
    pub runtime_config: RuntimeConfig,
    /// The first and the last node port, if they are known.
    pub node_ports: Option<(u16, u16)>,
    /// The ranges of cluster IPs, if they are set.
    pub service_ranges: Vec<ServiceRange>,
    /// True if the cluster is asked which APIs it serves, because they may not be the default ones.
    pub depends_on_cluster: bool,
}

/// The settings of a server that may decide about some objects in a way that is not simulated.
#[derive(Clone, Debug, Default)]
pub struct UnsimulatedSettings {
    gates: Vec<ChangedGate>,
    plugins: Vec<UnsimulatedPlugin>,
    /// The configurations that are not simulated.
    configurations: Vec<String>,
    /// The enabled plugins whose decision about Pods is not known: their configuration could not be read, or names users.
    unread: Vec<&'static str>,
}

impl UnsimulatedSettings {
    /// Returns the flags of settings that decide about some objects in a way that is not simulated.
    pub fn flags(&self) -> Vec<String> {
        let gates = self.gates.iter().filter(|gate| !gate.is_simulated());
        let gates = gates.map(|gate| format!("--feature-gates {}={}", gate.name, gate.enabled));
        let plugins = self.plugins.iter().map(plugin_flag);
        let unread = self.unread.iter().map(|plugin| configuration_flag(plugin));
        gates.chain(plugins).chain(self.configurations.iter().cloned()).chain(unread).collect()
    }

    /// Returns the flag of a setting that may decide about a write of an object.
    pub fn deciding(&self, object: &Value, operation: Operation) -> Option<String> {
        let has_none = self.gates.is_empty() && self.plugins.is_empty() && self.configurations.is_empty();
        if has_none && self.unread.is_empty() {
            return None;
        }
        let text = |key: &str| object.str_at(&[key]).unwrap_or_default();
        let ((group, _), kind) = (group_version::split(text("apiVersion")), text("kind"));
        let gate = self.gates.iter().find(|gate| gate.concerns(group, kind, object));
        let plural = resources::plural(kind);
        let plugin = self.plugins.iter().find(|plugin| plugin.concerns(group, &plural, object, operation));
        let of_gate = gate.map(|gate| format!("--feature-gates {}={}", gate.name, gate.enabled));
        let of_configuration = || self.configurations.first().cloned();
        let unread =
            || self.unread.first().filter(|_| (group, kind) == ("", "Pod")).map(|plugin| configuration_flag(plugin));
        of_gate.or_else(|| plugin.map(plugin_flag)).or_else(of_configuration).or_else(unread)
    }
}

/// Returns true if the configuration of `PodSecurity` exempts users.
fn exempts_users(configuration: &AdmissionConfiguration) -> bool {
    let users = configuration.document(POD_SECURITY).and_then(|own| own.at(&["exemptions", "usernames"])?.as_array());
    users.is_some_and(|users| !users.is_empty())
}

fn plugin_flag(plugin: &UnsimulatedPlugin) -> String {
    let verb = if plugin.is_enabled { "enable" } else { "disable" };
    format!("--{verb}-admission-plugins {}", plugin.name)
}

fn configuration_flag(plugin: &str) -> String {
    format!("--admission-control-config-file for {plugin}")
}

/// Makes the verdict of an object unknown, because a setting of the server decides about it that is not simulated.
pub(super) fn leave_undecided(item: &mut ObjectReport, setting: &str) {
    if matches!(item.verdict, Verdict::Accepted | Verdict::Rejected | Verdict::Decodes) {
        item.set_unknown(format!("the effect of {setting} on this object is not simulated"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn deciding(settings: &ServerSettings, object: &str) -> Option<String> {
        let configured = ConfiguredServer::new(settings, Release::NEWEST).unwrap();
        configured.unsimulated.deciding(&json::read(object.as_bytes()).unwrap(), Operation::Create)
    }

    const POD: &str = r#"{"apiVersion":"v1","kind":"Pod","spec":{"securityContext":{"sysctls":[{}]}}}"#;

    #[test]
    fn a_setting_that_is_not_simulated_is_named() {
        let mut settings = ServerSettings::default();
        assert_eq!(deciding(&settings, POD), None);
        settings.enabled_plugins.push("ImagePolicyWebhook".to_owned());
        assert_eq!(deciding(&settings, POD).unwrap(), "--enable-admission-plugins ImagePolicyWebhook");
        assert_eq!(deciding(&settings, r#"{"apiVersion":"v1","kind":"Secret"}"#), None);
        settings.feature_gates.set("DefaultPodSysctls", true);
        assert_eq!(deciding(&settings, POD).unwrap(), "--feature-gates DefaultPodSysctls=true");
    }

    #[test]
    fn a_configuration_that_may_exist_concerns_pods() {
        let mut settings = ServerSettings::default();
        settings.enabled_plugins.push("PodNodeSelector".to_owned());
        let configured = ConfiguredServer::new(&settings, Release::NEWEST).unwrap();
        let deciding = |configured: &ConfiguredServer, object: &str| {
            configured.unsimulated.deciding(&json::read(object.as_bytes()).unwrap(), Operation::Create)
        };
        assert_eq!(deciding(&configured, POD), None);
        let unknown = configured.with_unknown_configuration(&settings.enabled_plugins);
        assert_eq!(deciding(&unknown, POD).unwrap(), "--admission-control-config-file for PodNodeSelector");
        assert_eq!(deciding(&unknown, r#"{"apiVersion":"v1","kind":"Secret"}"#), None);
    }

    #[test]
    fn settings_that_the_release_does_not_have_are_errors() {
        let settings =
            ServerSettings { emulated_version: Some(crdx_value::release::V1_30), ..ServerSettings::default() };
        let error = ConfiguredServer::new(&settings, Release::new(37).unwrap()).unwrap_err().to_string();
        assert_eq!(error, "--emulated-version: emulation version 1.30 is not between [1.34, 1.37]");
    }
}
