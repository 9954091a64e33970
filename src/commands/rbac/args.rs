//! The arguments of `kubectl crdx rbac`.

use crate::commands::flags::OnlyJson;
use clap::Args as ClapArgs;

/// `rbac`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # A role for the custom resources of a directory of CRDs
  kubectl crdx rbac --crds crds/ | kubectl apply -f -

  # A role for one resource
  kubectl crdx rbac crontabs.stable.example.com

Bind it with: kubectl create clusterrolebinding crdx --clusterrole crdx --user NAME")]
pub struct Rbac {
    /// Custom resources that the role may read; `*.GROUP` for all resources of a group
    #[arg(value_name = "PLURAL.GROUP")]
    pub resources: Vec<String>,
    /// A file or directory with CustomResourceDefinitions whose resources may be read; may be repeated
    #[arg(long, value_name = "PATH")]
    pub crds: Vec<String>,
    /// The name of the role
    #[arg(long, value_name = "NAME", default_value = "crdx")]
    pub name: String,
    /// Output format: json [default: yaml]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<OnlyJson>,
}
