//! Encodes values of Go types as the server does: an object that was decoded into its Go type, stored as Protobuf and
//! encoded as JSON again.
//!
//! Unknown fields and nulls are dropped. Fields without `omitempty` are present even if they are empty. Empty lists and
//! maps are absent, or null, because Protobuf does not distinguish them from absent ones. Times have their canonical
//! form, and so have most quantities.

use super::custom::Custom;
use super::types::{Definition, Field, Struct, Type, TypeId, Types};
use crdx_cel::value::Quantity;
use crdx_value::base64::Encoding;
use crdx_value::{Map, Value, number, time};
use std::borrow::Cow;

/// The maximum depth of values; deeper values are left as they are.
const MAX_DEPTH: usize = 500;

/// Encodes `value` as an object of a struct type.
pub fn encode(types: &'static Types, id: TypeId, mut value: Value) -> Value {
    Encoder { types }.named(id, &mut value, 0);
    value
}

struct Encoder {
    types: &'static Types,
}

impl Encoder {
    /// The zero value of a type.
    fn zero(&self, type_: &'static Type) -> Value {
        let mut zero = Value::Null;
        self.value(type_, &mut zero, 0);
        zero
    }

    /// Encodes a value in place; null becomes the zero value of the type.
    fn value(&self, type_: &'static Type, value: &mut Value, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        match (type_, &mut *value) {
            (Type::Pointer(_) | Type::List(_) | Type::Map(..), Value::Null) => {}
            (Type::Pointer(target), _) => self.value(target, value, depth),
            (Type::Named(id), _) => self.named(*id, value, depth),
            (Type::List(item), Value::Array(items)) if **item == Type::Uint(8) => *value = bytes(items),
            (Type::List(item), Value::String(text)) if **item == Type::Uint(8) => {
                if let Ok(bytes) = Encoding::Standard.decode(text) {
                    *text = Encoding::Standard.encode(&bytes);
                }
            }
            (Type::List(_), Value::Array(items)) if items.is_empty() => *value = Value::Null,
            (Type::List(item), Value::Array(items)) => {
                for one in items {
                    self.value(item, one, depth + 1);
                }
            }
            (Type::Map(..), Value::Object(members)) if members.is_empty() => *value = Value::Null,
            (Type::Map(_, of), Value::Object(members)) => {
                let is_bytes = matches!(&**of, Type::List(item) if **item == Type::Uint(8));
                for one in members.values_mut() {
                    self.value(of, one, depth + 1);
                    if is_bytes && one.is_null() {
                        *one = Value::from("");
                    }
                }
            }
            (Type::Bool, Value::Null) => *value = Value::Bool(false),
            (Type::String, Value::Null) => *value = Value::from(""),
            (Type::Int(_) | Type::Uint(_) | Type::Float(_), Value::Null) => *value = Value::Int(0),
            (Type::Int(_) | Type::Uint(_), Value::Int(number)) => *number = wrapped(type_, *number),
            (Type::Int(_) | Type::Uint(_), Value::Float(number)) if number.fract() == 0.0 => {
                *value = Value::Int(wrapped(type_, number::to_int64(*number)));
            }
            _ => {}
        }
    }

    fn named(&self, id: TypeId, value: &mut Value, depth: usize) {
        match self.types.definition(id) {
            Some(Definition::Struct(s)) => {
                if value.is_null() {
                    *value = Value::Object(Map::new());
                }
                if let Value::Object(members) = value {
                    self.members(s, members, depth);
                }
            }
            Some(Definition::Custom(custom)) => custom.encode(value),
            Some(Definition::Named { of, .. }) => self.value(of, value, depth),
            None => {}
        }
    }

    fn members(&self, s: &'static Struct, members: &mut Map, depth: usize) {
        let mut has_omitted = false;
        for (name, value) in members.iter_mut() {
            let Some((_, field)) = s.field(name).filter(|_| !value.is_null()) else {
                *value = Value::Null;
                has_omitted = true;
                continue;
            };
            self.value(&field.type_, value, depth + 1);
            if self.omits(field, value) {
                *value = Value::Null;
                has_omitted = true;
            }
        }
        // Removing members rebuilds the map. A field without `omitempty` stays, even if it is null.
        if has_omitted {
            members.retain(|name, value| {
                !value.is_null() || s.field(name).is_some_and(|(_, field)| !self.omits(field, value))
            });
        }
        for field in s.always_present() {
            if members.get(field.name).is_none_or(Value::is_null) {
                let mut zero = Value::Null;
                self.value(&field.type_, &mut zero, depth + 1);
                if !self.omits(field, &zero) {
                    members.insert(field.name.to_owned(), zero);
                }
            }
        }
    }

    /// Returns true for `runtime.RawExtension`, a struct, which `omitempty` does not omit.
    fn is_raw(&self, type_: &'static Type) -> bool {
        let Type::Named(id) = type_ else { return false };
        matches!(self.types.definition(*id), Some(Definition::Custom(Custom::RawExtension)))
    }

    /// Returns true if a field with this value is omitted.
    fn omits(&self, field: &'static Field, encoded: &Value) -> bool {
        if !field.omits_zero() {
            return false;
        }
        // Even the zero value behind a pointer is not empty.
        if matches!(field.type_, Type::Pointer(_)) {
            return encoded.is_null();
        }
        match encoded {
            Value::Null => field.omit_zero || field.absent_if_missing,
            Value::Bool(set) => !set,
            Value::Int(0) => field.absent_if_missing,
            Value::Float(x) => *x == 0.0,
            Value::String(text) => text.is_empty() && !self.is_raw(&field.type_),
            Value::Object(_) if field.omit_zero => *encoded == self.zero(&field.type_),
            _ => false,
        }
    }
}

/// Bytes that are given as a list of numbers.
fn bytes(items: &[Value]) -> Value {
    let bytes = items.iter().map(|item| item.as_int().and_then(|n| u8::try_from(n).ok()).unwrap_or_default());
    match Encoding::Standard.encode(&bytes.collect::<Vec<u8>>()) {
        text if text.is_empty() => Value::Null,
        text => text.into(),
    }
}

/// An integer as Go stores it in a type with fewer bits (`reflect.Value.SetInt`). Only the results of patches and applies
/// have numbers that do not fit, because decoding JSON rejects them.
fn wrapped(type_: &Type, number: i64) -> i64 {
    match type_ {
        Type::Int(bits) => number::to_signed(number, *bits),
        Type::Uint(bits) => number::to_unsigned(number, *bits),
        _ => number,
    }
}

impl Custom {
    /// Encodes a value of this type in place; null becomes the zero value.
    fn encode(self, value: &mut Value) {
        let canonical = match (self, &*value) {
            (Self::Quantity, Value::Null) => Some(Value::from("0")),
            (Self::Quantity, given) => quantity(given),
            (Self::Time, Value::String(text)) => time::parse(text).ok().map(|t| time::format(t).into()),
            (Self::MicroTime, Value::String(text)) => {
                time::parse_micro(text).ok().map(|t| time::format_micro(t).into())
            }
            (Self::IntOrString, Value::Null) => Some(Value::Int(0)),
            (Self::Duration, Value::Null) => Some(Value::from("0s")),
            _ => None,
        };
        if let Some(canonical) = canonical {
            *value = canonical;
        }
    }
}

/// The form in which the server shows a quantity, if it can be formatted. Go formats huge exponents too, which takes it minutes.
fn quantity(value: &Value) -> Option<Value> {
    let text: Cow<'_, str> = match value {
        Value::String(text) => text.into(),
        Value::Int(n) => n.to_string().into(),
        other => crdx_value::json::to_string(other).into(),
    };
    let digits = text.trim().chars().rev().take_while(char::is_ascii_digit).count();
    let is_huge = text.contains(['e', 'E']) && digits > 3;
    if is_huge { None } else { Quantity::parse(text.trim()).ok().map(|quantity| quantity.to_string().into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    fn encoded(type_: &str, release: u32, text: &str) -> String {
        let types = Types::for_release(release);
        to_string(&encode(types, types.id(type_).unwrap(), json::read(text.as_bytes()).unwrap()))
    }

    #[test]
    fn integers_that_do_not_fit_are_wrapped() {
        let spec = |text: &str| encoded("coordination/v1.LeaseSpec", 37, text);
        assert_eq!(spec(r#"{"leaseDurationSeconds":-9223372036854775808}"#), r#"{"leaseDurationSeconds":0}"#);
        assert_eq!(spec(r#"{"leaseDurationSeconds":9007199254740993}"#), r#"{"leaseDurationSeconds":1}"#);
        assert_eq!(spec(r#"{"leaseDurationSeconds":5.0}"#), r#"{"leaseDurationSeconds":5}"#);
    }

    #[test]
    fn empty_fields_are_omitted_as_their_tags_say() {
        assert_eq!(
            encoded("core/v1.Container", 37, r#"{"name":"a","args":[],"env":null,"x":1,"stdin":false}"#),
            r#"{"name":"a","resources":{}}"#
        );
        assert_eq!(encoded("rbac/v1.Role", 37, r#"{"rules":[]}"#), r#"{"metadata":{},"rules":null}"#);
        assert_eq!(
            encoded("core/v1.ConfigMap", 31, r#"{"data":{},"immutable":false}"#),
            r#"{"immutable":false,"metadata":{"creationTimestamp":null}}"#
        );
    }

    #[test]
    fn an_empty_text_in_a_raw_extension_is_kept() {
        for release in [31, 37] {
            let revision = encoded("apps/v1.ControllerRevision", release, r#"{"data":"","revision":1}"#);
            assert!(revision.contains(r#""data":"""#), "{revision}");
        }
    }

    #[test]
    fn values_have_their_canonical_form() {
        let limits = r#"{"limits":{"cpu":0.5,"memory":"1024Mi","x":"1000m"}}"#;
        assert_eq!(
            encoded("core/v1.ResourceRequirements", 37, limits),
            r#"{"limits":{"cpu":"500m","memory":"1Gi","x":"1"}}"#
        );
        assert_eq!(
            encoded("core/v1.Secret", 37, r#"{"data":{"a":[104,105],"b":null,"c":"aGk="}}"#),
            r#"{"data":{"a":"aGk=","b":"","c":"aGk="},"metadata":{}}"#
        );
        let lease = r#"{"renewTime":"2026-01-01T02:00:00.000001+02:00"}"#;
        assert_eq!(encoded("coordination/v1.LeaseSpec", 37, lease), r#"{"renewTime":"2026-01-01T00:00:00.000001Z"}"#);
    }
}
