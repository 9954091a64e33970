//! The feature gates of the API server that affect custom resources.

use super::{Minor, Release, V1_30, V1_32, V1_33, V1_35, V1_38};

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
    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// The bits of several gates.
    pub(super) const fn bits(mut gates: &[Self]) -> u8 {
        let mut bits = 0;
        // `for` loops are not allowed in const functions.
        while let [gate, rest @ ..] = gates {
            bits |= gate.bit();
            gates = rest;
        }
        bits
    }
}

pub(super) struct GateSpec {
    pub gate: Gate,
    pub name: &'static str,
    /// The release that introduced the gate. [`RELEASES`](super::RELEASES) has the releases that enable it by default.
    pub introduced: Minor,
    /// The first release that locks the gate to its default.
    pub locked: Minor,
    /// The first release without the gate; what it enabled is always enabled there.
    pub removed: Minor,
}

/// From `k8s.io/apiextensions-apiserver/pkg/features/kube_features.go` and
/// `k8s.io/apiserver/pkg/features/kube_features.go`.
pub(super) const GATES: [GateSpec; 5] = [
    GateSpec {
        gate: Gate::AllowUnsafeMalformedObjectDeletion,
        name: "AllowUnsafeMalformedObjectDeletion",
        introduced: V1_32,
        locked: Minor::NEVER,
        removed: Minor::NEVER,
    },
    GateSpec {
        gate: Gate::CrdObservedGenerationTracking,
        name: "CRDObservedGenerationTracking",
        introduced: V1_35,
        locked: Minor::NEVER,
        removed: Minor::NEVER,
    },
    GateSpec {
        gate: Gate::CrdValidationRatcheting,
        name: "CRDValidationRatcheting",
        introduced: V1_30,
        locked: V1_33,
        removed: V1_38,
    },
    GateSpec {
        gate: Gate::CustomResourceFieldSelectors,
        name: "CustomResourceFieldSelectors",
        introduced: V1_30,
        locked: V1_32,
        removed: V1_38,
    },
    GateSpec {
        gate: Gate::MutatingAdmissionPolicy,
        name: "MutatingAdmissionPolicy",
        introduced: V1_32,
        locked: Minor::NEVER,
        removed: Minor::NEVER,
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
