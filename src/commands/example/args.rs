//! The arguments of `kubectl crdx example`.

use crate::commands::flags::{ClusterArgs, JsonOrYaml, KubernetesVersion};
use clap::Args as ClapArgs;

/// `example`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # An object with every field, described by comments
  kubectl crdx example crd.yaml

  # An object with the required fields only
  kubectl crdx example crd.yaml --minimal

  # A minimal object of a built-in kind
  kubectl crdx example Deployment

  # Of a CRD of the cluster, or of a directory
  kubectl crdx example crontabs
  kubectl crdx example crontabs --crds config/crd/

The object is valid: it is generated from the schema and changed until the simulated server accepts it, CEL rules \
included. If no such object is found, the one with the fewest errors is printed, and its errors go to standard error. \
The status is left out, because controllers write it. Objects of built-in kinds are minimal.

Exit codes: 0 the server accepts every example, 1 it rejects one, 2 a CRD cannot be read or served.")]
pub struct Example {
    /// Files or directories with CRDs, `-` for standard input; or names of resources: built-in ones, or those in --crds or in a cluster
    #[arg(value_name = "CRD|TYPE", required = true)]
    pub words: Vec<String>,
    /// A file or directory with the CRDs of named resources, read instead of the cluster; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub crds: Vec<String>,
    /// Only the required fields
    #[arg(long)]
    pub minimal: bool,
    /// The version of the objects [default: the one that CRDs store, or the newest one of a built-in kind]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// The simulated server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// Output format: yaml with descriptions as comments, or json; several objects are a List in json
    #[arg(
        short = 'o',
        long,
        value_name = "FORMAT",
        ignore_case = true,
        default_value = "yaml",
        help_heading = "Output"
    )]
    pub output: JsonOrYaml,
    /// The cluster with the CRDs of named resources.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
