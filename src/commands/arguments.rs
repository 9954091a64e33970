//! Normalizes command lines that follow kubectl's conventions: flags before the command are moved after it, `-v`, `-v 6`
//! and `--v 6` become `--v=6`, and the other flags are rewritten by [`pflag`].

mod csv;
pub mod pflag;

use crate::commands::command_line;
use clap::{Arg, ArgAction, Command, Subcommand};
use std::cell::LazyCell;
use std::ffi::OsString;

/// Returns the words with flags after the command; unchanged if no word names a command.
pub fn normal(words: Vec<OsString>) -> Vec<OsString> {
    let words = with_verbosity(words);
    let definition = LazyCell::new(command_line::definition);
    let mut flags = Vec::new();
    let mut rest = words.iter().cloned();
    let Some(program) = rest.next() else { return words };
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy().into_owned();
        if text == "help" || command_line::Command::has_subcommand(&text) {
            // `help` does not accept the global flags of this program.
            let flags = if text == "help" { Vec::new() } else { flags };
            return [program, word].into_iter().chain(flags).chain(rest).collect();
        }
        if !text.starts_with('-') || text == "-" || text == "--" {
            break;
        }
        let takes_value = !text.contains('=') && takes_value(&definition, &text);
        flags.push(word);
        if takes_value {
            flags.extend(rest.next());
        }
    }
    words
}

/// Returns true if `name` is the name of a flag, or a former name of it.
pub fn is_named(arg: &Arg, name: &str) -> bool {
    arg.get_long() == Some(name) || arg.get_all_aliases().is_some_and(|names| names.contains(&name))
}

/// Returns true if the flag `word` of some command takes the next word as its value.
fn takes_value(command: &Command, word: &str) -> bool {
    let is = |arg: &Arg| match word.strip_prefix("--") {
        Some(long) => is_named(arg, long),
        // `-nNAME` already contains its value.
        None => arg.get_short().is_some_and(|short| word == format!("-{short}")),
    };
    let with_value = |arg: &Arg| {
        matches!(arg.get_action(), ArgAction::Set | ArgAction::Append) && !arg.is_require_equals_set() && is(arg)
    };
    command.get_arguments().any(with_value) || command.get_subcommands().any(|c| c.get_arguments().any(with_value))
}

/// Normalizes each form of `-v` to `--v=LEVEL`. A `-v` without a number is level 1.
fn with_verbosity(words: Vec<OsString>) -> Vec<OsString> {
    let mut out = Vec::with_capacity(words.len());
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy().into_owned();
        if text == "--" {
            out.push(word);
            break;
        }
        let level = match text.as_str() {
            "-v" | "--v" => {
                let number = words.next_if(|next| next.to_string_lossy().parse::<u8>().is_ok());
                Some(number.map_or_else(|| "1".to_owned(), |number| number.to_string_lossy().into_owned()))
            }
            _ => text.strip_prefix("-v").map(|level| level.trim_start_matches('=').to_owned()),
        };
        match level.filter(|level| level.parse::<u8>().is_ok()) {
            Some(level) => out.push(format!("--v={level}").into()),
            None => out.push(word),
        }
    }
    out.extend(words);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal_of(line: &str) -> String {
        let words = line.split(' ').map(OsString::from).collect();
        let words = normal(words);
        words.iter().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn flags_may_come_before_the_command() {
        assert_eq!(normal_of("crdx -n a --offline validate x -R"), "crdx validate -n a --offline x -R");
        assert_eq!(normal_of("crdx --context=c --color never get ct"), "crdx get --context=c --color never ct");
        // The value of a flag may equal the name of a command.
        assert_eq!(normal_of("crdx -n get validate x"), "crdx validate -n get x");
        assert_eq!(normal_of("crdx --help"), "crdx --help");
        assert_eq!(normal_of("crdx nothing get"), "crdx nothing get");
        assert_eq!(normal_of("crdx -v 6 help get"), "crdx help get");
    }

    #[test]
    fn verbosity_is_written_in_many_ways() {
        for line in ["crdx -v 6 get a", "crdx -v6 get a", "crdx -v=6 get a", "crdx --v 6 get a", "crdx --v=6 get a"] {
            assert_eq!(normal_of(line), "crdx get --v=6 a", "{line}");
        }
        assert_eq!(normal_of("crdx validate -v objects/"), "crdx validate --v=1 objects/");
        assert_eq!(normal_of("crdx cel -- -v"), "crdx cel -- -v");
    }
}
