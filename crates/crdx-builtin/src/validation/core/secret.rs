//! Secrets.

use crate::validation::core::config_map::{MAX_SIZE, fixed_data};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable};
use crdx_text::json;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::V1_38;

/// `ValidateSecret` and `ValidateSecretUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (type_, data) = (object.child("type"), object.child("data"));
    if let Some(old) = old {
        immutable::declared_since(errors, &type_, &FieldValue::new(old.get("type"), ROOT), "string", V1_38);
        fixed_data(errors, object, Some(old), &["data"]);
    }
    let mut size = 0;
    for (key, value) in data.entries() {
        errors.messages_at(&value.path, key, formats::config_map_key(key));
        size += value.bytes().len();
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
    let text = field.bytes();
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
