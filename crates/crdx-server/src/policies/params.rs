//! Finds the params of a binding (`policy/generic/policy_dispatcher.go`, `CollectParams`).

use super::knowledge::{Missing, NotEvaluated};
use super::matching::labels;
use super::model::{Binding, Policy};
use super::request::{Cluster, Kind, Request};
use crate::cluster_state::Listed;
use crdx_value::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// A param; `None` for a policy without params.
pub type Param = Option<Arc<Value>>;

/// Returns the kind of a policy's params; `None` if it has no params.
///
/// # Errors
/// Returns an error if the kind is not served.
pub fn kind_of(policy: &Policy, cluster: &dyn Cluster) -> Result<Option<Kind>, NotEvaluated> {
    let Some(wanted) = &policy.param_kind else { return Ok(None) };
    let kind = Kind::of_params(wanted);
    if cluster.param_scope(&kind).is_none() {
        if !cluster.are_kinds_known() {
            return Err(NotEvaluated::Unknown(Missing::ParamKind(kind)));
        }
        return Err(format!("failed to find resource referenced by paramKind: '{}'", kind.text()).into());
    }
    Ok(Some(kind))
}

/// Returns the params of a binding. The policy is evaluated once for each of them.
///
/// # Errors
/// Returns an error for an invalid paramRef, one that must select a param but selects none, or unknown params.
pub fn collect(
    kind: Option<&Kind>,
    binding: &Binding,
    request: &Request<'_>,
    cluster: &dyn Cluster,
) -> Result<Vec<Param>, NotEvaluated> {
    let (Some(kind), Some(reference)) = (kind, &binding.param_ref) else { return Ok(vec![None]) };
    let Some(scope) = cluster.param_scope(kind) else { return Ok(vec![None]) };
    let namespace = if scope.namespaced {
        let namespace = if reference.namespace.is_empty() { request.namespace } else { &reference.namespace };
        if namespace.is_empty() {
            let reason = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
            return Err(reason.to_owned().into());
        }
        Some(namespace)
    } else if reference.namespace.is_empty() {
        None
    } else {
        return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned().into());
    };
    let unknown = |name: Option<&str>| {
        let namespace = namespace.map(str::to_owned);
        NotEvaluated::Unknown(Missing::Param { kind: kind.clone(), namespace, name: name.map(str::to_owned) })
    };
    let found = if !reference.name.is_empty() {
        if reference.selector.is_some() {
            return Err("paramRef.name and paramRef.selector are mutually exclusive".to_owned().into());
        }
        let name = Some(reference.name.as_str());
        let Listed { objects, is_complete } = cluster.params(kind, namespace, name);
        if objects.is_empty() && !is_complete {
            return Err(unknown(name));
        }
        objects
    } else if let Some(selector) = &reference.selector {
        selector.check()?;
        let Listed { mut objects, is_complete } = cluster.params(kind, namespace, None);
        objects.retain(|param| selector.matches(labels(param)));
        if objects.is_empty() && !is_complete {
            return Err(unknown(None));
        }
        objects
    } else {
        return Err("one of name or selector must be provided".to_owned().into());
    };
    if found.is_empty() && reference.deny_if_not_found {
        return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned().into());
    }
    Ok(found.into_iter().map(Some).collect())
}

/// The kind of params if it has a Go type in the server, whose objects have neither apiVersion nor kind there.
pub(crate) fn typed_kind<'k>(kind: Option<&'k Kind>, cluster: &dyn Cluster) -> Option<&'k Kind> {
    kind.filter(|kind| cluster.param_scope(kind).is_some_and(|scope| scope.typed))
}

/// Returns a param for validating policies: if it has a Go type, apiVersion and kind of the policy's paramKind are set.
pub fn shown<'p>(param: &'p Value, typed: Option<&Kind>) -> Cow<'p, Value> {
    let Some(kind) = typed else { return Cow::Borrowed(param) };
    let is = |key: &str, text: &str| param.str_at(&[key]) == Some(text);
    if is("apiVersion", &kind.api_version()) && is("kind", &kind.kind) {
        return Cow::Borrowed(param);
    }
    let mut param = param.clone();
    if let Some(members) = param.as_object_mut() {
        members.insert("apiVersion".to_owned(), kind.api_version().into());
        members.insert("kind".to_owned(), kind.kind.as_str().into());
    }
    Cow::Owned(param)
}

/// Returns a param for mutating policies: if it has a Go type, apiVersion and kind are removed.
pub fn bare<'p>(param: &'p Value, typed: Option<&Kind>) -> Cow<'p, Value> {
    if typed.is_none() {
        return Cow::Borrowed(param);
    }
    let mut param = param.clone();
    if let Some(members) = param.as_object_mut() {
        members.remove("apiVersion");
        members.remove("kind");
    }
    Cow::Owned(param)
}
