//! The settings of an API server that decide its answers, besides its version.

use super::plugins::{
    AdmissionConfiguration, AdmissionPlugin, AdmissionPlugins, PluginFlagError, StaticOrderError, UnsimulatedPlugin,
};
use super::runtime_config::RuntimeConfig;
use crdx_types::service_families::ServiceRange;
use crdx_value::release::{EmulationError, FeatureGates, Gate, GateError, Minor, Release};
use crdx_value::{Value, object};

/// The settings of an API server. By default, those of a server without flags.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerSettings {
    /// The emulated version (`--emulated-version`).
    pub emulated_version: Option<Minor>,
    /// The gates that are set (`--feature-gates`).
    pub feature_gates: FeatureGates,
    /// The plugins that are enabled besides the default ones (`--enable-admission-plugins`).
    pub enabled_plugins: Vec<String>,
    /// The default plugins that are disabled (`--disable-admission-plugins`).
    pub disabled_plugins: Vec<String>,
    /// The configuration of plugins (`--admission-control-config-file`).
    pub admission: AdmissionConfiguration,
    /// Whether containers may be privileged (`--allow-privileged`); clusters allow it.
    pub allow_privileged: Option<bool>,
    /// The APIs that are enabled or disabled (`--runtime-config`).
    pub runtime_config: RuntimeConfig,
    /// The first and the last node port of Services (`--service-node-port-range`).
    pub node_ports: Option<(u16, u16)>,
    /// The ranges of the cluster IPs of Services (`--service-cluster-ip-range`), at most one of each family.
    pub service_ranges: Vec<ServiceRange>,
    /// The seconds for which Pods stay on a Node that is not ready (`--default-not-ready-toleration-seconds`).
    pub not_ready_seconds: Option<i64>,
    /// The seconds for which Pods stay on a Node that is unreachable (`--default-unreachable-toleration-seconds`).
    pub unreachable_seconds: Option<i64>,
}

/// The error for settings that a server does not accept, in its words.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// The emulated version.
    #[error("--emulated-version: {0}")]
    Emulation(#[from] EmulationError),
    /// The gate for policies and webhooks in files is disabled.
    #[error(
        "--admission-control-config-file: staticManifestsDir: Forbidden: staticManifestsDir requires the ManifestBasedAdmissionControlConfig feature gate to be enabled"
    )]
    Manifests,
    /// The order of webhooks in files.
    #[error("--admission-control-config-file: {0}")]
    StaticOrder(#[from] StaticOrderError),
    /// The feature gates.
    #[error("--feature-gates: {0}")]
    Gate(#[from] GateError),
    /// The plugins.
    #[error("--{0}")]
    Plugin(#[from] PluginFlagError),
}

impl ServerSettings {
    /// Returns true if a server without flags has these settings.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns these settings, replaced by those that `other` has.
    #[must_use]
    pub fn replaced_by(mut self, other: &Self) -> Self {
        fn replace<T: Clone + Default + PartialEq>(own: &mut T, other: &T) {
            if *other != T::default() {
                own.clone_from(other);
            }
        }
        replace(&mut self.emulated_version, &other.emulated_version);
        replace(&mut self.enabled_plugins, &other.enabled_plugins);
        replace(&mut self.disabled_plugins, &other.disabled_plugins);
        replace(&mut self.admission, &other.admission);
        replace(&mut self.allow_privileged, &other.allow_privileged);
        replace(&mut self.runtime_config, &other.runtime_config);
        replace(&mut self.node_ports, &other.node_ports);
        replace(&mut self.service_ranges, &other.service_ranges);
        replace(&mut self.not_ready_seconds, &other.not_ready_seconds);
        replace(&mut self.unreachable_seconds, &other.unreachable_seconds);
        other.feature_gates.iter().for_each(|(name, enabled)| self.feature_gates.set(name, enabled));
        self
    }

    /// Returns the release with the emulated version, the gates and the privileges of the settings.
    ///
    /// # Errors
    /// Returns an error if the release cannot have them.
    pub fn release(&self, release: Release) -> Result<Release, SettingsError> {
        let emulating = self.emulated_version.map_or(Ok(release), |version| release.emulating(version))?;
        Ok(emulating.with_gates(&self.feature_gates)?.with_privileged(self.allow_privileged.unwrap_or(true)))
    }

    /// Returns the plugins of a server that has `default` without these settings, and the plugins whose state the
    /// simulation does not follow. A configuration of `ResourceQuota` enables it.
    ///
    /// # Errors
    /// Returns an error if the release has no such plugins.
    pub fn plugins(
        &self,
        release: Release,
        default: AdmissionPlugins,
    ) -> Result<(AdmissionPlugins, Vec<UnsimulatedPlugin>), SettingsError> {
        let policies = self.admission.manifest_directories(release).map(|(plugin, _)| plugin);
        if policies.chain(self.admission.unsimulated(release)).next().is_some()
            && !release.enables(Gate::ManifestBasedAdmissionControlConfig)
        {
            return Err(SettingsError::Manifests);
        }
        self.admission.check_static_order(release)?;
        let has_quotas = self.admission.document("ResourceQuota").is_some();
        let default = if has_quotas { default.with(AdmissionPlugin::ResourceQuota) } else { default };
        let (plugins, unsimulated) = default.with_flags(release, &self.enabled_plugins, &self.disabled_plugins)?;
        Ok((plugins.with_configuration(self.plugin_configuration()), unsimulated))
    }

    /// The configuration of plugins: of `DefaultTolerationSeconds`, it is in flags.
    fn plugin_configuration(&self) -> AdmissionConfiguration {
        let mut configuration = self.admission.clone();
        let seconds = [("notReady", self.not_ready_seconds), ("unreachable", self.unreachable_seconds)];
        let given = seconds.into_iter().filter_map(|(name, seconds)| Some((name, Value::Int(seconds?))));
        configuration.set("DefaultTolerationSeconds", object(given));
        configuration
    }
}
