//! Immutable fields of Secrets and `ConfigMap`s (`ValidateSecretUpdate` and `ValidateConfigMapUpdate` in
//! `pkg/apis/core/validation`).

use crate::field::{ErrorList, FieldError, FieldPath};
use crate::server::strategy::built_in_kind::behaviour::Behaviour;
use crate::value::Value;

/// Validates that an update changes no immutable field.
pub(super) fn validate(object: &Value, old: &Value, behaviour: &Behaviour, errors: &mut ErrorList) {
    let changes = |key: &&&str| object.get(key) != old.get(key);
    for key in behaviour.immutable.iter().filter(changes) {
        let value = object.str_at(&[key]).unwrap_or_default();
        errors.push(FieldError::invalid(&FieldPath::new(key), value, "field is immutable"));
    }
    let is_immutable = |object: &Value| object.get("immutable").and_then(Value::as_bool) == Some(true);
    if behaviour.immutable_data.is_empty() || !is_immutable(old) {
        return;
    }
    let unset = (!is_immutable(object)).then_some("immutable");
    for key in unset.into_iter().chain(behaviour.immutable_data.iter().filter(changes).copied()) {
        errors.push(FieldError::forbidden(&FieldPath::new(key), "field is immutable when `immutable` is set"));
    }
}
