//! `CSINode`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{driver_names, immutable};
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath, ROOT, names};
use crdx_value::release::{Gate, V1_33};
use std::collections::HashSet;

const MAX_NODE_ID: usize = 256;

/// `ValidateCSINode` and `ValidateCSINodeUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let drivers = spec.child("drivers");
    let mut seen = HashSet::new();
    for driver in drivers.items() {
        node_driver(errors, &driver);
        let name = driver.child("name");
        if !seen.insert(name.text()) {
            errors.duplicate(&name);
        }
    }
    let old = FieldValue::new(old.and_then(|old| old.at(&["spec", "drivers"])), ROOT);
    for before in old.items() {
        let name = before.child("name").text();
        for driver in drivers.items().filter(|driver| driver.child("name").text() == name) {
            let is_mutable =
                |field: &str| field == "allocatable" && errors.release.enables(Gate::MutableCSINodeAllocatableCount);
            let without = |driver: &Value| {
                let members = driver.as_object().into_iter().flatten();
                let members = members.filter(|(field, _)| !is_mutable(field));
                Value::Object(members.map(|(field, value)| (field.clone(), value.clone())).collect())
            };
            let (new, before) = (without(driver.value), without(before.value));
            if !immutable::is_equal(&new, &before) {
                // The error also shows the empty lists of the request.
                let new = FieldValue::with_empties(Some(&new), drivers.path, driver.empties);
                driver_is_fixed(errors, &new);
            }
        }
    }
}

fn driver_is_fixed(errors: &mut Errors, driver: &FieldValue<'_, '_>) {
    let shown = errors.typed(driver, "storage.CSINodeDriver");
    if errors.release.since(V1_33) {
        errors.invalid_value(&driver.path, shown, immutable::IMMUTABLE);
    } else {
        errors.invalid_value(&FieldPath::new("CSINodeDriver"), shown, immutable::IMMUTABLE);
    }
}

/// `validateCSINodeDriver`
fn node_driver(errors: &mut Errors, driver: &FieldValue<'_, '_>) {
    driver_names::validate(errors, &driver.child("name"));
    let id = driver.child("nodeID");
    errors.require_text(&id);
    if id.text().len() > MAX_NODE_ID {
        errors.invalid(&id, format!("must be {MAX_NODE_ID} characters or less"));
    }
    let allocatable = driver.child("allocatable");
    errors.nonnegative(&allocatable.child("count"));
    let mut seen = HashSet::new();
    for key in driver.child("topologyKeys").texts() {
        if key.is_empty() {
            errors.required(driver, "");
        }
        if !seen.insert(key) {
            errors.list.push(FieldError::duplicate(&driver.path, key));
        }
        errors.messages_at(&driver.path, key, names::qualified_name(key, errors.release));
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn node(drivers: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"drivers":{drivers}}}}}"#)
    }

    #[test]
    fn drivers_of_a_node_are_unique_and_complete() {
        let create = |drivers: &str| created("storage.k8s.io/v1", "CSINode", &node(drivers), "1.37");
        assert_eq!(create(r#"[{"name":"a","nodeID":"1","topologyKeys":["a/b"],"allocatable":{"count":0}}]"#), [""; 0]);
        let found = create(
            r#"[{"name":"a","nodeID":"","topologyKeys":["a","a","-"],"allocatable":{"count":-1}},{"name":"a","nodeID":"1"}]"#,
        );
        assert_eq!(found[0], "spec.drivers[0].nodeID: Required value");
        assert!(found[1].starts_with("spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than"));
        assert_eq!(found[2], r#"spec.drivers[0]: Duplicate value: "a""#);
        assert!(found[3].starts_with(r#"spec.drivers[0]: Invalid value: "-": name part must consist"#));
        assert_eq!(found[4], r#"spec.drivers[1].name: Duplicate value: "a""#);
    }

    #[test]
    fn drivers_of_a_node_are_immutable_except_for_their_limits_since_1_35() {
        let driver = |id: &str, count: i64| {
            node(&format!(r#"[{{"name":"a","nodeID":"{id}","topologyKeys":null,"allocatable":{{"count":{count}}}}}]"#))
        };
        let update = |old: &str, new: &str, release: &str| updated("storage.k8s.io/v1", "CSINode", old, new, release);
        assert_eq!(update(&driver("1", 1), &driver("1", 2), "1.35"), [""; 0]);
        assert_eq!(update(&driver("1", 1), &driver("1", 2), "1.34").len(), 1);
        let found = update(&driver("1", 1), &driver("2", 1), "1.37");
        assert!(found[0].starts_with("spec.drivers: Invalid value: ") && found[0].ends_with(": field is immutable"));
        let emptied = node(r#"[{"name":"a","nodeID":"1","topologyKeys":[]}]"#);
        let old = emptied.replace("[]", r#"["k"]"#);
        let shown = r#"{"Name":"a","NodeID":"1","TopologyKeys":[],"Allocatable":null}"#;
        assert_eq!(
            update(&old, &emptied, "1.38"),
            [format!("spec.drivers: Invalid value: {shown}: field is immutable")]
        );
    }
}
