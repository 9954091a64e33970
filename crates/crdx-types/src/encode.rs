//! Encodes values of Go types as the server does: an object that was decoded into its Go type, stored as Protobuf and
//! encoded as JSON again.
//!
//! Unknown fields and nulls are dropped. Fields without `omitempty` are present even if they are empty. Empty lists and
//! maps are absent, or null, because Protobuf does not distinguish them from absent ones. Times have their canonical
//! form, and so have most quantities.

use super::conforms::fits;
use super::custom::Custom;
use super::defaults::most_set;
use super::empties::{Empties, fraction, has_empty};
use super::types::{Field, Struct, Type, TypeDefinition, TypeId, Types};
use crdx_value::base64::Encoding;
use crdx_value::quantity::Quantity;
use crdx_value::release::{Minor, V1_38};
use crdx_value::{Map, Value, number, time};
use std::borrow::Cow;

/// The maximum depth of values; deeper values are left as they are.
const MAX_DEPTH: usize = 500;

/// An object as its Go type encodes it.
#[derive(Clone, Debug)]
pub struct Encoded {
    pub object: Value,
    /// The empty lists and maps, and fractions of seconds, of the given value, which the encoded form omits.
    pub empties: Option<Empties>,
    /// True if the given value conforms to the type ([`super::conforms`]).
    pub conforms: bool,
}

/// Encodes `value` as an object of a struct type.
pub fn encode(types: &'static Types, id: TypeId, value: &Value) -> Encoded {
    let mut encoder = Encoder { types, conforms: true, has_omitted: false };
    let object = encoder.named(id, value, 0);
    let empties = if encoder.has_omitted { Empties::from_value(value) } else { None };
    Encoded { object, empties, conforms: encoder.conforms }
}

struct Encoder {
    types: &'static Types,
    conforms: bool,
    /// True if the value has anything that [`Empties`] keeps.
    has_omitted: bool,
}

impl Encoder {
    fn zero(&mut self, type_: &'static Type) -> Value {
        self.value(type_, &Value::Null, 0)
    }

    /// Encodes a value; null becomes the zero value of the type.
    fn value(&mut self, type_: &'static Type, value: &Value, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return self.unknown(value, depth);
        }
        match (type_, value) {
            (Type::Pointer(_) | Type::List(_) | Type::Map(..), Value::Null) => Value::Null,
            (Type::Pointer(target), _) => self.value(target, value, depth),
            (Type::Named(id), _) => self.named(*id, value, depth),
            (Type::List(_), Value::Array(items)) if items.is_empty() => self.empty(),
            (Type::List(item), Value::Array(items)) if **item == Type::Uint(8) => {
                self.conforms &= items.iter().all(|one| one.is_null() || one.as_int().is_some_and(|n| fits(item, n)));
                bytes(items)
            }
            (Type::List(item), Value::String(text)) if **item == Type::Uint(8) => match Encoding::Standard.decode(text)
            {
                Ok(bytes) => Value::String(Encoding::Standard.encode(&bytes)),
                Err(_) => self.unknown(value, depth),
            },
            (Type::List(item), Value::Array(items)) => {
                Value::Array(items.iter().map(|one| self.value(item, one, depth + 1)).collect())
            }
            (Type::Map(..), Value::Object(members)) if members.is_empty() => self.empty(),
            (Type::Map(_, of), Value::Object(members)) => {
                let is_bytes = matches!(&**of, Type::List(item) if **item == Type::Uint(8));
                let member = |(name, one): (&String, &Value)| {
                    let encoded = self.value(of, one, depth + 1);
                    let is_empty = is_bytes && encoded.is_null();
                    (name.clone(), if is_empty { Value::from("") } else { encoded })
                };
                Value::Object(members.iter().map(member).collect())
            }
            (Type::Bool, Value::Null) => Value::Bool(false),
            (Type::String, Value::Null) => Value::from(""),
            (Type::Int(_) | Type::Uint(_) | Type::Float(_), Value::Null) => Value::Int(0),
            (Type::Int(_) | Type::Uint(_), Value::Int(number)) => {
                self.conforms &= fits(type_, *number);
                Value::Int(wrapped(type_, *number))
            }
            (Type::Int(_) | Type::Uint(_), Value::Float(number)) if number.fract() == 0.0 => {
                self.conforms = false;
                Value::Int(wrapped(type_, number::to_int64(*number)))
            }
            (Type::String, Value::String(text)) => {
                self.has_omitted |= fraction(text).is_some();
                value.clone()
            }
            (Type::Bool, Value::Bool(_)) => value.clone(),
            _ => self.unknown(value, depth),
        }
    }

    /// An empty list or map, which is encoded as an absent one.
    fn empty(&mut self) -> Value {
        self.has_omitted = true;
        Value::Null
    }

    /// A value that is not of its type, which is left as it is.
    fn unknown(&mut self, value: &Value, depth: usize) -> Value {
        self.drop_unknown(value, depth);
        value.clone()
    }

    fn drop_unknown(&mut self, value: &Value, depth: usize) {
        self.conforms = false;
        self.has_omitted |= has_empty(value, depth);
    }

    fn named(&mut self, id: TypeId, value: &Value, depth: usize) -> Value {
        match (self.types.definition(id), value) {
            (Some(TypeDefinition::Struct(s)), Value::Null) => Value::Object(self.members((id, s), &Map::new(), depth)),
            (Some(TypeDefinition::Struct(s)), Value::Object(members)) => {
                self.has_omitted |= members.is_empty();
                Value::Object(self.members((id, s), members, depth))
            }
            (Some(TypeDefinition::Custom(custom)), value) => {
                self.conforms &= value.is_null() || custom.conforms(value, self.types.minor(), depth);
                self.has_omitted |= has_empty(value, depth);
                custom.encode(value, self.types.minor()).unwrap_or_else(|| value.clone())
            }
            (Some(TypeDefinition::Named { of, .. }), value) => self.value(of, value, depth),
            (Some(TypeDefinition::Struct(_)) | None, value) => self.unknown(value, depth),
        }
    }

    fn members(&mut self, (id, s): (TypeId, &'static Struct), members: &Map, depth: usize) -> Map {
        let added = s.most_added() + most_set(id);
        let mut encoded = Vec::with_capacity(members.len() + added);
        for (name, value) in members {
            let Some((_, field)) = s.field(name) else {
                self.drop_unknown(value, depth + 1);
                continue;
            };
            let mut member = Value::Null;
            if !value.is_null() {
                member = self.value(&field.type_, value, depth + 1);
                if self.omits(field, &member) {
                    member = Value::Null;
                }
            }
            // A field without `omitempty` stays, even if it is null.
            if !member.is_null() || !self.omits(field, &member) {
                encoded.push((name.clone(), member));
            }
        }
        let mut encoded = Map::from_sorted(encoded);
        for field in s.always_present() {
            if encoded.get(field.name).is_none_or(Value::is_null) {
                let zero = self.value(&field.type_, &Value::Null, depth + 1);
                if !self.omits(field, &zero) {
                    encoded.insert(field.name.to_owned(), zero);
                }
            }
        }
        encoded
    }

    /// Returns true for `runtime.RawExtension`, a struct, which `omitempty` does not omit.
    fn is_raw(&self, type_: &'static Type) -> bool {
        let Type::Named(id) = type_ else { return false };
        matches!(self.types.definition(*id), Some(TypeDefinition::Custom(Custom::RawExtension)))
    }

    /// Returns true if a field with this value is omitted.
    fn omits(&mut self, field: &'static Field, encoded: &Value) -> bool {
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
    /// Encodes a value of this type; null becomes the zero value. Returns `None` for a value that is left as it is.
    fn encode(self, value: &Value, release: Minor) -> Option<Value> {
        match (self, value) {
            (Self::Quantity, Value::Null) => Some(Value::from("0")),
            (Self::Quantity, given) => quantity(given, release),
            (Self::Time, Value::String(text)) => time::parse(text).ok().map(|t| time::format(t).into()),
            (Self::MicroTime, Value::String(text)) => {
                time::parse_micro(text).ok().map(|t| time::format_micro(t).into())
            }
            (Self::IntOrString, Value::Null) => Some(Value::Int(0)),
            (Self::Duration, Value::Null) => Some(Value::from("0s")),
            _ => None,
        }
    }
}

/// The form in which the server shows a quantity; `None` if it is the given one, or if the quantity cannot be formatted. Go
/// before 1.38 formats huge exponents too, which takes it minutes.
fn quantity(value: &Value, release: Minor) -> Option<Value> {
    if value.as_str().is_some_and(Quantity::is_canonical) {
        return None;
    }
    let text: Cow<'_, str> = match value {
        Value::String(text) => text.into(),
        Value::Int(n) => n.to_string().into(),
        other => crdx_value::json::to_string(other).into(),
    };
    let digits = text.trim().chars().rev().take_while(char::is_ascii_digit).count();
    let is_huge = release < V1_38 && text.contains(['e', 'E']) && digits > 3;
    if is_huge { None } else { Quantity::parse(text.trim(), release).ok().map(|quantity| quantity.to_string().into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    fn encoded(type_: &str, release: u32, text: &str) -> String {
        let types = Types::for_release(release);
        to_string(&encode(types, types.id(type_).unwrap(), &json::read(text.as_bytes()).unwrap()).object)
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
