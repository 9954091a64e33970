//! The arguments of `kubectl crdx fetch`.

use crate::commands::flags::{ClusterArgs, OnlyJson};
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// `fetch`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Download the CRDs with a URL in .crdx.yaml, and write their hashes to crdx.lock
  kubectl crdx fetch

  # Download the CRDs of a release; other commands then read them without a connection
  kubectl crdx fetch --crds https://example.com/v1.2.0/crds.yaml
  kubectl crdx validate objects/ --crds https://example.com/v1.2.0/crds.yaml

  # Download the CRDs of a release by its name in the catalog
  kubectl crdx fetch --crds cert-manager@v1.16.2 --crds gateway-api@v1.2.0/standard

  # Save the CRDs, admission policies and bindings of a cluster for offline use
  kubectl crdx fetch --from-cluster --context prod --out prod
  kubectl crdx validate objects/ --crds prod/crds --policies prod/policies

  # Save a profile: the settings, APIs, CRDs, policies and admission objects of a cluster, without Secrets, tokens and
  # addresses; then validate as that cluster would, without access to it
  kubectl crdx fetch --from-cluster --context prod --profile prod
  kubectl crdx validate objects/ --profile prod

A URL may name a file, a .tar.gz archive or a packed Helm chart, of which crds/ is read; URL//PATH names a file or a directory in an \
archive. Downloads are kept in the user's cache directory, \
or in that of the variable CRDX_CACHE.

Exit codes: 0 everything was downloaded and has the hashes of crdx.lock, 2 otherwise.")]
pub struct Fetch {
    /// A URL with CustomResourceDefinitions, or an entry of the catalog: NAME@VERSION or NAME@VERSION/CHANNEL; may be
    /// repeated; paths are left out, because they need no download
    #[arg(long, value_name = "URL")]
    pub crds: Vec<String>,
    /// A chart that a `HelmRelease` of Flux names, for --render: `oci://HOST/REPOSITORY:TAG` or
    /// `helm+https://HOST/PATH/NAME@VERSION`; may be repeated
    #[arg(long, value_name = "URL", conflicts_with = "from_cluster")]
    pub charts: Vec<String>,
    /// Resolve entries of the catalog by this index, a file or a URL, instead of the one of this program
    #[arg(long, value_name = "FILE")]
    pub catalog: Option<String>,
    /// Leave out files of archives that match this .gitignore pattern; may be repeated
    #[arg(long, value_name = "PATTERN")]
    pub ignore: Vec<String>,
    /// Accept content that differs from the hash in crdx.lock, and write its hash
    #[arg(long, conflicts_with = "from_cluster")]
    pub update: bool,
    /// Save the CRDs, admission policies and bindings of a cluster instead of downloading URLs
    #[arg(long)]
    pub from_cluster: bool,
    /// The directory for the objects of the cluster
    #[arg(long, value_name = "DIR", default_value = "crdx-cluster", requires = "from_cluster")]
    pub out: PathBuf,
    /// With --profile, also save the RBAC objects of the cluster, for policies with an authorizer
    #[arg(long, requires = "profile")]
    pub rbac: bool,
    /// Output format: json (documented in docs/output.md) [default: a table]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<OnlyJson>,
    /// The cluster.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
