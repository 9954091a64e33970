//! Validates the content of objects of built-in kinds, if the feature `builtin` has their validation.

#[cfg(feature = "builtin")]
pub(in crate::server) use crdx_builtin::validation::{
    app_armor_warnings, covers_status, service_addresses, status_warnings, subject_refusal, validate,
    validate_ephemeral_containers, validate_resize, validate_status, warnings,
};

/// Without the feature, the options of a server leave out all kinds whose content is validated, so this is not called.
#[cfg(not(feature = "builtin"))]
pub(super) fn service_addresses(
    _spec: &crdx_value::Value,
    _existing: &[String],
    _release: crdx_value::release::Release,
) -> crdx_value::field::ErrorList {
    Vec::new()
}

#[cfg(not(feature = "builtin"))]
pub(in crate::server) fn subject_refusal(_request: &crdx_value::Value) -> Option<&'static str> {
    None
}

#[cfg(not(feature = "builtin"))]
pub(super) fn validate(
    _kind: (&str, &str),
    _object: &crdx_value::Value,
    _empties: Option<&crdx_types::empties::Empties>,
    _old: Option<&crdx_value::Value>,
    _release: crdx_value::release::Release,
) -> crdx_value::field::ErrorList {
    Vec::new()
}

#[cfg(not(feature = "builtin"))]
pub(super) fn validate_ephemeral_containers(
    _object: &crdx_value::Value,
    _empties: Option<&crdx_types::empties::Empties>,
    _old: &crdx_value::Value,
    _release: crdx_value::release::Release,
) -> crdx_value::field::ErrorList {
    Vec::new()
}

#[cfg(not(feature = "builtin"))]
pub(super) fn validate_resize(
    _object: &crdx_value::Value,
    _empties: Option<&crdx_types::empties::Empties>,
    _old: &crdx_value::Value,
    _release: crdx_value::release::Release,
) -> crdx_value::field::ErrorList {
    Vec::new()
}

#[cfg(not(feature = "builtin"))]
pub(in crate::server) fn covers_status(_group: &str, _kind: &str) -> bool {
    false
}

#[cfg(not(feature = "builtin"))]
pub(super) fn validate_status(
    _kind: (&str, &str),
    _object: &crdx_value::Value,
    _empties: Option<&crdx_types::empties::Empties>,
    _old: &crdx_value::Value,
    _at: (crdx_value::release::Release, crdx_value::time::Timestamp),
) -> crdx_value::field::ErrorList {
    Vec::new()
}

#[cfg(not(feature = "builtin"))]
pub(super) fn warnings(
    _kind: (&str, &str),
    _object: &crdx_value::Value,
    _old: Option<&crdx_value::Value>,
    _release: crdx_value::release::Release,
) -> Vec<String> {
    Vec::new()
}

#[cfg(not(feature = "builtin"))]
pub(super) fn status_warnings(
    _kind: (&str, &str),
    _object: &crdx_value::Value,
    _release: crdx_value::release::Release,
) -> Vec<String> {
    Vec::new()
}

#[cfg(not(feature = "builtin"))]
pub(super) fn app_armor_warnings(_pod: &crdx_value::Value, _release: crdx_value::release::Release) -> Vec<String> {
    Vec::new()
}
