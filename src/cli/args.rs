//! What can be asked on the command line: one file per command, and one for each group of flags that commands share.
//! Flags are named as kubectl names them.

mod cel;
mod cluster;
mod completion;
mod diff;
mod formats;
mod get;
mod inputs;
mod kubernetes;
mod lint;
mod openapi;
mod paths;
mod rbac;
mod rehearse;
mod reports;
mod scale;
mod serve;
mod updates;
mod validate;
mod version;

pub use cel::Cel;
pub use cluster::Cluster;
pub use completion::{Complete, Completion};
pub use diff::Diff;
pub use formats::{JsonOrYaml, OnlyJson, TableOrJson};
pub use get::Get;
pub use inputs::{FieldValidation, Inputs};
pub use kubernetes::{KubernetesVersion, KubernetesVersions};
pub use lint::Lint;
pub use openapi::Openapi;
pub use paths::{Paths, Reading, report_skipped};
pub use rbac::Rbac;
pub use rehearse::Rehearse;
pub use reports::{DiffFormat, LintFormat, RehearseFormat, ValidateFormat};
pub use scale::Scale;
pub use serve::Serve;
pub use updates::{Subresource, Updates};
pub use validate::Validate;
pub use version::Version;

use clap::{Arg, CommandFactory, Parser, Subcommand, ValueEnum};

/// Tells, before anything reaches the cluster, what the Kubernetes API server would do with a custom resource
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-crdx",
    bin_name = "kubectl-crdx",
    version,
    max_term_width = 120,
    after_help = "It answers as Kubernetes 1.30 to 1.37 do (--kubernetes-version) and never writes to a cluster.\n\n\
        Exit codes: 0 all is well, 1 the server would reject something, 2 something could not be told (2 beats 1)."
)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Whether to colour what a person reads; `auto` colours on a terminal unless `NO_COLOR` is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        ignore_case = true,
        help_heading = "Output"
    )]
    pub color: Color,
    /// How much to log to standard error; from 6 each request to a cluster, as with kubectl
    #[arg(long = "v", short = 'v', global = true, value_name = "LEVEL", default_value_t = 0, require_equals = true)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub verbosity: u8,
}

/// The definition of the command line; the values of flags are compared without case.
pub fn command() -> clap::Command {
    let without_case = |arg: Arg| {
        let has_values = arg.get_action().takes_values() && !arg.get_possible_values().is_empty();
        if has_values { arg.ignore_case(true) } else { arg }
    };
    Args::command().mut_subcommands(|command| command.mut_args(without_case))
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Say for every object what the server would do with it: create or update, accept or reject, prune, default
    Validate(Validate),
    /// Show what a write would change in what is stored, as a diff
    Diff(Diff),
    /// Print objects with the printer columns of their CRD, as `kubectl get` does
    Get(Get),
    /// Tell what becomes of stored objects when their CRD is replaced
    Rehearse(Rehearse),
    /// Say what a CEL expression gives, what it costs and whether it could be a rule
    Cel(Cel),
    /// Say what the server would say of a CRD, what its rules cost, and what a new version of it would break
    Lint(Lint),
    /// Print the OpenAPI document that the server would publish for a CRD
    Openapi(Openapi),
    /// Print the `ClusterRole` that lets somebody read what these commands need
    Rbac(Rbac),
    /// Show the scale of objects, and what scaling them would do
    Scale(Scale),
    /// Serve the simulated API over HTTP on loopback, for real clients
    Serve(Serve),
    /// Print the script with which a shell completes our words
    Completion(Completion),
    /// Print the versions of this program and of the Kubernetes it simulates
    Version(Version),
    /// Candidates for an unfinished command line
    #[command(name = "__complete", hide = true)]
    Complete(Complete),
}

/// `--color`
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set
    #[default]
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}
