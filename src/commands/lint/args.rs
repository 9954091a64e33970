//! The arguments of `kubectl crdx lint`.

use crate::commands::flags::{BaselineFile, ClusterArgs, KubernetesVersions, Paths, ReportFormat, Server, Severities};
use clap::Args as ClapArgs;

/// `lint`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The server's errors and warnings, and the cost of every rule
  kubectl crdx lint crd.yaml

  # Which versions accept the CRD, and why others do not
  kubectl crdx lint crd.yaml --kubernetes-version 1.31..1.37

  # What an update would break
  kubectl crdx lint new.yaml --old old.yaml

  # What the working tree would break since the branch main
  kubectl crdx lint crds/ --old git:main

  # What an update of the cluster's CRD would break; the cluster is only read
  kubectl crdx lint new.yaml --live

  # An admission policy, with its expressions checked against the types of the CRDs
  kubectl crdx lint policy.yaml --crds crds/

  # Conventions of fields: names, types, descriptions, list types
  kubectl crdx lint crd.yaml --conventions --severity BooleanField=off

  # A CRD of apiextensions.k8s.io/v1beta1 as v1
  kubectl crdx lint --convert old-crd.yaml > crd.yaml

Exit codes: 0 accepted, 1 rejected, objects of the CRD of --old or --live would break, or a finding has the severity error, 2 lint cannot tell, or the usage is wrong.")]
pub struct Lint {
    /// The CRDs, admission policies, bindings and webhook configurations.
    #[command(flatten)]
    pub paths: Paths,
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersions,
    /// The settings of the server.
    #[command(flatten)]
    pub server: Server,
    /// A file or directory with CRDs for type checking the expressions of admission policies, in addition to the CRDs
    /// that are linted; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files", conflicts_with = "convert")]
    pub crds: Vec<String>,
    /// A file or directory with the existing CRDs and policies, or git:REF for the given paths as of a commit; a new one
    /// of the same name is validated as an update; may be repeated
    #[arg(long, value_name = "PATH", conflicts_with = "convert")]
    pub old: Vec<String>,
    /// Validate as updates of the CRDs in the cluster; without this flag no cluster is contacted. Policies are
    /// validated as new ones
    #[arg(long, conflicts_with_all = ["old", "convert", "offline"])]
    pub live: bool,
    /// Try more cases and objects for the findings that an object or a proof shows
    #[arg(long, conflicts_with = "convert")]
    pub thorough: bool,
    /// Also report fields that do not follow the conventions of Kubernetes APIs (docs/conventions.md); --severity sets the
    /// severity of each, or switches it off
    #[arg(long, conflicts_with = "convert")]
    pub conventions: bool,
    /// Print CRDs of v1beta1 as v1, and report the changes of the conversion on standard error
    #[arg(long, conflicts_with = "render")]
    pub convert: bool,
    /// Output format: json (documented in docs/output.md), html (one self-contained page), or for pipelines sarif,
    /// junit, github (annotations), gitlab, rdjson (reviewdog), tap or markdown (for a comment) [default: table, text with tables]
    #[arg(
        short = 'o',
        long,
        value_name = "FORMAT",
        ignore_case = true, value_parser = ReportFormat::parser(ReportFormat::OF_LINT),
        help_heading = "Output",
        conflicts_with = "convert"
    )]
    pub output: Option<ReportFormat>,
    /// Print only what is not accepted or breaks stored objects, without costs, and a line of counts
    #[arg(short, long, help_heading = "Output", conflicts_with = "convert")]
    pub quiet: bool,
    /// Lint again whenever one of the files changes, until Ctrl-C; the exit code is that of the last run
    #[arg(long, help_heading = "Output", conflicts_with_all = ["convert", "write_baseline"])]
    pub watch: bool,
    /// The severities of the findings of this program.
    #[command(flatten)]
    pub severities: Severities,
    /// The findings that the project accepts.
    #[command(flatten)]
    pub baseline: BaselineFile,
    /// The cluster to read with --live.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
