//! Decides if a webhook is called for a request (`generic/webhook.go` `ShouldCallHook`).

use super::model::Webhook;
use crate::policies::compile::Variables;
use crate::policies::denial::Refused;
use crate::policies::evaluate::{Activation, Authorizers, Inputs, NotDecided, match_conditions};
use crate::policies::knowledge::{Missing, NotEvaluated};
use crate::policies::matching::{Matched, matches};
use crate::policies::request::{Cluster, Request};
use crate::policies::validating::unknown_to;
use crdx_value::GoError;
use crdx_value::Value;

/// The decision to call a webhook or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// The webhook is called with the object in this version.
    Called(Matched),
    /// The webhook is not called.
    NotCalled,
    /// The decision depends on something that is not known.
    Unknown(Missing),
}

/// The reason why a request is rejected before a webhook is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The server's own errors.
    Server(Refused),
    /// Match conditions failed: 403 with this text.
    Condition(String),
}

/// Decides whether a webhook is called for a request that writes `object`.
///
/// Returns a [`Failure`] for a namespace that does not exist, an invalid selector, an object that cannot be converted,
/// or match conditions that fail under the failure policy `Fail`.
pub fn decide(
    webhook: &Webhook,
    request: &Request<'_>,
    object: Option<&Value>,
    cluster: &dyn Cluster,
) -> Result<Decision, Failure> {
    // Unlike a policy, a webhook without rules matches nothing.
    if webhook.criteria.rules.is_empty() {
        return Ok(Decision::NotCalled);
    }
    let matched = match matches(&webhook.criteria, request, object, cluster) {
        Ok(Some(matched)) => matched,
        Ok(None) => return Ok(Decision::NotCalled),
        Err(NotEvaluated::Unknown(missing)) => return Ok(Decision::Unknown(missing)),
        Err(NotEvaluated::Error(_)) => return Err(Failure::Server(selector_error(webhook, request))),
    };
    conditions(webhook, request, object, cluster, &matched)
}

/// The error of a selector: an invalid selector, or else a namespace that does not exist.
fn selector_error(webhook: &Webhook, request: &Request<'_>) -> Refused {
    let selectors = [&webhook.criteria.namespace_selector, &webhook.criteria.object_selector];
    match selectors.into_iter().find_map(|selector| selector.check().err()) {
        Some(reason) => Refused::Internal(reason.into()),
        None => Refused::NamespaceNotFound(request.namespace.to_owned()),
    }
}

fn conditions(
    webhook: &Webhook,
    request: &Request<'_>,
    object: Option<&Value>,
    cluster: &dyn Cluster,
    matched: &Matched,
) -> Result<Decision, Failure> {
    if webhook.conditions.is_empty() {
        return Ok(Decision::Called(matched.clone()));
    }
    let convert = |object: Option<&Value>| {
        let wanted = matched.kind.api_version();
        let other = object.filter(|object| object.str_at(&["apiVersion"]) != Some(&wanted));
        other.map(|object| cluster.convert(object, &matched.resource, &matched.kind)).transpose()
    };
    let internal = |reason: GoError| Failure::Server(Refused::Internal(reason.into()));
    let converted = convert(object).map_err(internal)?;
    let converted_old = convert(request.old_object).map_err(internal)?;
    let shown = request.to_value(&matched.kind, &request.resource);
    let authorizers = Authorizers::new(request, cluster.authorizer());
    let inputs = Inputs {
        object: converted.as_ref().or(object),
        gaps: request.gaps.as_deref(),
        old_object: converted_old.as_ref().or(request.old_object),
        params: None,
        request: &shown,
        namespace: None,
        authorizers: Some(&authorizers),
        steps: &request.steps,
    };
    let variables = Variables::default();
    let activation = Activation::new(inputs, &variables);
    let unknown = unknown_to(request, cluster);
    let matched_conditions = match_conditions(&activation, &webhook.conditions, &webhook.failure_policy, unknown);
    if request.steps.are_spent() {
        return Err(Failure::Server(Refused::Unfinished));
    }
    match matched_conditions {
        Ok(true) => Ok(Decision::Called(matched.clone())),
        Ok(false) => Ok(Decision::NotCalled),
        Err(NotDecided::Failed(reason)) => Err(Failure::Condition(reason)),
        Err(NotDecided::Unknown(dependency)) => Ok(Decision::Unknown(Missing::new(dependency, request.namespace))),
    }
}
