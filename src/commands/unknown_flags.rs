//! Suggestions for flags that other programs have, or that another command of this one has.

use clap::Error;
use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The flags that users try, with the command (all if it is empty) and what they mean here.
const KNOWN: &[(&str, &str, &str)] = &[
    ("--strict", "", "unknown and duplicate fields are errors already; `--warnings-as-errors` also fails on warnings"),
    ("--dry-run", "", "every command is a dry run: leave it out"),
    ("--validate", "", "give `--field-validation Strict`, `Warn` or `Ignore`"),
    ("--schema-location", "", "give CRDs with `--crds`; the schemas of built-in kinds are included"),
    ("--crds", "serve", "load CRDs and objects with `--load`"),
    ("--filename", "serve", "load CRDs and objects with `--load`"),
];

/// Replaces the tips of the parser, which only compares spellings, for an unknown flag whose meaning is known.
pub fn explain(error: &mut Error, command: &str) {
    if error.kind() != ErrorKind::UnknownArgument {
        return;
    }
    let Some(ContextValue::String(flag)) = error.get(ContextKind::InvalidArg) else { return };
    let name = flag.split('=').next().unwrap_or_default();
    let is_meant = |(known, of, _): &&(&str, &str, &str)| *known == name && (of.is_empty() || *of == command);
    let Some((_, _, tip)) = KNOWN.iter().find(is_meant) else { return };
    error.remove(ContextKind::SuggestedArg);
    error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(*tip)]));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::command_line::definition;

    fn text(words: &[&str]) -> String {
        let mut error = definition().try_get_matches_from([&["crdx"], words].concat()).unwrap_err();
        explain(&mut error, words[0]);
        error.render().to_string()
    }

    #[test]
    fn tips_say_what_a_flag_of_another_program_means() {
        assert!(text(&["validate", "--strict", "x"]).contains("tip: unknown and duplicate fields are errors already"));
        assert!(text(&["validate", "--dry-run=server", "x"]).contains("tip: every command is a dry run"));
        assert!(text(&["serve", "--crds", "x"]).contains("tip: load CRDs and objects with `--load`"));
        assert!(text(&["validate", "--crd", "x"]).contains("'--crds'"), "the parser's own tip");
    }
}
