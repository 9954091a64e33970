//! The arguments of `kubectl crdx validate`.

use crate::commands::flags::{
    BaselineFile, ClusterArgs, Inputs, KubernetesVersions, ReportFormat, Server, Severities, Updates,
};
use clap::Args as ClapArgs;

/// `validate`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Objects in a directory, their CRDs in another
  kubectl crdx validate -f objects/ --crds crds/ --offline

  # CRDs and objects in one stream, in any order
  helm template . | kubectl crdx validate -f - --offline

  # The objects as they would be stored, with defaults and without unknown fields
  kubectl crdx validate -f backup.yaml --crds crds/ --field-validation Ignore -o yaml

  # The effect on existing objects
  kubectl crdx validate -f new/ --old backup.yaml --crds crds/ --offline

  # Against the cluster of the current context, which is only read
  kubectl crdx validate -f objects/ -R

CRDs may be among the objects, before or after them; they are validated, too. Most kinds built into Kubernetes are \
validated as by the server; objects of the others are only decoded, and their verdict is \"decodes\".

Exit codes: 0 all objects are accepted, 1 an object is rejected and not in the baseline, or a finding has the severity error, 2 validate cannot tell, or the usage is wrong.")]
pub struct Validate {
    /// The objects and CRDs.
    #[command(flatten)]
    pub inputs: Inputs,
    /// The existing objects and the request.
    #[command(flatten)]
    pub updates: Updates,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersions,
    /// The settings of the server.
    #[command(flatten)]
    pub server: Server,
    /// Output format: json (documented in docs/output.md), yaml (the objects as they would be stored), wide (with the
    /// printer columns of each kind), name (of the accepted objects), html (one self-contained page), or for pipelines
    /// sarif, junit, github (annotations), gitlab, rdjson (reviewdog), tap or markdown (for a comment) [default: a table and the errors]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, value_parser = ReportFormat::parser(ReportFormat::OF_VALIDATE), help_heading = "Output")]
    pub output: Option<ReportFormat>,
    /// Keep the last-applied annotation of `kubectl apply` in the objects that are printed
    #[arg(long, alias = "show-bookkeeping", help_heading = "Output")]
    pub show_last_applied: bool,
    /// Print only objects that are not accepted, and the line of counts
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// Validate again whenever one of the files changes, until Ctrl-C; the exit code is that of the last validation
    #[arg(long, help_heading = "Output", conflicts_with = "write_baseline")]
    pub watch: bool,
    /// The severities of the findings of this program.
    #[command(flatten)]
    pub severities: Severities,
    /// The findings that the project accepts.
    #[command(flatten)]
    pub baseline: BaselineFile,
    /// The cluster from which CRDs and, without --old, existing objects are read.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
