//! The words of `kubectl crdx get`.

use super::{Cluster, Format};
use clap::Args as ClapArgs;

/// `get`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # By plural, singular, kind or short name, with the group when it is needed
  kubectl crdx get crontabs
  kubectl crdx get ct my-cron -o yaml
  kubectl crdx get gateways.gateway.networking.k8s.io -A -o wide")]
pub struct Get {
    /// Plural, singular, kind or short name; with `.GROUP` where several groups have it
    #[arg(value_name = "RESOURCE[.GROUP]")]
    pub resource: String,
    /// Names of objects; all of them without one
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
    /// In every namespace
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// What to print [default: the printer columns of priority 0]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<Format>,
    /// The cluster to ask.
    #[command(flatten)]
    pub cluster: Cluster,
}
