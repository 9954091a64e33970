//! Reads the existing object of an object that is sent.

use super::exchange::ExistingObject;
use crate::report::Identity;
use crate::simulation::context::SimulationContext;
use crate::simulation::existing::{ExistingObjects, Found, Lookup, manifest};
use crate::simulation::resource::SimulatedResource;
use crate::simulation::simulated::Before;
use crate::simulation::unsent::{Unsent, not_determined};

/// The knowledge about the existing object.
pub enum Existence {
    /// There is none.
    Absent,
    /// The user may not read it, so that it is taken for a new one, which a note says.
    TakenForAbsent(Unsent),
    /// It exists; the place of its source in a text, if it has one.
    Exists(ExistingObject, Option<String>),
    /// It is not known whether it exists.
    Unknown(Unsent),
}

/// Reads the existing object for an object with a name. `before` is what earlier inputs stored.
pub fn read(
    context: SimulationContext<'_>,
    resource: &SimulatedResource,
    identity: &Identity,
    name: &str,
    before: Before,
) -> Existence {
    match before.stored.read(context.store) {
        Ok(None) => {}
        Ok(Some((earlier, is_text))) => {
            let has_uid = earlier.str_at(&["metadata", "uid"]).is_some();
            let is_manifest = is_text || !resource.is_defined() && !has_uid;
            let earlier = if is_manifest { ExistingObject::Manifest(earlier) } else { ExistingObject::Stored(earlier) };
            return Existence::Exists(earlier, None);
        }
        Err(lost) => return Existence::Unknown(lost),
    }
    if name.is_empty() {
        return Existence::Absent;
    }
    let existing = &context.updates.existing;
    let wanted = Lookup { identity, namespace: context.namespace, root: context.root };
    match existing.read(before.pending, wanted, resource.plural()) {
        Found::Nothing => Existence::Absent,
        Found::Object(old, location) => {
            let is_manifest = existing.is_given() && manifest::is_manifest(&old);
            let old = if is_manifest { ExistingObject::Manifest(*old) } else { ExistingObject::Stored(*old) };
            Existence::Exists(old, Some(format!(" at {location}")))
        }
        Found::Error(error) if !resource.is_defined() => {
            if let ExistingObjects::Cluster(cluster) = existing {
                cluster.record_unreadable(resource.plural(), &error);
            }
            if error.is_refused() && context.updates.request_kind.may_create() {
                Existence::TakenForAbsent(not_determined(Found::Error(error)))
            } else {
                Existence::Unknown(not_determined(Found::Error(error)))
            }
        }
        found => Existence::Unknown(not_determined(found)),
    }
}
