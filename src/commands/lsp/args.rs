//! The arguments of `kubectl crdx lsp`.

use crate::commands::flags::{KubernetesVersions, Severities};
use clap::Args as ClapArgs;

/// `lsp`
#[derive(Debug, ClapArgs)]
#[command(
    after_help = "The editor starts this command and communicates with it over standard input and output in the Language Server \
Protocol. docs/editors.md shows the set-up for several editors. CRDs are found in the folders of the workspace. The \
options of the editor (crds, policies, kubernetesVersion, live) override these flags.

Examples:
  # The newest version, with the CRDs of the workspace
  kubectl crdx lsp

  # With CRDs from another directory, too, and with an older Kubernetes version
  kubectl crdx lsp --crds ~/catalog/crds --kubernetes-version 1.34"
)]
pub struct Lsp {
    /// The version of the server.
    #[command(flatten)]
    pub kubernetes: KubernetesVersions,
    /// A file or directory with CRDs, besides those in the folders of the workspace; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub crds: Vec<String>,
    /// A file or directory with admission policies, their bindings and params; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub policies: Vec<String>,
    /// The severities of the findings of this program.
    #[command(flatten)]
    pub severities: Severities,
    /// Read CRDs that are not in the files from the cluster of the current context; without this flag no cluster is
    /// contacted
    #[arg(long, conflicts_with = "offline")]
    pub live: bool,
    /// Never open a connection, which is also the default
    #[arg(long)]
    pub offline: bool,
    /// Use standard input and output, which is the only transport; some editors pass this flag
    #[arg(long, hide = true)]
    pub stdio: bool,
}
