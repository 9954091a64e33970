//! Decodes built-in kinds from Protobuf, which typed Go clients send (`generated.proto` of each API group).
//!
//! The result is the JSON value of the object, which [`encode`](super::encode) makes canonical: Go also encodes zero values,
//! which JSON omits.

use super::custom::Custom;
use super::types::{Definition, Type, TypeId, Types};
use crdx_text::protobuf::{self as wire_format, Entry, Reader, Wire, go_name};
use crdx_text::{json, lossy};
use crdx_value::base64::Encoding;
use crdx_value::number;
use crdx_value::time::{self, Timestamp};
use crdx_value::{Map, Value};

/// An object that cannot be decoded.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Error {
    /// The bytes are malformed.
    #[error(transparent)]
    Wire(#[from] wire_format::Error),
    /// A text that should be JSON is not.
    #[error(transparent)]
    Json(#[from] crdx_text::Error),
    /// A value has another wire type than its Go type.
    #[error("proto: wrong wireType")]
    WrongWireType,
}

/// The maximum depth of nested messages.
const MAX_DEPTH: usize = 500;

/// Decodes a message into an object of a struct type.
///
/// # Errors
/// Returns an error for malformed bytes.
pub fn read(types: &'static Types, id: TypeId, message: &[u8]) -> Result<Value, Error> {
    Decoder { types }.named(id, message, 0)
}

struct Decoder {
    types: &'static Types,
}

impl Decoder {
    fn named(&self, id: TypeId, bytes: &[u8], depth: usize) -> Result<Value, Error> {
        if depth > MAX_DEPTH {
            return Err(wire_format::Error::TooDeep.into());
        }
        match self.types.definition(id) {
            Some(Definition::Struct(_)) => {
                let mut members = Map::new();
                self.members(id, bytes, &mut members, depth)?;
                Ok(Value::Object(members))
            }
            Some(Definition::Custom(custom)) => custom_value(*custom, self.types.name(id), bytes),
            Some(Definition::Named { of: Type::List(item), .. }) => {
                let mut items = Vec::new();
                let mut reader = Reader::new(bytes);
                while let Some((_, wire)) = reader.known(self.bare_name(id), |number, _| Ok(number == 1))? {
                    items.push(self.value(item, wire, depth + 1)?);
                }
                Ok(Value::Array(items))
            }
            Some(Definition::Named { of, .. }) => self.value(of, Wire::Bytes(bytes), depth),
            None => Ok(Value::Null),
        }
    }

    fn members(&self, id: TypeId, bytes: &[u8], members: &mut Map, depth: usize) -> Result<(), Error> {
        let mut reader = Reader::new(bytes);
        let knows = |number, wire| self.has_field(id, number, wire);
        while let Some((number, wire)) = reader.known(self.bare_name(id), knows)? {
            let Some((name, type_)) = self.types.numbered(id, number) else { continue };
            let target = self.base(type_.target());
            match (target, wire) {
                (Type::Named(inner), Wire::Bytes(bytes)) if name.is_empty() => {
                    if depth < MAX_DEPTH {
                        self.members(inner, bytes, members, depth + 1)?;
                    }
                }
                (Type::List(item), wire) if *item != Type::Uint(8) => {
                    let value = self.value(&item, wire, depth + 1)?;
                    match members.get_mut(name) {
                        Some(Value::Array(items)) => items.push(value),
                        _ => drop(members.insert(name.to_owned(), Value::Array(vec![value]))),
                    }
                }
                (Type::Map(_, of), Wire::Bytes(entry)) => {
                    let (key, value) = self.entry(&of, reader.entry(entry), depth)?;
                    match members.get_mut(name) {
                        Some(Value::Object(entries)) => drop(entries.insert(key, value)),
                        _ => drop(members.insert(name.to_owned(), Value::Object(Map::from([(key, value)])))),
                    }
                }
                (target, wire) => drop(members.insert(name.to_owned(), self.value(&target, wire, depth + 1)?)),
            }
        }
        Ok(())
    }

    /// The type of a field. Fields whose type is a name for a list or a map are encoded like a list or a map.
    fn base(&self, type_: &Type) -> Type {
        let Type::Named(id) = type_ else { return type_.clone() };
        match self.types.definition(*id) {
            Some(Definition::Named { of, .. }) => of.clone(),
            _ => type_.clone(),
        }
    }

    fn entry(&self, of: &Type, mut entry: Entry<'_>, depth: usize) -> Result<(String, Value), Error> {
        let (mut key, mut value) = (String::new(), None);
        while let Some((number, member)) = entry.member(self.wire(of))? {
            match (number, member) {
                (1, Wire::Bytes(bytes)) => key = lossy(bytes),
                (_, member) => value = Some(self.value(of, member, depth + 1)?),
            }
        }
        Ok((key, value.unwrap_or_default()))
    }

    /// The name of a type in Go, without its package.
    fn bare_name(&self, id: TypeId) -> &'static str {
        bare(self.types.name(id))
    }

    /// Returns true if a struct has a field with this number, and an error if it has another wire type.
    fn has_field(&self, id: TypeId, number: u64, wire: u64) -> Result<bool, wire_format::Error> {
        let Some((name, type_)) = self.types.numbered(id, number) else { return Ok(false) };
        if self.wire(&type_) == wire {
            return Ok(true);
        }
        Err(wire_format::Error::WrongWireType { wire, field: go_name(name) })
    }

    /// The wire type of the values of a type, for a list that of its elements.
    fn wire(&self, type_: &Type) -> u64 {
        match self.base(type_.target()) {
            Type::List(item) if *item != Type::Uint(8) => self.wire(&item),
            Type::Bool | Type::Int(_) | Type::Uint(_) => 0,
            Type::Float(64) => 1,
            Type::Float(_) => 5,
            _ => 2,
        }
    }

    fn value(&self, type_: &Type, wire: Wire<'_>, depth: usize) -> Result<Value, Error> {
        let wrong = || Err(Error::WrongWireType);
        Ok(match (type_.target(), wire) {
            (Type::Named(id), wire) => match (self.types.definition(*id), wire) {
                (Some(Definition::Named { of, .. }), wire) if !matches!(of, Type::List(_)) => {
                    return self.value(of, wire, depth);
                }
                (_, Wire::Bytes(bytes)) => return self.named(*id, bytes, depth + 1),
                _ => return wrong(),
            },
            (Type::Bool, Wire::Number(number)) => Value::Bool(number != 0),
            (Type::Int(_) | Type::Uint(_), Wire::Number(number)) => Value::Int(number as i64),
            (Type::Float(_), Wire::Eight(bytes)) => number::to_value(f64::from_le_bytes(bytes)),
            (Type::Float(_), Wire::Four(bytes)) => number::to_value(f64::from(f32::from_le_bytes(bytes))),
            (Type::String, Wire::Bytes(bytes)) => lossy(bytes).into(),
            (Type::List(item), Wire::Bytes(bytes)) if **item == Type::Uint(8) => {
                Encoding::Standard.encode(bytes).into()
            }
            _ => return wrong(),
        })
    }
}

/// A name without its package.
fn bare(name: &'static str) -> &'static str {
    name.rsplit_once('.').map_or(name, |(_, bare)| bare)
}

/// Decodes a value of a type with its own `UnmarshalJSON`.
fn custom_value(custom: Custom, name: &'static str, bytes: &[u8]) -> Result<Value, Error> {
    let (mut numbers, mut texts) = ([0_i64; 4], [&[][..]; 4]);
    let mut reader = Reader::new(bytes);
    let knows = |_, wire| Ok(matches!(wire, 0 | 2));
    while let Some((number, wire)) = reader.known(bare(name), knows)? {
        let at = usize::try_from(number).unwrap_or(usize::MAX);
        match wire {
            Wire::Number(number) => {
                if let Some(slot) = numbers.get_mut(at) {
                    *slot = number as i64;
                }
            }
            Wire::Bytes(bytes) => {
                if let Some(slot) = texts.get_mut(at) {
                    *slot = bytes;
                }
            }
            Wire::Eight(_) | Wire::Four(_) => {}
        }
    }
    let [_, first, second, _] = numbers;
    let [_, text, _, third] = texts;
    Ok(match custom {
        Custom::Quantity => lossy(text).into(),
        Custom::Time | Custom::MicroTime if bytes.is_empty() => Value::Null,
        Custom::Time => time::format(Timestamp { seconds: first, nanos: 0 }).into(),
        Custom::MicroTime => {
            let nanos = u32::try_from(second).unwrap_or_default();
            time::format_micro(Timestamp { seconds: first, nanos }).into()
        }
        Custom::IntOrString if first == 0 => Value::Int(i64::from(second as i32)),
        Custom::IntOrString => lossy(third).into(),
        Custom::Raw if name.ends_with("Duration") => duration(first).into(),
        Custom::Raw if text.is_empty() => Value::Null,
        Custom::Raw => json::read(text)?,
    })
}

/// A duration in nanoseconds as Go writes it, to seconds: `1h0m5s`.
fn duration(nanos: i64) -> String {
    let seconds = nanos / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    match (hours, minutes) {
        (0, 0) => format!("{seconds}s"),
        (0, _) => format!("{minutes}m{seconds}s"),
        _ => format!("{hours}h{minutes}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    #[test]
    fn messages_are_decoded_by_their_field_numbers() {
        let types = Types::of(37);
        let read = |name: &str, bytes: &[u8]| read(types, types.id(name).unwrap(), bytes);
        // name, an empty image, a port, and a volume mount
        let container = b"\x0a\x01a\x12\x00\x32\x0b\x0a\x00\x10\x00\x18\x50\x22\x03TCP\x4a\x05\x0a\x01v\x10\x01";
        assert_eq!(
            to_string(&read("core/v1.Container", container).unwrap()),
            r#"{"image":"","name":"a","ports":[{"containerPort":80,"hostPort":0,"name":"","protocol":"TCP"}],"volumeMounts":[{"name":"v","readOnly":true}]}"#
        );
        // An embedded struct: a volume with an empty directory
        let volume = b"\x0a\x01v\x12\x04\x12\x02\x0a\x00";
        assert_eq!(to_string(&read("core/v1.Volume", volume).unwrap()), r#"{"emptyDir":{"medium":""},"name":"v"}"#);
        // A map of quantities
        let resources = b"\x0a\x0a\x0a\x03cpu\x12\x03\x0a\x011";
        assert_eq!(to_string(&read("core/v1.ResourceRequirements", resources).unwrap()), r#"{"limits":{"cpu":"1"}}"#);
        assert!(read("core/v1.Container", b"\x0a\x05a").is_err());
    }

    #[test]
    fn map_entries_are_read_as_by_the_generated_code() {
        let types = Types::of(37);
        let read = |bytes: &[u8]| read(types, types.id("core/v1.Secret").unwrap(), bytes);
        // `data` has a key with the wire type of a number, an unknown group and no value.
        let object = read(b"\x12\x05\x08\x01k\x1b\x1c").unwrap();
        assert_eq!(to_string(&object), r#"{"data":{"k":null}}"#);
        // The value ends after the entry. Its bytes are read again: they are the type.
        let object = read(b"\x12\x05\x0a\x01k\x12\x03\x1a\x01t").unwrap();
        assert_eq!(to_string(&object), r#"{"data":{"k":"GgF0"},"type":"t"}"#);
    }

    #[test]
    fn wrong_wire_types_are_refused_and_unknown_fields_are_skipped() {
        let types = Types::of(37);
        let read = |bytes: &[u8]| read(types, types.id("core/v1.Secret").unwrap(), bytes);
        assert_eq!(read(b"\x18\x01").unwrap_err().to_string(), "proto: wrong wireType = 0 for field Type");
        assert_eq!(read(b"\x04").unwrap_err().to_string(), "proto: Secret: wiretype end group for non-group");
        assert_eq!(to_string(&read(b"\xfb\x01\x08\x01\xfc\x01\x1a\x01t").unwrap()), r#"{"type":"t"}"#);
    }
}
