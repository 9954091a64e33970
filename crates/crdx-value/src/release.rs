//! The simulated Kubernetes release. All behaviour that differs between releases depends on a [`Release`].
//!
//! Each difference is implemented once, next to the behaviour it changes, as a comparison with one of the [`Minor`]
//! constants. The comparison is made when a schema, rule or server is built, not for each object.

mod gate;
mod set;
mod table;

pub use gate::{Gate, GateError};
pub use set::{ReleaseSet, ReleaseSetError};
pub use table::{BETA, DOCUMENTS, RELEASES, ReleaseRow};

use gate::GATES;

use std::fmt;
use std::str::FromStr;

/// A Kubernetes minor version, 1.N.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Minor(pub u16);

impl Minor {
    /// Before every release, for behaviour that all releases have.
    pub const ALWAYS: Self = Self(0);
    /// After every release, for behaviour that is still present.
    pub const NEVER: Self = Self(u16::MAX);

    /// The number N of 1.N.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The preceding minor version.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Minor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "1.{}", self.0)
    }
}

/// Kubernetes 1.30
pub const V1_30: Minor = Minor(30);
/// Kubernetes 1.31
pub const V1_31: Minor = Minor(31);
/// Kubernetes 1.32
pub const V1_32: Minor = Minor(32);
/// Kubernetes 1.33
pub const V1_33: Minor = Minor(33);
/// Kubernetes 1.34
pub const V1_34: Minor = Minor(34);
/// Kubernetes 1.35
pub const V1_35: Minor = Minor(35);
/// Kubernetes 1.36
pub const V1_36: Minor = Minor(36);
/// Kubernetes 1.37
pub const V1_37: Minor = Minor(37);
/// Kubernetes 1.38
pub const V1_38: Minor = Minor(38);

/// A simulated release: a row of [`RELEASES`] and its feature gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    minor: Minor,
    patch: u8,
    etcd: &'static str,
    scheme_line: u8,
    /// One bit per [`Gate`], set if the gate is enabled.
    gates: u8,
}

impl Release {
    /// The oldest supported release.
    pub const OLDEST: Self = {
        let [oldest, ..] = &RELEASES;
        Self::from_row(oldest)
    };
    /// The newest supported release that is not a beta: the default.
    pub const NEWEST: Self = {
        let [.., before, newest] = &RELEASES;
        Self::from_row(if BETA.is_some() { before } else { newest })
    };
    /// The newest row of [`RELEASES`], which may be a beta.
    const LAST: Self = {
        let [.., last] = &RELEASES;
        Self::from_row(last)
    };

    /// The release of a row, with default feature gates.
    const fn from_row(row: &ReleaseRow) -> Self {
        let ReleaseRow { minor, patch, etcd, scheme_line, gates } = *row;
        Self { minor, patch, etcd, scheme_line, gates: Gate::bits(gates) }
    }

    /// The release 1.`minor` with default feature gates; `None` if it is not supported.
    pub fn new(minor: u16) -> Option<Self> {
        RELEASES.iter().find(|row| row.minor.0 == minor).map(Self::from_row)
    }

    /// All supported releases, oldest first.
    pub fn known() -> impl Iterator<Item = Self> {
        RELEASES.iter().map(Self::from_row)
    }

    /// The supported releases in texts, without a beta: `1.30 to 1.37`.
    pub fn supported() -> String {
        format!("{} to {}", Self::OLDEST, Self::NEWEST)
    }

    /// The release simulated for a cluster of version 1.`minor`: that release, or the nearest supported one that is not a beta.
    pub fn nearest(minor: u16) -> Self {
        let (oldest, newest) = (Self::OLDEST.minor.0, Self::NEWEST.minor.0);
        Self::new(minor).or_else(|| Self::new(minor.clamp(oldest, newest))).unwrap_or(Self::NEWEST)
    }

    /// The minor version.
    pub const fn minor(self) -> Minor {
        self.minor
    }

    /// The pre-release that is simulated, such as `beta.0`; `None` for a released version.
    pub fn pre_release(self) -> Option<&'static str> {
        BETA.filter(|_| self.minor == Self::LAST.minor)
    }

    /// The patch release whose source and behaviour are simulated, such as `1.37.2` or `1.38.0-beta.0`.
    pub fn full_version(self) -> String {
        let suffix = self.pre_release().map(|name| format!("-{name}")).unwrap_or_default();
        format!("{}.{}{suffix}", self.minor, self.patch)
    }

    /// The version of etcd that the release's own tests use.
    pub const fn etcd_version(self) -> &'static str {
        self.etcd
    }

    /// The source line that some error messages contain as the name of a scheme.
    pub fn scheme(self) -> String {
        format!("\"pkg/runtime/scheme.go:{}\"", self.scheme_line)
    }

    /// Returns true if this release is `minor` or newer.
    pub const fn since(self, minor: Minor) -> bool {
        self.minor.0 >= minor.0
    }

    /// The compatibility version: new expressions and formats are limited to the features of the previous release, so
    /// that it can read stored objects after a rollback (`DefaultCompatibilityVersion` in
    /// `k8s.io/apiserver/pkg/cel/environment/base.go`).
    pub const fn compatibility(self) -> Minor {
        self.minor.previous()
    }

    /// Returns true if a feature gate is enabled.
    pub const fn enables(self, gate: Gate) -> bool {
        self.gates & gate.bit() != 0
    }

    /// Sets a feature gate by name, like `--feature-gates`.
    ///
    /// # Errors
    /// Returns an error if this release has no such gate for custom resources, or if the gate is locked.
    pub fn with_gate(mut self, name: &str, enabled: bool) -> Result<Self, GateError> {
        let known = || GATES.iter().filter(|gate| self.since(gate.introduced) && !self.since(gate.removed));
        let Some(spec) = known().find(|gate| gate.name == name) else {
            let known = known().map(|gate| gate.name).collect();
            return Err(GateError::Unknown { name: name.to_owned(), release: self, known });
        };
        if self.since(spec.locked) && !enabled {
            return Err(GateError::Locked { name: spec.name, release: self });
        }
        if enabled {
            self.gates |= spec.gate.bit();
        } else {
            self.gates &= !spec.gate.bit();
        }
        Ok(self)
    }
}

/// The version in texts for people: `1.37`, or `1.38 (beta)`. Files, flags and reports have the [`Minor`].
impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.minor.fmt(f)?;
        if self.pre_release().is_some() { f.write_str(" (beta)") } else { Ok(()) }
    }
}

/// Parses the version of a supported release: `1.N`, or a full version such as `v1.N`, `1.N.4` or `v1.N.4-eks-1a2b`.
/// The patch version and suffix are ignored.
impl FromStr for Release {
    type Err = UnknownRelease;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bare = text.strip_prefix('v').unwrap_or(text);
        let version = bare.split_once(['-', '+']).map_or(bare, |(version, _)| version);
        let mut parts = version.split('.');
        let (major, minor, patch) = (parts.next(), parts.next(), parts.next());
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        let fits = major == Some("1") && patch.is_none_or(is_number) && parts.next().is_none();
        // A suffix is allowed only after a full version: `1.31-1.33` is invalid.
        let fits = fits && (patch.is_some() || version.len() == bare.len());
        let known = |minor: &str| Self::known().find(|release| release.minor.0.to_string() == minor);
        minor.filter(|_| fits).and_then(known).ok_or_else(|| UnknownRelease(text.to_owned()))
    }
}

/// The supported versions, as text.
fn known_versions() -> String {
    let known: Vec<String> = Release::known().map(|release| release.to_string()).collect();
    known.join(", ")
}

/// The error for a version that is not supported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no Kubernetes version {0:?} to simulate; use one of {known}", known = known_versions())]
pub struct UnknownRelease(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_releases_are_read() {
        for known in ["1.34", "v1.34", "1.34.4", "v1.34.10-gke.1200", "1.34.0+k3s1"] {
            assert_eq!(known.parse::<Release>().map(Release::minor), Ok(V1_34), "{known}");
        }
        for unknown in ["1.29", "1.99", "34", "vv1.34", "1.034", "2.34", "1.34.x", "1.34.1.1", "1.34-1.36", "1.", ""] {
            let error = unknown.parse::<Release>().unwrap_err().to_string();
            assert!(
                error.ends_with("use one of 1.30, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37, 1.38 (beta)"),
                "{error}"
            );
        }
        assert_eq!((Release::nearest(12), Release::nearest(99)), (Release::OLDEST, Release::NEWEST));
        assert_eq!(Release::nearest(38).minor(), V1_38);
    }

    #[test]
    fn a_beta_is_named_as_one_and_is_not_the_default() {
        let beta = "v1.38.0-beta.0".parse::<Release>().unwrap();
        assert_eq!((beta.to_string(), beta.full_version()), ("1.38 (beta)".to_owned(), "1.38.0-beta.0".to_owned()));
        assert_eq!(beta.minor().to_string(), "1.38");
        assert_eq!((Release::NEWEST.minor(), Release::NEWEST.pre_release()), (V1_37, None));
        assert_eq!(Release::supported(), "1.30 to 1.37");
    }

    #[test]
    fn gates_follow_the_release() {
        let release = |minor| Release::new(minor).unwrap();
        assert!(!release(30).enables(Gate::CustomResourceFieldSelectors));
        assert!(release(31).enables(Gate::CustomResourceFieldSelectors));
        assert!(release(30).enables(Gate::CrdValidationRatcheting));
        let off = release(31).with_gate("CRDValidationRatcheting", false).unwrap();
        assert!(!off.enables(Gate::CrdValidationRatcheting));
        let locked = release(34).with_gate("CRDValidationRatcheting", false).unwrap_err();
        assert!(locked.to_string().contains("locked to true in Kubernetes 1.34"), "{locked}");
        let unknown = release(34).with_gate("CRDObservedGenerationTracking", true).unwrap_err();
        assert!(unknown.to_string().contains("CRDValidationRatcheting, CustomResourceFieldSelectors"), "{unknown}");
        let removed = release(38).with_gate("CRDValidationRatcheting", true).unwrap_err();
        assert!(removed.to_string().starts_with("Kubernetes 1.38 (beta) has no feature gate"), "{removed}");
        assert!(release(38).enables(Gate::CrdValidationRatcheting));
    }
}
