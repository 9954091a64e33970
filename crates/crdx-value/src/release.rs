//! The simulated Kubernetes release. All behaviour that differs between releases depends on a [`Release`].
//!
//! Each difference is implemented once, next to the behaviour it changes, as a comparison with one of the [`Minor`]
//! constants. The comparison is made when a schema, rule or server is built, not for each object.

mod set;

pub use set::{ReleaseSet, ReleaseSetError};

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

/// A simulated release: a minor version and its feature gates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Release {
    minor: Minor,
    /// One bit per [`Gate`], set if the gate is enabled.
    gates: u8,
}

impl Release {
    /// The oldest supported release.
    pub const OLDEST: Self = Self::of(V1_30);
    /// The newest supported release.
    pub const NEWEST: Self = Self::of(V1_37);

    /// The release of a constant above, with default feature gates.
    pub const fn of(minor: Minor) -> Self {
        let mut gates = 0;
        let mut i = 0;
        while i < GATES.len() {
            // `for` loops are not allowed in const functions.
            #[allow(clippy::indexing_slicing)]
            let gate = &GATES[i];
            if gate.on.0 <= minor.0 {
                gates |= gate.gate.bit();
            }
            i += 1;
        }
        Self { minor, gates }
    }

    /// The release 1.`minor` with default feature gates; `None` if it is not supported.
    pub fn new(minor: u16) -> Option<Self> {
        (Self::OLDEST.minor.0..=Self::NEWEST.minor.0).contains(&minor).then(|| Self::of(Minor(minor)))
    }

    /// All supported releases, oldest first.
    pub fn known() -> impl Iterator<Item = Self> {
        (Self::OLDEST.minor.0..=Self::NEWEST.minor.0).map(|minor| Self::of(Minor(minor)))
    }

    /// The release simulated for a cluster of version 1.`minor`: that release, or the nearest supported one.
    pub fn nearest(minor: u16) -> Self {
        Self::of(Minor(minor.clamp(Self::OLDEST.minor.0, Self::NEWEST.minor.0)))
    }

    /// The minor version.
    pub const fn minor(self) -> Minor {
        self.minor
    }

    /// The patch release whose source and behaviour are simulated, such as `1.37.2`.
    pub fn full_version(self) -> String {
        let patch = match self.minor {
            V1_30 | V1_31 => 14,
            V1_32 | V1_33 | V1_34 => 13,
            V1_35 => 10,
            V1_36 => 6,
            _ => 2,
        };
        format!("{}.{patch}", self.minor)
    }

    /// The source line in `k8s.io/apimachinery/pkg/runtime/scheme.go` that some error messages contain as the name of a
    /// scheme.
    pub fn scheme(self) -> String {
        let line = match self.minor {
            V1_30 | V1_31 | V1_32 => 100,
            V1_33 | V1_34 => 110,
            _ => 111,
        };
        format!("\"pkg/runtime/scheme.go:{line}\"")
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
        let known = || GATES.iter().filter(|gate| self.since(gate.introduced));
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

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.minor.fmt(f)
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

/// A feature gate of the API server that affects custom resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// `AllowUnsafeMalformedObjectDeletion`: the deletion of objects that cannot be read.
    AllowUnsafeMalformedObjectDeletion,
    /// `CRDValidationRatcheting`: errors in unchanged fields are tolerated.
    CrdValidationRatcheting,
    /// `selectableFields` in CRDs, and field selectors on them.
    CustomResourceFieldSelectors,
    /// `observedGeneration` in the conditions of CRDs.
    CrdObservedGenerationTracking,
    /// `MutatingAdmissionPolicy`.
    MutatingAdmissionPolicy,
}

impl Gate {
    const fn bit(self) -> u8 {
        1 << self as u8
    }
}

struct GateSpec {
    gate: Gate,
    name: &'static str,
    /// The release that introduced the gate. The gate is disabled by default until release `on`.
    introduced: Minor,
    /// The first release in which the gate is enabled by default.
    on: Minor,
    /// The first release that locks the gate to its default.
    locked: Minor,
}

/// From `k8s.io/apiextensions-apiserver/pkg/features/kube_features.go` and
/// `k8s.io/apiserver/pkg/features/kube_features.go`.
const GATES: [GateSpec; 5] = [
    GateSpec {
        gate: Gate::AllowUnsafeMalformedObjectDeletion,
        name: "AllowUnsafeMalformedObjectDeletion",
        introduced: V1_32,
        on: V1_37,
        locked: Minor::NEVER,
    },
    GateSpec {
        gate: Gate::CrdObservedGenerationTracking,
        name: "CRDObservedGenerationTracking",
        introduced: V1_35,
        on: V1_36,
        locked: Minor::NEVER,
    },
    GateSpec {
        gate: Gate::CrdValidationRatcheting,
        name: "CRDValidationRatcheting",
        introduced: V1_30,
        on: V1_30,
        locked: V1_33,
    },
    GateSpec {
        gate: Gate::CustomResourceFieldSelectors,
        name: "CustomResourceFieldSelectors",
        introduced: V1_30,
        on: V1_31,
        locked: V1_32,
    },
    GateSpec {
        gate: Gate::MutatingAdmissionPolicy,
        name: "MutatingAdmissionPolicy",
        introduced: V1_32,
        on: V1_36,
        locked: Minor::NEVER,
    },
];

/// The error for a feature gate that cannot be set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// The release has no such gate, or the gate does not affect custom resources.
    #[error(
        "Kubernetes {release} has no feature gate {name:?} for custom resources; use one of {}",
        known.join(", ")
    )]
    Unknown {
        /// The name of the gate.
        name: String,
        /// The release.
        release: Release,
        /// The gates that the release has.
        known: Vec<&'static str>,
    },
    /// The release has locked the gate.
    #[error("cannot set feature gate {name} to false, feature is locked to true in Kubernetes {release}")]
    Locked {
        /// The name of the gate.
        name: &'static str,
        /// The release.
        release: Release,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_releases_are_read() {
        for known in ["1.34", "v1.34", "1.34.4", "v1.34.10-gke.1200", "1.34.0+k3s1"] {
            assert_eq!(known.parse::<Release>().map(Release::minor), Ok(V1_34), "{known}");
        }
        for unknown in ["1.29", "1.38", "34", "vv1.34", "1.034", "2.34", "1.34.x", "1.34.1.1", "1.34-1.36", "1.", ""] {
            let error = unknown.parse::<Release>().unwrap_err().to_string();
            assert!(error.ends_with("use one of 1.30, 1.31, 1.32, 1.33, 1.34, 1.35, 1.36, 1.37"), "{error}");
        }
        assert_eq!((Release::nearest(12), Release::nearest(99)), (Release::OLDEST, Release::NEWEST));
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
    }
}
