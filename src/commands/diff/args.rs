//! The arguments of `kubectl crdx diff`.

use crate::commands::flags::{
    BaselineFile, ClusterArgs, Inputs, KubernetesVersion, ReportFormat, Server, Severities, Updates,
};
use clap::Args as ClapArgs;
use crdx_engine::report::FieldPattern;

/// `diff`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Against the cluster of the current context, which is only read
  kubectl crdx diff -f objects/

  # Offline, against a backup
  kubectl crdx diff -f objects/ --old backup.yaml --crds crds/ --offline

  # The changes since the branch main
  kubectl crdx diff objects/ --old git:main --crds crds/ --offline

  # The fields of manifests that Argo CD would show as different for ever
  kubectl crdx diff objects/ --drift --crds crds/ --offline

  # The changes of an update (PUT) instead of an apply
  kubectl crdx diff -f object.yaml --replace

Lines that defaulting adds end in `# default`; lines that begin with `!` are in the manifest but would not be stored. \
The environment variable KUBECTL_EXTERNAL_DIFF selects another diff program, as for kubectl diff.

Exit codes: 0 no difference, 1 a difference, 2 an object is rejected and not in the baseline, a finding has the severity error, diff cannot tell, or the usage is wrong.")]
pub struct Diff {
    /// The objects and CRDs.
    #[command(flatten)]
    pub inputs: Inputs,
    /// The existing objects and the request.
    #[command(flatten)]
    pub updates: Updates,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersion,
    /// The settings of the server.
    #[command(flatten)]
    pub server: Server,
    /// Also compare metadata written by the server and kubectl: generation, managedFields, resourceVersion, uid,
    /// creationTimestamp and the last-applied annotation
    #[arg(long, alias = "show-bookkeeping", help_heading = "Output")]
    pub show_last_applied: bool,
    /// Show instead which fields of a manifest differ from the stored object after each apply, as Argo CD and Flux compare them:
    /// normalized, dropped, or defaulted in a list; and the manifest that does not differ
    #[arg(long, conflicts_with = "show_last_applied")]
    pub drift: bool,
    /// Leave this field out of the comparison, such as spec.replicas, spec.containers[*].image or
    /// `metadata.annotations['example.com/a']`; may be repeated
    #[arg(long = "ignore-field", value_name = "FIELD")]
    pub ignore_fields: Vec<FieldPattern>,
    /// Output format: json (documented in docs/output.md), or for pipelines sarif, junit, github (annotations), gitlab,
    /// rdjson (reviewdog), tap or markdown (for a comment, with the objects that are rejected) [default: table, a unified diff]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, value_parser = ReportFormat::parser(ReportFormat::OF_DIFF), help_heading = "Output")]
    pub output: Option<ReportFormat>,
    /// Compare again whenever one of the files changes, until Ctrl-C; the exit code is that of the last comparison
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
