//! Simulates the request for one object: reads the existing object, sends the request that kubectl would send, and reports
//! the response.

mod read;
mod send;

use super::context::SimulationContext;
use super::earlier_object::EarlierObject;
use super::known_cluster::created::Created;
use super::simulated::{Before, Simulated};
use crate::kubectl::patch::PatchType;
use crate::kubectl::request;
use crate::kubectl::send::ObjectTarget;
use crate::kubectl::written_metadata::hide_bookkeeping;
use crate::report::{Diagnostic, Identity, ObjectReport, ServerResponse, Verdict};
use crate::simulation::definitions::Route;
use crate::simulation::generated_name;
use crate::simulation::hints::Hints;
use crate::simulation::identity::FieldLocator;
use crate::simulation::kubectl_errors;
use crate::simulation::object::Object;
use crdx_value::{Value, group_version, suggest};
use send::{Sent, Submission};

/// Reads the existing object, sends `object` and reports the response. `created` are the objects of earlier inputs.
pub(crate) fn submit(
    context: SimulationContext<'_>,
    route: &Route,
    mut object: Object,
    identity: Identity,
    (before, created): (Before, &Created),
) -> Simulated {
    let warnings = std::mem::take(&mut object.warnings);
    let value = object.take_value();
    let mut simulated = submit_value(context, route, value, identity, (before, created), &object.finder());
    simulated.item.warnings.extend(warnings);
    simulated
}

fn submit_value(
    context: SimulationContext<'_>,
    route: &Route,
    object: Value,
    identity: Identity,
    (before, created): (Before, &Created),
    locator: &dyn FieldLocator,
) -> Simulated {
    let (group, version) = group_version::split(&identity.api_version);
    if !route.versions.iter().any(|v| v == version) {
        return Simulated { item: unserved(route, identity, locator), stored: before.stored };
    }
    let collection = request::collection(group, version, &route.plural, identity.namespace.as_deref());
    let definition = [&route.plural, ".", group].concat();
    let version = version.to_owned();
    let name = object.str_at(&["metadata", "name"]).unwrap_or_default().to_owned();
    let prefix = generated_name::prefix(&object);
    let mut target = ObjectTarget {
        definition: &definition,
        version: &version,
        collection: &collection,
        name: &name,
        sender: None,
        patch: PatchType::Merge,
    };
    let earlier = before.stored;
    let exists = match read::read(context, target, &route.plural, before, &identity) {
        Ok(exists) => exists,
        Err(error) => return Simulated { item: error.item(identity, locator), stored: earlier },
    };
    let object = kubectl_errors::in_namespace(object, &identity);
    let request_kind = &context.updates.request_kind;
    let may_create = !exists && request_kind.may_create();
    let cluster = context.known_cluster(created);
    target.sender = Some(&cluster);
    let creates = !exists && request_kind.operation(!name.is_empty(), exists).is_create();
    let is_plain = creates || kubectl_errors::has_plain_metadata(&object);
    let schema = &Hints::of_schema(&route.definition, &version, context.server.release());
    // Policies could give another answer when the object is created again from its text.
    let text = locator.text().filter(|_| context.admission.is_none());
    let submission = Submission { context, target, cluster: &cluster, schema, locator, creates, may_create, text };
    match submission.send(object, identity) {
        Ok(sent) => report(&submission, sent, prefix.as_deref(), is_plain),
        Err(unsent) => *unsent,
    }
}

/// Completes the item of a response. `prefix` is the generateName of an object without a name, and `is_plain` is true if
/// kubectl can decode its metadata.
fn report(submission: &Submission<'_>, sent: Sent, prefix: Option<&str>, is_plain: bool) -> Simulated {
    let Submission { context, target, locator, text, .. } = *submission;
    let (verb, compares) = (context.updates.request_kind.verb, context.updates.compares);
    let Sent { mut item, stored } = sent;
    kubectl_errors::replace(&mut item, verb, is_plain, locator);
    // Only pruned fields are shown as they were sent.
    item.sent = compares.filter(|_| item.answer.is_some() && !item.pruned.is_empty()).and_then(|_| locator.object());
    let stored = stored.unwrap_or_else(|| match &item.object {
        Some(object) if !target.name.is_empty() => EarlierObject::put(context.store, object, text),
        _ => EarlierObject::None,
    });
    if let Some(prefix) = prefix {
        generated_name::complete(&mut item, prefix, verb);
    }
    if let Some(result) = &mut item.object {
        // A comparison hides these fields itself.
        let mut copy = compares.filter(|_| context.scale).map(|_| result.clone());
        if let Some(shown) = copy.as_mut().or_else(|| compares.is_none().then_some(result)) {
            hide_bookkeeping(shown, context.show_last_applied);
            if context.scale {
                item.scale = context.server.scale_of(target.definition, target.version, shown);
            }
        }
    }
    Simulated { item, stored }
}

/// Returns the item of an error that kubectl reports before it sends a request.
fn unserved(route: &Route, identity: Identity, locator: &dyn FieldLocator) -> ObjectReport {
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
