//! The arguments of `kubectl crdx openapi`.

use super::KubernetesVersion;
use clap::Args as ClapArgs;

/// `openapi`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What /openapi/v3/apis/GROUP/VERSION holds
  kubectl crdx openapi crd.yaml --version v1

  # What /openapi/v2 holds, which says less
  kubectl crdx openapi crd.yaml --v2")]
pub struct Openapi {
    /// A file with CustomResourceDefinitions, `-` for standard input
    #[arg(value_name = "CRD")]
    pub filename: String,
    /// OpenAPI 2.0, all versions in one document
    #[arg(long)]
    pub v2: bool,
    /// The version of the CRD [default: the one objects are stored in; all with --v2]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
}
