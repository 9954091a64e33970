//! `__complete`: candidates for the last word of a command line, in the protocol between kubectl and its plugins. Each
//! line contains a candidate, a tab and a description; the last line is `:N` with the shell's directive
//! (`kubectl/pkg/cmd/plugin/plugin_completion.go`, cobra's `ShellCompDirective`).

use super::source::ObjectSource;
use crate::commands::arguments::{self, is_named};
use crate::commands::command_line;
use crate::commands::command_line::Args;
use crate::commands::exit::Exit;
use crate::commands::flags;
use clap::{Arg, ArgAction, Command, FromArgMatches};
use crdx_cluster::{Error, Query, Resource};
use crdx_value::release::Release;
use std::collections::HashSet;
use std::ffi::OsString;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// The shell also offers file names.
const FILES: u8 = 0;
/// The shell adds no space after the word and offers no file names.
const UNFINISHED: u8 = 2 | NO_FILES;
/// The shell offers no file names.
const NO_FILES: u8 = 4;
/// The shell offers directories.
const ONLY_DIRECTORIES: u8 = 16;
/// The names of values that are files.
const PATHS: &[&str] = &["PATH", "FILE", "CRD", "NEW_CRD", "OLD_CRD"];
/// The names of values that are directories.
const DIRECTORIES: &[&str] = &["DIR"];
/// The time limit for requests to a cluster.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum number of names that are offered.
const MAX_NAMES: usize = 500;

/// Runs the command. Errors are not reported, because the shell cannot show them.
pub fn run(args: &crate::commands::completion::args::Complete) -> Result<Exit, super::error::Error> {
    let (last, words) = args.words.split_last().map_or(("", [].as_slice()), |(last, words)| (last.as_str(), words));
    let offer = offer(words, last);
    let mut out = BufWriter::new(io::stdout());
    for (candidate, about) in &offer.candidates {
        writeln!(out, "{candidate}{}{about}", if about.is_empty() { "" } else { "\t" })?;
    }
    writeln!(out, ":{}", offer.directive)?;
    out.flush()?;
    Ok(Exit::Accepted)
}

/// The candidates, and the directive for the shell.
#[derive(Debug, Default, PartialEq, Eq)]
struct Candidates {
    candidates: Vec<(String, String)>,
    directive: u8,
}

impl Candidates {
    fn new(candidates: impl Iterator<Item = (String, String)>, last: &str) -> Self {
        Self { candidates: candidates.filter(|(c, _)| c.starts_with(last)).collect(), directive: NO_FILES }
    }

    fn files() -> Self {
        Self { candidates: Vec::new(), directive: FILES }
    }

    /// Files or directories if an argument takes them, otherwise nothing.
    fn of_paths(arg: &Arg) -> Self {
        let is = |names: &[&str]| {
            let own = arg.get_value_names().unwrap_or_default();
            own.iter().any(|own| names.contains(&own.as_str()))
        };
        let directive = match () {
            () if is(DIRECTORIES) => ONLY_DIRECTORIES,
            () if is(PATHS) => FILES,
            () => NO_FILES,
        };
        Self { candidates: Vec::new(), directive }
    }
}

/// The command line before the last word.
struct PartialCommand<'a> {
    root: &'a Command,
    /// The command, if there is one.
    command: Option<&'a Command>,
    /// The words after the command.
    words: Vec<String>,
}

fn offer(words: &[String], last: &str) -> Candidates {
    let root = command_line::definition();
    let typed = ["kubectl-crdx"].into_iter().chain(words.iter().map(String::as_str)).map(OsString::from).collect();
    // Flags may come before the command.
    let mut words =
        arguments::normal(typed).into_iter().skip(1).map(|word| word.to_string_lossy().into_owned()).peekable();
    let command = words.next_if(|word| root.find_subcommand(word).is_some());
    let command = command.and_then(|name| root.find_subcommand(name));
    let line = PartialCommand { root: &root, command, words: words.collect() };
    line.offer(last)
}

impl PartialCommand<'_> {
    fn offer(&self, last: &str) -> Candidates {
        if self.words.iter().any(|word| word == "--") {
            return self.positional(last);
        }
        let flags = self.flags();
        if let Some((flag, value)) = last.split_once('=').filter(|_| last.starts_with("--")) {
            let Some(arg) = flags.iter().find(|a| is_called(a, flag)) else { return Candidates::files() };
            let mut offer = self.values(arg, value);
            for (candidate, _) in &mut offer.candidates {
                *candidate = format!("{flag}={candidate}");
            }
            return offer;
        }
        if let Some(arg) =
            self.words.last().and_then(|word| flags.iter().find(|a| is_called(a, word) && takes_value(a)))
        {
            return self.values(arg, last);
        }
        if last.starts_with('-') {
            let long = flags.iter().filter(|a| !a.is_hide_set() || command_line::is_of_connection(a));
            let long = long.filter_map(|a| Some((format!("--{}", a.get_long()?), about(a.get_help()))));
            return Candidates::new(long, last);
        }
        self.positional(last)
    }

    /// Returns the flags that may follow; without a command those of every command.
    fn flags(&self) -> Vec<&Arg> {
        let global = self.root.get_arguments().filter(|a| a.is_global_set());
        let Some(command) = self.command else {
            let shown = self.root.get_subcommands().filter(|c| !c.is_hide_set()).flat_map(Command::get_arguments);
            let mut flags: Vec<&Arg> = global.chain(shown).filter(|a| !a.is_positional()).collect();
            let mut seen = HashSet::new();
            flags.retain(|arg| seen.insert(arg.get_long()));
            return flags;
        };
        global.chain(command.get_arguments()).collect()
    }

    /// Returns the values of a flag.
    fn values(&self, arg: &Arg, last: &str) -> Candidates {
        let possible = arg.get_possible_values();
        if !possible.is_empty() {
            let shown = possible.iter().filter(|v| !v.is_hide_set());
            return Candidates::new(shown.map(|v| (v.get_name().to_owned(), about(v.get_help()))), last);
        }
        let plain = |names: Vec<String>| Candidates::new(names.into_iter().map(|name| (name, String::new())), last);
        match arg.get_long() {
            Some("output") => formats(last),
            Some("namespace") => self.namespaces(last).unwrap_or_else(|_| plain(Vec::new())),
            Some("context") => plain(self.kubeconfig("contexts")),
            Some("cluster") => plain(self.kubeconfig("clusters")),
            Some("user") => plain(self.kubeconfig("users")),
            Some("kubernetes-version") => plain(Release::known().map(|release| release.minor().to_string()).collect()),
            Some("authorizer") => {
                let words = ["allow", "deny"].map(|word| (word.to_owned(), String::new()));
                Candidates { directive: FILES, ..Candidates::new(words.into_iter(), last) }
            }
            _ => Candidates::of_paths(arg),
        }
    }

    fn positional(&self, last: &str) -> Candidates {
        let Some(command) = self.command else {
            let commands = self.root.get_subcommands().filter(|c| !c.is_hide_set());
            return Candidates::new(commands.map(|c| (c.get_name().to_owned(), about(c.get_about()))), last);
        };
        if let name @ ("get" | "scale" | "explain") = command.get_name() {
            return self.objects(name, last).unwrap_or_else(|_| Candidates::new(std::iter::empty(), last));
        }
        let possible = command.get_positionals().flat_map(Arg::get_possible_values);
        let words: Vec<_> = possible.map(|v| (v.get_name().to_owned(), about(v.get_help()))).collect();
        if words.is_empty() {
            return command
                .get_positionals()
                .next()
                .map_or_else(|| Candidates::new(std::iter::empty(), last), Candidates::of_paths);
        }
        Candidates::new(words.into_iter(), last)
    }
}

/// Returns the values of `-o` of `get`.
fn formats(last: &str) -> Candidates {
    let formats = ["json", "yaml", "kyaml", "name", "wide", "jsonpath=", "jsonpath-as-json=", "jsonpath-file="];
    let more = ["go-template=", "go-template-file=", "custom-columns=", "custom-columns-file="];
    let mut offer = Candidates::new(formats.into_iter().chain(more).map(|f| (f.to_owned(), String::new())), last);
    if let [(only, _)] = offer.candidates.as_slice()
        && only.ends_with('=')
    {
        offer.directive = UNFINISHED;
    }
    offer
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

fn is_called(arg: &Arg, word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => is_named(arg, long),
        None => word.strip_prefix('-').is_some_and(|short| arg.get_short().map(String::from).as_deref() == Some(short)),
    }
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// The arguments before the last one, and the cluster they select.
struct Typed {
    words: Vec<String>,
    cluster: flags::ClusterArgs,
}

/// Parses the arguments as those of `command`.
fn typed(command: &str, words: &[String]) -> Result<Typed, Error> {
    let line = ["kubectl-crdx", command].into_iter().chain(words.iter().map(String::as_str));
    let definition = command_line::definition();
    let line = arguments::pflag::canonical(&definition, line.map(OsString::from).collect()).unwrap_or_default();
    let unreadable = |_| Error::default();
    // An incomplete command line may lack required arguments.
    let mut parser = definition.ignore_errors(true).mut_subcommand("scale", |scale| {
        scale.mut_args(|arg| arg.required(false)).mut_arg("replicas", |arg| arg.default_value("0"))
    });
    let matches = parser.try_get_matches_from_mut(line).map_err(unreadable)?;
    let args = Args::from_arg_matches(&matches).map_err(unreadable)?;
    let (words, mut cluster) = match args.command {
        command_line::Command::Get(get) => (get.words, get.cluster),
        command_line::Command::Scale(scale) => (scale.words, scale.cluster),
        _ => return Err(Error::default()),
    };
    cluster.request_timeout = cluster.request_timeout.filter(|t| !t.is_zero()).or(Some(TIMEOUT));
    Ok(Typed { words, cluster })
}

impl PartialCommand<'_> {
    /// Returns the cluster that the flags of any command select: `get` has all of them.
    fn cluster(&self) -> Result<flags::ClusterArgs, Error> {
        let known = self.root.find_subcommand("get").into_iter().flat_map(Command::get_arguments);
        let known: Vec<&Arg> =
            known.filter(|arg| arg.get_help_heading() == Some(flags::ClusterArgs::HEADING)).collect();
        let mut words = Vec::new();
        let mut given = self.words.iter().peekable();
        while let Some(word) = given.next() {
            let flag = word.split_once('=').map_or(word.as_str(), |(flag, _)| flag);
            let Some(arg) = known.iter().find(|arg| is_called(arg, flag)) else { continue };
            words.push(word.clone());
            if takes_value(arg) && !word.contains('=') {
                // The last word is a flag whose value is being completed.
                let Some(value) = given.next() else {
                    _ = words.pop();
                    break;
                };
                words.push(value.clone());
            }
        }
        Ok(typed("get", &words)?.cluster)
    }

    /// Returns names in the kubeconfig.
    fn kubeconfig(&self, list: &str) -> Vec<String> {
        self.cluster().map(|cluster| crdx_cluster::names(&cluster.target(), list)).unwrap_or_default()
    }

    fn namespaces(&self, last: &str) -> Result<Candidates, Error> {
        let source = ObjectSource::live(&self.cluster()?)?;
        let names = names(&source, &Resource::namespaces(), None)?;
        Ok(Candidates::new(names.into_iter().map(|name| (name, String::new())), last))
    }

    /// Returns resource types, or names of objects after a resource type.
    fn objects(&self, command: &str, last: &str) -> Result<Candidates, Error> {
        if command == "explain" {
            return resource_types(&ObjectSource::live(&self.cluster()?)?, last);
        }
        let typed = typed(command, &self.words)?;
        let source = ObjectSource::live(&typed.cluster)?;
        let namespace = super::source::namespace(&typed.cluster);
        let names = |word: &str| -> Result<Vec<String>, Error> {
            let resource = source.resource(word)?;
            names(&source, &resource, Some(&namespace).filter(|_| resource.namespaced))
        };
        if let Some((word, _)) = last.split_once('/') {
            let pairs = names(word)?.into_iter().map(|name| (format!("{word}/{name}"), String::new()));
            return Ok(Candidates::new(pairs, last));
        }
        if let Some(word) = typed.words.first().filter(|word| !word.contains('/')) {
            let left = names(word)?.into_iter().filter(|name| !typed.words.contains(name));
            return Ok(Candidates::new(left.map(|name| (name, String::new())), last));
        }
        resource_types(&source, last)
    }
}

fn resource_types(source: &ObjectSource, last: &str) -> Result<Candidates, Error> {
    let (before, _) = last.rsplit_once(',').map_or(("", last), |(before, word)| (before, word));
    let before = if before.is_empty() { String::new() } else { format!("{before},") };
    let resources = source.resources()?;
    let mut candidates: Vec<(String, String)> = Vec::new();
    for resource in resources.iter().filter(|r| r.verbs.iter().any(|verb| verb == "list")) {
        let name = super::source::definition_name(resource);
        let word = format!("{before}{}", name.trim_end_matches('.'));
        if candidates.last().is_none_or(|(known, _)| *known != word) {
            candidates.push((word, resource.kind.clone()));
        }
    }
    Ok(Candidates::new(candidates.into_iter(), last))
}

fn names(source: &ObjectSource, resource: &Resource, namespace: Option<&String>) -> Result<Vec<String>, Error> {
    let (query, mut names) = (Query::default(), Vec::new());
    for page in source.list(resource, namespace.map(String::as_str), &query) {
        names.extend(page?.iter().filter_map(|o| o.str_at(&["metadata", "name"])).map(str::to_owned));
        if names.len() >= MAX_NAMES {
            break;
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(line: &str) -> (Vec<String>, u8) {
        let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let last = words.pop().unwrap_or_default();
        let Candidates { candidates, directive } = offer(&words, &last);
        (candidates.into_iter().map(|(word, _)| word).collect(), directive)
    }

    #[test]
    fn commands_flags_and_values_are_offered() {
        assert_eq!(offered("va"), (vec!["validate".to_owned()], NO_FILES));
        assert!(!offered("").0.iter().any(|word| word.starts_with('_')));
        assert_eq!(offered("get --show-l"), (vec!["--show-labels".to_owned()], NO_FILES));
        assert_eq!(offered("get -o cu").0, ["custom-columns=", "custom-columns-file="]);
        assert_eq!(offered("get -o ya"), (vec!["yaml".to_owned()], NO_FILES));
        assert_eq!(offered("validate --field-validation=S").0, ["--field-validation=Strict"]);
        assert_eq!(offered("get --col"), (vec!["--color".to_owned()], NO_FILES));
        assert_eq!(offered("completion fi").0, ["fish"]);
        assert_eq!(offered("completion ku").0, ["kubectl"]);
        assert_eq!(offered("lint --kubernetes-version 1.33").0, ["1.33"]);
        assert_eq!(offered("lint --kubernetes-version=1.33").0, ["--kubernetes-version=1.33"]);
        assert_eq!(offered("version "), (vec![], NO_FILES));
        assert!(!offered("va").0.iter().chain(&offered("-").0).any(|word| word.contains("__")));
    }

    #[test]
    fn files_are_offered_where_files_are_meant() {
        assert_eq!(offered("validate -f ex"), (vec![], FILES));
        assert_eq!(offered("lint "), (vec![], FILES));
        assert_eq!(offered("get crontabs --crds "), (vec![], FILES));
        for line in
            ["scale -f ", "test --init ", "serve --load=", "rehearse --old ", "serve --state ", "get --kubeconfig="]
        {
            assert_eq!(offered(line), (vec![], FILES), "{line}");
        }
        assert_eq!(offered("lint -- "), (vec![], FILES));
        assert_eq!(offered("validate --authorizer a"), (vec!["allow".to_owned()], FILES));
        for line in ["validate -k ", "schema a.yaml --output-dir=", "envtest --dir "] {
            assert_eq!(offered(line), (vec![], ONLY_DIRECTORIES), "{line}");
        }
        for line in ["validate --jobs ", "cel ", "get -l ", "rbac "] {
            assert_eq!(offered(line), (vec![], NO_FILES), "{line}");
        }
    }

    #[test]
    fn flags_may_come_before_the_command() {
        assert_eq!(offered("--color a").0, ["auto", "always"]);
        assert_eq!(offered("--offline va").0, ["validate"]);
        assert_eq!(offered("-n=x get --show-l").0, ["--show-labels"]);
        assert!(offered("--conte").0.contains(&"--context".to_owned()));
    }

    #[test]
    fn every_flag_that_takes_files_says_so() {
        let files = [
            "filename",
            "crds",
            "with-crd",
            "old",
            "policies",
            "old-policies",
            "load",
            "kubeconfig",
            "state",
            "record",
            "init",
            "policy",
            "params",
            "namespace-object",
            "admission-control-config-file",
            "values",
            "catalog",
            "baseline",
            "kuberc",
            "webhook-ca",
        ];
        let directories = ["kustomize", "target", "output-dir", "dir", "cache-dir", "out", "profile"];
        for command in command_line::definition().get_subcommands() {
            for arg in command.get_arguments() {
                let Some(long) = arg.get_long() else { continue };
                let directive = Candidates::of_paths(arg).directive;
                let name = format!("{} --{long}", command.get_name());
                if name == "fetch --crds" {
                    assert!(directive != FILES, "it takes URLs");
                    continue;
                }
                assert_eq!(
                    directive == FILES,
                    files.contains(&long) || long.starts_with("client-") || long == "certificate-authority",
                    "{name}"
                );
                assert_eq!(directive == ONLY_DIRECTORIES, directories.contains(&long), "{name}");
            }
        }
    }

    #[test]
    fn without_a_cluster_no_names_are_offered() {
        assert_eq!(offered("get --offline cron"), (vec![], NO_FILES));
    }
}
