//! The specifications of feature gates (`VersionedSpecs` in `k8s.io/component-base/featuregate`).

use super::names::Gate;
use crate::release::minor::Minor;

/// The stage of a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(non_camel_case_types, reason = "the names that metrics have")]
pub enum Stage {
    /// Not available.
    PRE_ALPHA,
    /// Alpha
    ALPHA,
    /// Beta
    BETA,
    /// Generally available
    GA,
    /// Deprecated
    DEPRECATED,
}

/// What a gate is from one version on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The first emulated version, 0 for all.
    pub since: u16,
    /// The stage of the feature.
    pub stage: Stage,
    /// True if the gate is enabled by default.
    pub default: bool,
    /// True if the gate cannot have another value.
    pub is_locked: bool,
    /// The least minimum compatibility version, 0 for all.
    pub minimum: u16,
}

pub(super) const fn spec(since: u16, stage: Stage, default: bool, is_locked: bool) -> Spec {
    Spec { since, stage, default, is_locked, minimum: 0 }
}

impl Spec {
    /// What a gate without a specification is.
    const UNAVAILABLE: Self = spec(0, Stage::PRE_ALPHA, false, false);

    pub(super) const fn with_minimum(self, minimum: u16) -> Self {
        Self { minimum, ..self }
    }
}

/// A gate in a range of releases.
#[derive(Clone, Copy, Debug)]
pub struct GateRow {
    /// The name of the gate.
    pub name: &'static str,
    /// The gate, if the simulation depends on it.
    pub gate: Option<Gate>,
    pub(super) first: u16,
    pub(super) last: u16,
    /// The specifications, oldest first.
    pub specs: &'static [Spec],
    /// The gates without which this one cannot be enabled.
    pub needs: &'static [&'static str],
}

pub(super) const fn row(
    name: &'static str,
    gate: Option<Gate>,
    first: u16,
    last: u16,
    specs: &'static [Spec],
    needs: &'static [&'static str],
) -> GateRow {
    GateRow { name, gate, first, last, specs, needs }
}

impl GateRow {
    /// Returns true if a release has the gate with these specifications.
    pub const fn is_in(&self, release: Minor) -> bool {
        self.first <= release.0 && release.0 <= self.last
    }

    /// The first and the last release with these specifications.
    pub const fn releases(&self) -> (Minor, Minor) {
        (Minor(self.first), Minor(self.last))
    }

    /// What the gate is for an emulated version and its minimum compatibility version
    /// (`featureSpecAtEmulationAndMinCompatVersion`).
    pub const fn at(&self, emulated: Minor, minimum: Minor) -> Spec {
        let mut specs = self.specs;
        // `for` loops are not allowed in const functions.
        while let [rest @ .., last] = specs {
            if last.since <= emulated.0 && last.minimum <= minimum.0 {
                return *last;
            }
            specs = rest;
        }
        Spec::UNAVAILABLE
    }
}
