//! The defaults of flags in the user's preferences for kubectl, for commands that stand for a command of kubectl: as kubectl
//! does (`applyOverrides` in `k8s.io/kubectl/pkg/kuberc`), they become flags unless the command line has them.

use crate::commands::flags::ClusterArgs;
use clap::{Arg, Command};
use crdx_cluster::kuberc::{self, FlagDefaults, Kuberc, KubercError};
use crdx_output::printable::complain;
use std::ffi::OsString;
use std::path::PathBuf;

/// Commands with flags of a command of kubectl: theirs, kubectl's, and the flags besides those of the connection.
/// Other flags of the same name mean something else, as `--output` of `validate`.
const COMMANDS: [(&str, &str, &[&str]); 4] = [
    ("validate", "apply", &["server-side", "force-conflicts", "field-manager", "selector", "recursive", "validate"]),
    ("diff", "diff", &["server-side", "force-conflicts", "field-manager", "selector", "recursive"]),
    ("explain", "explain", &["recursive", "api-version"]),
    (
        "get",
        "get",
        &[
            "all-namespaces",
            "allow-missing-template-keys",
            "chunk-size",
            "field-selector",
            "ignore-not-found",
            "label-columns",
            "no-headers",
            "output",
            "output-watch-events",
            "recursive",
            "selector",
            "show-kind",
            "show-labels",
            "show-managed-fields",
            "sort-by",
            "subresource",
            "template",
            "watch",
            "watch-only",
        ],
    ),
];

/// Flags of `kubectl apply` that only a command line without these uses.
const OF_OTHER_REQUESTS: [&str; 2] = ["--replace", "--create"];

/// Returns the words of a command line with the defaults of the user's preferences after the command, and says which are
/// taken.
///
/// # Errors
/// Returns an error if kubectl would not run with the preferences.
pub fn with_defaults(root: &Command, words: Vec<OsString>) -> Result<Vec<OsString>, KubercError> {
    let name = words.get(1).and_then(|word| word.to_str()).unwrap_or_default();
    let connects = |command: &&Command| command.get_arguments().any(|arg| arg.get_id() == "kuberc");
    let Some(command) = root.find_subcommand(name).filter(connects) else { return Ok(words) };
    let Kuberc { file, preference, warning } = kuberc::read(file(&words).as_deref())?;
    if let Some(warning) = warning {
        complain!("warning: kuberc: {warning}");
    }
    let defaults = flags(command, &preference.defaults, &words);
    if !defaults.taken.is_empty() {
        complain!("note: {} from {}", defaults.taken.join(" "), file.display());
    }
    if !defaults.ignored.is_empty() {
        complain!("note: {} in {} has no effect on this command", defaults.ignored.join(" "), file.display());
    }
    let at = words.len().min(2);
    let (head, rest) = words.split_at(at);
    Ok(head.iter().cloned().chain(defaults.taken.into_iter().map(OsString::from)).chain(rest.iter().cloned()).collect())
}

/// The flags that preferences set.
#[derive(Debug, Default, PartialEq, Eq)]
struct Defaults {
    taken: Vec<String>,
    /// Flags of kubectl that the command does not have, or that mean something else there.
    ignored: Vec<String>,
}

fn flags(command: &Command, defaults: &[FlagDefaults], words: &[OsString]) -> Defaults {
    let mut found = Defaults::default();
    let Some((_, of_kubectl, own)) = COMMANDS.iter().find(|(name, ..)| *name == command.get_name()) else {
        return found;
    };
    let is_other = words.iter().any(|word| OF_OTHER_REQUESTS.iter().any(|flag| word == flag));
    let same = defaults.iter().filter(|one| one.command.split_whitespace().eq([*of_kubectl]));
    for (name, value) in same.flat_map(|one| &one.options) {
        let (own_name, value) =
            if name == "validate" { ("field-validation", level(value)) } else { (name.as_str(), value.as_str()) };
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(own_name));
        let is_used = |arg: &&Arg| own.contains(&name.as_str()) || arg.get_help_heading() == Some(ClusterArgs::HEADING);
        match arg.filter(is_used).filter(|_| !(is_other && *of_kubectl == "apply")) {
            None => found.ignored.push(format!("--{name}")),
            Some(arg) if is_given(arg, words) => {}
            Some(_) => found.taken.push(format!("--{own_name}={value}")),
        }
    }
    found
}

/// Returns the level of field validation for a value of kubectl's `--validate`.
fn level(value: &str) -> &str {
    match value {
        "true" => "Strict",
        "false" => "Ignore",
        other => other,
    }
}

/// Returns true if the words have a flag, in the long form or in the short one (`searchInArgs`).
fn is_given(arg: &Arg, words: &[OsString]) -> bool {
    let long = arg.get_long().unwrap_or_default();
    words.iter().take_while(|word| *word != "--").any(|word| {
        let word = word.to_string_lossy();
        let is_long = word.strip_prefix("--").is_some_and(|flag| flag.split('=').next() == Some(long));
        let is_short = |short: char| word.strip_prefix('-').is_some_and(|rest| rest.starts_with(short));
        is_long || arg.get_short().is_some_and(is_short)
    })
}

/// The file of `--kuberc`.
fn file(words: &[OsString]) -> Option<PathBuf> {
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        if word == "--kuberc" {
            return words.next().map(PathBuf::from);
        }
        if let Some(file) = word.to_str().and_then(|word| word.strip_prefix("--kuberc=")) {
            return Some(file.into());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command_line::definition;

    fn defaults(line: &str, options: &[(&str, &str)]) -> Defaults {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let root = definition();
        let command = root.find_subcommand(words[1].to_str().unwrap()).unwrap();
        let options = options.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let other = FlagDefaults { command: "delete".to_owned(), options: vec![("now".to_owned(), "true".to_owned())] };
        let kubectl = COMMANDS.iter().find(|(name, ..)| *name == command.get_name()).unwrap().1;
        flags(command, &[other, FlagDefaults { command: kubectl.to_owned(), options }], &words)
    }

    #[test]
    fn the_defaults_of_apply_are_those_of_validate() {
        let options =
            [("server-side", "true"), ("validate", "warn"), ("output", "yaml"), ("prune", "true"), ("context", "c")];
        let found = defaults("crdx validate a", &options);
        assert_eq!(found.taken, ["--server-side=true", "--field-validation=warn", "--context=c"]);
        assert_eq!(found.ignored, ["--output", "--prune"]);
        let replaced = defaults("crdx validate a --replace", &options[..1]);
        assert_eq!((replaced.taken.len(), replaced.ignored.len()), (0, 1));
    }

    #[test]
    fn the_command_line_takes_precedence() {
        for line in ["crdx get x -ojson", "crdx get x -o json", "crdx get x --output=json", "crdx get x --output json"]
        {
            assert_eq!(defaults(line, &[("output", "wide")]), Defaults::default(), "{line}");
        }
        assert_eq!(defaults("crdx validate a --server-side=false", &[("server-side", "true")]), Defaults::default());
        assert_eq!(defaults("crdx get x", &[("output", "wide")]).taken, ["--output=wide"]);
    }

    #[test]
    fn every_flag_that_is_taken_exists() {
        for (name, _, flags) in COMMANDS {
            let root = definition();
            let command = root.find_subcommand(name).unwrap();
            for flag in flags.iter().filter(|flag| **flag != "validate") {
                assert!(command.get_arguments().any(|arg| arg.get_long() == Some(flag)), "{name} --{flag}");
            }
        }
    }

    #[test]
    fn the_file_is_a_flag_before_the_dashes() {
        let file = |line: &str| file(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(file("crdx get --kuberc a x"), Some("a".into()));
        assert_eq!(file("crdx get --kuberc=a=b"), Some("a=b".into()));
        assert_eq!(file("crdx get -- --kuberc=a"), None);
    }
}
