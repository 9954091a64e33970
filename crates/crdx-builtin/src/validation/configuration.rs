//! `ConfigMap`s and Secrets (`ValidateConfigMap`, `ValidateSecret`).

use super::field_value::{Errors, FieldValue};
use super::{formats, immutable};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::base64::Encoding;
use crdx_value::field::{FieldError, FieldPath, ROOT};
use crdx_value::release::V1_38;

const MAX_SIZE: usize = 1 << 20;
const FIXED: &str = "field is immutable when `immutable` is set";

/// `ValidateConfigMap` and `ValidateConfigMapUpdate`
pub(crate) fn config_map(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
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
        size += decoded(&value).len();
    }
    if size > MAX_SIZE {
        // The empty path is the whole object.
        errors.list.push(FieldError::too_long(&FieldPath::new(""), MAX_SIZE as i64, errors.release));
    }
}

/// Reports changes of an object whose data are immutable.
fn fixed_data(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>, fields: &[&'static str]) {
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

fn decoded(value: &FieldValue<'_, '_>) -> Vec<u8> {
    Encoding::Standard.decode(value.text()).unwrap_or_default()
}

/// `ValidateSecret` and `ValidateSecretUpdate`
pub fn secret(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (type_, data) = (object.child("type"), object.child("data"));
    if let Some(old) = old {
        immutable::declared_since(errors, &type_, &FieldValue::new(old.get("type"), ROOT), "string", V1_38);
        fixed_data(errors, object, Some(old), &["data"]);
    }
    let mut size = 0;
    for (key, value) in data.entries() {
        errors.messages_at(&value.path, key, formats::config_map_key(key));
        size += decoded(&value).len();
    }
    if size > MAX_SIZE {
        errors.too_long(&data, MAX_SIZE as i64);
    }
    let field = |key: &'static str| FieldValue::new(data.value.get(key), data.path.key(key));
    let require = |errors: &mut Errors, key: &'static str| {
        let value = field(key);
        if !value.is_set() {
            errors.required(&value, "");
        }
        value.is_set()
    };
    match type_.text() {
        "kubernetes.io/service-account-token" => {
            const NAME: &str = "kubernetes.io/service-account.name";
            let metadata = object.child("metadata");
            let annotations = metadata.child("annotations");
            let name = annotations.value.get(NAME);
            errors.require_text(&FieldValue::new(name, annotations.path.key(NAME)));
        }
        "kubernetes.io/dockercfg" if require(errors, ".dockercfg") => {
            json_object(errors, &field(".dockercfg"));
        }
        "kubernetes.io/dockerconfigjson" if require(errors, ".dockerconfigjson") => {
            json_object(errors, &field(".dockerconfigjson"));
        }
        "kubernetes.io/basic-auth" if !field("username").is_set() && !field("password").is_set() => {
            require(errors, "username");
            require(errors, "password");
        }
        "kubernetes.io/ssh-auth" => {
            errors.require_text(&field("ssh-privatekey"));
        }
        "kubernetes.io/tls" => {
            require(errors, "tls.crt");
            require(errors, "tls.key");
        }
        _ => {}
    }
}

/// Reports a value that is no JSON object, with the message of Go's decoder.
fn json_object(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    let text = decoded(field);
    let reason = match json::read(&text) {
        Ok(Value::Object(_) | Value::Null) => return,
        Ok(other) => {
            let kind = crdx_value::json::go_kind(&other);
            format!("json: cannot unmarshal {kind} into Go value of type map[string]interface {{}}")
        }
        Err(error) => error.message,
    };
    errors.invalid_value(&field.path, "<secret contents redacted>", reason);
}
