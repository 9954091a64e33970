//! The settings of the simulated server. The flags are those of kube-apiserver.

use super::admission_configuration;
use super::error::ArgumentError;
use crate::commands::error::Error;
use crate::commands::terminal;
use clap::Args as ClapArgs;
use crdx_cluster::Connection;
use crdx_engine::simulation::server_settings::ConfiguredServer;
use crdx_output::printable::complain;
use crdx_server::server::{AdmissionConfiguration, RuntimeConfig, RuntimeConfigError, ServerSettings};
use crdx_types::service_families::{ServiceFamilies, ServiceRange};
use crdx_value::release::{FeatureGates, Minor, Release, ReleaseSet};
use std::path::{Path, PathBuf};

/// The settings of the simulated server, as kube-apiserver has them.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Simulated server")]
pub struct Server {
    /// The version that the server emulates, as kube-apiserver's flag
    #[arg(long, value_name = "1.N", value_parser = minor)]
    pub emulated_version: Option<Minor>,
    /// Feature gates of the server, such as StatefulSetRecreateStrategy=true; may be repeated
    #[arg(long, value_name = "NAME=BOOL,...", value_parser = gates)]
    pub feature_gates: Vec<FeatureGates>,
    /// Admission plugins that the server enables besides the default ones; may be repeated
    #[arg(long, value_name = "PLUGIN,...", value_delimiter = ',')]
    pub enable_admission_plugins: Vec<String>,
    /// Default admission plugins that the server disables; may be repeated
    #[arg(long, value_name = "PLUGIN,...", value_delimiter = ',')]
    pub disable_admission_plugins: Vec<String>,
    /// The file with the configuration of the server's admission plugins (`AdmissionConfiguration`)
    #[arg(long, value_name = "PATH")]
    pub admission_control_config_file: Option<PathBuf>,
    /// Whether the server allows privileged containers
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true", ignore_case = true)]
    pub allow_privileged: Option<bool>,
    /// APIs that the server serves or does not serve, such as storage.k8s.io/v1beta1=true or api/alpha=true; may be repeated
    #[arg(long, value_name = "KEY=BOOL,...", value_parser = runtime_config)]
    pub runtime_config: Vec<RuntimeConfig>,
    /// The ranges of cluster IPs that the server allocates, at most one of each address family; by default those of the cluster
    #[arg(long, value_name = "CIDR,...", value_delimiter = ',', value_parser = address_range)]
    pub service_cluster_ip_range: Vec<ServiceRange>,
    /// The node ports that the server allocates [default: 30000-32767]
    #[arg(long, value_name = "FIRST-LAST", value_parser = port_range)]
    pub service_node_port_range: Option<(u16, u16)>,
    /// How long Pods without a toleration of their own stay on a Node that is not ready [default: 300]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub default_not_ready_toleration_seconds: Option<i64>,
    /// How long Pods without a toleration of their own stay on a Node that is unreachable [default: 300]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub default_unreachable_toleration_seconds: Option<i64>,
}

impl Server {
    /// Reads the settings.
    ///
    /// # Errors
    /// Returns an error if the configuration of the plugins or the ranges of cluster IPs cannot be used.
    pub fn settings(&self) -> Result<ServerSettings, Error> {
        let mut feature_gates = FeatureGates::default();
        for gates in &self.feature_gates {
            gates.iter().for_each(|(name, enabled)| feature_gates.set(name, enabled));
        }
        let mut runtime_config = RuntimeConfig::default();
        self.runtime_config.iter().for_each(|own| runtime_config.extend(own));
        let admission = match &self.admission_control_config_file {
            Some(path) => admission_configuration::read(path, &self.enable_admission_plugins)
                .map_err(|error| Error::input(format!("--admission-control-config-file: {error}")))?,
            None => crdx_server::server::AdmissionConfiguration::default(),
        };
        let service_ranges = self.service_cluster_ip_range.clone();
        if !service_ranges.is_empty()
            && ServiceFamilies::of(service_ranges.iter().map(|range| range.family())).is_none()
        {
            return Err(Error::usage("--service-cluster-ip-range: give one range, or one of each address family"));
        }
        Ok(ServerSettings {
            emulated_version: self.emulated_version,
            feature_gates,
            enabled_plugins: self.enable_admission_plugins.clone(),
            disabled_plugins: self.disable_admission_plugins.clone(),
            admission,
            allow_privileged: self.allow_privileged,
            runtime_config,
            node_ports: self.service_node_port_range,
            service_ranges,
            not_ready_seconds: self.default_not_ready_toleration_seconds,
            unreachable_seconds: self.default_unreachable_toleration_seconds,
        })
    }
}

impl Server {
    /// As [`Self::release`], for a server that is that of a cluster: what the flags do not set is read from it.
    ///
    /// # Errors
    /// Returns an error if a server of the release does not accept the settings.
    pub fn release_of_cluster(
        &self,
        release: Release,
        connection: Result<&Connection, crdx_cluster::Error>,
    ) -> Result<Release, Error> {
        Ok(of_cluster(&self.settings()?, release, connection)?.0)
    }

    /// Returns a release with the settings, which commands about CRDs and policies read no further. A setting that is not
    /// simulated is a warning.
    ///
    /// # Errors
    /// Returns an error if a server of the release does not accept the settings.
    pub fn release(&self, release: Release) -> Result<Release, Error> {
        configured(&self.settings()?, release)
    }

    /// Returns releases with the settings.
    ///
    /// # Errors
    /// Returns an error if a server of a release does not accept the settings.
    pub fn configured(&self, releases: &ReleaseSet) -> Result<ReleaseSet, Error> {
        let configured: Vec<Release> = releases.iter().map(|one| self.release(one)).collect::<Result<_, _>>()?;
        Ok(ReleaseSet::from_releases(configured).unwrap_or_else(|| releases.clone()))
    }
}

/// Opens a profile in place of a cluster.
///
/// # Errors
/// Returns an error if the folder has no profile that can be read.
pub fn connection_to_profile(folder: &Path) -> Result<Connection, crdx_cluster::Error> {
    let target = crdx_cluster::ClusterFlags { profile: Some(folder.to_owned()), ..Default::default() };
    Connection::open(&target, terminal::warn)
}

/// Returns a release with the settings of a cluster's server, which `own` replace, and these settings. Prints what is not known of
/// them.
///
/// # Errors
/// Returns an error if a server of the release does not accept the settings.
pub fn of_cluster(
    own: &ServerSettings,
    release: Release,
    connection: Result<&Connection, crdx_cluster::Error>,
) -> Result<(Release, ServerSettings), Error> {
    let live = connection.map(|connection| crdx_cluster::settings(connection, release)).unwrap_or_default();
    for note in &live.notes {
        complain!("note: {note}");
    }
    if live.admission_file.is_some() && own.admission == AdmissionConfiguration::default() {
        complain!(
            "warning: the configuration of admission plugins is a file on the server's disk, which is not simulated: give a copy with --admission-control-config-file"
        );
    }
    let settings = live.settings.replaced_by(own);
    Ok((configured(&settings, release)?, settings))
}

fn configured(settings: &ServerSettings, release: Release) -> Result<Release, Error> {
    let configured = ConfiguredServer::new(settings, release).map_err(|error| Error::usage(error.to_string()))?;
    for flag in configured.unsimulated.flags() {
        complain!("warning: the effect of {flag} on some objects is not simulated");
    }
    Ok(configured.release)
}

/// Parses an emulated version: `1.N`, also with kube-apiserver's prefix for itself.
pub fn minor(text: &str) -> Result<Minor, ArgumentError> {
    let version = text.strip_prefix("kube=").unwrap_or(text);
    let minor = version.strip_prefix("1.").filter(|minor| minor.bytes().all(|byte| byte.is_ascii_digit()));
    minor.and_then(|minor| minor.parse().ok()).map(Minor).ok_or(ArgumentError::Form("1.N"))
}

/// Parses `KEY=true,KEY=false`.
pub fn runtime_config(text: &str) -> Result<RuntimeConfig, RuntimeConfigError> {
    let mut config = RuntimeConfig::default();
    config.read(text)?;
    Ok(config)
}

/// Parses a range of addresses such as `10.96.0.0/12`.
pub fn address_range(text: &str) -> Result<ServiceRange, ArgumentError> {
    ServiceRange::parse(text.trim()).ok_or(ArgumentError::Form("a range such as 10.96.0.0/12"))
}

/// Parses `FIRST-LAST`.
pub fn port_range(text: &str) -> Result<(u16, u16), ArgumentError> {
    let form = ArgumentError::Form("FIRST-LAST, such as 30000-32767");
    let range = text.split_once('-').and_then(|(first, last)| Some((first.parse().ok()?, last.parse().ok()?)));
    range.filter(|(first, last)| first <= last).ok_or(form)
}

/// Parses `NAME=true,NAME=false`.
pub fn gates(text: &str) -> Result<FeatureGates, ArgumentError> {
    let mut gates = FeatureGates::default();
    gates.read(text)?;
    Ok(gates)
}
