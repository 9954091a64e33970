//! The feature gates of the API server.

mod names;
mod spec;
mod table;

pub use names::Gate;
pub use spec::{GateRow, Spec, Stage};

use super::minor::Minor;
use table::GATES;

/// The errors for feature gates that cannot be set; the texts are those of the server
/// (`k8s.io/component-base/featuregate/feature_gate.go`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateError {
    /// The release has no such gate.
    #[error("unrecognized feature gate: {0}")]
    Unknown(String),
    /// The release has locked the gate.
    #[error("cannot set feature gate {name} to {enabled}, feature is locked to {}", !enabled)]
    Locked {
        /// The name of the gate.
        name: &'static str,
        /// The value that was to be set.
        enabled: bool,
    },
    /// The gate is newer than the emulated version.
    #[error(
        "cannot set feature gate {name} to {enabled}, feature is PreAlpha at emulated version {emulated}{}",
        minimum.map(|minimum| format!(", min compatibility version {minimum}")).unwrap_or_default()
    )]
    TooNew {
        /// The name of the gate.
        name: &'static str,
        /// The value that was to be set.
        enabled: bool,
        /// The emulated version.
        emulated: Minor,
        /// The minimum compatibility version, which the texts of newer releases have.
        minimum: Option<Minor>,
    },
    /// A gate that this one depends on is disabled.
    #[error("{name} is enabled, but depends on features that are disabled: [{}]", missing.join(" "))]
    Needs {
        /// The name of the gate.
        name: &'static str,
        /// The disabled gates.
        missing: Vec<&'static str>,
    },
}

/// The gates of a release, in the order of their names.
pub fn gates_of(release: Minor) -> impl Iterator<Item = &'static GateRow> {
    GATES.iter().filter(move |row| row.is_in(release))
}

/// All gates; a gate has a row for each range of releases with the same specifications.
pub fn all_gates() -> impl Iterator<Item = &'static GateRow> {
    GATES.iter()
}

/// The bits of the gates that are enabled by default. What a gate enabled when it was removed is always enabled later.
pub(super) const fn defaults(binary: Minor, emulated: Minor, minimum: Minor) -> u128 {
    let mut bits = 0;
    let mut rows: &[GateRow] = &GATES;
    // `for` loops are not allowed in const functions.
    while let [row, rest @ ..] = rows {
        if let Some(gate) = row.gate
            && row.first <= binary.0
        {
            let spec =
                if row.is_in(binary) { row.at(emulated, minimum) } else { row.at(Minor(row.last), Minor(row.last)) };
            bits = if spec.default { bits | gate.bit() } else { bits & !gate.bit() };
        }
        rows = rest;
    }
    bits
}
