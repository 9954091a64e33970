//! `postBuild` of a `Kustomization` of Flux: `${VARIABLE}` in what kustomize makes, with the operations that Flux documents
//! (`fluxcd/pkg/envsubst`).

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The annotation or label of objects that are left as they are.
const DISABLED: &str = "kustomize.toolkit.fluxcd.io/substitute: disabled";

/// The deepest nesting of expressions in defaults.
const MAX_DEPTH: usize = 16;

/// The number of characters of an expression that a message shows.
const SHOWN: usize = 40;

/// The variables of a `Kustomization`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables {
    pub values: BTreeMap<String, String>,
    /// The objects with more variables that are not known, such as `Secret cluster-secrets`.
    pub unknown: BTreeSet<String>,
}

/// The reason why the variables of a text are not replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubstitutionError {
    /// The value of a variable is not known.
    #[error("the variable {name} of postBuild is not known: it may be in the {}", .objects.join(", "))]
    Unknown { name: String, objects: Vec<String> },
    /// Flux cannot read it.
    #[error("Flux cannot replace variables: bad substitution {0}")]
    Bad(String),
    /// An operation on strings.
    #[error("the operation of {0} of postBuild is not simulated")]
    Operation(String),
    /// Quotes around a variable, which kustomize leaves out before variables are replaced.
    #[error("Flux builds this file without the quotes around its variables, so that their types are not known")]
    Quoted,
}

impl SubstitutionError {
    /// The next step for the user.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { name, .. } => {
                format!("give it: --substitute {name}=VALUE, or `substitute` of .crdx.yaml")
            }
            Self::Bad(_) => "write $${ for the characters ${".to_owned(),
            Self::Operation(_) => "build the directory with `flux build kustomization`, and validate that".to_owned(),
            Self::Quoted => "name the files in a kustomization.yaml, so that kustomize builds the directory".to_owned(),
        }
    }
}

impl Variables {
    /// Replaces the variables in the text of a document. A variable that is nowhere is empty, as for Flux; if some of them are not
    /// known, its text is left.
    ///
    /// # Errors
    /// Flux would fail, or a value is not known.
    pub fn apply(&self, text: &str) -> Result<String, SubstitutionError> {
        // Flux replaces nothing without variables.
        let has_variables = !self.values.is_empty() || !self.unknown.is_empty();
        if !has_variables || !text.contains('$') || text.contains(DISABLED) {
            return Ok(text.to_owned());
        }
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            let (before, found) = rest.split_at_checked(at).unwrap_or((rest, ""));
            result.push_str(before);
            if let Some(inside) = found.strip_prefix("${") {
                let (value, after) = self.value(inside, 0)?;
                result.push_str(&value);
                rest = after;
            } else {
                // `$$` is one character.
                result.push('$');
                let after = found.strip_prefix('$').unwrap_or_default();
                rest = after.strip_prefix('$').unwrap_or(after);
            }
        }
        result.push_str(rest);
        Ok(result)
    }

    /// As [`Self::apply`], for a file that kustomize has not written: it would leave out quotes.
    ///
    /// # Errors
    /// As [`Self::apply`], and if there are quotes around a variable.
    pub fn apply_to_source(&self, text: &str) -> Result<String, SubstitutionError> {
        let replaced = self.apply(text)?;
        // kustomize leaves out quotes, and without them a text such as `1.${MINOR}` may become a number.
        let is_bare = |c: char| c.is_ascii_digit() || "+-._:eExXoO".contains(c);
        let is_in_quotes =
            |before: &str| before.rsplit_once(['"', '\'']).is_some_and(|(_, inside)| inside.chars().all(is_bare));
        let is_quoted =
            text.lines().any(|line| line.match_indices("${").any(|(at, _)| line.get(..at).is_some_and(is_in_quotes)));
        if is_quoted && replaced != text { Err(SubstitutionError::Quoted) } else { Ok(replaced) }
    }

    /// Returns the value of an expression, whose text begins after `${`, and the text behind it.
    fn value<'a>(&self, text: &'a str, depth: usize) -> Result<(Cow<'_, str>, &'a str), SubstitutionError> {
        let shown = || text.lines().next().map(|line| format!("${{{}", line.chars().take(SHOWN).collect::<String>()));
        let bad = || SubstitutionError::Bad(shown().unwrap_or_default());
        let length = text.find(|c: char| !c.is_alphanumeric() && c != '_').ok_or_else(bad)?;
        let (name, rest) = text.split_at_checked(length).filter(|_| depth < MAX_DEPTH).ok_or_else(bad)?;
        let default = [":-", ":=", ":+", ":?", "="].iter().find_map(|operator| rest.strip_prefix(operator));
        if name.is_empty() && !rest.starts_with('#') {
            return Err(bad());
        }
        if default.is_none() && rest.starts_with([':', '/', '#', '%']) {
            return Err(SubstitutionError::Operation(shown().unwrap_or_default()));
        }
        let value = self.values.get(name);
        if value.is_none() && !self.unknown.is_empty() {
            let objects = self.unknown.iter().cloned().collect();
            return Err(SubstitutionError::Unknown { name: name.to_owned(), objects });
        }
        let value = value.map(String::as_str).unwrap_or_default();
        if let Some(arguments) = default {
            // A default that is not used is only skipped, so that its variables need not be known.
            let nothing = Self::default();
            let variables = if value.is_empty() { self } else { &nothing };
            let (default, after) = variables.unset_value(arguments, depth).ok_or_else(bad)??;
            return Ok((if value.is_empty() { default.into() } else { value.into() }, after));
        }
        let (value, rest) = cased(value, rest);
        rest.strip_prefix('}').map(|after| (value, after)).ok_or_else(bad)
    }

    /// Returns a default, which may have other expressions, and the text behind it; `None` if it does not end.
    fn unset_value<'a>(&self, text: &'a str, depth: usize) -> Option<Result<(String, &'a str), SubstitutionError>> {
        let (mut result, mut rest) = (String::new(), text);
        loop {
            let end = rest.find('}')?;
            let nested = rest.find("${").filter(|nested| *nested < end);
            let (before, after) = rest.split_at_checked(nested.unwrap_or(end))?;
            result.push_str(before);
            if nested.is_none() {
                return Some(Ok((result, after.strip_prefix('}')?)));
            }
            let (value, after) = match self.value(after.strip_prefix("${")?, depth + 1) {
                Ok(found) => found,
                Err(error) => return Some(Err(error)),
            };
            result.push_str(&value);
            rest = after;
        }
    }
}

/// Applies `,`, `,,`, `^` and `^^`, which change the case of the first or of all characters. Returns the text behind them, too.
fn cased<'a, 'b>(value: &'a str, rest: &'b str) -> (Cow<'a, str>, &'b str) {
    let first = |change: fn(&str) -> String| {
        let end = value.chars().next().map_or(0, char::len_utf8);
        value.split_at_checked(end).map_or_else(String::new, |(first, others)| change(first) + others)
    };
    let operations: [(&str, &dyn Fn() -> String); 4] = [
        (",,", &|| value.to_lowercase()),
        ("^^", &|| value.to_uppercase()),
        (",", &|| first(str::to_lowercase)),
        ("^", &|| first(str::to_uppercase)),
    ];
    let found = operations.iter().find_map(|(name, change)| Some((change().into(), rest.strip_prefix(name)?)));
    found.unwrap_or((value.into(), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(unknown: &[&str]) -> Variables {
        let values = [("a", "1"), ("empty", ""), ("nested", "${a}"), ("word", "Word")];
        let values = values.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        Variables { values, unknown: unknown.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn variables_and_defaults_are_replaced() {
        for (text, expected) in [
            ("x: ${a}", "x: 1"),
            ("x: ${a}${a}-$a", "x: 11-$a"),
            ("x: ${none}!", "x: !"),
            ("x: ${none:=2}", "x: 2"),
            ("x: ${none:-${a}}", "x: 1"),
            ("x: ${empty:-3} ${empty=3}.", "x: 3 3."),
            ("x: ${a:+yes} ${none:+yes} ${a:?no}.", "x: 1 yes 1."),
            ("x: $${a} ${nested} $$b $c $", "x: ${a} ${a} $b $c $"),
            ("x: ${word,,} ${word^^} ${word,} ${word^}", "x: word WORD word Word"),
            ("x: ${1} ${none:=one\ntwo}", "x:  one\ntwo"),
            (
                "kustomize.toolkit.fluxcd.io/substitute: disabled ${a}",
                "kustomize.toolkit.fluxcd.io/substitute: disabled ${a}",
            ),
        ] {
            assert_eq!(variables(&[]).apply(text).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn nothing_is_replaced_without_variables() {
        assert_eq!(Variables::default().apply("x: ${a}").as_deref(), Ok("x: ${a}"));
    }

    #[test]
    fn a_variable_that_may_be_elsewhere_is_unknown() {
        let some = variables(&["Secret s"]);
        assert_eq!(some.apply("${a} ${empty} ${a:-${none}}").as_deref(), Ok("1  1"));
        let error = some.apply("${none:=1}").unwrap_err();
        assert_eq!(error.to_string(), "the variable none of postBuild is not known: it may be in the Secret s");
    }

    #[test]
    fn what_flux_cannot_read_or_this_program_does_not_simulate_is_an_error() {
        let none = variables(&[]);
        for text in ["${}", "${a", "${a-b}", "${none:=open", "${a,,,}", "${.x}"] {
            assert!(matches!(none.apply(text), Err(SubstitutionError::Bad(_))), "{text}");
        }
        for text in ["${a:1}", "${a/b/c}", "${a#b}", "${a%b}", "${#a}"] {
            assert!(matches!(none.apply(text), Err(SubstitutionError::Operation(_))), "{text}");
        }
        assert!(matches!(none.apply(&"${x:-".repeat(100_000)), Err(SubstitutionError::Bad(_))));
    }

    #[test]
    fn quotes_in_a_source_are_not_what_flux_reads() {
        let none = variables(&[]);
        assert_eq!(none.apply_to_source("x: ${a}").as_deref(), Ok("x: 1"));
        assert_eq!(none.apply_to_source("x: \"${a}\""), Err(SubstitutionError::Quoted));
        assert_eq!(Variables::default().apply_to_source("x: \"${a}\"").as_deref(), Ok("x: \"${a}\""));
    }
}
