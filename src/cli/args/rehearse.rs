//! The words of `kubectl crdx rehearse`.

use super::{Cluster, KubernetesVersions, Reading, RehearseFormat};
use clap::Args as ClapArgs;
use std::num::NonZeroUsize;

/// `rehearse`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # Everything that the cluster of the current context stores, in all namespaces, and its CRD of today
  kubectl crdx rehearse new-crd.yaml

  # Offline: tomorrow's CRD, today's, and what is stored
  kubectl crdx rehearse new-crd.yaml --old old-crd.yaml -f objects/ --offline

  # What an upgrade of the cluster from 1.34 to 1.37 does to a CRD and to its stored objects
  kubectl crdx rehearse crd.yaml --old crd.yaml -f objects/ --offline --kubernetes-version 1.34..1.37

Of an object that would be invalid it is tried whether an edit of nothing but a label still passes: the server forgives
errors of what does not change, but not all of them.

Exit codes: 0 nothing breaks, 1 something is lost or invalid or the CRD is refused, 2 something could not be told.")]
pub struct Rehearse {
    /// A file with the CRD as it will be
    #[arg(value_name = "NEW_CRD")]
    pub definition: String,
    /// A file with the CRD as it is [default: that of the cluster; with --offline none, and objects are taken as they are]
    #[arg(long, value_name = "OLD_CRD")]
    pub old: Option<String>,
    /// A file or directory with stored objects, `-` for standard input; may be repeated; objects of other kinds are left
    /// out [default: all objects that the cluster stores]
    #[arg(short = 'f', long = "filename", value_name = "PATH", required_if_eq("offline", "true"))]
    pub filenames: Vec<String>,
    /// How files are read.
    #[command(flatten)]
    pub reading: Reading,
    /// The versions of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersions,
    /// How many threads rehearse [default: one per processor]
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
    /// What to print: json (documented in docs/output.md) or html (a page to send around) [default: a table and what
    /// becomes of each object]
    #[arg(short = 'o', long, value_name = "FORMAT", help_heading = "Output")]
    pub output: Option<RehearseFormat>,
    /// The cluster to ask for today's CRD and for what it stores.
    #[command(flatten)]
    pub cluster: Cluster,
}
