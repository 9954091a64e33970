//! Policies, bindings and webhook configurations, whose validation is simulated.

use super::cluster_state;
use super::kept::is_named;
use crate::kubectl::written_metadata::hide_bookkeeping;
use crate::report::Verdict;
use crate::simulation::context::SimulationContext;
use crate::simulation::earlier_object::EarlierObject;
use crate::simulation::existing::{Found, Lookup};
use crate::simulation::identity::{self, Namespace};
use crate::simulation::kubectl_errors;
use crate::simulation::object::Object;
use crate::simulation::policy_request::PolicyRequest;
use crate::simulation::simulated::Simulated;
use crate::simulation::unsent::not_determined;
use crdx_types::resources::ApiResource;
use crdx_value::release::Release;

/// Sends an object to a server that validates it, as an update if it exists. Policies do not apply to these kinds.
pub(crate) fn submit(
    release: Release,
    context: SimulationContext<'_>,
    mut object: Object,
    resource: &ApiResource,
    before: EarlierObject,
) -> Simulated {
    let identity = identity::identity(object.value(), Namespace::None);
    let updates = context.updates;
    let existing = || {
        let wanted = Lookup { identity: &identity, namespace: context.namespace, root: context.root };
        updates.existing.read(None, wanted, resource.plural)
    };
    let found = cluster_state::earlier(context, before).map_or_else(existing, |(found, _)| found);
    let old = match found {
        Found::Nothing => Ok(None),
        Found::Object(old, _) => Ok(Some(old)),
        found => Err(not_determined(found)),
    };
    let request = PolicyRequest {
        release,
        resource,
        request_kind: &updates.request_kind,
        request_options: context.request_options,
    };
    let warnings = std::mem::take(&mut object.warnings);
    let mut sent = object.take_value();
    kubectl_errors::remove_namespace(&mut sent);
    let locator = object.finder();
    let compares = updates.compares.is_some();
    let is_named = is_named(&sent);
    let sent = old.and_then(|old| {
        let sent = request.send(sent, old.as_deref(), identity.clone(), &locator, compares);
        sent.map_err(|error| error.to_string().into())
    });
    let (mut item, after) = match sent {
        Ok(sent) => sent,
        Err(unsent) => (unsent.item(identity, &locator), None),
    };
    let stored = match after.filter(|_| is_named) {
        Some(after) => EarlierObject::put(context.store, &after, None),
        None => before,
    };
    if item.verdict == Verdict::Rejected {
        kubectl_errors::require_name(&mut item, updates.request_kind.verb, &locator);
        kubectl_errors::explain_annotations(&mut item, updates.request_kind.verb);
    }
    if let Some(shown) = item.object.as_mut().filter(|_| !compares) {
        hide_bookkeeping(shown, context.show_last_applied);
    }
    item.warnings.extend(warnings);
    debug_assert_ne!(item.verdict, Verdict::Decodes, "the server validates these kinds");
    Simulated { item, stored }
}
