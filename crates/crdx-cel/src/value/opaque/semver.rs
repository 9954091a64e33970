//! Semantic versions (`github.com/blang/semver/v4`), with its error messages.

use crdx_value::GoError;
use crdx_value::quote::go_quote;
use std::{cmp::Ordering, fmt};

/// `kubernetes.Semver`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Semver {
    /// The major version.
    pub major: u64,
    /// The minor version.
    pub minor: u64,
    /// The patch version.
    pub patch: u64,
    prerelease: Vec<Identifier>,
    build: Vec<String>,
}

/// An identifier of a prerelease; numbers sort before names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Identifier {
    Number(u64),
    Name(String),
}

impl Semver {
    /// Parses `major.minor.patch[-prerelease][+build]`.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        if text.is_empty() {
            return Err("Version string empty".into());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next()) else {
            return Err("No Major.Minor.Patch elements found".into());
        };
        let major = number(major, "major", "Major")?;
        let minor = number(minor, "minor", "Minor")?;
        let (rest, build) = match rest.split_once('+') {
            Some((rest, build)) => (rest, Some(build)),
            None => (rest, None),
        };
        let (patch, prerelease) = match rest.split_once('-') {
            Some((patch, prerelease)) => (patch, Some(prerelease)),
            None => (rest, None),
        };
        let patch = number(patch, "patch", "Patch")?;
        let prerelease =
            prerelease.into_iter().flat_map(|p| p.split('.')).map(identifier).collect::<Result<_, GoError>>()?;
        let build = build
            .into_iter()
            .flat_map(|b| b.split('.'))
            .map(|part| {
                if part.is_empty() {
                    Err("Build meta data is empty".into())
                } else if is_name(part) {
                    Ok(part.to_owned())
                } else {
                    Err(format!("Invalid character(s) found in build meta data {}", go_quote(part)).into())
                }
            })
            .collect::<Result<_, GoError>>()?;
        Ok(Self { major, minor, patch, prerelease, build })
    }

    /// Like [`Semver::parse`], but removes a leading `v` and leading zeros, and sets missing parts to 0.
    pub(crate) fn parse_normalized(text: &str) -> Result<Self, GoError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text
            .splitn(3, '.')
            .map(|part| {
                if part.len() <= 1 {
                    return part.to_owned();
                }
                let trimmed = part.trim_start_matches('0');
                let zero = if trimmed.starts_with(|c: char| c.is_ascii_digit()) { "" } else { "0" };
                format!("{zero}{trimmed}")
            })
            .collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|part| part.contains(['+', '-'])) {
                return Err("short version cannot contain PreRelease/Build meta data".into());
            }
            parts.resize(3, "0".to_owned());
        }
        Self::parse(&parts.join("."))
    }

    /// Compares by precedence: a prerelease precedes its release, and build metadata is ignored.
    pub fn compare(&self, other: &Self) -> Ordering {
        (self.major, self.minor, self.patch)
            .cmp(&(other.major, other.minor, other.patch))
            .then_with(|| other.prerelease.is_empty().cmp(&self.prerelease.is_empty()).reverse())
            .then_with(|| self.prerelease.cmp(&other.prerelease))
    }
}

fn number(text: &str, name: &str, title: &str) -> Result<u64, GoError> {
    let quoted = go_quote(text);
    if !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("Invalid character(s) found in {name} number {quoted}").into());
    }
    if text.len() > 1 && text.starts_with('0') {
        return Err(format!("{title} number must not contain leading zeroes {quoted}").into());
    }
    uint(text)
}

fn uint(text: &str) -> Result<u64, GoError> {
    text.parse().map_err(|_| {
        let reason = if text.is_empty() { "invalid syntax" } else { "value out of range" };
        format!("strconv.ParseUint: parsing {}: {reason}", go_quote(text)).into()
    })
}

fn is_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

fn identifier(text: &str) -> Result<Identifier, GoError> {
    if text.is_empty() {
        return Err("Prerelease is empty".into());
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        if text.len() > 1 && text.starts_with('0') {
            return Err(format!("Numeric PreRelease version must not contain leading zeroes {}", go_quote(text)).into());
        }
        return uint(text).map(Identifier::Number);
    }
    if is_name(text) {
        Ok(Identifier::Name(text.to_owned()))
    } else {
        Err(format!("Invalid character(s) found in prerelease {}", go_quote(text)).into())
    }
}

impl fmt::Display for Semver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        for (i, part) in self.prerelease.iter().enumerate() {
            f.write_str(if i == 0 { "-" } else { "." })?;
            match part {
                Identifier::Number(n) => write!(f, "{n}")?,
                Identifier::Name(name) => f.write_str(name)?,
            }
        }
        for (i, part) in self.build.iter().enumerate() {
            f.write_str(if i == 0 { "+" } else { "." })?;
            f.write_str(part)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_follows_the_specification() {
        let ascending = [
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0",
            "1.0.1",
        ];
        let versions: Vec<_> = ascending.iter().map(|t| Semver::parse(t).expect("reads")).collect();
        for pair in versions.windows(2) {
            assert_eq!(pair[0].compare(&pair[1]), Ordering::Less, "{} {}", pair[0], pair[1]);
            assert_eq!(pair[1].compare(&pair[0]), Ordering::Greater);
        }
        let (a, b) = (Semver::parse("1.0.0+a").expect("reads"), Semver::parse("1.0.0+b.1").expect("reads"));
        assert!(a.compare(&b).is_eq());
    }

    #[test]
    fn normalizes_and_refuses() {
        assert_eq!(Semver::parse_normalized("v01.00").map(|v| v.to_string()), Ok("1.0.0".to_owned()));
        assert_eq!(Semver::parse_normalized("1.2.03-rc.1+b").map(|v| v.to_string()), Ok("1.2.3-rc.1+b".to_owned()));
        assert!(Semver::parse_normalized("1.2-rc").is_err());
        assert_eq!(Semver::parse("1.02.3"), Err("Minor number must not contain leading zeroes \"02\"".into()));
        assert_eq!(Semver::parse("1..3"), Err("strconv.ParseUint: parsing \"\": invalid syntax".into()));
        assert_eq!(Semver::parse("v1.2.3"), Err("Invalid character(s) found in major number \"v1\"".into()));
    }
}
