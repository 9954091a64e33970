//! The arguments of `kubectl crdx schema`.

use crate::commands::flags::ClusterArgs;
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// `schema`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The schema of a CRD's storage version
  kubectl crdx schema crd.yaml

  # A catalog: schemas/GROUP/KIND_VERSION.json for every served version of the CRDs in a directory
  kubectl crdx schema config/crd/ --output-dir schemas --strict

  # The schema of a CRD of the cluster
  kubectl crdx schema crontabs

  # Use the catalog with kubeconform
  kubeconform -schema-location \\
    'schemas/{{ .Group }}/{{ .ResourceKind }}_{{ .ResourceAPIVersion }}.json' objects/

  # Use it with yaml-language-server: write this comment on the first line of an object's file
  # yaml-language-server: $schema=schemas/stable.example.com/crontab_v1.json

The schemas are JSON Schema draft-07. They accept every object that the server accepts. CEL rules are left out, and so \
are patterns whose meaning differs between Go and other languages.

Exit codes: 0 every schema is written, 2 a CRD cannot be read or a file cannot be written.")]
pub struct Schema {
    /// Files or directories with CRDs, `-` for standard input; or names of resources in --crds or in a cluster
    #[arg(value_name = "CRD|TYPE", required = true)]
    pub words: Vec<String>,
    /// A file or directory with the CRDs of named resources, read instead of the cluster; may be repeated
    #[arg(long, value_name = "PATH", help_heading = "Files")]
    pub crds: Vec<String>,
    /// Write one file for every served version, `GROUP/KIND_VERSION.json` below this directory with the kind in lower
    /// case, and print the names of the files
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output_dir: Option<PathBuf>,
    /// Reject unknown fields, which the server drops
    #[arg(long)]
    pub strict: bool,
    /// The version of the CRD [default: the one objects are stored in; all with --output-dir]
    #[arg(long, value_name = "VERSION")]
    pub version: Option<String>,
    /// The cluster with the CRDs of named resources.
    #[command(flatten)]
    pub cluster: ClusterArgs,
}
