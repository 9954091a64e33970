//! The arguments of `kubectl crdx explain`.

use crate::commands::flags::{ClusterArgs, KubernetesVersion};
use clap::{Args as ClapArgs, ValueEnum};

/// `explain`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What kubectl explain prints, from files
  kubectl crdx explain crontabs.spec --crds crds/

  # All fields, of another version
  kubectl crdx explain crontabs --recursive --api-version=stable.example.com/v1 --crds crds/

  # A kind built into Kubernetes, without a cluster
  kubectl crdx explain deployments.spec.strategy --offline

  # With the CEL rules, their costs and the bounds of a field of a live CRD
  kubectl crdx explain crontabs.spec.replicas --rules")]
pub struct Explain {
    /// A resource, and the field to explain
    #[arg(value_name = "TYPE[.FIELD…]")]
    pub resource: String,
    /// A file or directory with CRDs, read instead of the cluster; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub crds: Vec<String>,
    /// Print nested fields
    #[arg(short = 'R', long)]
    pub recursive: bool,
    /// The number of levels of fields that --recursive prints; 0 for all
    #[arg(long, value_name = "N", default_value_t = 0, requires = "recursive")]
    pub max_depth: usize,
    /// The version to explain [default: the one that the server prefers]
    #[arg(long, value_name = "GROUP/VERSION")]
    pub api_version: Option<String>,
    /// Add the CEL rules of the field, their estimated costs, and its bounds
    #[arg(long)]
    pub rules: bool,
    /// The layout, named as by kubectl
    #[arg(
        short = 'o',
        long,
        value_name = "FORMAT",
        ignore_case = true,
        default_value = "plaintext",
        help_heading = "Output"
    )]
    pub output: ExplainFormat,
    /// The simulated server, which estimates costs.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// The cluster to read.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// `-o` of `explain`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExplainFormat {
    /// From the OpenAPI 3 document
    Plaintext,
    /// From the OpenAPI 2 document, which has fewer details
    #[value(name = "plaintext-openapiv2")]
    PlaintextOpenapiv2,
}
