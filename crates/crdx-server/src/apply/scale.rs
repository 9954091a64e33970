//! Converts managedFields between an object and its `/scale` subresource (`managedfields/scalehandler.go`).

use super::{managed::Managed, path::PathElement, set::Set, updater::Owner};

const SCALE_VERSION: &str = "autoscaling/v1";

/// The field path of a replicas path such as `.spec.replicas`.
pub(crate) fn replicas_path(path: &str) -> Vec<PathElement> {
    path.trim_start_matches('.').split('.').map(|name| PathElement::Field(name.to_owned())).collect()
}

/// The entries that own the replicas, converted to entries of the Scale. `path_of` returns the replicas path of a
/// version: `None` for an unknown version, `Some(None)` for a version without scale subresource.
pub(crate) fn to_scale(parent: &Managed, path_of: &dyn Fn(&str) -> Option<Option<String>>) -> Managed {
    let mut out = Managed::default();
    for (id, owner) in &parent.owners {
        let Some(Some(path)) = path_of(&owner.api_version) else { continue };
        if owner.set.has(&replicas_path(&path)) {
            let set = Set::of_fields(&[&["spec", "replicas"]]);
            let scale = Owner { set, api_version: SCALE_VERSION.to_owned(), applied: owner.applied };
            out.owners.insert(id.clone(), scale);
            if let Some(time) = parent.times.get(id) {
                out.times.insert(id.clone(), time.clone());
            }
        }
    }
    out
}

/// The entries of the object after a write of its Scale.
pub(crate) fn to_parent(
    parent: &Managed,
    mut scale: Managed,
    api_version: &str,
    path_of: &dyn Fn(&str) -> Option<Option<String>>,
) -> Managed {
    let mut out = Managed::default();
    for (id, owner) in &parent.owners {
        let Some(path) = path_of(&owner.api_version) else { continue };
        let mut owner = owner.clone();
        if let Some(path) = path.map(|p| replicas_path(&p)).filter(|p| owner.set.has(p))
            && scale.owners.remove(id).is_none()
        {
            let mut removed = Set::default();
            removed.insert(&path);
            owner.set = std::mem::take(&mut owner.set).difference(&removed);
        }
        if !owner.set.is_empty() {
            out.owners.insert(id.clone(), owner);
            if let Some(time) = parent.times.get(id) {
                out.times.insert(id.clone(), time.clone());
            }
        }
    }
    let replicas = Set::of_fields(&[&["spec", "replicas"]]);
    for (id, owner) in scale.owners {
        if owner.set.intersection(&replicas).is_empty() {
            continue;
        }
        let mut set = Set::default();
        if let Some(Some(path)) = path_of(api_version) {
            set.insert(&replicas_path(&path));
        }
        // The server takes the time from the entry of the object, which a new manager does not have.
        if let Some(time) = parent.times.get(&id) {
            out.times.insert(id.clone(), time.clone());
        }
        out.owners.insert(id, Owner { set, api_version: api_version.to_owned(), applied: owner.applied });
    }
    out
}
