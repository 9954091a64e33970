//! Simulates the request for one object, of a custom resource or of a built-in kind: reads the existing object, sends the request
//! that kubectl would send, and reports the response.

mod applied_before;
mod dropped_status;
pub(crate) mod exchange;
mod existing;
pub(crate) mod field_managers;
mod report;
pub(super) mod send;

use super::context::SimulationContext;
use super::decoding::{self, Unanswered, UnansweredObject};
use super::earlier_object::EarlierObject;
use super::known_cluster::created::Created;
use super::resource::SimulatedResource;
use super::simulated::{Before, Simulated};
use super::unsent::Unsent;
use crate::kubectl::{Operation, UnsentError};
use crate::report::{Diagnostic, Identity, ObjectReport, ServerResponse, Verdict};
use crate::simulation::definitions::Route;
use crate::simulation::generated_name;
use crate::simulation::identity::FieldLocator;
use crate::simulation::kubectl_errors;
use crate::simulation::object::{Kind, Object};
use crdx_server::server::Response;
use crdx_value::{Value, group_version, suggest};
use exchange::{Address, Exchange};
use existing::Existence;
use field_managers::UnknownOutcome;
use send::Submission;

/// Reads the existing object, sends `object` and reports the response. `created` are the objects of earlier inputs.
pub(crate) fn submit(
    context: SimulationContext<'_>,
    resource: &SimulatedResource,
    mut object: Object,
    identity: Identity,
    (before, created): (Before, &Created),
) -> Simulated {
    if let SimulatedResource::BuiltIn(built_in) = resource
        && let kind = (built_in.group, built_in.version, built_in.kind)
        && let Some(item) = decoding::unserved(context, &mut object, (kind, built_in.plural), true)
    {
        return item.into();
    }
    let warnings = std::mem::take(&mut object.warnings);
    let value = object.take_value();
    let mut simulated = submit_value(context, resource, value, identity, (before, created), &object.finder());
    simulated.item.warnings.extend(warnings);
    simulated
}

fn submit_value(
    context: SimulationContext<'_>,
    resource: &SimulatedResource,
    object: Value,
    identity: Identity,
    (before, created): (Before, &Created),
    locator: &dyn FieldLocator,
) -> Simulated {
    let earlier = before.stored;
    let cluster = context.known_cluster(created);
    if let Some(item) = unserved(resource, &identity, locator) {
        return Simulated { item, stored: earlier };
    }
    let unanswered = UnansweredObject { context, cluster: &cluster, locator };
    if let Some(unsimulated) = resource.unsimulated() {
        return unanswered.of_resource(unsimulated, object, identity, Unanswered::NotSimulated).into();
    }
    let unknown = |object: Value, unsent: Unsent| {
        let identity = identity.clone();
        let item = match resource {
            SimulatedResource::Defined(_) => unsent.item(identity, locator),
            SimulatedResource::BuiltIn(resource) => {
                unanswered.of_resource(resource, object, identity, Unanswered::NotKnown(unsent))
            }
        };
        Simulated { item, stored: earlier }
    };
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let address = Address::new(resource, &identity, &name);
    let existing = match existing::read(context, resource, &identity, &name, before) {
        Existence::Absent => None,
        Existence::TakenForAbsent(unread) => {
            if let Some(item) = unanswered.refused_by_namespace(resource, &identity, &unread) {
                return Simulated { item, stored: earlier };
            }
            None
        }
        Existence::Exists(existing, place) => Some((existing, place)),
        Existence::Unknown(unsent) => return unknown(object, unsent),
    };
    let object = kubectl_errors::in_namespace(object, &identity);
    let request_kind = &context.updates.request_kind;
    let absent = existing.is_none().then(|| request_kind.operation(!name.is_empty(), false));
    let server = &*resource.server(context);
    let is_reproducible = resource.is_reproducible(context, locator);
    let (address, cluster) = (&address, &cluster);
    let hides_managers = existing.as_ref().is_some_and(|(existing, _)| field_managers::are_unknown(context, existing));
    let submission =
        Submission { context, server, resource, address, cluster, locator, absent, is_reproducible, hides_managers };
    let of = (resource, &identity, address);
    let lock = resource.lock(context);
    let exchange = Exchange::begin(server, of, (lock, context.admission.is_some()), existing.is_some());
    if let Some((existing, place)) = existing
        && let Err(error) = exchange.store(existing, request_kind, context.request_options)
    {
        exchange.end();
        let message = format!("the old object{} could not have been stored: {error}", place.unwrap_or_default());
        let unsent = Unsent::from(message).with_help(resource.help_for_existing(server.release()));
        return unknown(object, unsent);
    }
    let is_plain = absent.is_some_and(Operation::is_create) || kubectl_errors::has_plain_metadata(&object);
    let prefix = generated_name::prefix(&object);
    let mut simulated = send(&submission, exchange, object, &identity, earlier);
    kubectl_errors::replace(&mut simulated.item, request_kind.verb, is_plain, locator);
    if let Some(prefix) = prefix {
        generated_name::complete(&mut simulated.item, &prefix, request_kind.verb);
    }
    report::show(&submission, &mut simulated.item);
    simulated
}

/// Sends an object, ends its requests, and reports the answer.
fn send(
    submission: &Submission<'_>,
    exchange: Exchange<'_>,
    object: Value,
    identity: &Identity,
    earlier: EarlierObject,
) -> Simulated {
    let end = |exchange: Exchange<'_>| match exchange.end() {
        Some(after) => EarlierObject::put(submission.context.store, &after, None),
        None => earlier,
    };
    let request_kind = &submission.context.updates.request_kind;
    let is_of_object = request_kind.subresource.is_none();
    let status = dropped_status::given_status(&object).filter(|_| is_of_object);
    let if_applied =
        if submission.hides_managers { submission.response_if_applied_before(object.clone()) } else { None };
    let outcome = |response: &Response| UnknownOutcome::between(response, if_applied.as_ref()?);
    let completed = |simulated: Simulated, outcome: Option<UnknownOutcome>| match outcome {
        Some(outcome) => {
            Simulated { item: outcome.report(simulated.item, request_kind, submission.locator), ..simulated }
        }
        None => simulated,
    };
    match submission.send(object) {
        // The response shares a written object with the server, which need not copy it if it is withdrawn.
        Ok(answer) if answer.response.code < 300 => {
            let after = end(exchange);
            let outcome = outcome(&answer.response);
            let simulated = report::of_answer(submission, (answer, status.as_ref()), identity.clone());
            let simulated = completed(simulated, outcome);
            if submission.absent.is_none() { Simulated { stored: after, ..simulated } } else { simulated }
        }
        Ok(answer) if submission.hides_managers && field_managers::is_conflict(&answer.response) => {
            let item = field_managers::unknown().item(identity.clone(), submission.locator);
            Simulated { item, stored: end(exchange) }
        }
        Ok(answer) => {
            let outcome = outcome(&answer.response);
            let simulated = completed(report::of_answer(submission, (answer, None), identity.clone()), outcome);
            Simulated { stored: end(exchange), ..simulated }
        }
        Err(error) => Simulated { item: unsent(error, identity.clone(), submission.locator), stored: end(exchange) },
    }
}

/// Returns the item of an object for which kubectl sends no request: an error of kubectl is a rejection.
fn unsent(error: UnsentError, identity: Identity, locator: &dyn FieldLocator) -> ObjectReport {
    if error == UnsentError::NoReplicas {
        return Unsent::from(error).item(identity, locator);
    }
    let mut item = ObjectReport::new(locator.start(), Verdict::Rejected, "");
    item.identity = identity;
    item.is_unsent = true;
    let message = format!("kubectl cannot compute the patch: {error}");
    item.reject_with(ServerResponse { code: 400, reason: "BadRequest".to_owned(), message });
    item
}

/// Reports an object of a built-in kind that API servers do not serve by default.
pub(crate) fn submit_unserved(
    context: SimulationContext<'_>,
    mut object: Object,
    kind: &Kind,
    created: &Created,
) -> Simulated {
    let cluster = context.known_cluster(created);
    let mut item = UnansweredObject::of_kind(context, &cluster, &mut object, kind);
    item.warnings.append(&mut object.warnings);
    item.into()
}

/// Returns the item of an object of a version that its CRD does not serve.
fn unserved(resource: &SimulatedResource, identity: &Identity, locator: &dyn FieldLocator) -> Option<ObjectReport> {
    let SimulatedResource::Defined(route) = resource else { return None };
    let (_, version) = group_version::split(&identity.api_version);
    (!route.versions.iter().any(|served| served == version)).then(|| no_version(route, identity.clone(), locator))
}

/// Returns the item of an error that kubectl reports before it sends a request.
fn no_version(route: &Route, identity: Identity, locator: &dyn FieldLocator) -> ObjectReport {
    let mut item = ObjectReport::new(locator.start(), Verdict::Rejected, "");
    item.is_unsent = true;
    item.answer =
        Some(ServerResponse { code: 404, reason: "NotFound".to_owned(), message: "404 page not found".to_owned() });
    let version = identity.api_version.rsplit('/').next().unwrap_or_default();
    item.errors.push(Diagnostic {
        kind: "NotFound".to_owned(),
        field: Some("apiVersion".to_owned()),
        message: format!(
            "no matches for kind \"{}\" in version \"{}\": its CRD serves {}",
            identity.kind,
            identity.api_version,
            if route.versions.is_empty() { "no version".to_owned() } else { route.versions.join(", ") }
        ),
        help: suggest::closest(version, route.versions.iter().map(String::as_str)).map(suggest::did_you_mean),
        location: Some(locator.field("apiVersion")),
        ..Diagnostic::default()
    });
    item.identity = identity;
    item
}
