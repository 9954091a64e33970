//! The arguments of `kubectl crdx scale`.

use crate::commands::flags::{ClusterArgs, KubernetesVersion, ObjectFiles, Policies, Reading, TableOrJson};
use clap::{Args as ClapArgs, ValueEnum};

/// `scale`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What kubectl scale would do
  kubectl crdx scale crontab/nightly --replicas 5
  kubectl crdx scale crontabs nightly weekly --replicas 0 --dry-run
  kubectl crdx scale crontabs -l tier=batch --current-replicas 3 --replicas 1

  # Without a cluster
  kubectl crdx scale crontab/nightly --replicas 5 -f objects/ --crds crds/ --offline")]
pub struct Scale {
    /// TYPE/NAME pairs, or a TYPE and names; a TYPE alone with --all or a selector [default: the objects of -f]
    #[arg(value_name = "TYPE/NAME", required_unless_present = "files")]
    pub words: Vec<String>,
    /// Scale all objects of the TYPE in the namespace
    #[arg(long)]
    pub all: bool,
    /// Scale the objects of the TYPE whose labels match
    #[arg(short = 'l', long, value_name = "SELECTOR", allow_hyphen_values = true)]
    pub selector: Option<String>,
    /// The desired number of replicas
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(0..))]
    pub replicas: i32,
    /// Scale only an object that has this number of replicas; -1 for any
    #[arg(long, value_name = "N", default_value_t = -1, value_parser = clap::value_parser!(i32).range(-1..))]
    #[arg(allow_hyphen_values = true, hide_default_value = true)]
    pub current_replicas: i32,
    /// Scale only an object with this resourceVersion
    #[arg(long, value_name = "VERSION")]
    pub resource_version: Option<String>,
    /// Has no effect, because nothing is ever written; accepted because kubectl has this flag
    #[arg(long, value_name = "WHERE", ignore_case = true, num_args = 0..=1, require_equals = true, default_missing_value = "server")]
    pub dry_run: Option<DryRun>,
    /// The files that are read instead of the cluster.
    #[command(flatten)]
    pub files: ObjectFiles,
    /// The options for reading files.
    #[command(flatten)]
    pub reading: Reading,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// Output format [default: the Scale and a diff of the object]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<TableOrJson>,
    /// Admission policies.
    #[command(flatten)]
    pub policies: Policies,
    /// The cluster to read.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

impl Scale {
    /// Returns the label selector, if it selects anything.
    pub fn selector(&self) -> Option<String> {
        self.selector.as_deref().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// Returns the resourceVersion that the object must have.
    pub fn resource_version(&self) -> Option<&str> {
        self.resource_version.as_deref().filter(|version| !version.is_empty())
    }
}

/// `--dry-run`; both values have the same effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum DryRun {
    /// Accepted, without effect
    Server,
    /// Accepted, without effect
    Client,
}
