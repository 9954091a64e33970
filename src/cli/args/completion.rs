//! The arguments of `kubectl crdx completion`, and of the hidden command that completion scripts run.

use clap::Args as ClapArgs;
use clap_complete::Shell;

/// `completion`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # For the command kubectl-crdx
  source <(kubectl-crdx completion bash)

  # For `kubectl crdx …`: kubectl's own completion, which also completes names from the cluster if
  # the script kubectl_complete-crdx is on the PATH
  kubectl completion bash")]
pub struct Completion {
    /// The shell that reads the script
    #[arg(value_name = "SHELL", ignore_case = true)]
    pub shell: Shell,
}

/// `__complete`: the command that kubectl runs for the completion of plugins.
#[derive(Debug, ClapArgs)]
pub struct Complete {
    /// The words after `kubectl crdx`; the last one is incomplete
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}
