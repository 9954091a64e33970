//! The names and images of the containers of Pods and pod templates (`ValidatePodSpec`, `validateContainers`,
//! `validateInitContainers` and `validateContainerCommon` in `pkg/apis/core/validation`).

use crate::field::{ErrorList, FieldError, FieldPath, ROOT};
use crate::value::Value;
use std::collections::HashSet;

/// Validates the containers of the Pod specification at `pod_spec`, if the kind has one.
pub(super) fn validate(object: &Value, pod_spec: &[&str], errors: &mut ErrorList) {
    if !pod_spec.is_empty() {
        descend(object, &ROOT, pod_spec, errors);
    }
}

fn descend(value: &Value, path: &FieldPath<'_>, rest: &[&str], errors: &mut ErrorList) {
    match rest.split_first() {
        None => validate_pod_spec(value, path, errors),
        Some((key, rest)) => match value.get(key).filter(|value| !value.is_null()) {
            Some(value) => descend(value, &path.child(key), rest, errors),
            None => errors.push(FieldError::required(&path.child(key), "")),
        },
    }
}

fn validate_pod_spec(spec: &Value, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let of = |key: &str| spec.get(key).and_then(Value::as_array).unwrap_or_default();
    let mut names = HashSet::new();
    let list = path.child("containers");
    if of("containers").is_empty() {
        errors.push(FieldError::required(&list, ""));
    }
    for (at, container) in of("containers").iter().enumerate() {
        names.insert(validate_container(container, &list.index(at), &names, errors));
    }
    let list = path.child("initContainers");
    for (at, container) in of("initContainers").iter().enumerate() {
        let name = validate_container(container, &list.index(at), &names, errors);
        if !name.is_empty() {
            names.insert(name);
        }
    }
}

/// Validates a container and returns its name; `names` are those of the containers before it.
fn validate_container<'v>(
    container: &'v Value,
    path: &FieldPath<'_>,
    names: &HashSet<&str>,
    errors: &mut ErrorList,
) -> &'v str {
    let text = |key: &str| container.str_at(&[key]).unwrap_or_default();
    let name = text("name");
    for (key, value) in [("name", name), ("image", text("image"))] {
        if value.is_empty() {
            errors.push(FieldError::required(&path.child(key), ""));
        }
    }
    if names.contains(name) {
        errors.push(FieldError::duplicate(&path.child("name"), name));
    }
    name
}
