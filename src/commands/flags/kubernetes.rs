//! `--kubernetes-version`: the API servers to simulate.

use super::error::ArgumentError;
use clap::Args as ClapArgs;
use crdx_value::release::{Release, ReleaseSet};

/// The version of the simulated API server, for commands that simulate one version.
#[derive(Clone, Copy, Debug, Default, ClapArgs)]
pub struct KubernetesVersion {
    /// The Kubernetes version to simulate, such as 1.34 [default: that of the cluster if the command reads one,
    /// otherwise the newest supported]
    #[arg(long, value_name = "1.N", value_parser = one, help_heading = "Simulated server")]
    pub kubernetes_version: Option<Release>,
}

/// The versions of the simulated API server, for commands that can simulate several.
#[derive(Clone, Debug, Default, ClapArgs)]
pub struct KubernetesVersions {
    /// The Kubernetes version to simulate, such as 1.34, or several, such as 1.31..1.37 or 1.31,1.34 [default: that of
    /// the cluster if the command reads one, otherwise the newest supported]
    #[arg(long, value_name = "1.N[..1.N]", help_heading = "Simulated server")]
    pub kubernetes_version: Option<ReleaseSet>,
}

/// Parses a single version.
fn one(text: &str) -> Result<Release, ArgumentError> {
    let set: ReleaseSet = text.parse()?;
    set.single().ok_or(ArgumentError::SeveralVersions)
}
