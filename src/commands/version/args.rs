//! The arguments of `kubectl crdx version`.

use crate::commands::flags::JsonOrYaml;
use clap::Args as ClapArgs;

/// `version`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The versions of this program and of the Kubernetes that it simulates
  kubectl crdx version

  # For programs
  kubectl crdx version -o json")]
pub struct Version {
    /// The output format [default: text]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<JsonOrYaml>,
}
