//! The command line as a whole: the commands with their arguments, and the flags that all commands have.

mod given_paths;

use crate::commands::cel::args::Cel;
use crate::commands::completion::args::{Complete, Completion};
use crate::commands::config::args::Config;
use crate::commands::diff::args::Diff;
use crate::commands::discover::args::Discover;
#[cfg(feature = "serve")]
use crate::commands::envtest::args::Envtest;
use crate::commands::example::args::Example;
use crate::commands::explain::args::Explain;
#[cfg(feature = "cluster")]
use crate::commands::fetch::args::Fetch;
use crate::commands::flags::{ClusterArgs, Color};
use crate::commands::get::args::Get;
use crate::commands::lint::args::Lint;
#[cfg(feature = "lsp")]
use crate::commands::lsp::args::Lsp;
use crate::commands::mcp::args::Mcp;
use crate::commands::openapi::args::Openapi;
use crate::commands::options::args::Options;
use crate::commands::prove::args::Prove;
use crate::commands::rbac::args::Rbac;
use crate::commands::rehearse::args::Rehearse;
use crate::commands::scale::args::Scale;
use crate::commands::schema::args::Schema;
#[cfg(feature = "serve")]
use crate::commands::serve::args::Serve;
use crate::commands::test::args::Test;
use crate::commands::validate::args::Validate;
use crate::commands::version::args::Version;
use clap::{Args as _, CommandFactory, Parser, Subcommand};
use crdx_value::release::Release;

/// Returns the text at the end of `--help`.
fn after_help() -> String {
    format!(
        "It simulates Kubernetes {} (--kubernetes-version) and never writes to a cluster.\n\n\
        Exit codes: 0 accepted or no difference, 1 rejected or different, 2 the command cannot tell, or the usage \
        is wrong (2 takes precedence over 1).",
        Release::supported()
    )
}

/// The name of the program.
const NAME: &str = "kubectl-crdx";

/// Shows what the Kubernetes API server would do with a custom resource, before anything reaches the cluster
#[derive(Debug, Parser)]
#[command(
    name = NAME,
    bin_name = NAME,
    version,
    max_term_width = 120,
    after_help = after_help()
)]
pub struct Args {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
    /// The flags of every command.
    #[command(flatten)]
    pub global: GlobalFlags,
}

/// The flags of every command.
#[derive(Debug, clap::Args)]
pub struct GlobalFlags {
    /// When to colour human-readable output; `auto` colours on a terminal, or with `FORCE_COLOR`, unless `NO_COLOR` is set
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        ignore_case = true,
        help_heading = "Output"
    )]
    pub color: Color,
    /// The log level on standard error; from 6 on, each request to a cluster is logged, as with kubectl. With any level,
    /// validate lists all fields that would be dropped or set by defaults
    #[arg(long = "v", short = 'v', global = true, value_name = "LEVEL", default_value_t = 0, require_equals = true)]
    #[arg(help_heading = "Output", hide_short_help = true)]
    pub verbosity: u8,
    /// Read settings from this file instead of .crdx.yaml; git:REF reads the .crdx.yaml of a commit, whose paths are those of
    /// the working directory
    #[arg(long, global = true, value_name = "FILE", help_heading = "Settings", hide_short_help = true)]
    pub config: Option<String>,
    /// Read no file with settings
    #[arg(long, global = true, help_heading = "Settings", hide_short_help = true, conflicts_with = "config")]
    pub no_config: bool,
}

/// Defines the arguments of a command.
type Define = fn(clap::Command) -> clap::Command;

/// The commands by name.
const COMMANDS: &[(&str, Define)] = &[
    ("validate", Validate::augment_args),
    ("diff", Diff::augment_args),
    ("get", Get::augment_args),
    ("rehearse", Rehearse::augment_args),
    ("prove", Prove::augment_args),
    ("cel", Cel::augment_args),
    ("lint", Lint::augment_args),
    ("test", Test::augment_args),
    ("example", Example::augment_args),
    ("explain", Explain::augment_args),
    ("openapi", Openapi::augment_args),
    ("schema", Schema::augment_args),
    ("rbac", Rbac::augment_args),
    ("scale", Scale::augment_args),
    #[cfg(feature = "serve")]
    ("serve", Serve::augment_args),
    #[cfg(feature = "serve")]
    ("envtest", Envtest::augment_args),
    #[cfg(feature = "lsp")]
    ("lsp", Lsp::augment_args),
    #[cfg(feature = "cluster")]
    ("fetch", Fetch::augment_args),
    ("mcp", Mcp::augment_args),
    ("discover", Discover::augment_args),
    ("config", Config::augment_args),
    ("options", Options::augment_args),
    ("completion", Completion::augment_args),
    ("version", Version::augment_args),
    ("__complete", Complete::augment_args),
];

/// Returns the definition of the command line with the arguments of all commands.
pub fn definition() -> clap::Command {
    defined(|_| true)
}

/// Returns the definition for manual pages, where every argument has a long help text: a page leaves out the text of
/// arguments that are hidden in short help.
pub fn definition_of_pages() -> clap::Command {
    let describe = |arg: clap::Arg| match (arg.get_long_help(), arg.get_help().cloned()) {
        (None, Some(help)) => arg.long_help(help),
        _ => arg,
    };
    // Pages also describe the flags of the connection.
    let shown = |arg: clap::Arg| if is_of_connection(&arg) { describe(arg.hide(false)) } else { describe(arg) };
    definition().mut_args(describe).mut_subcommands(|command| command.mut_args(shown))
}

/// Returns true for a flag of the connection to a cluster.
pub fn is_of_connection(arg: &clap::Arg) -> bool {
    arg.get_help_heading() == Some(ClusterArgs::HEADING)
}

/// Replaces the paths of documents in a help text by URLs: an installed program comes without them.
fn with_urls(text: &str) -> String {
    text.replace("docs/", concat!(env!("CARGO_PKG_REPOSITORY"), "/blob/main/docs/"))
}

/// Adapts the texts of a command: documents have URLs, and the flags of the connection are described elsewhere.
fn with_texts(mut command: clap::Command) -> clap::Command {
    let connects = command.get_arguments().any(|arg| arg.get_id() == "kubeconfig");
    let mut after: String = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    if connects {
        after.push_str("\n\n`kubectl crdx options` lists the flags that select the cluster and the user.");
    }
    if connects || after.contains("docs/") {
        command = command.after_help(with_urls(after.trim_start()));
    }
    command.mut_args(|arg| match arg.get_help().map(ToString::to_string) {
        Some(text) if text.contains("docs/") => arg.help(with_urls(&text)),
        _ => arg,
    })
}

/// Returns the definition of the command line with the arguments of one command. All others together would take most of
/// the time of a start.
pub fn definition_of(command: &str) -> clap::Command {
    defined(|name| name == command)
}

/// Returns a definition of the command line that has only this command. It accepts the same words if the command is the first of
/// them, and takes a fraction of the time: the parser copies the global flags to each command. Its error messages and help are
/// less complete than those of [`definition_of`]. `None` if there is no such command.
pub fn definition_of_one(command: &str) -> Option<clap::Command> {
    let (name, define) = COMMANDS.iter().find(|(name, _)| *name == command)?;
    let root = GlobalFlags::augment_args(clap::Command::new(NAME));
    Some(root.subcommand(with_arguments(name, *define)).subcommand_required(true))
}

fn with_arguments(name: &'static str, define: Define) -> clap::Command {
    // As with pflag, a flag may be repeated: the last value counts.
    let command = define(clap::Command::new(name)).args_override_self(true);
    // Shells call the commands that are hidden.
    accept_offline(command.hide(name.starts_with("__")))
}

fn defined(has_arguments: impl Fn(&str) -> bool) -> clap::Command {
    Args::command().mut_subcommands(|listed| {
        let command = COMMANDS.iter().find(|(name, _)| *name == listed.get_name() && has_arguments(name));
        let Some((name, define)) = command else { return listed };
        let own = with_texts(with_arguments(name, *define));
        if let Some(about) = listed.get_about() { own.about(about.clone()) } else { own }
    })
}

/// Adds `--offline` to a command without it: the command contacts no cluster, but scripts may give the flag to any command.
fn accept_offline(command: clap::Command) -> clap::Command {
    if command.is_hide_set() || command.get_arguments().any(|arg| arg.get_long() == Some("offline")) {
        return command;
    }
    let flag = clap::Arg::new("offline").long("offline").action(clap::ArgAction::SetTrue).hide_short_help(true);
    command.arg(flag.help("Has no effect, because this command never contacts a cluster; every command accepts it"))
}

/// The commands. Their arguments are deferred: see [`definition_of`].
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub enum Command {
    /// Show what the server would do with each object: accept or reject it, create or update it, prune and default fields
    Validate(Validate),
    /// Show how a write would change the stored objects, as a diff
    Diff(Diff),
    /// Print objects with the printer columns of their CRD, as `kubectl get` does
    Get(Get),
    /// Show the effect of a new CRD, new admission policies or a cluster upgrade on stored objects
    Rehearse(Rehearse),
    /// Find the smallest objects that a new CRD rejects, prunes, defaults or prints differently, or show that there are none
    Prove(Prove),
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
    #[cfg(feature = "serve")]
    Serve(Serve),
    /// Write `etcd` and `kube-apiserver` for controller-runtime's envtest, which then uses the simulated server
    #[cfg(feature = "serve")]
    Envtest(Envtest),
    /// Show findings in an editor as you type: a language server for custom resources and CRDs
    #[cfg(feature = "lsp")]
    Lsp(Lsp),
    /// Download the CRDs with a URL, or save the CRDs and policies of a cluster, for use without a connection
    #[cfg(feature = "cluster")]
    Fetch(Fetch),
    /// Give agents these commands as tools: a server of the Model Context Protocol on standard input and output
    Mcp(Mcp),
    /// Find what a repository has for Kubernetes, and write the .crdx.yaml that validates it
    Discover(Discover),
    /// Print the settings of the project's .crdx.yaml and of variables, and where each is set
    Config(Config),
    /// List the flags that select the cluster and the user
    Options(Options),
    /// Print the completion script of a shell or of kubectl
    Completion(Completion),
    /// Print the versions of this program and of the Kubernetes it simulates
    Version(Version),
    /// Candidates for an unfinished command line
    #[command(name = "__complete", hide = true)]
    Complete(Complete),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_case_of_words_that_a_flag_lists_does_not_matter() {
        let definition = definition();
        let commands = definition.get_subcommands().chain([&definition]);
        let mut checked = 0;
        for (command, arg) in commands.flat_map(|command| command.get_arguments().map(move |arg| (command, arg))) {
            if arg.get_action().takes_values() && !arg.get_possible_values().is_empty() {
                assert!(arg.is_ignore_case_set(), "{} {}", command.get_name(), arg.get_id());
                checked += 1;
            }
        }
        assert!(checked > 15, "{checked}");
    }

    #[test]
    fn every_flag_has_a_text_in_manual_pages() {
        let definition = definition_of_pages();
        let (mut checked, mut connection) = (0, 0);
        for command in definition.get_subcommands() {
            for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
                assert!(arg.get_long_help().is_some(), "{} {}", command.get_name(), arg.get_id());
                checked += 1;
                connection += usize::from(arg.get_long() == Some("certificate-authority"));
            }
        }
        assert!(checked > 200 && connection > 5, "{checked} {connection}");
    }

    #[test]
    fn help_names_no_file_that_is_not_installed() {
        let mut definition = definition();
        let mut commands: Vec<clap::Command> =
            definition.get_subcommands_mut().map(|command| command.clone()).collect();
        let mut documents = 0;
        for command in &mut commands {
            let text = command.render_long_help().to_string();
            documents += text.matches("/docs/").count();
            assert_eq!(text.matches("docs/").count(), text.matches("/blob/main/docs/").count(), "{text}");
            assert!(!text.contains("--client-certificate"), "{text}");
        }
        assert!(documents > 5, "{documents}");
    }

    #[test]
    fn every_command_is_in_the_list() {
        let listed = Args::command();
        let names: Vec<&str> = listed.get_subcommands().map(clap::Command::get_name).collect();
        assert_eq!(names, COMMANDS.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    }
}
