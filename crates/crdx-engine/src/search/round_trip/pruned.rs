//! The fields of one schema that another one prunes.

use super::Trip;
use crate::schema_steps::{SchemaStep, below, is_type_or_metadata, steps_below, takes_unknown, value_path};
use crdx_server::crd::Spec;
use crdx_server::schema::Schema;

/// The maximum number of fields that are returned.
const MAX_FIELDS: usize = 50;

/// Returns the fields of `one` that `other` prunes, without those below them.
pub fn missing(one: &Schema, other: &Schema) -> Vec<Vec<SchemaStep>> {
    let mut found = Vec::new();
    walk(one, other, &mut Vec::new(), &mut found);
    found
}

fn walk(one: &Schema, other: &Schema, steps: &mut Vec<SchemaStep>, found: &mut Vec<Vec<SchemaStep>>) {
    if one == other {
        return;
    }
    let keeps = takes_unknown(other);
    for (step, node) in steps_below(one) {
        if found.len() >= MAX_FIELDS {
            return;
        }
        if steps.is_empty() && is_type_or_metadata(&step) {
            // Every schema has these.
            continue;
        }
        steps.push(step.clone());
        match (below(other, &step), &step) {
            (Some(after), _) => walk(node, after, steps, found),
            (None, SchemaStep::Property(_)) if other.type_ == "object" && !keeps => found.push(steps.clone()),
            (None, _) => {}
        }
        steps.pop();
    }
}

/// Returns the paths of the fields that the trip loses without a webhook, because one of the versions prunes them.
pub fn lost_without_webhook(spec: &Spec, trip: &Trip) -> Vec<String> {
    let (Some(written), Some(through)) = (spec.schema(&trip.written), spec.schema(&trip.through)) else {
        return Vec::new();
    };
    let of_storage = spec.versions.iter().find(|version| version.storage).and_then(|one| spec.schema(&one.name));
    // Fields that the storage version lacks are lost before the trip, unless the trip is through that version.
    let before = match of_storage {
        Some(stored) if !trip.is_through_storage => missing(written, stored),
        _ => Vec::new(),
    };
    let lost =
        missing(written, through).into_iter().filter(|steps| !before.iter().any(|above| steps.starts_with(above)));
    lost.map(|steps| value_path(&steps)).collect()
}
