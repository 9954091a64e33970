//! Checks that a value already has the form in which its Go type decodes it, as almost all values do. Unlike the reader
//! of JSON texts, this check needs no text and builds no paths.

use super::custom::Custom;
use super::types::{Type, TypeDefinition, TypeId, Types};
use crdx_value::base64::Encoding;
use crdx_value::quantity::Quantity;
use crdx_value::release::Minor;
use crdx_value::{Value, time};

/// The maximum depth of values. Deeper values do not conform.
const MAX_DEPTH: usize = 500;

/// Returns true if the JSON of `value` is decoded into a struct type without errors, including strict errors, and has the
/// same value when it is read again. Returns false if that is not certain.
pub fn conforms(types: &Types, id: TypeId, value: &Value) -> bool {
    named(types, id, value, 0)
}

fn named(types: &Types, id: TypeId, value: &Value, depth: usize) -> bool {
    match (types.definition(id), value) {
        (_, Value::Null) => true,
        (Some(TypeDefinition::Struct(s)), Value::Object(members)) => members.iter().all(|(key, value)| {
            s.field(key).is_some_and(|(_, field)| conforms_to(types, &field.type_, value, depth + 1))
        }),
        (Some(TypeDefinition::Custom(custom)), value) => custom.conforms(value, types.minor(), depth),
        (Some(TypeDefinition::Named { of, .. }), value) => conforms_to(types, of, value, depth),
        _ => false,
    }
}

fn conforms_to(types: &Types, type_: &Type, value: &Value, depth: usize) -> bool {
    if depth > MAX_DEPTH {
        return false;
    }
    match (type_.target(), value) {
        (_, Value::Null) | (Type::Bool, Value::Bool(_)) | (Type::String, Value::String(_)) => true,
        (Type::Named(id), value) => named(types, *id, value, depth),
        (Type::List(item), Value::String(text)) => **item == Type::Uint(8) && Encoding::Standard.decode(text).is_ok(),
        (Type::List(item), Value::Array(items)) => items.iter().all(|one| conforms_to(types, item, one, depth + 1)),
        (Type::Map(_, of), Value::Object(members)) => {
            members.values().all(|one| conforms_to(types, of, one, depth + 1))
        }
        (type_ @ (Type::Int(_) | Type::Uint(_)), Value::Int(number)) => fits(type_, *number),
        _ => false,
    }
}

/// Returns true if a number is in the range of an integer type.
pub(crate) fn fits(type_: &Type, number: i64) -> bool {
    match type_ {
        Type::Int(8) => i8::try_from(number).is_ok(),
        Type::Int(16) => i16::try_from(number).is_ok(),
        Type::Int(32) => i32::try_from(number).is_ok(),
        Type::Int(_) => true,
        Type::Uint(8) => u8::try_from(number).is_ok(),
        Type::Uint(16) => u16::try_from(number).is_ok(),
        Type::Uint(32) => u32::try_from(number).is_ok(),
        Type::Uint(_) => number >= 0,
        _ => false,
    }
}

impl Custom {
    pub(crate) fn conforms(self, value: &Value, release: Minor, depth: usize) -> bool {
        match (self, value) {
            (Self::Quantity, Value::String(text)) => {
                Quantity::is_canonical(text) || Quantity::parse(text, release).is_ok()
            }
            (Self::Quantity, Value::Int(_)) | (Self::IntOrString, Value::String(_)) => true,
            (Self::Time, Value::String(text)) => time::parse(text).is_ok(),
            (Self::MicroTime, Value::String(text)) => time::parse_micro(text).is_ok(),
            (Self::IntOrString, Value::Int(n)) => i32::try_from(*n).is_ok(),
            (Self::Quantity | Self::IntOrString | Self::Time | Self::MicroTime, _) => false,
            (_, value) => is_kept(value, depth),
        }
    }
}

/// Returns true if the JSON of a value has the same value when it is read again. A float may become an integer.
fn is_kept(value: &Value, depth: usize) -> bool {
    match value {
        _ if depth > MAX_DEPTH => false,
        Value::Float(_) => false,
        Value::Array(items) => items.iter().all(|item| is_kept(item, depth + 1)),
        Value::Object(members) => members.values().all(|member| is_kept(member, depth + 1)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::empties::Empties;
    use crate::{encode, reader};
    use crdx_text::json;

    /// Compares with the reader of JSON texts.
    fn conform(type_: &str, text: &str) -> bool {
        let types = Types::for_release(37);
        let id = types.id(type_).unwrap();
        let value = json::read(text.as_bytes()).unwrap();
        let found = conforms(types, id, &value);
        let is_read = reader::read(types, id, text.as_bytes()).is_ok_and(|found| found.strict.is_empty());
        assert!(is_read || !found, "{text}");
        let encoded = encode::encode(types, id, &value);
        assert_eq!((encoded.conforms, encoded.empties), (found, Empties::from_value(&value)), "{text}");
        found
    }

    #[test]
    fn ordinary_values_conform() {
        for container in [
            r#"{"name":"a","image":"b","ports":[{"containerPort":80,"protocol":"TCP"}],"env":[{"name":"x","value":null}]}"#,
            r#"{"resources":{"limits":{"cpu":"100m","memory":1}},"readinessProbe":{"httpGet":{"port":"http"}}}"#,
            r#"{"livenessProbe":{"httpGet":{"port":80}},"tty":true,"args":[],"env":null}"#,
        ] {
            assert!(conform("core/v1.Container", container), "{container}");
        }
        assert!(conform(
            "core/v1.Secret",
            r#"{"data":{"a":"YQ=="},"metadata":{"creationTimestamp":"2026-01-01T00:00:00Z"}}"#
        ));
        assert!(conform("apps/v1.ControllerRevision", r#"{"data":{"any":["thing",{"x":1}]},"revision":1}"#));
    }

    #[test]
    fn values_with_findings_do_not_conform() {
        for container in [
            r#"{"nmae":"a"}"#,
            r#"{"Name":"a"}"#,
            r#"{"name":1}"#,
            r#"{"ports":[{"containerPort":2147483648}]}"#,
            r#"{"ports":[{"containerPort":1.5}]}"#,
            r#"{"ports":{}}"#,
            r#"{"resources":{"limits":{"cpu":"x"}}}"#,
            r#"{"resources":{"limits":{"cpu":"\t1"}}}"#,
            r#"{"readinessProbe":{"httpGet":{"port":2147483648}}}"#,
            r#"{"tty":"true"}"#,
            r#"{"name":"a","resources":[]}"#,
        ] {
            assert!(!conform("core/v1.Container", container), "{container}");
        }
        assert!(!conform("core/v1.Secret", r#"{"data":{"a":"Y"}}"#));
        assert!(!conform("core/v1.Secret", r#"{"metadata":{"creationTimestamp":"yesterday"}}"#));
        assert!(!conform("apps/v1.ControllerRevision", r#"{"data":{"any":1.5},"revision":1}"#));
    }

    #[test]
    fn deep_values_do_not_conform() {
        let text = [r#"{"compositePodGroupTemplates":["#.repeat(600).as_str(), "{}", &"]}".repeat(600)].concat();
        assert!(!conform("scheduling/v1alpha3.CompositePodGroupTemplate", &text));
    }
}
