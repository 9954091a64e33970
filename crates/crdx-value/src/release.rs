//! The simulated Kubernetes release. All behaviour that differs between releases depends on a [`Release`].
//!
//! Each difference is implemented once, next to the behaviour it changes, as a comparison with one of the [`Minor`]
//! constants. The comparison is made when a schema, rule or server is built, not for each object.

mod feature_gates;
mod gate;
mod minor;
mod set;
mod table;

pub use feature_gates::{FeatureGates, FeatureGatesError};
pub use gate::{Gate, GateError, GateRow, Spec, Stage, all_gates, gates_of};
pub use minor::Minor;
pub use set::{ReleaseSet, ReleaseSetError};
pub use table::{BETA, DOCUMENTS, RELEASES, ReleaseRow};

use std::fmt;
use std::str::FromStr;

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

/// A simulated release: a row of [`RELEASES`], the version that it emulates, its feature gates, and whether it allows privileged
/// containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    minor: Minor,
    patch: u8,
    etcd: &'static str,
    scheme_line: u8,
    emulated: Minor,
    /// One bit per [`Gate`], set if the gate is enabled.
    gates: u128,
    forbids_privileged: bool,
}

/// The error for a version that a release cannot emulate (`Validate` in `k8s.io/component-base/compatibility/version.go`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmulationError {
    /// The version is not in the range of the release.
    #[error("emulation version {emulated} is not between [{oldest}, {newest}]")]
    Range {
        /// The version.
        emulated: Minor,
        /// The oldest version that the release can emulate.
        oldest: Minor,
        /// The release.
        newest: Minor,
    },
    /// The release emulates no version.
    #[error("Kubernetes {0} has no flag --emulated-version, which 1.31 introduced")]
    Unsupported(Minor),
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
        let ReleaseRow { minor, patch, etcd, scheme_line } = *row;
        let gates = gate::defaults(minor, minor, minor.previous());
        Self { minor, patch, etcd, scheme_line, emulated: minor, gates, forbids_privileged: false }
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

    /// The minor version of the program.
    pub const fn minor(self) -> Minor {
        self.minor
    }

    /// The emulated version (`--emulated-version`): it decides which versions of APIs are served, what gates are by
    /// default, and which features new expressions may use. All else depends on the version of the program.
    pub const fn emulated(self) -> Minor {
        self.emulated
    }

    /// Emulates a version, with its default feature gates.
    ///
    /// # Errors
    /// Returns the server's error if this release cannot emulate the version.
    pub fn emulating(self, emulated: Minor) -> Result<Self, EmulationError> {
        let (oldest, newest) = (self.oldest_emulated(), self.minor);
        if !self.since(V1_31) {
            return Err(EmulationError::Unsupported(newest));
        }
        if emulated < oldest || emulated > newest {
            return Err(EmulationError::Range { emulated, oldest, newest });
        }
        let emulating = Self { emulated, ..self };
        let gates = gate::defaults(newest, emulated, emulating.compatibility());
        Ok(Self { gates, ..emulating })
    }

    /// The oldest version that can be emulated (`kubeEffectiveVersionFloors`).
    const fn oldest_emulated(self) -> Minor {
        let distance = if self.since(V1_33) { 3 } else { 1 };
        let floor = self.minor.0.saturating_sub(distance);
        if floor < V1_31.0 { V1_31 } else { Minor(floor) }
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

    /// The compatibility version: new expressions and formats are limited to the features of the release before the
    /// emulated one, so that it can read stored objects after a rollback (`DefaultCompatibilityVersion` in
    /// `k8s.io/apiserver/pkg/cel/environment/base.go`).
    pub const fn compatibility(self) -> Minor {
        let (previous, oldest) = (self.emulated.previous(), self.oldest_emulated());
        let is_emulating = self.emulated.0 < self.minor.0;
        if is_emulating && previous.0 < oldest.0 { oldest } else { previous }
    }

    /// Returns true if a feature gate is enabled.
    pub const fn enables(self, gate: Gate) -> bool {
        self.gates & gate.bit() != 0
    }

    /// Returns true if containers may be privileged (`capabilities.AllowPrivileged`).
    pub const fn allows_privileged(self) -> bool {
        !self.forbids_privileged
    }

    /// Allows or forbids privileged containers (`--allow-privileged`).
    #[must_use]
    pub const fn with_privileged(self, allowed: bool) -> Self {
        Self { forbids_privileged: !allowed, ..self }
    }

    /// Sets feature gates, like `--feature-gates`.
    ///
    /// # Errors
    /// Returns the server's error for gates that cannot be set.
    pub fn with_gates(self, gates: &FeatureGates) -> Result<Self, GateError> {
        let mut enabled = self.gates;
        for (gate, is_enabled) in
            gates.states(self)?.into_iter().filter_map(|(row, is_enabled)| Some((row.gate?, is_enabled)))
        {
            enabled = if is_enabled { enabled | gate.bit() } else { enabled & !gate.bit() };
        }
        Ok(Self { gates: enabled, ..self })
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
        assert!(release(30).enables(Gate::CRDValidationRatcheting));
        assert!(release(38).enables(Gate::CRDValidationRatcheting));
        let mut off = FeatureGates::default();
        off.set("CRDValidationRatcheting", false);
        assert!(!release(31).with_gates(&off).unwrap().enables(Gate::CRDValidationRatcheting));
        let error = |minor| release(minor).with_gates(&off).unwrap_err().to_string();
        assert!(error(34).ends_with("feature is locked to true"));
        assert_eq!(error(38), "unrecognized feature gate: CRDValidationRatcheting");
    }

    #[test]
    fn an_emulated_version_limits_new_expressions() {
        let release = Release::new(37).unwrap();
        let compatibility = |minor| release.emulating(Minor(minor)).unwrap().compatibility().0;
        assert_eq!([37, 36, 35, 34].map(compatibility), [36, 35, 34, 34]);
        assert_eq!(release.emulating(V1_36).unwrap().minor(), V1_37);
    }
}
