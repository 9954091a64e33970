//! The arguments of `kubectl crdx discover`.

use crate::commands::flags::OnlyJson;
use clap::Args as ClapArgs;
use std::path::PathBuf;

/// `discover`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # What the repository has for Kubernetes, and a .crdx.yaml for it
  kubectl crdx discover

  # Write this .crdx.yaml; `validate` then needs no paths and flags
  kubectl crdx discover --write
  kubectl crdx validate
  kubectl crdx validate --render

Nothing is rendered, run or downloaded. The directories .git, .venv and node_modules are never searched.

Exit codes: 0 the directory was searched, 2 it could not be read, or the file could not be written.")]
pub struct Discover {
    /// The directory to search, such as the root of a repository
    #[arg(value_name = "DIR", default_value = ".")]
    pub directory: PathBuf,
    /// Write the settings to .crdx.yaml in this directory, if it has no such file
    #[arg(long)]
    pub write: bool,
    /// Also search files that .gitignore excludes
    #[arg(long)]
    pub no_ignore: bool,
    /// Output format: json (documented in docs/output.md) [default: a table and the text of .crdx.yaml]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<OnlyJson>,
}
