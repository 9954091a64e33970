//! `paramKind` and `paramRef` (`validateParamKind`, `validateParamRef`).

use super::selector;
use super::values::{Spec, present, text, typed};
use crdx_value::Value;
use crdx_value::field::{
    ErrorList, FieldError,
    names::{self, NameForm},
};

const NOT_FOUND_ACTIONS: [&str; 2] = ["Deny", "Allow"];

/// Validates the kind of params.
pub(crate) fn validate_kind(kind: Spec<'_>, errors: &mut ErrorList) {
    let path = kind.path.child("apiVersion");
    let api_version = text(kind.value, "apiVersion");
    match api_version.split('/').collect::<Vec<_>>().as_slice() {
        [""] => errors.push(FieldError::required(&path, "")),
        [version] => validate_version(kind, "", version, errors),
        ["", ""] => validate_version(kind, "", "", errors),
        [group, version] => validate_version(kind, group, version, errors),
        _ => {
            let detail = format!("unexpected GroupVersion string: {api_version}");
            errors.push(FieldError::invalid(&path, api_version, detail));
        }
    }
    let path = kind.path.child("kind");
    let name = text(kind.value, "kind");
    if name.is_empty() {
        errors.push(FieldError::required(&path, ""));
        return;
    }
    let problems = names::dns1035_label(name.to_lowercase().as_bytes());
    if !problems.is_empty() {
        let detail = format!("may have mixed case, but should otherwise match: {}", problems.join(","));
        errors.push(FieldError::invalid(&path, name, detail));
    }
}

fn validate_version(kind: Spec<'_>, group: &str, version: &str, errors: &mut ErrorList) {
    let path = kind.path.child("apiVersion");
    if !group.is_empty() {
        let problems = names::dns1123_subdomain(group.as_bytes());
        if !problems.is_empty() {
            errors.push(FieldError::invalid(&path, group, problems.join(",")));
        }
    }
    if version.is_empty() {
        errors.push(FieldError::invalid(&path, text(kind.value, "apiVersion"), "version must be specified"));
        return;
    }
    let problems = names::dns1035_label(version.as_bytes());
    if !problems.is_empty() {
        errors.push(FieldError::invalid(&path, version, problems.join(",")));
    }
}

/// Validates the params of a binding.
pub(crate) fn validate_ref(reference: Spec<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = reference;
    let name = text(value, "name");
    let name_path = path.child("name");
    let selector_path = path.child("selector");
    let selector = present(value, "selector");
    let exclusive = "name and selector are mutually exclusive";
    errors.extend(
        names::path_segment(name, NameForm::Whole)
            .into_iter()
            .map(|detail| FieldError::invalid(&name_path, name, detail)),
    );
    if !name.is_empty() && selector.is_some() {
        errors.push(FieldError::forbidden(&name_path, exclusive));
    }
    if let Some(value) = selector {
        selector::validate(Spec { value, path: &selector_path, release }, errors);
        if !name.is_empty() {
            errors.push(FieldError::forbidden(&selector_path, exclusive));
        }
    }
    if name.is_empty() && selector.is_none() {
        errors.push(FieldError::required(path, "one of name or selector must be specified"));
    }
    let path = path.child("parameterNotFoundAction");
    match present(value, "parameterNotFoundAction").and_then(Value::as_str).unwrap_or_default() {
        "" => errors.push(FieldError::required(&path, "")),
        action if NOT_FOUND_ACTIONS.contains(&action) => {}
        action => errors.push(FieldError::not_supported(&path, typed(action, release), &NOT_FOUND_ACTIONS)),
    }
}
