//! The flags of commands that read objects of a cluster or, instead, of files.

use clap::Args as ClapArgs;
use std::path::PathBuf;

/// Files with objects and their CRDs.
#[derive(Debug, ClapArgs)]
pub struct ObjectFiles {
    /// A file or directory with objects, read instead of live ones; may be repeated
    #[arg(short = 'f', long = "filename", value_name = "PATH", group = "files", help_heading = "Files")]
    pub filenames: Vec<String>,
    /// Build this directory with `kubectl kustomize` or `kustomize build`, and read the result; may be repeated
    #[arg(short = 'k', long, value_name = "DIR", group = "files", help_heading = "Files")]
    pub kustomize: Vec<PathBuf>,
    /// A file or directory with CustomResourceDefinitions for objects in files; may be repeated
    #[arg(long, value_name = "PATH", requires = "files", help_heading = "Files")]
    pub crds: Vec<String>,
}
