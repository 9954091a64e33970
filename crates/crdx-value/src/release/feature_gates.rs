//! `--feature-gates`: the gates that are set, as kube-apiserver reads them.

use super::gate::{GateError, GateRow, Stage, gates_of};
use super::{Minor, Release, V1_35};
use std::collections::BTreeMap;

/// The gates that a server sets, which may differ from the defaults of its release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FeatureGates(BTreeMap<String, bool>);

/// The error for a text that sets no gates.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeatureGatesError {
    /// A gate has no value.
    #[error("missing bool value for {0}")]
    NoValue(String),
    /// The value of a gate is no boolean.
    #[error("invalid value of {name}={value}, err: strconv.ParseBool: parsing {value:?}: invalid syntax")]
    Value {
        /// The name of the gate.
        name: String,
        /// Its value.
        value: String,
    },
}

/// The gates that set all gates of a stage that are not set themselves (`specialFeatures`).
const OF_STAGES: [(&str, Stage); 2] = [("AllAlpha", Stage::ALPHA), ("AllBeta", Stage::BETA)];

impl FeatureGates {
    /// Sets a gate.
    pub fn set(&mut self, name: &str, enabled: bool) {
        self.0.insert(name.to_owned(), enabled);
    }

    /// Sets gates as in `A=true,B=false`. A later value of a gate replaces an earlier one.
    ///
    /// # Errors
    /// Returns an error if the value of a gate is missing or no boolean.
    pub fn read(&mut self, text: &str) -> Result<(), FeatureGatesError> {
        for item in text.split(',').filter(|item| !item.is_empty()) {
            // The gates of kube-apiserver may have the prefix of their component.
            let item = item.strip_prefix("kube:").unwrap_or(item);
            let (name, value) = item.split_once('=').unwrap_or((item, ""));
            let (name, value) = (name.trim().to_owned(), value.trim());
            if !item.contains('=') {
                return Err(FeatureGatesError::NoValue(name));
            }
            let enabled = parse_bool(value)
                .ok_or_else(|| FeatureGatesError::Value { name: name.clone(), value: value.to_owned() })?;
            self.0.insert(name, enabled);
        }
        Ok(())
    }

    /// Returns true if no gate is set.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The gates that are set, and their values.
    pub fn iter(&self) -> impl Iterator<Item = (&str, bool)> {
        self.0.iter().map(|(name, enabled)| (name.as_str(), *enabled))
    }

    /// The states of all gates of a release that has these set, in the order of their names (`unsafeSetFromMap`).
    ///
    /// # Errors
    /// Returns the first error that the server has.
    pub fn states(&self, release: Release) -> Result<Vec<(&'static GateRow, bool)>, GateError> {
        let (binary, emulated, minimum) = (release.minor(), release.emulated(), release.compatibility());
        for (name, enabled) in self.iter() {
            let Some(row) = gates_of(binary).find(|row| row.name == name) else {
                return Err(GateError::Unknown(name.to_owned()));
            };
            let (name, spec) = (row.name, row.at(emulated, minimum));
            if spec.is_locked && spec.default != enabled {
                return Err(GateError::Locked { name, enabled });
            }
            if spec.stage == Stage::PRE_ALPHA {
                let minimum = binary.is_since(V1_35).then_some(minimum);
                return Err(GateError::TooNew { name, enabled, emulated, minimum });
            }
        }
        let state = |row: &GateRow| {
            let spec = row.at(emulated, minimum);
            let of_stage = OF_STAGES.iter().find(|(_, stage)| *stage == spec.stage);
            let set = self.0.get(row.name).or_else(|| {
                let (name, _) = of_stage.filter(|_| OF_STAGES.iter().all(|(name, _)| *name != row.name))?;
                self.0.get(*name)
            });
            set.copied().unwrap_or(spec.default)
        };
        let states: Vec<(&'static GateRow, bool)> = gates_of(binary).map(|row| (row, state(row))).collect();
        for (row, _) in states.iter().filter(|(row, enabled)| *enabled && !row.needs.is_empty()) {
            let is_off = |need: &&'static str| states.iter().any(|(other, enabled)| other.name == *need && !enabled);
            let missing: Vec<&'static str> = row.needs.iter().copied().filter(is_off).collect();
            if !missing.is_empty() {
                return Err(GateError::Needs { name: row.name, missing });
            }
        }
        Ok(states)
    }
}

impl Minor {
    const fn is_since(self, other: Self) -> bool {
        self.0 >= other.0
    }
}

/// Go's `strconv.ParseBool`.
fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "true" | "TRUE" | "True" => Some(true),
        "0" | "f" | "F" | "false" | "FALSE" | "False" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Gate;

    fn release(minor: u16, gates: &str) -> Result<Release, GateError> {
        let mut set = FeatureGates::default();
        set.read(gates).unwrap();
        Release::new(minor).unwrap().with_gates(&set)
    }

    fn error(minor: u16, gates: &str) -> String {
        release(minor, gates).unwrap_err().to_string()
    }

    #[test]
    fn errors_are_those_of_the_server() {
        assert_eq!(error(37, "Other=true"), "unrecognized feature gate: Other");
        assert_eq!(
            error(37, "CustomResourceFieldSelectors=false"),
            "cannot set feature gate CustomResourceFieldSelectors to false, feature is locked to true"
        );
        assert_eq!(
            error(37, "GenericWorkload=false,WorkloadWithJob=true"),
            "WorkloadWithJob is enabled, but depends on features that are disabled: [GenericWorkload]"
        );
        let read = |text: &str| FeatureGates::default().read(text).unwrap_err().to_string();
        assert_eq!(read("A"), "missing bool value for A");
        assert_eq!(read("A=yes"), "invalid value of A=yes, err: strconv.ParseBool: parsing \"yes\": invalid syntax");
    }

    #[test]
    fn a_gate_of_a_stage_sets_those_that_are_not_set() {
        let all = release(37, "AllAlpha=true,AllBeta=true,StatefulSetRecreateStrategy=false").unwrap();
        assert!(!all.enables(Gate::StatefulSetRecreateStrategy) && all.enables(Gate::EmptyDirVolumeMode));
        let none = release(37, "AllBeta=false").unwrap();
        assert!(!none.enables(Gate::HPAScaleToZero) && none.enables(Gate::ImageVolume));
    }

    #[test]
    fn an_emulated_version_has_its_own_defaults() {
        let emulated = |minor| Release::new(37).unwrap().emulating(Minor(minor));
        let older = emulated(36).unwrap();
        assert!(!older.enables(Gate::HPAScaleToZero) && older.enables(Gate::HPAConfigurableTolerance));
        let mut gates = FeatureGates::default();
        gates.set("EmptyDirVolumeMode", true);
        assert_eq!(
            older.with_gates(&gates).unwrap_err().to_string(),
            "cannot set feature gate EmptyDirVolumeMode to true, feature is PreAlpha at emulated version 1.36, min compatibility version 1.35"
        );
        assert_eq!(emulated(33).unwrap_err().to_string(), "emulation version 1.33 is not between [1.34, 1.37]");
    }
}
