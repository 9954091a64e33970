//! The arguments of `kubectl crdx openapi`.

use crate::commands::flags::{ClusterArgs, KubernetesVersion};
use clap::Args as ClapArgs;

/// `openapi`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What /openapi/v3/apis/GROUP/VERSION holds
  kubectl crdx openapi crd.yaml --version v1

  # What /openapi/v2 holds, which says less
  kubectl crdx openapi crd.yaml --v2

  # Of a CRD of the cluster
  kubectl crdx openapi crontabs")]
pub struct Openapi {
    /// Files or directories with CRDs, `-` for standard input; or names of resources in --crds or in a cluster
    #[arg(value_name = "CRD|TYPE", required = true)]
    pub words: Vec<String>,
    /// A file or directory with the CRDs of named resources, read instead of the cluster; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub crds: Vec<String>,
    /// OpenAPI 2.0, all versions in one document
    #[arg(long)]
    pub v2: bool,
    /// The version of the CRD [default: the one objects are stored in; all with --v2]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// The cluster with the CRDs of named resources.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
