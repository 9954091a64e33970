//! The feature gates that differ between two releases.

use crdx_value::release::{GateRow, Release, Spec, gates_of};
use std::collections::{BTreeMap, BTreeSet};

/// A gate that is not the same in two releases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GateChange {
    /// The name of the gate.
    pub name: &'static str,
    /// The gate in the older release; `None` if it does not have the gate.
    pub before: Option<Spec>,
    /// The gate in the newer release; `None` if it does not have the gate.
    pub after: Option<Spec>,
}

impl GateChange {
    /// Returns true if the feature is enabled by default in the newer release only. A gate is removed when its feature is always
    /// enabled or gone.
    pub fn is_enabled(&self) -> bool {
        self.after.is_some_and(|after| after.default) && !self.before.is_some_and(|before| before.default)
    }

    /// Returns true if the feature is enabled by default in the older release, and the newer one has it and disables it.
    pub fn is_disabled(&self) -> bool {
        self.after.is_some_and(|after| !after.default) && self.before.is_some_and(|before| before.default)
    }

    /// Returns true if only the newer release refuses to start with another value than the default.
    pub fn is_locked(&self) -> bool {
        self.after.is_some_and(|after| after.is_locked) && self.before.is_some_and(|before| !before.is_locked)
    }

    /// Returns true if only the older release has the gate. The newer one refuses to start if it is set.
    pub fn is_removed(&self) -> bool {
        self.before.is_some() && self.after.is_none()
    }
}

/// Returns the gates of the API server that become enabled or disabled by default, locked, or removed, in the order of their names.
pub fn gate_changes(before: Release, after: Release) -> Vec<GateChange> {
    let specs = |release: Release| -> BTreeMap<&'static str, Spec> {
        let spec = |row: &'static GateRow| (row.name, row.at(release.emulated(), release.compatibility()));
        gates_of(release.minor()).map(spec).collect()
    };
    let (old, new) = (specs(before), specs(after));
    let names: BTreeSet<&'static str> = old.keys().chain(new.keys()).copied().collect();
    let change =
        |name: &'static str| GateChange { name, before: old.get(name).copied(), after: new.get(name).copied() };
    let changes = names.into_iter().map(change);
    changes.filter(|one| one.is_enabled() || one.is_disabled() || one.is_locked() || one.is_removed()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::release::{Minor, V1_32, V1_33, V1_34};

    fn names(changes: &[GateChange], is: fn(&GateChange) -> bool) -> Vec<&'static str> {
        changes.iter().filter(|change| is(change)).map(|change| change.name).collect()
    }

    #[test]
    fn a_gate_that_becomes_generally_available_is_locked() {
        let release = |minor: Minor| Release::new(minor.number()).unwrap();
        let changes = gate_changes(release(V1_32), release(V1_33));
        assert!(names(&changes, GateChange::is_locked).contains(&"JobSuccessPolicy"));
        assert!(names(&changes, GateChange::is_enabled).contains(&"InPlacePodVerticalScaling"));
        assert_eq!(gate_changes(release(V1_34), release(V1_34)), []);
    }
}
