//! Command lines of `etcd` and `kube-apiserver`. All flags are accepted, because later versions have more of them.

use std::collections::BTreeSet;

/// The flags of a command line, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flags(Vec<Flag>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Flag {
    name: String,
    /// `None` for a flag without a value, which is a boolean flag that is on.
    value: Option<String>,
}

/// The reason why a command line is not valid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlagError {
    /// A word is neither a flag nor the value of one.
    #[error("{0:?} is not a flag: flags begin with -- and take their value as --NAME=VALUE")]
    NoFlag(String),
    /// The value of a flag is not valid.
    #[error("--{flag}: {value:?} {problem}")]
    Value {
        flag: String,
        value: String,
        /// The problem, such as `is neither true nor false`.
        problem: &'static str,
    },
}

impl FlagError {
    /// An invalid value of a flag.
    pub fn value(flag: &str, value: &str, problem: &'static str) -> Self {
        Self::Value { flag: flag.to_owned(), value: value.to_owned(), problem }
    }
}

impl Flags {
    /// Parses `--name=value`, `--name value` and `--name`.
    ///
    /// # Errors
    /// A word that is neither a flag nor follows one without a value.
    pub fn parse(words: &[String]) -> Result<Self, FlagError> {
        let mut flags: Vec<Flag> = Vec::new();
        for word in words {
            let name = word.strip_prefix("--").or_else(|| word.strip_prefix('-')).filter(|name| !name.is_empty());
            match (name, flags.last_mut()) {
                (Some(name), _) => {
                    let (name, value) = name.split_once('=').map_or((name, None), |(name, value)| (name, Some(value)));
                    flags.push(Flag { name: name.replace('_', "-"), value: value.map(str::to_owned) });
                }
                (None, Some(flag)) if flag.value.is_none() => flag.value = Some(word.clone()),
                _ => return Err(FlagError::NoFlag(word.clone())),
            }
        }
        Ok(Self(flags))
    }

    /// The value of the last flag with this name; empty if it has none.
    pub fn last(&self, name: &str) -> Option<&str> {
        let flag = self.0.iter().rev().find(|flag| flag.name == name)?;
        Some(flag.value.as_deref().unwrap_or_default())
    }

    /// The values of all flags with this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let those = self.0.iter().filter(move |flag| flag.name == name);
        those.map(|flag| flag.value.as_deref().unwrap_or_default())
    }

    /// The items of all flags with this name, which take lists separated by commas.
    pub fn items<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.all(name).flat_map(|list| list.split(',')).map(str::trim).filter(|item| !item.is_empty())
    }

    /// Returns true if a boolean flag is on.
    ///
    /// # Errors
    /// If its value is neither true nor false.
    pub fn is_on(&self, name: &str, default: bool) -> Result<bool, FlagError> {
        match self.last(name) {
            None => Ok(default),
            Some("" | "true" | "True" | "TRUE" | "t" | "T" | "1") => Ok(true),
            Some("false" | "False" | "FALSE" | "f" | "F" | "0") => Ok(false),
            Some(other) => Err(FlagError::value(name, other, "is neither true nor false")),
        }
    }

    /// The value of a flag for a number.
    ///
    /// # Errors
    /// If the value is not a number of this type.
    pub fn number<N: std::str::FromStr>(&self, name: &str, default: N) -> Result<N, FlagError> {
        let Some(text) = self.last(name) else { return Ok(default) };
        text.parse().map_err(|_| FlagError::value(name, text, "is not a number in its range"))
    }

    /// The names of flags other than `known`.
    pub fn others(&self, known: &[&str]) -> BTreeSet<&str> {
        self.0.iter().map(|flag| flag.name.as_str()).filter(|name| !known.contains(name)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Flags, FlagError> {
        Flags::parse(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn values_follow_flags() {
        let flags = parse("--a=1 --b 2 -v 3 --c --d=x=y --a= --list=p,q --list=,r").unwrap();
        assert_eq!((flags.last("a"), flags.last("b"), flags.last("v")), (Some(""), Some("2"), Some("3")));
        assert_eq!((flags.last("c"), flags.last("d"), flags.last("e")), (Some(""), Some("x=y"), None));
        assert_eq!(flags.items("list").collect::<Vec<_>>(), ["p", "q", "r"]);
        assert_eq!(flags.others(&["a", "b", "v", "list"]).into_iter().collect::<Vec<_>>(), ["c", "d"]);
        assert!(flags.is_on("c", false).unwrap());
        assert!(flags.is_on("e", true).unwrap());
        assert_eq!(flags.is_on("b", true).unwrap_err().to_string(), "--b: \"2\" is neither true nor false");
        assert_eq!(flags.number("b", 0_u16).unwrap(), 2);
        assert_eq!(flags.number::<u16>("d", 0).unwrap_err().to_string(), "--d: \"x=y\" is not a number in its range");
    }

    #[test]
    fn other_words_are_refused() {
        for line in ["serve", "--a=1 serve", "--a 1 serve", "--"] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
