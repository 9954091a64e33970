//! The arguments of `kubectl crdx config`.

use crate::commands::flags::OnlyJson;
use clap::Args as ClapArgs;

/// `config`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # The settings that apply in the working directory, and where each is set
  kubectl crdx config

  # Those of the file of another commit
  kubectl crdx config --config git:main

Settings are in the file .crdx.yaml, which is searched from the working directory up to the root of its repository, and in \
variables CRDX_…. Flags take precedence over variables, and variables over the file.

Exit codes: 0 the settings are valid, 2 they are not.")]
pub struct Config {
    /// Output format: json (documented in docs/output.md) [default: a table]
    #[arg(short = 'o', long, value_name = "FORMAT", ignore_case = true, help_heading = "Output")]
    pub output: Option<OnlyJson>,
}
