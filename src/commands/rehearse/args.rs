//! The arguments of `kubectl crdx rehearse`.

use crate::commands::flags::{
    BaselineFile, ClusterArgs, KubernetesVersions, Policies, Reading, ReportFormat, Server, Severities,
};
use clap::Args as ClapArgs;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// `rehearse`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # All objects that the cluster of the current context stores, and its current CRD
  kubectl crdx rehearse new-crd.yaml

  # Offline: the new CRD, the current one and the stored objects
  kubectl crdx rehearse new-crd.yaml --old old-crd.yaml -f objects/ --offline

  # The CRDs, policies and webhooks of an operator: what to do before, during and after its upgrade
  kubectl crdx rehearse new/crds/ --old old/crds/ -f objects/ --offline

  # The same for an upgrade of the cluster from 1.34 to 1.37: on which version to replace the CRDs
  kubectl crdx rehearse new/crds/ --old old/crds/ -f objects/ --offline \\
    --kubernetes-version 1.34..1.37

  # The effect of an upgrade of the cluster to 1.37 on everything that it stores
  kubectl crdx rehearse --kubernetes-version 1.37

  # The same offline, from 1.34 to 1.37
  kubectl crdx rehearse --kubernetes-version 1.34..1.37 -f cluster/ --offline

  # Which stored objects new admission policies would deny, warn about or change
  kubectl crdx rehearse --policies new-policies.yaml

  # The same offline
  kubectl crdx rehearse --policies new-policies.yaml --crds crds/ -f objects/ --offline

For an object that would become invalid, the command also tries an update of only a label, because the server \
tolerates most errors in fields that do not change.

Exit codes: 0 nothing breaks, or only as in the baseline, 1 data is lost, an object becomes invalid or is denied, or the \
CRD or a policy is rejected, 2 rehearse cannot tell, or the usage is wrong.")]
pub struct Rehearse {
    /// A file, directory or archive with the new CRD, or with all CRDs, admission policies and webhook configurations of an operator
    #[arg(value_name = "NEW_CRD", required_unless_present_any = ["policies", "kubernetes_version"], conflicts_with = "policies")]
    pub definition: Option<String>,
    /// A file, directory or archive with the current ones, or git:REF for the new ones as of a commit [default: those of the cluster; with --offline none, and objects are read unchanged]
    #[arg(long, value_name = "OLD_CRD", requires = "definition")]
    pub old: Option<String>,
    /// A file or directory with the CRDs of the objects, for --policies and for an upgrade of Kubernetes [default: those of the cluster]
    #[arg(long, value_name = "PATH", help_heading = "Files", conflicts_with = "definition")]
    pub crds: Vec<String>,
    /// A file or directory with stored objects, `-` for standard input; may be repeated; objects of other kinds are
    /// left out [default: all objects that the cluster stores]
    #[arg(short = 'f', long = "filename", value_name = "PATH", group = "objects")]
    pub filenames: Vec<String>,
    /// Build this directory with `kubectl kustomize` or `kustomize build`, and rehearse the objects in the result; may
    /// be repeated
    #[arg(short = 'k', long, value_name = "DIR", group = "objects")]
    pub kustomize: Vec<PathBuf>,
    /// The number of other objects that the old CRD accepts to try for each version, as `kubectl crdx prove` does; 0 tries none
    #[arg(
        long,
        value_name = "N",
        default_value_t = 200,
        help_heading = "Search",
        requires = "definition",
        conflicts_with = "policies"
    )]
    pub tries: u32,
    /// The new admission policies.
    #[command(flatten)]
    pub policies: Policies,
    /// The options for reading files.
    #[command(flatten)]
    pub reading: Reading,
    /// The versions of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersions,
    /// The settings of the server.
    #[command(flatten)]
    pub server: Server,
    /// The number of threads [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// The severities of the findings of this program.
    #[command(flatten)]
    pub severities: Severities,
    /// The effects that the project accepts.
    #[command(flatten)]
    pub baseline: BaselineFile,
    /// Output format: json (documented in docs/output.md), html (one self-contained page) or markdown (for a comment)
    /// [default: a table and the effects on each object]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, value_parser = ReportFormat::parser(ReportFormat::OF_REHEARSE), help_heading = "Output")]
    pub output: Option<ReportFormat>,
    /// Print only objects that lose fields, become invalid or are denied, or for which rehearse cannot tell, and the
    /// counts
    #[arg(short, long, help_heading = "Output")]
    pub quiet: bool,
    /// The cluster with the current CRD and the stored objects.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

impl Rehearse {
    /// The objects to try, unless the answers are not printed.
    pub fn printed_tries(&self) -> u32 {
        if self.quiet && self.output.is_none() { 0 } else { self.tries }
    }
}
