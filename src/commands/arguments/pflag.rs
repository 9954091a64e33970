//! Parses flags with the syntax of kubectl (`github.com/spf13/pflag`) and writes them in the form that the definition of
//! the command line accepts: `--flag` and `--flag=value`. This is the one place for `--flag=false`, lists with commas,
//! and flags that are repeated.

use super::csv::{self, CsvError};
use super::is_named;
use crate::commands::flags::ClusterArgs;
use crate::commands::flags::boolean::parse_bool;
use clap::{Arg, ArgAction, Command, Id};
use crdx_value::quote::go_quote;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};

/// Flags that may be repeated, but whose values are not lists with commas, as in kubectl (`StringArray`).
const ARRAYS: [&str; 1] = ["as-group"];

/// A flag with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// The value is not a boolean.
    #[error(
        "invalid argument {0} for \"{1}\" flag: strconv.ParseBool: parsing {0}: invalid syntax\nhelp: give true or false",
        go_quote(.value), .flag
    )]
    Bool {
        /// The flag in help.
        flag: String,
        /// The value.
        value: String,
    },
    /// The value is not a list.
    #[error(
        "invalid argument {} for \"{}\" flag: {error}\nhelp: separate values with commas; write a value with a comma or a \
         quote as \"a,b\", with its quotes",
        go_quote(.value), .flag
    )]
    List {
        /// The flag in help.
        flag: String,
        /// The value.
        value: String,
        /// What is wrong with it.
        error: CsvError,
    },
}

/// Returns the words of a command line with its flags first, each in the form that `root` accepts: switches that are
/// false are left out, lists are divided, and of a repeated flag with a single value the last remains. Words that are
/// not understood are kept, for the message of the parser.
///
/// # Errors
/// Returns an error if a value is neither a boolean nor a list where the flag needs one.
pub fn canonical(root: &Command, words: Vec<OsString>) -> Result<Vec<OsString>, FlagError> {
    let mut words = VecDeque::from(words);
    let Some(program) = words.pop_front() else { return Ok(Vec::new()) };
    let Some(name) = words.pop_front() else { return Ok(vec![program]) };
    let Some(command) = name.to_str().and_then(|name| root.find_subcommand(name)).filter(|c| !c.is_hide_set()) else {
        return Ok([program, name].into_iter().chain(words).collect());
    };
    let global = root.get_arguments().filter(|arg| arg.is_global_set());
    let mut flags = Flags { defined: global.chain(command.get_arguments()).collect(), given: Vec::new() };
    let mut others = Vec::new();
    while let Some(word) = words.pop_front() {
        if word == "--" {
            others.push(word);
            others.extend(words);
            break;
        }
        match word.to_str() {
            Some(text) if text.starts_with("--") => flags.long(text, &mut words)?,
            Some(text) if text.starts_with('-') && text != "-" => flags.shorts(text, &mut words)?,
            _ => others.push(word),
        }
    }
    Ok([program, name].into_iter().chain(flags.words()).chain(others).collect())
}

/// The flags of a command.
struct Flags<'a> {
    defined: Vec<&'a Arg>,
    given: Vec<Given<'a>>,
}

/// A flag on the command line.
enum Given<'a> {
    /// A word that is no known flag.
    Unknown(OsString),
    /// A switch and its last value.
    Switch(&'a Arg, bool),
    /// A flag and its last value.
    Value(&'a Arg, Option<OsString>),
    /// An element of a list.
    Element(&'a Arg, Option<OsString>),
}

impl<'a> Flags<'a> {
    /// Parses `--flag` or `--flag=value`.
    fn long(&mut self, word: &str, words: &mut VecDeque<OsString>) -> Result<(), FlagError> {
        let (flag, value) = word.split_once('=').map_or((word, None), |(flag, value)| (flag, Some(value)));
        // kubectl also accepts names with underscores.
        let name = flag.strip_prefix("--").unwrap_or_default().replace('_', "-");
        let Some(arg) = self.defined.iter().find(|arg| is_named(arg, &name)).copied() else {
            self.given.push(Given::Unknown(word.into()));
            return Ok(());
        };
        let value = value.map(OsString::from).or_else(|| next(arg, words));
        self.set(arg, value)
    }

    /// Parses `-abc`, `-f=value`, `-fvalue` or `-f value`.
    fn shorts(&mut self, word: &str, words: &mut VecDeque<OsString>) -> Result<(), FlagError> {
        let mut rest = word.strip_prefix('-').unwrap_or_default();
        while let Some(short) = rest.chars().next() {
            let Some(arg) = self.defined.iter().find(|arg| arg.get_short() == Some(short)).copied() else {
                self.given.push(Given::Unknown(format!("-{rest}").into()));
                return Ok(());
            };
            rest = rest.get(short.len_utf8()..).unwrap_or_default();
            if let Some(value) = rest.strip_prefix('=').filter(|value| !value.is_empty()) {
                return self.set(arg, Some(value.into()));
            }
            if is_switch(arg) {
                self.set(arg, None)?;
                continue;
            }
            let value = if rest.is_empty() { next(arg, words) } else { Some(rest.into()) };
            return self.set(arg, value);
        }
        Ok(())
    }

    fn set(&mut self, arg: &'a Arg, value: Option<OsString>) -> Result<(), FlagError> {
        let flag = || {
            let long = arg.get_long().map(|long| format!("--{long}"));
            [arg.get_short().map(|short| format!("-{short}")), long]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(", ")
        };
        match arg.get_action() {
            ArgAction::SetTrue => {
                let text = value.as_ref().map(|value| value.to_string_lossy());
                let on = match text.as_deref() {
                    None => true,
                    Some(text) => {
                        parse_bool(text).ok_or_else(|| FlagError::Bool { flag: flag(), value: text.to_owned() })?
                    }
                };
                self.replace(arg.get_id(), Given::Switch(arg, on));
            }
            ArgAction::Set => self.replace(arg.get_id(), Given::Value(arg, value)),
            ArgAction::Append => match value.as_deref().and_then(OsStr::to_str) {
                Some(text) if !ARRAYS.iter().any(|name| arg.get_long() == Some(name)) => {
                    let fields = csv::fields(text).map_err(|error| FlagError::List {
                        flag: flag(),
                        value: text.to_owned(),
                        error,
                    })?;
                    self.given.extend(fields.into_iter().map(|field| Given::Element(arg, Some(field.into()))));
                }
                _ => self.given.push(Given::Element(arg, value)),
            },
            _ => self.given.push(Given::Unknown(written(arg, value))),
        }
        Ok(())
    }

    /// Adds a flag in the place of its earlier value.
    fn replace(&mut self, id: &Id, new: Given<'a>) {
        let same = |given: &&mut Given<'_>| match given {
            Given::Switch(arg, _) | Given::Value(arg, _) => arg.get_id() == id,
            Given::Unknown(_) | Given::Element(..) => false,
        };
        match self.given.iter_mut().find(same) {
            Some(earlier) => *earlier = new,
            None => self.given.push(new),
        }
    }

    fn words(self) -> impl Iterator<Item = OsString> {
        self.given.into_iter().filter_map(|given| match given {
            Given::Unknown(word) => Some(word),
            Given::Switch(arg, on) => on.then(|| written(arg, None)),
            // kubectl takes an empty flag of the connection as one that is not given.
            Given::Value(arg, Some(value)) if value.is_empty() && is_of_cluster(arg) => None,
            Given::Value(arg, value) | Given::Element(arg, value) => Some(written(arg, value)),
        })
    }
}

fn is_of_cluster(arg: &Arg) -> bool {
    arg.get_help_heading() == Some(ClusterArgs::HEADING)
}

fn is_switch(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::SetTrue)
}

/// Takes the next word as the value of a flag that needs one. pflag takes any word, even one that looks like a flag.
fn next(arg: &Arg, words: &mut VecDeque<OsString>) -> Option<OsString> {
    let is_optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
    if !matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) || is_optional && arg.is_require_equals_set() {
        return None;
    }
    words.pop_front_if(|word| !is_optional || !word.to_string_lossy().starts_with('-'))
}

/// Writes a flag in the form that the definition accepts.
fn written(arg: &Arg, value: Option<OsString>) -> OsString {
    let mut word = match (arg.get_long(), arg.get_short()) {
        (Some(long), _) => OsString::from(format!("--{long}")),
        (None, short) => OsString::from(format!("-{}", short.unwrap_or_default())),
    };
    if let Some(value) = value {
        word.push("=");
        word.push(value);
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command_line;
    use std::sync::OnceLock;

    /// The definition of the command line, which takes long to build.
    fn definition() -> &'static clap::Command {
        static DEFINITION: OnceLock<clap::Command> = OnceLock::new();
        DEFINITION.get_or_init(command_line::definition)
    }

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    fn canonical_of(line: &str) -> String {
        let words = canonical(definition(), words(line)).unwrap();
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    fn error_of(line: &str) -> String {
        canonical(definition(), words(line)).unwrap_err().to_string()
    }

    /// Checks one way of writing the flags of a command.
    fn check(line: &str, expected: &str) {
        let line = line.trim_end();
        assert_eq!(canonical_of(line), expected.trim_end(), "{line}");
    }

    #[test]
    fn every_flag_of_every_command_has_the_syntax_of_pflag() {
        let root = command_line::definition();
        let (mut switches, mut values, mut lists) = (0, 0, 0);
        for command in root.get_subcommands().filter(|command| !command.is_hide_set()) {
            let name = command.get_name();
            for arg in root.get_arguments().filter(|arg| arg.is_global_set()).chain(command.get_arguments()) {
                if arg.is_positional() {
                    continue;
                }
                let long = arg.get_long().unwrap_or_else(|| panic!("{name}: {} has no long form", arg.get_id()));
                let is_optional = arg.get_num_args().is_some_and(|range| range.min_values() == 0);
                let forms = [Some(format!("--{long}")), arg.get_short().map(|short| format!("-{short}"))];
                for flag in forms.into_iter().flatten() {
                    let line = |rest: &str| format!("crdx {name} {rest}");
                    match arg.get_action() {
                        ArgAction::SetTrue => {
                            switches += 1;
                            for on in ["", "=true", "=1", "=t", "=T", "=TRUE", "=True"] {
                                check(&line(&format!("{flag}{on}")), &line(&format!("--{long}")));
                                check(&line(&format!("{flag}=false {flag}{on}")), &line(&format!("--{long}")));
                            }
                            for off in ["false", "0", "f", "F", "FALSE", "False"] {
                                check(&line(&format!("{flag} {flag}={off}")), &line(""));
                            }
                            let error = error_of(&line(&format!("{flag}=maybe")));
                            assert!(error.contains("strconv.ParseBool: parsing \"maybe\""), "{error}");
                        }
                        ArgAction::Set => {
                            values += 1;
                            check(&line(&format!("{flag}=x {flag}=y")), &line(&format!("--{long}=y")));
                            if is_optional {
                                check(&line(&flag), &line(&format!("--{long}")));
                            } else {
                                check(&line(&format!("{flag} x {flag} -y")), &line(&format!("--{long}=-y")));
                            }
                        }
                        ArgAction::Append => {
                            lists += 1;
                            let both = line(&format!("--{long}=a --{long}=b"));
                            check(&line(&format!("{flag} a {flag}=b")), &both);
                            if ARRAYS.contains(&long) {
                                check(&line(&format!("{flag} a,b")), &line(&format!("--{long}=a,b")));
                                continue;
                            }
                            check(&line(&format!("{flag} a,b")), &both);
                            check(&line(&format!("{flag}=\"a\",b")), &both);
                            check(&line(&format!("{flag}=\"a,b\"")), &line(&format!("--{long}=a,b")));
                            let error = error_of(&line(&format!("{flag}=a\"")));
                            assert!(error.contains("bare \\\" in") || error.contains("bare \" in"), "{error}");
                        }
                        other => panic!("{name} {flag}: {other:?}"),
                    }
                }
            }
        }
        assert!(switches > 100 && values > 100 && lists > 50, "{switches} {values} {lists}");
    }

    #[test]
    fn short_flags_may_be_joined() {
        check("crdx validate -Rfa", "crdx validate --recursive --filename=a");
        check("crdx validate -Rf=a b", "crdx validate --recursive --filename=a b");
        check("crdx validate -fa,b -qR=false", "crdx validate --filename=a --filename=b --quiet");
        check("crdx get -w=false -Ao yaml ct", "crdx get --all-namespaces --output=yaml ct");
        check("crdx get -n= ct", "crdx get --namespace== ct");
    }

    #[test]
    fn the_rest_is_left_to_the_parser() {
        check("crdx validate --nothing=a -xR - b", "crdx validate --nothing=a -xR - b");
        check("crdx cel -f a -- -f --b=c", "crdx cel --filename=a -- -f --b=c");
        check("crdx validate -f", "crdx validate --filename");
        check("crdx validate -h", "crdx validate -h");
        check("crdx __complete -- -f a,b", "crdx __complete -- -f a,b");
        check("crdx serve --namespaces --builtin", "crdx serve --namespaces --builtin");
        check("crdx serve --namespaces a,b", "crdx serve --namespaces=a --namespaces=b");
        check("crdx get --all_namespaces=1 ct", "crdx get --all-namespaces ct");
        check("crdx", "crdx");
        check("crdx get --context= --namespace= -l= ct", "crdx get --selector== ct");
        check("crdx get --context= --selector= ct", "crdx get --selector= ct");
    }

    #[test]
    fn every_command_accepts_offline() {
        let definition = command_line::definition();
        for command in definition.get_subcommands().filter(|command| !command.is_hide_set()) {
            let flag = command.get_arguments().find(|arg| arg.get_long() == Some("offline"));
            assert!(flag.is_some_and(is_switch), "{}", command.get_name());
        }
    }
}
