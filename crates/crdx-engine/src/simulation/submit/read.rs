//! Reads the existing object of an object that is sent.

use crate::kubectl::request::{self, RequestOptions};
use crate::kubectl::send::{self, ObjectTarget};
use crate::report::Identity;
use crate::simulation::context::SimulationContext;
use crate::simulation::existing::{Found, Lookup};
use crate::simulation::kubectl_errors;
use crate::simulation::simulated::Before;
use crate::simulation::unsent::{Unsent, not_determined};
use crdx_value::{Value, group_version};

/// Reads the existing object and stores it in the server. Returns false if there is none.
pub fn read(
    context: SimulationContext<'_>,
    target: ObjectTarget<'_>,
    plural: &str,
    before: Before,
    identity: &Identity,
) -> Result<bool, Unsent> {
    let seed = |old: Value, of: &str| {
        let namespace = identity.namespace.as_deref().unwrap_or_default();
        let seeded = context.server.seed(target.definition, namespace, old);
        seeded.map_err(|error| format!("the old object{of} could not have been stored: {error}"))
    };
    match before.stored.read(context.store)? {
        None => {}
        Some((earlier, true)) => return create_again(context, target, plural, earlier, identity).map(|()| true),
        Some((earlier, false)) => return Ok(seed(earlier, "").map(|()| true)?),
    }
    if target.name.is_empty() {
        return Ok(false);
    }
    let wanted = Lookup { identity, namespace: context.namespace, root: context.root };
    match context.updates.existing.read(before.pending, wanted, plural) {
        Found::Nothing => Ok(false),
        Found::Object(old, location) => seed(*old, &format!(" at {location}")).map(|()| true).map_err(Unsent::from),
        found => Err(not_determined(found)),
    }
}

/// Creates the object of an earlier input of the same name, which was created in a dry run only.
fn create_again(
    context: SimulationContext<'_>,
    target: ObjectTarget<'_>,
    plural: &str,
    earlier: Value,
    identity: &Identity,
) -> Result<(), Unsent> {
    let api_version = earlier.str_at(&["apiVersion"]).unwrap_or_default().to_owned();
    let (group, version) = group_version::split(&api_version);
    let collection = request::collection(group, version, plural, identity.namespace.as_deref());
    let target = ObjectTarget { version, collection: &collection, ..target };
    let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
    let earlier = kubectl_errors::in_namespace(earlier, identity);
    let request = send::create(target, earlier, &context.updates.request_kind, request_options);
    let response = context.server.handle_owned(request);
    if response.code < 300 {
        return Ok(());
    }
    Err(format!("the earlier object of the same name could not be created again: {}", response.body.message()).into())
}
