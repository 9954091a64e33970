//! Fields that an update may not change (`ValidateImmutableField`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::internal;
use crdx_value::Value;
use crdx_value::field::BadValue;
use crdx_value::release::{Minor, V1_37};

/// The detail of the error.
pub(crate) const IMMUTABLE: &str = "field is immutable";

/// The type of a selector.
pub const SELECTOR: &str = "*meta/v1.LabelSelector";

/// Reports a field that changed. Absent and empty values are equal.
pub fn field(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    if !is_equal(new.value, old.value) {
        errors.invalid(new, IMMUTABLE);
    }
}

/// Like [`field`], for a field of the internal type `type_`.
pub fn typed(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>, type_: &str) {
    if !internal::is_equal(type_, new.value, old.value, errors.release) {
        errors.invalid_typed(new, type_, IMMUTABLE);
    }
}

/// Reports a field that changed and is declared immutable (`+k8s:immutable`) since 1.37.
pub fn declared(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>, type_: &str) {
    declared_since(errors, new, old, type_, V1_37);
}

/// Reports a field that changed and is declared immutable since a release. From then on, generated code validates it, which
/// does not show the value.
pub fn declared_since(
    errors: &mut Errors,
    new: &FieldValue<'_, '_>,
    old: &FieldValue<'_, '_>,
    type_: &str,
    since: Minor,
) {
    if internal::is_equal(type_, new.value, old.value, errors.release) {
        return;
    }
    if errors.release.since(since) {
        return errors.invalid_value(&new.path, BadValue::Raw("null".to_owned()), IMMUTABLE);
    }
    errors.invalid_typed(new, type_, IMMUTABLE);
}

/// Reports a text that changed; an absent one is shown as empty.
pub fn text(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    if new.text() != old.text() {
        errors.invalid_value(&new.path, new.text(), IMMUTABLE);
    }
}

/// Compares two values as Go's `Semantic.DeepEqual` does: absent and empty lists and maps are equal. Values with
/// quantities need [`internal::is_equal`].
pub fn is_equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let null = &Value::Null;
            a.iter().all(|(key, value)| is_equal(value, b.get(key).unwrap_or(null)))
                && b.iter().all(|(key, value)| a.contains_key(key) || is_equal(null, value))
        }
        (Value::Null, other) | (other, Value::Null) => match other {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.values().all(|value| is_equal(&Value::Null, value)),
            _ => false,
        },
        _ => a == b,
    }
}

/// Copies the value at a path, or its absence, so that a comparison leaves it out.
pub fn copy(new: &Value, old: &mut Value, path: &[&str]) {
    let Some((last, parents)) = path.split_last() else { return };
    if let Some(value) = new.at(path) {
        old.insert_at(path, value.clone());
    } else {
        let parent = parents.iter().try_fold(old, |value, key| value.get_mut(key));
        if let Some(members) = parent.and_then(Value::as_object_mut) {
            members.remove(last);
        }
    }
}
