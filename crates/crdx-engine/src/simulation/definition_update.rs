//! Sends the update of an existing CRD.

use super::admission::admitted;
use super::context::SimulationContext;
use super::existing::{Found, Lookup, manifest};
use super::submit::field_managers::{self, UnknownOutcome};
use super::unsent::{Unsent, not_determined};
use crate::kubectl::request::RequestOptions;
use crate::kubectl::send::{self, ObjectTarget, RequestOutcome, send};
use crate::kubectl::{FieldValidation, RequestKind, UnsentError, Verb};
use crate::report::{Identity, ObjectReport};
use crate::simulation::answer::read_definition_response;
use crate::simulation::identity::FieldLocator;
use crate::simulation::removed_versions::RemovedVersions;
use crdx_server::apply::client_side;
use crdx_server::server::{SeedError, Server};
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
    let sent = match updates.existing.read(None, wanted, "customresourcedefinitions") {
        Found::Nothing => return None,
        Found::Object(old, location) => {
            removed = RemovedVersions::between(&old, crd);
            send_update(context, *old, crd, &identity.name).map_err(|error| match error {
                UpdateError::NotStorable(error) => {
                    Unsent::from(format!("the old CRD at {location} could not have been stored: {error}"))
                }
                UpdateError::Unsent(error) => error.into(),
            })
        }
        found => Err(not_determined(found)),
    };
    Some(match sent {
        Ok(Sent { hides_managers: true, done, .. }) if field_managers::is_conflict(&done.response) => {
            field_managers::unknown().item(identity.clone(), locator)
        }
        Ok(Sent { mut done, outcome, .. }) => {
            let findings = done.response.trace.policies.take();
            let mut item = read_definition_response(done.response, identity.clone(), locator, context.server.release());
            admitted(&mut item, findings, context.admission);
            item.action = done.action;
            item.before = updates.compares.and(done.before);
            item.sent = updates.compares.map(|_| crd.clone());
            removed.complete(&mut item);
            match outcome {
                Some(outcome) => outcome.report(item, &updates.request_kind, locator),
                None => item,
            }
        }
        Err(error) => error.item(identity.clone(), locator),
    })
}

/// The result of the update of a CRD.
struct Sent {
    done: RequestOutcome,
    /// True if the managers of the old CRD's fields are not known.
    hides_managers: bool,
    /// The part of the result that depends on them.
    outcome: Option<UnknownOutcome>,
}

/// The reason why an update of a CRD is not sent.
enum UpdateError {
    /// No server could have stored the old CRD.
    NotStorable(SeedError),
    /// kubectl sends no request.
    Unsent(UnsentError),
}

/// Stores the old CRD on a separate server, and sends the new one.
fn send_update(context: SimulationContext<'_>, old: Value, crd: &Value, name: &str) -> Result<Sent, UpdateError> {
    let updates = context.updates;
    let is_manifest = updates.existing.is_given() && manifest::is_manifest_of_crd(&old);
    let is_server_side = updates.request_kind.verb == Verb::ServerSide;
    let lacks_managers = updates.existing.is_given() && field_managers::lacks_managers(&old);
    let server = Server::builder(context.server.release(), 0);
    let server = if is_server_side { server } else { server.without_managed_fields() };
    let server = match context.admission {
        Some(admission) => admission.server(server, context.request_options.now, context.namespace),
        None => server.build(),
    };
    let target = ObjectTarget::definition(name);
    let options = RequestOptions { dry_run: false, table: false, ..context.request_options };
    let has_annotation = is_manifest && updates.request_kind.verb == Verb::Apply;
    let old = if has_annotation { client_side::with_last_applied(old) } else { old };
    let is_applied =
        is_manifest && is_server_side && apply_first(&server, target, old.clone(), &updates.request_kind, options);
    if !is_applied {
        server.seed_definition(&old, context.request_options.now).map_err(UpdateError::NotStorable)?;
    }
    let hides_managers = is_server_side && lacks_managers && !is_applied;
    let owned =
        || field_managers::response_if_applied_before(&server, target, crd.clone(), &updates.request_kind, options);
    let if_applied = if hides_managers { owned() } else { None };
    let done = send(&server, target, crd.clone(), &updates.request_kind, options).map_err(UpdateError::Unsent)?;
    let outcome = if_applied.and_then(|if_applied| UnknownOutcome::between(&done.response, &if_applied));
    Ok(Sent { done, hides_managers, outcome })
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
