//! Several releases at once, as `--kubernetes-version` selects them.

use super::{Release, UnknownRelease};
use std::fmt;
use std::str::FromStr;

/// One or more releases, oldest first, each once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseSet {
    oldest: Release,
    newer: Vec<Release>,
}

impl ReleaseSet {
    /// The releases in `found`, in any order; `None` without any.
    pub fn from_releases(found: impl IntoIterator<Item = Release>) -> Option<Self> {
        let mut found: Vec<Release> = found.into_iter().collect();
        found.sort_unstable();
        found.dedup();
        let mut found = found.into_iter();
        Some(Self { oldest: found.next()?, newer: found.collect() })
    }

    /// The oldest of them.
    pub fn oldest(&self) -> Release {
        self.oldest
    }

    /// The newest of them.
    pub fn newest(&self) -> Release {
        self.newer.last().copied().unwrap_or(self.oldest)
    }

    /// The only one; `None` if there are several.
    pub fn single(&self) -> Option<Release> {
        self.newer.is_empty().then_some(self.oldest)
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Release> + '_ {
        std::iter::once(self.oldest).chain(self.newer.iter().copied())
    }
}

impl From<Release> for ReleaseSet {
    fn from(release: Release) -> Self {
        Self { oldest: release, newer: Vec::new() }
    }
}

/// Consecutive releases as a range, as [`ReleaseSet::from_str`] reads them: `1.31..1.33, 1.35`.
impl fmt::Display for ReleaseSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut runs: Vec<(Release, Release)> = Vec::new();
        for release in self.iter() {
            match runs.last_mut() {
                Some((_, last)) if last.minor().0 + 1 == release.minor().0 => *last = release,
                _ => runs.push((release, release)),
            }
        }
        for (index, (first, last)) in runs.into_iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{first}")?;
            match last.minor().0 - first.minor().0 {
                0 => {}
                1 => write!(f, ", {last}")?,
                _ => write!(f, "..{last}")?,
            }
        }
        Ok(())
    }
}

/// Releases and inclusive ranges, separated by commas: `1.34`, `1.31..1.37`, `1.31,1.34`.
impl FromStr for ReleaseSet {
    type Err = ReleaseSetError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut found = Vec::new();
        for part in text.split(',').map(str::trim) {
            let Some((first, last)) = part.split_once("..") else {
                found.push(part.parse()?);
                continue;
            };
            let (first, last): (Release, Release) = (first.parse()?, last.parse()?);
            if first > last {
                return Err(ReleaseSetError::Backwards { first, last });
            }
            found.extend(Release::known().filter(|release| (first..=last).contains(release)));
        }
        Self::from_releases(found).ok_or_else(|| UnknownRelease(text.to_owned()).into())
    }
}

/// A text that selects no releases.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReleaseSetError {
    /// A version that cannot be simulated.
    #[error(transparent)]
    Unknown(#[from] UnknownRelease),
    /// A range from a newer release to an older one.
    #[error("a range goes from the older version to the newer one: {last}..{first}")]
    Backwards {
        /// The first release as written, newer than `last`.
        first: Release,
        /// The last release as written.
        last: Release,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_lists_are_read() {
        let read = |text: &str| text.parse::<ReleaseSet>().map(|set| set.to_string());
        assert_eq!(read("1.34"), Ok("1.34".to_owned()));
        assert_eq!(read("v1.34.2"), Ok("1.34".to_owned()));
        assert_eq!(read("1.31..1.37"), Ok("1.31..1.37".to_owned()));
        assert_eq!(read("1.34,1.31"), Ok("1.31, 1.34".to_owned()));
        assert_eq!(read("1.35, 1.30..1.33, 1.31"), Ok("1.30..1.33, 1.35".to_owned()));
        assert_eq!(read("1.36..1.37"), Ok("1.36, 1.37".to_owned()));
        assert_eq!(read("1.36..1.36"), Ok("1.36".to_owned()));
        for wrong in ["", "1.31..", "..1.31", "1.31..1.39", "1.31,,1.32", "1.31...1.33", "1.31-1.33"] {
            let error = read(wrong).unwrap_err();
            assert!(matches!(error, ReleaseSetError::Unknown(_)), "{wrong}: {error}");
        }
        let error = read("1.37..1.31").unwrap_err().to_string();
        assert!(error.ends_with("1.31..1.37"), "{error}");
    }

    #[test]
    fn a_set_has_an_oldest_and_a_newest_release() {
        let set: ReleaseSet = "1.31,1.34..1.35".parse().unwrap();
        assert_eq!((set.oldest().to_string(), set.newest().to_string()), ("1.31".to_owned(), "1.35".to_owned()));
        assert_eq!((set.single(), set.iter().count()), (None, 3));
        let one = ReleaseSet::from(Release::NEWEST);
        assert_eq!((one.single(), one.oldest()), (Some(Release::NEWEST), Release::NEWEST));
        assert_eq!(ReleaseSet::from_releases([]), None);
    }
}
