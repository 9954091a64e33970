//! Status, generation and the fields that a write may not change (`PrepareForCreate` and `PrepareForUpdate` in
//! `pkg/registry/*/*/strategy.go`). The strategy of the kind does the rest.

use crate::server::metadata;
use crate::server::registry::rest::set_generation;
use crate::server::strategy::built_in_kind::behaviour::{GenerationRule, InitialStatus};
use crate::server::strategy::built_in_kind::kind_strategy::KindRequest;
use crate::server::strategy::subresource::Subresource;
use crdx_value::{Map, Value};

/// Prepares a new object.
pub(super) fn create(new: &mut Value, request: &KindRequest<'_>) {
    let KindRequest { kind, release, .. } = *request;
    let behaviour = kind.behaviour;
    if !kind.strategy.writes_status_with_spec(release)
        && behaviour.status != InitialStatus::Kept
        && let Some(members) = new.as_object_mut()
        && members.remove("status").is_some()
        && let Some(status) = kind.initial_status()
    {
        members.insert("status".to_owned(), status.clone());
    }
    // Other kinds keep the generation of the request.
    if behaviour.has_generation(release) && behaviour.generation != GenerationRule::OnlyUpdates {
        set_generation(new, 1);
    }
    kind.strategy.prepare_create(new, request);
}

/// Prepares an update; the caller has set the generation to the old one.
pub(super) fn update(new: &mut Value, old: &Value, request: &KindRequest<'_>) {
    let KindRequest { kind, release, empties, .. } = *request;
    match request.subresource {
        Subresource::Status => {
            keep_all_but_status(new, old, request);
            kind.strategy.prepare_status(new, old, request);
        }
        Subresource::EphemeralContainers | Subresource::Resize => {
            kind.strategy.prepare_part(new, old, request);
            count_generation(new, old, request, false);
        }
        Subresource::None | Subresource::Finalize | Subresource::Approval => {
            if !kind.strategy.writes_status_with_spec(release) {
                new.copy_at(old, &["status"]);
            }
            let compares_first = kind.behaviour.compares_before_preparation;
            if compares_first {
                count_generation(new, old, request, false);
            }
            kind.strategy.prepare_update(new, old, request);
            if !compares_first {
                let is_emptied = empties.is_some_and(|empties| kind.strategy.has_emptied(new, empties));
                count_generation(new, old, request, is_emptied);
            }
        }
    }
}

/// Increments the generation of an object that changes, or has empty lists that count as changes.
fn count_generation(new: &mut Value, old: &Value, request: &KindRequest<'_>, is_emptied: bool) {
    let behaviour = request.kind.behaviour;
    let counts = behaviour.has_generation(request.release) && behaviour.generation != GenerationRule::Constant;
    if counts && (is_emptied || is_changed(new, old, request)) {
        set_generation(new, metadata::generation(old).wrapping_add(1));
    }
}

/// Returns true if anything except metadata changes, or the field of the metadata that counts.
fn is_changed(new: &Value, old: &Value, request: &KindRequest<'_>) -> bool {
    let differs = |field| metadata::get(new, field) != metadata::get(old, field);
    !request.kind.is_same(new, old) || request.kind.behaviour.counted_metadata.is_some_and(differs)
}

/// Restores what a write of the status does not write.
fn keep_all_but_status(new: &mut Value, old: &Value, request: &KindRequest<'_>) {
    let keeps = request.kind.behaviour.status_keeps;
    let managed = metadata::get(new, "managedFields").cloned();
    for path in keeps {
        new.copy_at(old, path);
    }
    let resets_metadata = keeps.contains(&&["metadata"][..]);
    if resets_metadata {
        metadata::set(new, "managedFields", managed);
    }
    // Other top-level fields are part of the specification.
    let fields = old.as_object().into_iter().chain(new.as_object()).flat_map(Map::keys).cloned();
    for key in fields.collect::<Vec<_>>() {
        if !matches!(key.as_str(), "metadata" | "spec" | "status") {
            new.copy_at(old, &[&key]);
        }
    }
}
