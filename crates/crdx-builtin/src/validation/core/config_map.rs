//! `ConfigMap`s, and the flag `immutable` that they share with Secrets.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable};
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath, ROOT};

pub(crate) const MAX_SIZE: usize = 1 << 20;
const FIXED: &str = "field is immutable when `immutable` is set";

/// `ValidateConfigMap` and `ValidateConfigMapUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    fixed_data(errors, object, old, &["data", "binaryData"]);
    let (data, binary) = (object.child("data"), object.child("binaryData"));
    let mut size = 0;
    for (key, value) in data.entries() {
        errors.messages_at(&value.path, key, formats::config_map_key(key));
        if binary.value.get(key).is_some() {
            errors.invalid_value(&value.path, key, "duplicate of key present in binaryData");
        }
        size += value.text().len();
    }
    for (key, value) in binary.entries() {
        errors.messages_at(&value.path, key, formats::config_map_key(key));
        size += value.bytes().len();
    }
    if size > MAX_SIZE {
        // The empty path is the whole object.
        errors.list.push(FieldError::too_long(&FieldPath::new(""), MAX_SIZE as i64, errors.release));
    }
}

/// Reports changes of an object whose data are immutable.
pub(crate) fn fixed_data(
    errors: &mut Errors,
    object: &FieldValue<'_, '_>,
    old: Option<&Value>,
    fields: &[&'static str],
) {
    let old = FieldValue::new(old, ROOT);
    if !old.child("immutable").bool() {
        return;
    }
    let flag = object.child("immutable");
    if !flag.bool() {
        errors.forbidden(&flag, FIXED);
    }
    for name in fields {
        let field = object.child(name);
        if !immutable::is_equal(field.value, old.child(name).value) {
            errors.forbidden(&field, FIXED);
        }
    }
}
