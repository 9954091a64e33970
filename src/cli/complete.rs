//! `__complete`: candidates for the last word of a command line, in the protocol between kubectl and its plugins. Each
//! line contains a candidate, a tab and a description; the last line is `:N` with the shell's directive
//! (`kubectl/pkg/cmd/plugin/plugin_completion.go`, cobra's `ShellCompDirective`).

use super::Exit;
use super::args::{self, Args};
use super::source::Source;
use crate::cluster::{Error, Query, Resource};
use clap::{Arg, ArgAction, Command, FromArgMatches};
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// The shell also offers file names.
const FILES: u8 = 0;
/// The shell adds no space after the word and offers no file names.
const UNFINISHED: u8 = 2 | NO_FILES;
/// The shell offers no file names.
const NO_FILES: u8 = 4;
/// The time limit for requests to a cluster.
const TIMEOUT: Duration = Duration::from_secs(3);
/// The maximum number of names that are offered.
const MAX_NAMES: usize = 500;

/// Runs the command. Errors are not reported, because the shell cannot show them.
pub fn run(args: &args::Complete) -> io::Result<Exit> {
    let (last, words) = args.words.split_last().map_or(("", [].as_slice()), |(last, words)| (last.as_str(), words));
    let offer = offer(words, last);
    let mut out = BufWriter::new(io::stdout());
    for (candidate, about) in &offer.candidates {
        writeln!(out, "{candidate}{}{about}", if about.is_empty() { "" } else { "\t" })?;
    }
    writeln!(out, ":{}", offer.directive)?;
    out.flush()?;
    Ok(Exit::Fine)
}

/// The candidates, and the directive for the shell.
#[derive(Debug, Default, PartialEq, Eq)]
struct Candidates {
    candidates: Vec<(String, String)>,
    directive: u8,
}

impl Candidates {
    fn of(candidates: impl Iterator<Item = (String, String)>, last: &str) -> Self {
        Self { candidates: candidates.filter(|(c, _)| c.starts_with(last)).collect(), directive: NO_FILES }
    }

    fn files() -> Self {
        Self { candidates: Vec::new(), directive: FILES }
    }
}

fn offer(words: &[String], last: &str) -> Candidates {
    let root = args::definition();
    let Some((name, words)) = words.split_first() else {
        let commands = root.get_subcommands().filter(|c| !c.is_hide_set());
        return Candidates::of(commands.map(|c| (c.get_name().to_owned(), about(c.get_about()))), last);
    };
    let Some(command) = root.find_subcommand(name) else { return Candidates::files() };
    let flags: Vec<&Arg> = root.get_arguments().filter(|a| a.is_global_set()).chain(command.get_arguments()).collect();
    if let Some((flag, value)) = last.split_once('=').filter(|_| last.starts_with("--")) {
        let Some(arg) = flags.iter().find(|a| is_called(a, flag)) else { return Candidates::files() };
        let mut offer = values(name, arg, words, value);
        for (candidate, _) in &mut offer.candidates {
            *candidate = format!("{flag}={candidate}");
        }
        return offer;
    }
    if let Some(arg) = words.last().and_then(|word| flags.iter().find(|a| is_called(a, word) && takes_value(a))) {
        return values(name, arg, words, last);
    }
    if last.starts_with('-') {
        let long = flags.iter().filter(|a| !a.is_hide_set());
        let long = long.filter_map(|a| Some((format!("--{}", a.get_long()?), about(a.get_help()))));
        return Candidates::of(long, last);
    }
    match name.as_str() {
        "get" | "scale" => {
            objects(name, words, last).unwrap_or_else(|_| Candidates { directive: NO_FILES, ..Candidates::default() })
        }
        _ => positional(command, last),
    }
}

fn about(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

fn is_called(arg: &Arg, word: &str) -> bool {
    match word.strip_prefix("--") {
        Some(long) => arg.get_long() == Some(long),
        None => word.strip_prefix('-').is_some_and(|short| arg.get_short().map(String::from).as_deref() == Some(short)),
    }
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Returns the values of a flag.
fn values(command: &str, arg: &Arg, words: &[String], last: &str) -> Candidates {
    let possible = arg.get_possible_values();
    if !possible.is_empty() {
        let shown = possible.iter().filter(|v| !v.is_hide_set());
        return Candidates::of(shown.map(|v| (v.get_name().to_owned(), about(v.get_help()))), last);
    }
    match arg.get_long() {
        Some("output") => {
            let formats = ["json", "yaml", "name", "wide", "jsonpath=", "jsonpath-as-json=", "jsonpath-file="];
            let formats = formats.into_iter().chain(["custom-columns=", "custom-columns-file="]);
            let mut offer = Candidates::of(formats.map(|f| (f.to_owned(), String::new())), last);
            if let [(only, _)] = offer.candidates.as_slice()
                && only.ends_with('=')
            {
                offer.directive = UNFINISHED;
            }
            offer
        }
        Some("namespace") => {
            namespaces(command, words, last).unwrap_or_else(|_| Candidates::of(std::iter::empty(), last))
        }
        _ if arg.get_value_names().is_some_and(|names| names.iter().any(|n| n == "PATH")) => Candidates::files(),
        _ => Candidates::of(std::iter::empty(), last),
    }
}

fn positional(command: &Command, last: &str) -> Candidates {
    let possible = command.get_positionals().flat_map(Arg::get_possible_values);
    let words: Vec<_> = possible.map(|v| (v.get_name().to_owned(), about(v.get_help()))).collect();
    if words.is_empty() { Candidates::files() } else { Candidates::of(words.into_iter(), last) }
}

/// The arguments of `get` and `scale` before the last one, and the cluster they select.
struct Typed {
    words: Vec<String>,
    cluster: args::Cluster,
}

fn typed(command: &str, words: &[String]) -> Result<Typed, Error> {
    let line = ["kubectl-crdx", command].into_iter().chain(words.iter().map(String::as_str));
    let unreadable = |_| Error::default();
    // An incomplete command line may lack required arguments.
    let mut parser = args::definition().ignore_errors(true).mut_subcommand("scale", |scale| {
        scale.mut_args(|arg| arg.required(false)).mut_arg("replicas", |arg| arg.default_value("0"))
    });
    let matches = parser.try_get_matches_from_mut(line).map_err(unreadable)?;
    let args = Args::from_arg_matches(&matches).map_err(unreadable)?;
    let (words, mut cluster) = match args.command {
        args::Command::Get(get) => (get.words, get.cluster),
        args::Command::Scale(scale) => (scale.words, scale.cluster),
        _ => return Err(Error::default()),
    };
    cluster.request_timeout = cluster.request_timeout.filter(|t| !t.is_zero()).or(Some(TIMEOUT));
    Ok(Typed { words, cluster })
}

/// Returns resource types, or names of objects after a resource type.
fn objects(command: &str, words: &[String], last: &str) -> Result<Candidates, Error> {
    let typed = typed(command, words)?;
    let source = Source::live(&typed.cluster)?;
    let namespace = super::source::namespace(&typed.cluster);
    let names = |word: &str| -> Result<Vec<String>, Error> {
        let resource = source.resource(word)?;
        names(&source, &resource, Some(&namespace).filter(|_| resource.namespaced))
    };
    if let Some((word, _)) = last.split_once('/') {
        let pairs = names(word)?.into_iter().map(|name| (format!("{word}/{name}"), String::new()));
        return Ok(Candidates::of(pairs, last));
    }
    if let Some(word) = typed.words.first().filter(|word| !word.contains('/')) {
        let left = names(word)?.into_iter().filter(|name| !typed.words.contains(name));
        return Ok(Candidates::of(left.map(|name| (name, String::new())), last));
    }
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
    Ok(Candidates::of(candidates.into_iter(), last))
}

fn names(source: &Source, resource: &Resource, namespace: Option<&String>) -> Result<Vec<String>, Error> {
    let (query, mut names) = (Query::default(), Vec::new());
    for page in source.list(resource, namespace.map(String::as_str), &query) {
        names.extend(page?.iter().filter_map(|o| o.str_at(&["metadata", "name"])).map(str::to_owned));
        if names.len() >= MAX_NAMES {
            break;
        }
    }
    Ok(names)
}

fn namespaces(command: &str, words: &[String], last: &str) -> Result<Candidates, Error> {
    // The last word is the flag without its value.
    let words = words.split_last().map_or([].as_slice(), |(_, words)| words);
    let source = Source::live(&typed(command, words)?.cluster)?;
    Ok(Candidates::of(
        names(&source, &Resource::namespaces(), None)?.into_iter().map(|name| (name, String::new())),
        last,
    ))
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
    }

    #[test]
    fn files_are_offered_where_files_are_meant() {
        assert_eq!(offered("validate -f ex"), (vec![], FILES));
        assert_eq!(offered("lint "), (vec![], FILES));
        assert_eq!(offered("get crontabs --crds "), (vec![], FILES));
        assert_eq!(offered("nothing-we-know x").1, FILES);
    }

    #[test]
    fn without_a_cluster_no_names_are_offered() {
        assert_eq!(offered("get --offline cron"), (vec![], NO_FILES));
    }
}
