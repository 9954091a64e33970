//! The arguments of `kubectl crdx completion`, and of the hidden command that completion scripts run.

use clap::{Args as ClapArgs, ValueEnum};

/// `completion`
#[derive(Debug, ClapArgs)]
#[command(after_help = "Examples:
  # For the command kubectl-crdx
  source <(kubectl-crdx completion bash)

  # For `kubectl crdx …`: kubectl runs this script, which must be on the PATH, for its own completion
  kubectl crdx completion kubectl > ~/.local/bin/kubectl_complete-crdx
  chmod +x ~/.local/bin/kubectl_complete-crdx
  source <(kubectl completion bash)")]
pub struct Completion {
    /// The shell that reads the script, or kubectl
    #[arg(value_name = "SHELL", ignore_case = true)]
    pub shell: CompletionScript,
}

/// A script that completes command lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionScript {
    /// bash
    Bash,
    /// zsh
    Zsh,
    /// fish
    Fish,
    /// PowerShell
    Powershell,
    /// elvish
    Elvish,
    /// `kubectl_complete-crdx`, which kubectl runs
    Kubectl,
}

/// `__complete`: the command that completion scripts and kubectl run.
#[derive(Debug, ClapArgs)]
pub struct Complete {
    /// The words after `kubectl crdx`; the last one is incomplete
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub words: Vec<String>,
}
