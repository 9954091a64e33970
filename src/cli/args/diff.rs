//! The words of `kubectl crdx diff`.

use super::{Cluster, DiffFormat, Inputs, KubernetesVersion, Updates};
use clap::Args as ClapArgs;

/// `diff`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Against the cluster of the current context, which is only read
  kubectl crdx diff -f objects/

  # Offline, against a backup
  kubectl crdx diff -f objects/ --old backup.yaml --crds crds/ --offline

  # What a controller that replaces the object would change
  kubectl crdx diff -f object.yaml --replace

Lines that defaults bring end in `# default`; lines that begin with `!` are sent and would not be stored.
KUBECTL_EXTERNAL_DIFF names another program to compare with, as for kubectl diff.

Exit codes: 0 nothing would change, 1 something would, 2 something would be refused or could not be told.")]
pub struct Diff {
    /// What is judged.
    #[command(flatten)]
    pub inputs: Inputs,
    /// What is there already, and how it is written.
    #[command(flatten)]
    pub updates: Updates,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// Show also what the server and kubectl note in the metadata: generation, managedFields, resourceVersion, uid,
    /// creationTimestamp and the last-applied annotation
    #[arg(long, help_heading = "Output")]
    pub show_bookkeeping: bool,
    /// What to print: json (documented in docs/output.md), or for pipelines sarif, junit, github (annotations) or tap
    /// [default: a unified diff]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<DiffFormat>,
    /// The cluster to ask for CRDs and, without --old, for the objects as they are.
    #[command(flatten)]
    pub cluster: Cluster,
}
