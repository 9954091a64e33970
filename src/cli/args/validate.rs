//! The words of `kubectl crdx validate`.

use super::{Cluster, Inputs, KubernetesVersions, Updates, ValidateFormat};
use clap::Args as ClapArgs;

/// `validate`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Objects in a directory, their CRDs in another
  kubectl crdx validate -f objects/ --crds crds/ --offline

  # CRDs and objects in one stream, in any order
  helm template . | kubectl crdx validate -f - --offline

  # What would be stored, defaults filled in and unknown fields gone
  kubectl crdx validate -f backup.yaml --crds crds/ --field-validation Ignore -o yaml

  # What an update would do to what is there
  kubectl crdx validate -f new/ --old backup.yaml --crds crds/ --offline

  # Against the cluster of the current context, which is only read
  kubectl crdx validate -f objects/ -R

A CRD may also stand among the objects, earlier or later; it is judged, too. Of kinds built into Kubernetes
only the decoding is simulated: unknown and duplicate fields, wrong types, malformed quantities, times and base64.

Exit codes: 0 all is well, 1 the server would reject something, 2 something could not be told.")]
pub struct Validate {
    /// What is judged.
    #[command(flatten)]
    pub inputs: Inputs,
    /// What is there already, and how it is written.
    #[command(flatten)]
    pub updates: Updates,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersions,
    /// What to print: json (documented in docs/output.md), yaml (the objects as they would be stored), wide (with the
    /// printer columns of each kind), name (of the accepted objects), html (a page to send around), or for pipelines
    /// sarif, junit, github (annotations) or tap [default: a table and the errors]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<ValidateFormat>,
    /// Keep the annotation in which `kubectl apply` notes the object as it was applied last, in the objects that are printed
    #[arg(long, help_heading = "Output")]
    pub show_bookkeeping: bool,
    /// Print only what is not accepted, and no summary
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Judge again whenever one of the files changes, until Ctrl-C, which ends with the last exit code
    #[arg(long, help_heading = "Output")]
    pub watch: bool,
    /// The cluster to ask for CRDs and, without --old, for the objects as they are.
    #[command(flatten)]
    pub cluster: Cluster,
}
