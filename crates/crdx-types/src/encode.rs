//! Encodes values of Go types as the server does: an object that was decoded into its Go type, stored as Protobuf and
//! encoded as JSON again.
//!
//! Unknown fields and nulls are dropped. Fields without `omitempty` are present even if they are empty. Empty lists and
//! maps are absent, or null, because Protobuf does not distinguish them from absent ones. Quantities and times have their
//! canonical form.

use super::custom::Custom;
use super::types::{Definition, Field, Struct, Type, TypeId, Types};
use crdx_cel::value::Quantity;
use crdx_value::base64::Encoding;
use crdx_value::{Map, Value, time};

/// The maximum depth of values; deeper values are left as they are.
const MAX_DEPTH: usize = 500;

/// Encodes `value` as an object of a struct type.
pub fn encode(types: &'static Types, id: TypeId, value: Value) -> Value {
    Encoder { types }.named(id, Some(value), 0)
}

struct Encoder {
    types: &'static Types,
}

impl Encoder {
    /// Encodes a value; `None` is the zero value of the type.
    fn value(&self, type_: &'static Type, value: Option<Value>, depth: usize) -> Value {
        let value = value.filter(|value| !value.is_null());
        if depth > MAX_DEPTH {
            return value.unwrap_or_default();
        }
        match (type_, value) {
            (Type::Pointer(target), Some(value)) => self.value(target, Some(value), depth),
            (Type::Named(id), value) => self.named(*id, value, depth),
            (Type::List(item), Some(Value::Array(items))) if **item == Type::Uint(8) => bytes(&items),
            (Type::List(item), Some(Value::String(text))) if **item == Type::Uint(8) => {
                let decoded = Encoding::Standard.decode(&text);
                decoded.map_or_else(|_| Value::String(text), |bytes| Encoding::Standard.encode(&bytes).into())
            }
            (Type::List(item), Some(Value::Array(items))) => {
                let items: Vec<Value> = items.into_iter().map(|i| self.value(item, Some(i), depth + 1)).collect();
                if items.is_empty() { Value::Null } else { Value::Array(items) }
            }
            (Type::Map(_, of), Some(Value::Object(members))) => {
                if members.is_empty() {
                    return Value::Null;
                }
                let is_bytes = matches!(&**of, Type::List(item) if **item == Type::Uint(8));
                let encode = |value| match self.value(of, Some(value), depth + 1) {
                    Value::Null if is_bytes => Value::from(""),
                    value => value,
                };
                Value::Object(members.into_iter().map(|(key, value)| (key, encode(value))).collect())
            }
            (Type::Pointer(_) | Type::List(_) | Type::Map(..), None) => Value::Null,
            (Type::Bool, None) => Value::Bool(false),
            (Type::String, None) => Value::from(""),
            (Type::Int(_) | Type::Uint(_) | Type::Float(_), None) => Value::Int(0),
            (_, Some(value)) => value,
        }
    }

    fn named(&self, id: TypeId, value: Option<Value>, depth: usize) -> Value {
        match (self.types.definition(id), value) {
            (Some(Definition::Struct(s)), Some(Value::Object(members))) => {
                Value::Object(self.members(s, members, depth))
            }
            (Some(Definition::Struct(s)), None) => Value::Object(self.members(s, Map::new(), depth)),
            (Some(Definition::Custom(custom)), value) => custom.encode(self.types.name(id), value),
            (Some(Definition::Named { of, .. }), value) => self.value(of, value, depth),
            (_, value) => value.unwrap_or_default(),
        }
    }

    fn members(&self, s: &'static Struct, mut members: Map, depth: usize) -> Map {
        let is_missing = |field: &&Field| !self.is_absent(field) && members.get(field.name).is_none_or(Value::is_null);
        let missing: Vec<&'static Field> = s.fields.iter().filter(is_missing).collect();
        members.retain(|name, value| {
            let Some((_, field)) = s.field(name).filter(|_| !value.is_null()) else { return false };
            *value = self.value(&field.type_, Some(std::mem::take(value)), depth + 1);
            !self.omits(field, value)
        });
        for field in missing {
            let zero = self.value(&field.type_, None, depth + 1);
            if !self.omits(field, &zero) {
                members.insert(field.name.to_owned(), zero);
            }
        }
        members
    }

    /// Returns true if a field is omitted when its value is absent, without encoding the zero value.
    fn is_absent(&self, field: &Field) -> bool {
        if field.omit_zero {
            return true;
        }
        let never_empty = matches!(&field.type_, Type::Named(id) if matches!(
            self.types.definition(*id),
            Some(Definition::Struct(_) | Definition::Custom(_))
        ));
        field.omit_empty && !never_empty
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
            Value::Null => field.omit_zero || self.is_absent(field),
            Value::Bool(set) => !set,
            Value::Int(0) => self.is_absent(field),
            Value::Float(x) => *x == 0.0,
            Value::String(text) => text.is_empty(),
            Value::Object(_) if field.omit_zero => *encoded == self.value(&field.type_, None, 0),
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

impl Custom {
    /// Encodes a value of this type; `None` is the zero value.
    fn encode(self, name: &str, value: Option<Value>) -> Value {
        match (self, value) {
            (Self::Quantity, Some(value)) => quantity(value),
            (Self::Quantity, None) => Value::from("0"),
            (Self::Time, Some(Value::String(text))) => {
                time::parse(&text).map_or_else(|_| Value::String(text), |t| time::format(t).into())
            }
            (Self::MicroTime, Some(Value::String(text))) => match time::parse_micro(&text) {
                Ok(t) => time::format_micro(t).into(),
                Err(_) => Value::String(text),
            },
            (Self::IntOrString, None) => Value::Int(0),
            (Self::Raw, None) if name.ends_with("Duration") => Value::from("0s"),
            (_, value) => value.unwrap_or_default(),
        }
    }
}

/// The canonical form of a quantity. Go formats huge exponents too, which takes it minutes.
fn quantity(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Int(n) => n.to_string(),
        other => crdx_value::json::to_string(other),
    };
    let digits = text.trim().chars().rev().take_while(char::is_ascii_digit).count();
    let is_huge = text.contains(['e', 'E']) && digits > 3;
    match Quantity::parse(text.trim()) {
        Ok(quantity) if !is_huge => quantity.to_string().into(),
        _ => value,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    fn encoded(type_: &str, release: u32, text: &str) -> String {
        let types = Types::of(release);
        to_string(&encode(types, types.id(type_).unwrap(), json::read(text.as_bytes()).unwrap()))
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
