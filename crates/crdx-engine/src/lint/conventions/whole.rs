//! The conventions of the CRD as a whole.

use super::{Convention, Departure, Walk};
use crate::schema_steps::{SchemaStep, below, schema_path, steps_below, value_path};
use crdx_server::crd::Spec;
use crdx_server::schema::Schema;

/// Checks the root of a version.
pub fn check(root: &Schema, has_status_subresource: bool, walk: &mut Walk<'_>) {
    if root.property("spec").is_none() {
        walk.add(Convention::MissingSpec, "", "the desired state is not in spec");
    }
    let Some(status) = root.property("status") else { return };
    if !has_status_subresource {
        let message =
            "there is a status and no subresource for it: every client that may write the object may write its status";
        walk.add(Convention::StatusSubresource, "properties[status]", message);
    }
    if root.required.iter().any(|name| name == "status") {
        walk.add(Convention::RequiredStatus, "required", "the status is required: a new object has none");
    }
    if let Some(name) = status.required.first() {
        let message = format!("status.{name} is required: a controller writes the status in several steps");
        walk.add(Convention::RequiredStatus, "properties[status].required", &message);
    }
}

/// Returns the fields of served versions that differ from those of the storage version.
pub fn between_versions(spec: &Spec) -> Vec<Departure> {
    let mut found = Vec::new();
    let Some(storage) = spec.versions.iter().find(|version| version.storage) else { return found };
    let Some(stored) = spec.schema(&storage.name) else { return found };
    for (index, version) in spec.versions.iter().enumerate() {
        let Some(root) = spec.schema(&version.name).filter(|_| version.served && !version.storage) else { continue };
        let prefix = format!("spec.versions[{index}].schema.openAPIV3Schema");
        let mut add = |steps: &[SchemaStep], what: &str| {
            found.push(Departure {
                convention: Convention::VersionDifference,
                crd_field: format!("{prefix}{}", schema_path(steps)),
                message: format!("{}: {what} differs from that of version {}", value_path(steps), storage.name),
            });
        };
        compare(root, stored, &mut Vec::new(), &mut add);
    }
    found
}

fn compare(one: &Schema, stored: &Schema, steps: &mut Vec<SchemaStep>, add: &mut dyn FnMut(&[SchemaStep], &str)) {
    if one == stored {
        return;
    }
    for (step, node) in steps_below(one) {
        let Some(other) = below(stored, &step) else { continue };
        steps.push(step);
        let differences = [
            ("the type", node.type_ != other.type_),
            ("the format", node.format != other.format),
            ("the enum", node.enum_ != other.enum_),
            ("the default", node.default != other.default),
        ];
        if let Some((what, _)) = differences.into_iter().find(|(_, differs)| *differs) {
            add(steps, what);
        }
        compare(node, other, steps, add);
        steps.pop();
    }
}
