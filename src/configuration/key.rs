//! The keys of the file.

use crate::input::Ignore;
use crdx::report::severity::SeverityOf;
use crdx::simulation::filter::KindPattern;
use crdx_value::release::ReleaseSet;

/// A key, which is also a flag and a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Files and directories with CRDs.
    Crds,
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
    /// Output formats: one for all commands, or `COMMAND=FORMAT` for one.
    Output,
}

impl Key {
    /// All keys, in the order in which `config` prints them.
    pub const ALL: [Self; 9] = [
        Self::Crds,
        Self::KubernetesVersion,
        Self::Policies,
        Self::Namespaces,
        Self::Ignore,
        Self::Skip,
        Self::Old,
        Self::Severities,
        Self::Output,
    ];

    /// The name in the file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Crds => "crds",
            Self::KubernetesVersion => "kubernetesVersion",
            Self::Policies => "policies",
            Self::Namespaces => "namespaces",
            Self::Ignore => "ignore",
            Self::Skip => "skip",
            Self::Old => "old",
            Self::Severities => "severities",
            Self::Output => "output",
        }
    }

    /// The environment variable.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Crds => "CRDX_CRDS",
            Self::KubernetesVersion => "CRDX_KUBERNETES_VERSION",
            Self::Policies => "CRDX_POLICIES",
            Self::Namespaces => "CRDX_NAMESPACES",
            Self::Ignore => "CRDX_IGNORE",
            Self::Skip => "CRDX_SKIP",
            Self::Old => "CRDX_OLD",
            Self::Severities => "CRDX_SEVERITIES",
            Self::Output => "CRDX_OUTPUT",
        }
    }

    /// The name of the argument of commands, as clap identifies it.
    pub fn argument(self) -> &'static str {
        match self {
            Self::KubernetesVersion => "kubernetes_version",
            other => other.name(),
        }
    }

    /// Returns true if the values are paths.
    pub fn is_paths(self) -> bool {
        matches!(self, Self::Crds | Self::Policies | Self::Old)
    }

    /// Returns true if the value may be a mapping, whose members become `KEY=VALUE`.
    pub fn is_mapping(self) -> bool {
        matches!(self, Self::Severities | Self::Output)
    }

    /// Checks a value.
    ///
    /// # Errors
    /// Returns what is wrong with it.
    pub fn check(self, value: &str) -> Result<(), String> {
        let empty = || if value.is_empty() { Err("it is empty".to_owned()) } else { Ok(()) };
        let as_text = |error: &dyn std::error::Error| error.to_string();
        match self {
            Self::KubernetesVersion => value.parse::<ReleaseSet>().map(drop).map_err(|error| as_text(&error)),
            Self::Skip => value.parse::<KindPattern>().map(drop).map_err(|error| as_text(&error)),
            Self::Severities => value.parse::<SeverityOf>().map(drop).map_err(|error| as_text(&error)),
            Self::Ignore => Ignore::new(&[value.to_owned()]).map(drop).map_err(|error| as_text(&error)),
            Self::Crds | Self::Policies | Self::Old if value == "-" => {
                Err("standard input can only be named on the command line".to_owned())
            }
            Self::Crds | Self::Policies | Self::Old | Self::Namespaces | Self::Output => empty(),
        }
    }
}
