//! Ranges of versions as Helm and Flux read them, which is the syntax of `Masterminds/semver`.

use semver::{Prerelease, Version};

/// The longest range, in bytes.
const LONGEST: usize = 512;

/// A range of versions: one of the lists has to be satisfied as a whole.
#[derive(Clone, Debug)]
pub struct VersionRange(Vec<Vec<Constraint>>);

/// The text is not a range of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a range of versions")]
pub struct NotARange;

#[derive(Clone, Debug)]
struct Constraint {
    operator: Operator,
    /// The version; numbers that are not given are zero.
    version: Version,
    /// The number of parts of the version that are given: 1 for `1`, 3 for `1.2.3`.
    given: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Greater,
    Less,
    GreaterOrEqual,
    LessOrEqual,
    Tilde,
    Caret,
}

impl VersionRange {
    /// Reads a range.
    ///
    /// # Errors
    /// The text is none.
    pub fn new(text: &str) -> Result<Self, NotARange> {
        if text.len() > LONGEST {
            return Err(NotARange);
        }
        text.split("||").map(all_of).collect::<Result<_, _>>().map(Self)
    }

    /// Returns true if the range has this version. A pre-release is only in a range that names one.
    pub fn has(&self, version: &Version) -> bool {
        self.0.iter().any(|all| {
            let has_pre = all.iter().any(|one| !one.version.pre.is_empty());
            (version.pre.is_empty() || has_pre) && all.iter().all(|one| one.has(version))
        })
    }
}

/// Returns the version of a release or a tag: `v` and the last numbers may be missing.
pub fn version(text: &str) -> Option<Version> {
    let (version, given) = numbers(text)?;
    (given > 0).then_some(version)
}

/// Reads constraints that are separated by commas or spaces; `1.2 - 1.4` has a lower and an upper bound.
fn all_of(text: &str) -> Result<Vec<Constraint>, NotARange> {
    let mut found: Vec<Constraint> = Vec::new();
    let mut rest = text.trim();
    let mut is_upper = false;
    while !rest.is_empty() || found.is_empty() {
        let operators = rest.len() - rest.trim_start_matches(['=', '!', '<', '>', '~', '^']).len();
        let (operator, after) = rest.split_at_checked(operators).ok_or(NotARange)?;
        let after = after.trim_start();
        let end = after.find([' ', '\t', ',']).unwrap_or(after.len());
        let (word, after) = after.split_at_checked(end).ok_or(NotARange)?;
        let (version, given) = numbers(word).ok_or(NotARange)?;
        let operator = if is_upper { upper_bound(operator)? } else { Operator::new(operator)? };
        found.push(Constraint { operator, version, given });
        let after = after.trim_start();
        is_upper = after.starts_with("- ");
        if is_upper {
            let lower = found.last_mut().filter(|lower| lower.operator == Operator::Equal).ok_or(NotARange)?;
            lower.operator = Operator::GreaterOrEqual;
        }
        rest = after.strip_prefix(if is_upper { '-' } else { ',' }).unwrap_or(after).trim_start();
    }
    Ok(found)
}

fn upper_bound(operator: &str) -> Result<Operator, NotARange> {
    if operator.is_empty() { Ok(Operator::LessOrEqual) } else { Err(NotARange) }
}

/// Reads a version, and how many of its numbers are given: `*`, `x` and `X` stand for any number, as do missing ones.
fn numbers(text: &str) -> Option<(Version, usize)> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (text, build) = text.split_once('+').map_or((text, None), |(text, build)| (text, Some(build)));
    let (core, pre) = text.split_once('-').map_or((text, None), |(core, pre)| (core, Some(pre)));
    let mut version = Version::new(0, 0, 0);
    let parts: Vec<&str> = core.split('.').collect();
    let given = parts.iter().take_while(|part| !matches!(**part, "*" | "x" | "X")).count();
    let number = |index: usize| match parts.get(index).filter(|_| index < given) {
        Some(part) if part.bytes().all(|byte| byte.is_ascii_digit()) => part.parse().ok(),
        Some(_) => None,
        None => Some(0),
    };
    (version.major, version.minor, version.patch) = (number(0)?, number(1)?, number(2)?);
    if let Some(pre) = pre {
        version.pre = Prerelease::new(pre).ok()?;
    }
    let has_build = build.is_none_or(|build| semver::BuildMetadata::new(build).is_ok());
    (parts.len() <= 3 && has_build).then_some((version, given))
}

impl Operator {
    fn new(text: &str) -> Result<Self, NotARange> {
        Ok(match text {
            "" | "=" => Self::Equal,
            "!=" => Self::NotEqual,
            ">" => Self::Greater,
            "<" => Self::Less,
            ">=" | "=>" => Self::GreaterOrEqual,
            "<=" | "=<" => Self::LessOrEqual,
            "~" | "~>" => Self::Tilde,
            "^" => Self::Caret,
            _ => return Err(NotARange),
        })
    }
}

impl Constraint {
    fn has(&self, version: &Version) -> bool {
        let order = version.cmp_precedence(&self.version);
        let is_full = self.given >= 3;
        match self.operator {
            Operator::Equal if is_full => order.is_eq(),
            Operator::Equal | Operator::Tilde => order.is_ge() && self.is_of_series(version),
            Operator::NotEqual => match self.given {
                1 => version.major != self.version.major,
                2 => {
                    (version.major, version.minor) != (self.version.major, self.version.minor)
                        || version.pre != self.version.pre
                }
                _ => order.is_ne(),
            },
            Operator::Greater => match self.given {
                1 => version.major > self.version.major,
                2 => (version.major, version.minor) > (self.version.major, self.version.minor),
                _ => order.is_gt(),
            },
            Operator::Less => order.is_lt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::LessOrEqual => match self.given {
                1 => version.major <= self.version.major,
                2 => (version.major, version.minor) <= (self.version.major, self.version.minor),
                // `<=*`
                0 => version.major == 0 && version.minor == 0,
                _ => order.is_le(),
            },
            Operator::Caret => order.is_ge() && self.is_compatible(version),
        }
    }

    /// Returns true if the given major and minor numbers are those of a version.
    fn is_of_series(&self, version: &Version) -> bool {
        let own = (self.version.major, self.version.minor, self.version.patch);
        if own == (0, 0, 0) && !matches!(self.given, 1 | 2) {
            return true;
        }
        version.major == own.0 && (self.given == 1 || version.minor == own.1)
    }

    /// Returns true if the first number that is not zero is that of a version.
    fn is_compatible(&self, version: &Version) -> bool {
        let own = &self.version;
        if own.major > 0 || self.given == 1 {
            return version.major == own.major;
        }
        if own.minor > 0 || self.given == 2 {
            return version.major == 0 && version.minor == own.minor;
        }
        (version.major, version.minor, version.patch) == (0, 0, own.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSIONS: &str =
        "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4-rc.1 1.2.4 1.3.0 2.0.0-alpha 2.0.0 v2.1.0 3.0.0+build";

    /// Recorded with `Masterminds/semver` 3.5.0.
    #[rustfmt::skip]
    const RANGES: &[(&str, &str)] = &[
        ("*", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("1", "1.0.0 1.2.3 1.2.4 1.3.0"),
        ("1.x", "1.0.0 1.2.3 1.2.4 1.3.0"),
        ("1.2", "1.2.3 1.2.4"),
        ("1.2.x", "1.2.3 1.2.4"),
        ("1.2.3", "1.2.3"),
        ("=1.2.3", "1.2.3"),
        ("v1.2.3", "1.2.3"),
        ("~1.2", "1.2.3 1.2.4"),
        ("~1.2.3", "1.2.3 1.2.4"),
        ("~1", "1.0.0 1.2.3 1.2.4 1.3.0"),
        ("~> 1.2.3", "1.2.3 1.2.4"),
        ("^1.2", "1.2.3 1.2.4 1.3.0"),
        ("^0.2", "0.2.0 0.2.9"),
        ("^0.2.3", "0.2.9"),
        ("^0.0.3", "0.0.3"),
        ("^0.0", "0.0.0 0.0.3"),
        ("^0", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9"),
        ("^1.2.4-0", "1.2.4-rc.1 1.2.4 1.3.0"),
        (">=1.0.0", "1.0.0 1.2.3 1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        (">1", "2.0.0 v2.1.0 3.0.0+build"),
        ("> 1.2", "1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        (">1.2.3", "1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("<2", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0"),
        ("<=1.2", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4"),
        ("<=1", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0"),
        ("<= 1.2.3", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3"),
        ("!=1.2", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("!=1", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 2.0.0 v2.1.0 3.0.0+build"),
        ("!=1.2.3", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("!=*", "0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("!=1.2.4-rc.1", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0-alpha 2.0.0 v2.1.0 3.0.0+build"),
        (">=1.0.0 <2.0.0", "1.0.0 1.2.3 1.2.4 1.3.0"),
        (">=1.0.0, <1.3.0", "1.0.0 1.2.3 1.2.4"),
        ("1.2 - 1.3.0", "1.2.3 1.2.4 1.3.0"),
        ("<1.0.0 || >=2.0.0", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 2.0.0 v2.1.0 3.0.0+build"),
        (">=1.0.0-0", "1.0.0 1.2.3 1.2.4-rc.1 1.2.4 1.3.0 2.0.0-alpha 2.0.0 v2.1.0 3.0.0+build"),
        (">= 1.0.0 <2.0.0-beta", "1.0.0 1.2.3 1.2.4-rc.1 1.2.4 1.3.0 2.0.0-alpha"),
        ("=>1.2.4", "1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("=<1.2.3", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3"),
        ("1.2.3 || 2.x", "1.2.3 2.0.0 v2.1.0"),
        (">*", "0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("~*", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("^*", "0.0.0"),
        ("~0.0.0", "0.0.0 0.0.3 0.1.0 0.2.0 0.2.9 1.0.0 1.2.3 1.2.4 1.3.0 2.0.0 v2.1.0 3.0.0+build"),
        ("1.0.0-x", ""),
    ];

    #[test]
    fn ranges_have_the_versions_that_flux_finds() {
        for (range, expected) in RANGES {
            let read = VersionRange::new(range).unwrap();
            let found: Vec<&str> = VERSIONS.split(' ').filter(|text| read.has(&version(text).unwrap())).collect();
            assert_eq!(found.join(" "), *expected, "{range}");
        }
    }

    #[test]
    fn other_texts_are_no_ranges() {
        for text in ["", ">=1.0.0<2.0.0", "latest", "1.2.3.4", "1.0 - ", "1 - >2", "||", "=!1", &"1".repeat(600)] {
            assert_eq!(VersionRange::new(text).err(), Some(NotARange), "{text}");
        }
        assert_eq!((version("latest"), version("*"), version("1.2")), (None, None, Some(Version::new(1, 2, 0))));
    }
}
