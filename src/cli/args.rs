//! The arguments of the command line: one file per command, and one for each group of flags that commands share.
//! Flags are named as kubectl names them.

mod cel;
mod cluster;
mod completion;
mod diff;
mod envtest;
mod error;
mod example;
mod explain;
mod formats;
mod get;
mod inputs;
mod kubernetes;
mod lint;
mod lsp;
mod openapi;
mod paths;
mod policies;
mod rbac;
mod rehearse;
mod reports;
mod scale;
mod schema;
mod serve;
mod test;
mod updates;
mod validate;
mod version;

pub use cel::Cel;
pub use cluster::Cluster;
pub use completion::{Complete, Completion};
pub use diff::Diff;
pub use envtest::Envtest;
pub use example::Example;
pub use explain::{Explain, ExplainFormat};
pub use formats::{JsonOrYaml, OnlyJson, TableOrJson};
pub use get::Get;
pub use inputs::{FieldValidation, Inputs};
pub use kubernetes::{KubernetesVersion, KubernetesVersions};
pub use lint::Lint;
pub use lsp::Lsp;
pub use openapi::Openapi;
pub use paths::{Paths, Reading, report_skipped};
pub use policies::Policies;
pub use rbac::Rbac;
pub use rehearse::Rehearse;
pub use reports::{DiffFormat, LintFormat, RehearseFormat, ValidateFormat};
pub use scale::Scale;
pub use schema::Schema;
pub use serve::Serve;
pub use test::{Test, TestFormat};
pub use updates::{Subresource, Updates};
pub use validate::Validate;
pub use version::Version;

use crate::release::Release;
use clap::{Arg, CommandFactory, Parser, Subcommand, ValueEnum};

/// Returns the text at the end of `--help`.
fn after_help() -> String {
    format!(
        "It simulates Kubernetes {} to {} (--kubernetes-version) and never writes to a cluster.\n\n\
        Exit codes: 0 accepted or no difference, 1 rejected or different, 2 a result is unknown or the usage \
        is wrong (2 takes precedence over 1).",
        Release::OLDEST,
        Release::NEWEST
    )
}

/// Shows what the Kubernetes API server would do with a custom resource, before anything reaches the cluster
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-crdx",
    bin_name = "kubectl-crdx",
    version,
    max_term_width = 120,
    after_help = after_help()
)]
pub struct Args {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// When to colour human-readable output; `auto` colours on a terminal unless `NO_COLOR` is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        ignore_case = true,
        help_heading = "Output"
    )]
    pub color: Color,
    /// The log level on standard error; from 6 on, each request to a cluster is logged, as with kubectl
    #[arg(long = "v", short = 'v', global = true, value_name = "LEVEL", default_value_t = 0, require_equals = true)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub verbosity: u8,
}

/// Returns the definition of the command line. The values of flags are case-insensitive.
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
    /// Show what the server would do with each object: accept or reject it, create or update it, prune and default fields
    Validate(Validate),
    /// Show how a write would change the stored objects, as a diff
    Diff(Diff),
    /// Print objects with the printer columns of their CRD, as `kubectl get` does
    Get(Get),
    /// Show the effect of a new CRD, new admission policies or a cluster upgrade on stored objects
    Rehearse(Rehearse),
    /// Evaluate a CEL expression, estimate its cost and check whether it could be a validation rule
    Cel(Cel),
    /// Validate a CRD or an admission policy, and show the cost of its rules and what an update would break
    Lint(Lint),
    /// Run test suites of CRDs: what the server accepts, rejects and stores
    Test(Test),
    /// Print a valid object of a CRD, with all fields or only the required ones
    Example(Example),
    /// Document a custom resource and its fields, as `kubectl explain` does
    Explain(Explain),
    /// Print the OpenAPI document that the server would publish for a CRD
    Openapi(Openapi),
    /// Print or write JSON Schemas of CRDs, for editors and validators
    Schema(Schema),
    /// Print a `ClusterRole` with the read permissions that these commands need
    Rbac(Rbac),
    /// Show the scale of objects, and the effect of scaling them
    Scale(Scale),
    /// Serve the simulated API over HTTP on a loopback address, for real clients
    Serve(Serve),
    /// Write `etcd` and `kube-apiserver` for controller-runtime's envtest, which then uses the simulated server
    Envtest(Envtest),
    /// Show findings in an editor as you type: a language server for custom resources and CRDs
    Lsp(Lsp),
    /// Print the completion script of a shell
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
