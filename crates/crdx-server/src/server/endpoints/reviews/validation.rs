//! Validation of access reviews (`pkg/apis/authorization/validation`).

use super::{AUTHORIZATION, Review, selectors};
use crate::server::metadata;
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath};
use crdx_value::quote::go_quote;
use crdx_value::release::{Release, V1_34, V1_37, V1_38};
use crdx_value::{Value, json, object};

const ONE_KIND_OF_ATTRIBUTES: &str = "exactly one of nonResourceAttributes or resourceAttributes must be specified";

/// Returns the errors of a decoded review; other kinds of reviews have none.
pub(super) fn validate(review: &Review, object: &Value, release: Release) -> ErrorList {
    let mut errors = ErrorList::new();
    if review.group != AUTHORIZATION || !review.kind.ends_with("AccessReview") {
        return errors;
    }
    let spec = FieldPath::new("spec");
    let member = |name: &str| object.at(&["spec", name]).filter(|value| !value.is_null());
    let (resource, other) = (member("resourceAttributes"), member("nonResourceAttributes"));
    let union = union_error(&spec, (resource, other), release);
    // Since 1.38, the declared rule gives the error.
    let (first, last) = if release.since(V1_38) { (None, union) } else { (union, None) };
    errors.extend(first);
    let is_empty = |name: &str| match member(name) {
        Some(Value::String(text)) => text.is_empty(),
        Some(Value::Array(items)) => items.is_empty(),
        _ => true,
    };
    if review.kind != "SelfSubjectAccessReview" && is_empty("user") && is_empty("groups") {
        errors.push(FieldError::invalid(&spec.child("user"), "", "at least one of user or group must be specified"));
    }
    selectors::validate(resource, release, &mut errors);
    require_empty_metadata(review, object, release, &mut errors);
    if review.namespaced {
        let namespace = resource.and_then(|r| r.str_at(&["namespace"])).unwrap_or_default();
        if resource.is_some() && namespace != metadata::text(object, "namespace") {
            let path = spec.child("resourceAttributes");
            errors.push(FieldError::invalid(&path.child("namespace"), namespace, "must match metadata.namespace"));
        }
        if let Some(other) = other {
            let path = spec.child("nonResourceAttributes");
            errors.push(FieldError::invalid(&path, attributes(other, release), "disallowed on this kind of request"));
        }
    }
    errors.extend(last);
    errors
}

/// The error for both or none of `resourceAttributes` and `nonResourceAttributes`.
fn union_error(
    spec: &FieldPath<'_>,
    (resource, other): (Option<&Value>, Option<&Value>),
    release: Release,
) -> Option<FieldError> {
    if resource.is_some() != other.is_some() {
        return None;
    }
    let shown = other.map_or(BadValue::new(&Value::Null, release), |other| attributes(other, release));
    Some(match resource {
        Some(_) if release.since(V1_38) => FieldError::invalid(
            spec,
            "{resourceAttributes, nonResourceAttributes}",
            "must specify exactly one of: `resourceAttributes`, `nonResourceAttributes`",
        ),
        None if release.since(V1_38) => {
            FieldError::invalid(spec, "", "must specify one of: `resourceAttributes`, `nonResourceAttributes`")
        }
        _ if release.since(V1_37) => FieldError::invalid(spec, shown, ONE_KIND_OF_ATTRIBUTES),
        Some(_) => {
            let path = spec.child("nonResourceAttributes");
            FieldError::invalid(&path, shown, "cannot be specified in combination with resourceAttributes")
        }
        None => FieldError::invalid(&spec.child("resourceAttributes"), shown, ONE_KIND_OF_ATTRIBUTES),
    })
}

/// `NonResourceAttributes` in an error: the internal type until 1.37.
fn attributes(value: &Value, release: Release) -> BadValue {
    let text = |field: &str| value.str_at(&[field]).unwrap_or_default();
    let (path, verb) = (text("path"), text("verb"));
    if release.since(V1_38) {
        return BadValue::new(value, release);
    }
    if release.since(V1_34) {
        return BadValue::Raw(json::to_string(&object([("Path", Value::from(path)), ("Verb", verb.into())])));
    }
    BadValue::Raw(format!("authorization.NonResourceAttributes{{Path:{}, Verb:{}}}", go_quote(path), go_quote(verb)))
}

/// The namespace of a `LocalSubjectAccessReview` is its only metadata.
fn require_empty_metadata(review: &Review, object: &Value, release: Release, errors: &mut ErrorList) {
    let Some(own) = object.get("metadata").filter(|own| own.as_object().is_some()) else { return };
    let is_allowed = |field: &str| field == "managedFields" || review.namespaced && field == "namespace";
    if own.as_object().into_iter().flatten().all(|(field, _)| is_allowed(field)) {
        return;
    }
    let detail = if review.namespaced { "must be empty except for namespace" } else { "must be empty" };
    errors.push(FieldError::invalid(&FieldPath::new("metadata"), BadValue::new(own, release), detail));
}
