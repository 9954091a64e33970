//! The keys of the file.

use crate::{Ignore, PatternError};
use crdx_engine::report::severity::{SeverityError, SeverityOf};
use crdx_engine::report::{FieldPattern, NoFieldPattern};
use crdx_engine::simulation::filter::{KindPattern, NoKind};
use crdx_server::server::{RuntimeConfig, RuntimeConfigError};
use crdx_value::release::{FeatureGates, FeatureGatesError, ReleaseSet, ReleaseSetError};

/// The reason why a key cannot have a value.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    #[error("it is empty")]
    Empty,
    #[error("it is neither true nor false")]
    NoBoolean,
    #[error("standard input can only be named on the command line")]
    StandardInput,
    #[error(transparent)]
    KubernetesVersion(#[from] ReleaseSetError),
    #[error(transparent)]
    Skip(#[from] NoKind),
    #[error(transparent)]
    Severities(#[from] SeverityError),
    #[error(transparent)]
    IgnoreFields(#[from] NoFieldPattern),
    #[error(transparent)]
    Ignore(#[from] PatternError),
    #[error(transparent)]
    Gates(#[from] FeatureGatesError),
    #[error(transparent)]
    RuntimeConfig(#[from] RuntimeConfigError),
}

/// A key, which is also a flag and a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingKey {
    /// Files and directories with CRDs.
    Crds,
    /// Charts of releases of Flux, which are downloaded.
    Charts,
    /// The simulated versions.
    KubernetesVersion,
    /// Files and directories with admission policies.
    Policies,
    /// The namespaces of `serve`.
    Namespaces,
    /// Patterns of files to leave out.
    Ignore,
    /// Kinds to leave out.
    Skip,
    /// Files and directories with the existing objects.
    Old,
    /// Severities of the findings of this program, `TYPE=SEVERITY`.
    Severities,
    /// Fields that `diff` leaves out.
    IgnoreFields,
    /// The file with the findings that the project accepts.
    Baseline,
    /// Output formats: one for all commands, or `COMMAND=FORMAT` for one.
    Output,
    /// The version that the server emulates.
    EmulatedVersion,
    /// The feature gates of the server, `NAME=BOOL`.
    FeatureGates,
    /// The admission plugins that the server enables.
    EnableAdmissionPlugins,
    /// The admission plugins that the server disables.
    DisableAdmissionPlugins,
    /// The file with the configuration of admission plugins.
    AdmissionControlConfigFile,
    /// True if the server allows privileged containers.
    AllowPrivileged,
    /// The APIs that the server serves or does not serve, `KEY=BOOL`.
    RuntimeConfig,
    /// The ranges of the cluster IPs of Services.
    ServiceClusterIpRange,
    /// The node ports of Services.
    ServiceNodePortRange,
    /// The seconds for which Pods stay on a Node that is not ready.
    DefaultNotReadyTolerationSeconds,
    /// The seconds for which Pods stay on a Node that is unreachable.
    DefaultUnreachableTolerationSeconds,
    /// The profile of a cluster, which is read in its place.
    Profile,
    /// Files and directories to validate.
    Paths,
    /// Whether subdirectories are read.
    Recursive,
    /// Whether connections are forbidden.
    Offline,
    /// Files with values for charts.
    Values,
    /// Values for charts, `KEY=VALUE`.
    Set,
    /// Variables of `postBuild` of Flux, `NAME=VALUE`.
    Substitute,
    /// The URLs of the repository, by which sources of Flux name it.
    RepositoryUrl,
    /// The API versions that charts see.
    ApiVersions,
    /// Whether kustomize inflates charts.
    EnableHelm,
    /// The files that a kustomization may read.
    LoadRestrictor,
}

impl SettingKey {
    /// All keys, in the order in which `config` prints them.
    pub const ALL: [Self; 34] = [
        Self::Crds,
        Self::Charts,
        Self::KubernetesVersion,
        Self::Policies,
        Self::Namespaces,
        Self::Ignore,
        Self::Skip,
        Self::Old,
        Self::Severities,
        Self::IgnoreFields,
        Self::Baseline,
        Self::Output,
        Self::EmulatedVersion,
        Self::FeatureGates,
        Self::EnableAdmissionPlugins,
        Self::DisableAdmissionPlugins,
        Self::AdmissionControlConfigFile,
        Self::AllowPrivileged,
        Self::RuntimeConfig,
        Self::ServiceClusterIpRange,
        Self::ServiceNodePortRange,
        Self::DefaultNotReadyTolerationSeconds,
        Self::DefaultUnreachableTolerationSeconds,
        Self::Profile,
        Self::Paths,
        Self::Recursive,
        Self::Offline,
        Self::Values,
        Self::Set,
        Self::Substitute,
        Self::RepositoryUrl,
        Self::ApiVersions,
        Self::EnableHelm,
        Self::LoadRestrictor,
    ];

    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crds => "crds",
            Self::Charts => "charts",
            Self::KubernetesVersion => "kubernetesVersion",
            Self::Policies => "policies",
            Self::Namespaces => "namespaces",
            Self::Ignore => "ignore",
            Self::Skip => "skip",
            Self::Old => "old",
            Self::Severities => "severities",
            Self::IgnoreFields => "ignoreFields",
            Self::Baseline => "baseline",
            Self::Output => "output",
            Self::EmulatedVersion => "emulatedVersion",
            Self::FeatureGates => "featureGates",
            Self::EnableAdmissionPlugins => "enableAdmissionPlugins",
            Self::DisableAdmissionPlugins => "disableAdmissionPlugins",
            Self::AdmissionControlConfigFile => "admissionControlConfigFile",
            Self::AllowPrivileged => "allowPrivileged",
            Self::RuntimeConfig => "runtimeConfig",
            Self::ServiceClusterIpRange => "serviceClusterIpRange",
            Self::ServiceNodePortRange => "serviceNodePortRange",
            Self::DefaultNotReadyTolerationSeconds => "defaultNotReadyTolerationSeconds",
            Self::DefaultUnreachableTolerationSeconds => "defaultUnreachableTolerationSeconds",
            Self::Profile => "profile",
            Self::Paths => "paths",
            Self::Recursive => "recursive",
            Self::Offline => "offline",
            Self::Values => "values",
            Self::Set => "set",
            Self::Substitute => "substitute",
            Self::RepositoryUrl => "repositoryUrl",
            Self::ApiVersions => "apiVersions",
            Self::EnableHelm => "enableHelm",
            Self::LoadRestrictor => "loadRestrictor",
        }
    }

    /// The environment variable.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Crds => "CRDX_CRDS",
            Self::Charts => "CRDX_CHARTS",
            Self::KubernetesVersion => "CRDX_KUBERNETES_VERSION",
            Self::Policies => "CRDX_POLICIES",
            Self::Namespaces => "CRDX_NAMESPACES",
            Self::Ignore => "CRDX_IGNORE",
            Self::Skip => "CRDX_SKIP",
            Self::Old => "CRDX_OLD",
            Self::Severities => "CRDX_SEVERITIES",
            Self::IgnoreFields => "CRDX_IGNORE_FIELDS",
            Self::Baseline => "CRDX_BASELINE",
            Self::Output => "CRDX_OUTPUT",
            Self::EmulatedVersion => "CRDX_EMULATED_VERSION",
            Self::FeatureGates => "CRDX_FEATURE_GATES",
            Self::EnableAdmissionPlugins => "CRDX_ENABLE_ADMISSION_PLUGINS",
            Self::DisableAdmissionPlugins => "CRDX_DISABLE_ADMISSION_PLUGINS",
            Self::AdmissionControlConfigFile => "CRDX_ADMISSION_CONTROL_CONFIG_FILE",
            Self::AllowPrivileged => "CRDX_ALLOW_PRIVILEGED",
            Self::RuntimeConfig => "CRDX_RUNTIME_CONFIG",
            Self::ServiceClusterIpRange => "CRDX_SERVICE_CLUSTER_IP_RANGE",
            Self::ServiceNodePortRange => "CRDX_SERVICE_NODE_PORT_RANGE",
            Self::DefaultNotReadyTolerationSeconds => "CRDX_DEFAULT_NOT_READY_TOLERATION_SECONDS",
            Self::DefaultUnreachableTolerationSeconds => "CRDX_DEFAULT_UNREACHABLE_TOLERATION_SECONDS",
            Self::Profile => "CRDX_PROFILE",
            Self::Paths => "CRDX_PATHS",
            Self::Recursive => "CRDX_RECURSIVE",
            Self::Offline => "CRDX_OFFLINE",
            Self::Values => "CRDX_VALUES",
            Self::Set => "CRDX_SET",
            Self::Substitute => "CRDX_SUBSTITUTE",
            Self::RepositoryUrl => "CRDX_REPOSITORY_URL",
            Self::ApiVersions => "CRDX_API_VERSIONS",
            Self::EnableHelm => "CRDX_ENABLE_HELM",
            Self::LoadRestrictor => "CRDX_LOAD_RESTRICTOR",
        }
    }

    /// The name of the argument of commands, as clap identifies it.
    pub fn argument(self) -> &'static str {
        match self {
            Self::KubernetesVersion => "kubernetes_version",
            Self::EmulatedVersion => "emulated_version",
            Self::FeatureGates => "feature_gates",
            Self::EnableAdmissionPlugins => "enable_admission_plugins",
            Self::DisableAdmissionPlugins => "disable_admission_plugins",
            Self::AdmissionControlConfigFile => "admission_control_config_file",
            Self::AllowPrivileged => "allow_privileged",
            Self::RuntimeConfig => "runtime_config",
            Self::ServiceClusterIpRange => "service_cluster_ip_range",
            Self::ServiceNodePortRange => "service_node_port_range",
            Self::DefaultNotReadyTolerationSeconds => "default_not_ready_toleration_seconds",
            Self::DefaultUnreachableTolerationSeconds => "default_unreachable_toleration_seconds",
            Self::IgnoreFields => "ignore_fields",
            Self::Paths => "positional",
            Self::RepositoryUrl => "repository_url",
            Self::ApiVersions => "api_versions",
            Self::EnableHelm => "enable_helm",
            Self::LoadRestrictor => "load_restrictor",
            other => other.name(),
        }
    }

    /// Returns true if the values are paths.
    pub fn is_paths(self) -> bool {
        matches!(
            self,
            Self::Crds
                | Self::Policies
                | Self::Old
                | Self::AdmissionControlConfigFile
                | Self::Profile
                | Self::Baseline
                | Self::Paths
                | Self::Values
        )
    }

    /// Returns true if the value may be a mapping, whose members become `KEY=VALUE`.
    pub fn is_mapping(self) -> bool {
        matches!(self, Self::Severities | Self::Output | Self::FeatureGates | Self::RuntimeConfig | Self::Substitute)
    }

    /// Returns true if the value is true or false.
    pub fn is_boolean(self) -> bool {
        matches!(self, Self::Recursive | Self::Offline | Self::EnableHelm | Self::AllowPrivileged)
    }

    /// Returns true if the value may be a number.
    pub fn is_number(self) -> bool {
        matches!(self, Self::DefaultNotReadyTolerationSeconds | Self::DefaultUnreachableTolerationSeconds)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Returns the reason why the key cannot have this value.
    pub fn check(self, value: &str) -> Result<(), ValueError> {
        match self {
            Self::KubernetesVersion => drop(value.parse::<ReleaseSet>()?),
            Self::Skip => drop(value.parse::<KindPattern>()?),
            Self::IgnoreFields => drop(value.parse::<FieldPattern>()?),
            Self::Severities => {
                value.parse::<SeverityOf>()?;
            }
            Self::Ignore => drop(Ignore::new(&[value.to_owned()])?),
            Self::Crds | Self::Policies | Self::Old | Self::Paths | Self::Values if value == "-" => {
                return Err(ValueError::StandardInput);
            }
            Self::FeatureGates => FeatureGates::default().read(value)?,
            Self::RuntimeConfig => RuntimeConfig::default().read(value)?,
            Self::Recursive | Self::Offline | Self::EnableHelm | Self::AllowPrivileged => {
                if !["true", "false"].contains(&value) {
                    return Err(ValueError::NoBoolean);
                }
            }
            Self::Crds
            | Self::Charts
            | Self::Paths
            | Self::Values
            | Self::Set
            | Self::Substitute
            | Self::RepositoryUrl
            | Self::ApiVersions
            | Self::LoadRestrictor
            | Self::Policies
            | Self::Old
            | Self::Namespaces
            | Self::Baseline
            | Self::Output
            | Self::EmulatedVersion
            | Self::EnableAdmissionPlugins
            | Self::DisableAdmissionPlugins
            | Self::AdmissionControlConfigFile
            | Self::ServiceClusterIpRange
            | Self::ServiceNodePortRange
            | Self::DefaultNotReadyTolerationSeconds
            | Self::DefaultUnreachableTolerationSeconds
            | Self::Profile => {
                if value.is_empty() {
                    return Err(ValueError::Empty);
                }
            }
        }
        Ok(())
    }
}
