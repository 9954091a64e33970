//! The feature gates whose state the simulation does not follow, or follows for some fields only: which objects they concern
//! when they are not as the release has them by default.

mod concerns;
mod ineffective;

use crate::features::is_set;
use concerns::{CONCERNS, ConcernedObjects, State};
use crdx_builtin::pod_security::pod_of;
use crdx_value::Value;
use crdx_value::release::{FeatureGates, GateError, Release};
pub use ineffective::INEFFECTIVE;

/// A feature gate that is not as the release has it by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangedGate {
    /// The name of the gate.
    pub name: &'static str,
    /// True if it is enabled.
    pub enabled: bool,
}

/// Returns the gates that are not as the program has them by default, because they are set or because of the emulated version.
///
/// # Errors
/// Returns the server's error if the gates cannot be set.
pub fn changed(release: Release, gates: &FeatureGates) -> Result<Vec<ChangedGate>, GateError> {
    let (binary, previous) = (release.minor(), release.minor().previous());
    let states = gates.states(release)?.into_iter();
    let changed = states.filter(|(row, enabled)| row.at(binary, previous).default != *enabled);
    Ok(changed.map(|(row, enabled)| ChangedGate { name: row.name, enabled }).collect())
}

impl ChangedGate {
    /// Returns true if the answer to a write of an object may depend on the state of the gate in a way that is not simulated.
    pub fn concerns(self, group: &str, kind: &str, object: &Value) -> bool {
        let mut concerns = CONCERNS.iter().filter(|concern| concern.gate == self.name);
        concerns.any(|concern| {
            let is_state = match concern.state {
                State::On => self.enabled,
                State::Off => !self.enabled,
                State::Any => true,
            };
            is_state && concern.objects.has(group, kind, object)
        })
    }

    /// Returns true if the state of the gate changes answers that are not simulated.
    pub fn is_simulated(self) -> bool {
        CONCERNS.iter().all(|concern| concern.gate != self.name)
    }
}

impl ConcernedObjects {
    fn has(&self, group: &str, kind: &str, object: &Value) -> bool {
        match *self {
            Self::Group(own) => group == own,
            Self::Workloads => group == "scheduling.k8s.io" && kind != "PriorityClass",
            Self::Kind(own_group, own_kind) => (group, kind) == (own_group, own_kind),
            Self::With(own_group, own_kind, path) => (group, kind) == (own_group, own_kind) && is_set(object, path),
            Self::Pods(path) => pod_of(kind, object).is_some_and(|(_, spec)| is_set(spec, path)),
        }
    }
}

/// The names of the gates in the list of those that are not simulated, or not in all states.
pub fn unsimulated() -> impl Iterator<Item = &'static str> {
    CONCERNS.iter().map(|concern| concern.gate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::release::Minor;

    fn concerned(release: Release, gates: &str, kind: (&str, &str), object: &str) -> Vec<&'static str> {
        let mut set = FeatureGates::default();
        set.read(gates).unwrap();
        let object = json::read(object.as_bytes()).unwrap();
        let changed = changed(release, &set).unwrap().into_iter();
        changed.filter(|gate| gate.concerns(kind.0, kind.1, &object)).map(|gate| gate.name).collect()
    }

    #[test]
    fn a_gate_concerns_the_objects_with_its_fields() {
        let release = Release::new(37).unwrap();
        let with = r#"{"spec":{"template":{"spec":{"securityContext":{"sysctls":[{"name":"a"}]}}}}}"#;
        let deployment = |object| concerned(release, "DefaultPodSysctls=true", ("apps", "Deployment"), object);
        assert_eq!(deployment(with), ["DefaultPodSysctls"]);
        assert!(deployment(r#"{"spec":{"template":{"spec":{"securityContext":{}}}}}"#).is_empty());
        assert!(concerned(release, "DefaultPodSysctls=false", ("apps", "Deployment"), with).is_empty());
    }

    #[test]
    fn an_emulated_version_changes_the_gates_that_it_has_by_default() {
        let release = Release::new(37).unwrap().emulating(Minor(36)).unwrap();
        let changed = changed(release, &FeatureGates::default()).unwrap();
        let of = |name: &str| changed.iter().find(|gate| gate.name == name).map(|gate| gate.enabled);
        assert_eq!((of("HPAScaleToZero"), of("HPAConfigurableTolerance")), (Some(false), None));
        let rule = concerned(release, "", ("resource.k8s.io", "DeviceTaintRule"), "{}");
        assert_eq!(rule, ["DRADeviceTaintRules"]);
        assert!(concerned(release, "", ("apps", "Deployment"), r#"{"spec":{}}"#).is_empty());
    }
}
