//! Sends the update of an existing CRD.

use super::admission::admitted;
use super::context::SimulationContext;
use super::existing::{Found, Lookup, manifest};
use super::unsent::{Unsent, not_determined};
use crate::kubectl::Verb;
use crate::kubectl::request::RequestOptions;
use crate::kubectl::send::{ObjectTarget, send};
use crate::report::{Identity, ObjectReport};
use crate::simulation::answer::read_definition_response;
use crate::simulation::identity::FieldLocator;
use crate::simulation::removed_versions::RemovedVersions;
use crdx_server::apply::client_side;
use crdx_server::server::Server;
use crdx_value::Value;

/// Returns the item of an update of an existing CRD, simulated on a separate server; `None` if it does not exist.
pub fn update(
    context: SimulationContext<'_>,
    crd: &Value,
    identity: &Identity,
    locator: &dyn FieldLocator,
) -> Option<ObjectReport> {
    let updates = context.updates;
    let wanted = Lookup { identity, namespace: context.namespace, root: context.root };
    let mut removed = RemovedVersions::default();
    let done = match updates.existing.read(None, wanted, "customresourcedefinitions") {
        Found::Nothing => return None,
        Found::Object(old, location) => {
            removed = RemovedVersions::between(&old, crd);
            let server = Server::builder(context.server.release(), 0).without_managed_fields();
            let server = match context.admission {
                Some(admission) => admission.server(server, context.request_options.now, context.namespace),
                None => server.build(),
            };
            let target = ObjectTarget::definition(&identity.name);
            let is_applied = updates.request_kind.verb == Verb::Apply
                && updates.existing.is_given()
                && manifest::is_manifest_of_crd(&old);
            let old = if is_applied { client_side::with_last_applied(*old) } else { *old };
            let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
            server
                .seed_definition(&old, context.request_options.now)
                .map_err(|error| Unsent::from(format!("the old CRD at {location} could not have been stored: {error}")))
                .and_then(|()| Ok(send(&server, target, crd.clone(), &updates.request_kind, request_options)?))
        }
        found => Err(not_determined(found)),
    };
    Some(match done {
        Ok(mut done) => {
            let findings = done.response.trace.policies.take();
            let mut item = read_definition_response(done.response, identity.clone(), locator, context.server.release());
            admitted(&mut item, findings, context.admission);
            item.action = done.action;
            item.before = updates.compares.and(done.before);
            item.sent = updates.compares.map(|_| crd.clone());
            removed.complete(&mut item);
            item
        }
        Err(error) => error.item(identity.clone(), locator),
    })
}
