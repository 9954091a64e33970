//! Sends the update of an existing CRD.

use super::admission::admitted;
use super::context::SimulationContext;
use super::existing::{Found, Lookup, manifest};
use super::submit::field_managers;
use super::unsent::{Unsent, not_determined};
use crate::kubectl::request::RequestOptions;
use crate::kubectl::send::{self, ObjectTarget, send};
use crate::kubectl::{FieldValidation, RequestKind, Verb};
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
    let mut hides_managers = false;
    let done = match updates.existing.read(None, wanted, "customresourcedefinitions") {
        Found::Nothing => return None,
        Found::Object(old, location) => {
            removed = RemovedVersions::between(&old, crd);
            let is_manifest = updates.existing.is_given() && manifest::is_manifest_of_crd(&old);
            let is_server_side = updates.request_kind.verb == Verb::ServerSide;
            hides_managers = is_server_side
                && updates.existing.is_given()
                && !is_manifest
                && old.at(&["metadata", "managedFields"]).is_none();
            let server = Server::builder(context.server.release(), 0);
            let server = if is_server_side { server } else { server.without_managed_fields() };
            let server = match context.admission {
                Some(admission) => admission.server(server, context.request_options.now, context.namespace),
                None => server.build(),
            };
            let target = ObjectTarget::definition(&identity.name);
            let request_options = RequestOptions { dry_run: false, table: false, ..context.request_options };
            let has_annotation = is_manifest && updates.request_kind.verb == Verb::Apply;
            let old = if has_annotation { client_side::with_last_applied(*old) } else { *old };
            let is_applied = is_manifest
                && is_server_side
                && apply_first(&server, target, old.clone(), &updates.request_kind, request_options);
            hides_managers |= is_manifest && is_server_side && !is_applied;
            let stored = if is_applied { Ok(()) } else { server.seed_definition(&old, context.request_options.now) };
            stored
                .map_err(|error| Unsent::from(format!("the old CRD at {location} could not have been stored: {error}")))
                .and_then(|()| Ok(send(&server, target, crd.clone(), &updates.request_kind, request_options)?))
        }
        found => Err(not_determined(found)),
    };
    Some(match done {
        Ok(done) if hides_managers && field_managers::is_conflict(&done.response) => {
            field_managers::unknown().item(identity.clone(), locator)
        }
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

/// Applies an old CRD that is a manifest as the same command did, so that it manages its fields. Returns false if the server refuses it.
fn apply_first(
    server: &Server,
    target: ObjectTarget<'_>,
    old: Value,
    kind: &RequestKind,
    options: RequestOptions,
) -> bool {
    let options = RequestOptions { level: FieldValidation::Ignore, ..options };
    let kind = RequestKind { verb: kind.verb, manager: kind.manager.clone(), ..RequestKind::default() };
    let Ok(mut request) = send::for_absent(server, target, old, &kind, options) else { return false };
    (request.skips_admission, request.skips_validation) = (true, true);
    server.handle_owned(request).code < 300
}
