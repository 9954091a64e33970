//! Matches requests with policies and bindings (`policy/matching/matching.go`, `webhook/predicates`).

use super::knowledge::{Missing, NotEvaluated};
use super::model::{MatchResources, Rule};
use super::request::{Cluster, Kind, Request, Resource};
use crate::cluster_state::Lookup;
use crdx_value::GoError;
use crdx_value::{Map, Value, object};
use std::sync::Arc;

/// The resource and kind that a policy matched: those of the request or of an equivalent version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matched {
    /// The resource.
    pub resource: Arc<Resource>,
    /// The kind.
    pub kind: Arc<Kind>,
}

/// Returns the matched resource and kind; `None` if the request does not match.
///
/// # Errors
/// Returns an error for an invalid selector, a namespace that does not exist, or unknown labels of a namespace.
pub fn matches(
    criteria: &MatchResources,
    request: &Request<'_>,
    object: Option<&Value>,
    cluster: &dyn Cluster,
) -> Result<Option<Matched>, NotEvaluated> {
    let namespace = namespace_matches(criteria, request, object, cluster);
    if namespace == Ok(false) {
        return Ok(None);
    }
    let selected = object_matches(criteria, request, object);
    if matches!(selected, Ok(false)) {
        return Ok(None);
    }
    let equivalent = criteria.equivalent;
    if find(&criteria.exclude_rules, equivalent, request, cluster).is_some() {
        return Ok(None);
    }
    let matched = if criteria.rules.is_empty() {
        Some(Matched { resource: Arc::clone(&request.resource), kind: Arc::clone(&request.kind) })
    } else {
        find(&criteria.rules, equivalent, request, cluster)
    };
    // Errors of selectors are ignored if the request does not match otherwise.
    if matched.is_some() {
        namespace?;
        selected?;
    }
    Ok(matched)
}

/// The label that every namespace has.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

fn internal(reason: &GoError) -> GoError {
    format!("Internal error occurred: {reason}").into()
}

fn namespace_matches(
    criteria: &MatchResources,
    request: &Request<'_>,
    object: Option<&Value>,
    cluster: &dyn Cluster,
) -> Result<bool, NotEvaluated> {
    let of_namespaces = request.resource.resource == "namespaces";
    if request.namespace.is_empty() && !of_namespaces {
        return Ok(true);
    }
    let selector = &criteria.namespace_selector;
    selector.check().map_err(|error| internal(&error))?;
    if selector.is_empty() {
        return Ok(true);
    }
    if of_namespaces
        && request.subresource.is_empty()
        && let Some(object) = object
    {
        return Ok(selector.matches(labels(object)));
    }
    match cluster.namespace(request.namespace) {
        Lookup::Found(namespace) => Ok(selector.matches(labels(&namespace))),
        Lookup::Absent => Err(namespace_not_found(request.namespace).into()),
        Lookup::Unknown => {
            let assumed = assumed_namespace(request.namespace);
            let unknown = |labels| Missing::Namespace { name: request.namespace.to_owned(), labels };
            let selected = selector.matches_known(labels(&assumed), &[NAME_LABEL]);
            selected.map_err(|labels| NotEvaluated::Unknown(unknown(labels)))
        }
    }
}

/// The Namespace object assumed for a namespace if only its name is known.
pub(crate) fn assumed_namespace(name: &str) -> Value {
    let metadata = [("name", Value::from(name)), ("labels", object([(NAME_LABEL, name)]))];
    let finalizers = Value::Array(vec!["kubernetes".into()]);
    object([
        ("metadata", object(metadata)),
        ("spec", object([("finalizers", finalizers)])),
        ("status", object([("phase", "Active")])),
    ])
}

/// Formats `namespaces "x" not found`.
pub(crate) fn namespace_not_found(name: &str) -> GoError {
    format!("namespaces \"{name}\" not found").into()
}

fn object_matches(
    criteria: &MatchResources,
    request: &Request<'_>,
    object: Option<&Value>,
) -> Result<bool, NotEvaluated> {
    let selector = &criteria.object_selector;
    selector.check().map_err(|error| internal(&error))?;
    if selector.is_empty() {
        return Ok(true);
    }
    Ok(object.into_iter().chain(request.old_object).any(|object| selector.matches(labels(object))))
}

/// The labels of an object.
pub fn labels(object: &Value) -> Option<&Map> {
    object.at(&["metadata", "labels"]).and_then(Value::as_object)
}

fn find(rules: &[Rule], equivalent: bool, request: &Request<'_>, cluster: &dyn Cluster) -> Option<Matched> {
    let named = |rule: &Rule| rule.resource_names.is_empty() || rule.resource_names.iter().any(|n| n == request.name);
    if rules.iter().any(|rule| rule_matches(rule, request, &request.resource) && named(rule)) {
        return Some(Matched { resource: Arc::clone(&request.resource), kind: Arc::clone(&request.kind) });
    }
    if !equivalent || rules.is_empty() {
        return None;
    }
    let equivalents = cluster.equivalents(&request.resource, request.subresource);
    rules.iter().find_map(|rule| {
        let mut other_resources = equivalents.iter().filter(|(resource, _)| *resource != *request.resource);
        let found = other_resources.find(|(resource, _)| rule_matches(rule, request, resource) && named(rule));
        found.map(|(resource, kind)| Matched { resource: Arc::new(resource.clone()), kind: Arc::new(kind.clone()) })
    })
}

fn rule_matches(rule: &Rule, request: &Request<'_>, resource: &Resource) -> bool {
    let in_namespace = !request.namespace.is_empty();
    let of_namespaces = resource.group.is_empty() && resource.version == "v1" && resource.resource == "namespaces";
    let scope = match rule.scope.as_deref() {
        None | Some("*") => true,
        Some("Namespaced") => !of_namespaces && in_namespace,
        Some("Cluster") => of_namespaces || !in_namespace,
        Some(_) => false,
    };
    scope
        && rule.includes_operation(request.operation.as_str())
        && rule.includes_group(&resource.group)
        && rule.includes_version(&resource.version)
        && rule.includes_resource(&resource.resource, request.subresource)
}
