//! Decodes the fields of messages, as the generated Go code does (`Unmarshal` in `generated.pb.go`).
//!
//! A field that occurs several times replaces its value, but a message is merged with the one before, and an element
//! is added to a list or a map.

use super::fields::FieldType;
use crate::custom::Custom;
use crate::types::Types;
use crdx_text::protobuf::{Error, MessageReader, Wire, go_name};
use std::collections::BTreeMap;

/// The maximum depth of nested messages, as for JSON values.
const DEPTH: usize = 10_000;

/// The decoded fields of a message by their numbers.
pub type WireFields<'b> = BTreeMap<u64, WireValue<'b>>;

/// The decoded value of a field.
#[derive(Debug, PartialEq)]
pub enum WireValue<'b> {
    Number(u64),
    Eight([u8; 8]),
    Four([u8; 4]),
    Bytes(&'b [u8]),
    /// The fields of a type with its own encoding; none of them is a message.
    Custom(WireFields<'b>),
    Message(WireFields<'b>),
    List(Vec<WireValue<'b>>),
    /// The values of a map by their keys; the value may be missing.
    Map(BTreeMap<&'b [u8], Option<WireValue<'b>>>),
}

/// Decodes a message.
pub fn read<'b>(types: &'static Types, type_: FieldType, message: &'b [u8]) -> Result<WireFields<'b>, Error> {
    let mut fields = WireFields::new();
    Decoder { types }.merge(type_, message, &mut fields, 0)?;
    Ok(fields)
}

struct Decoder {
    types: &'static Types,
}

impl Decoder {
    fn merge<'b>(
        &self,
        type_: FieldType,
        message: &'b [u8],
        fields: &mut WireFields<'b>,
        depth: usize,
    ) -> Result<(), Error> {
        if depth > DEPTH {
            return Err(Error::TooDeep);
        }
        let mut reader = MessageReader::new(message);
        let name = type_.message_name(self.types).unwrap_or_default();
        let knows = |number, wire| self.has_field(type_, number, wire);
        while let Some((number, value)) = reader.known(name, knows)? {
            let Some(field) = type_.field(self.types, number) else { continue };
            match (field.type_, value) {
                (FieldType::Repeated(item), value) => {
                    let item = self.node(FieldType::new(self.types, item), value, None, depth)?;
                    match fields.get_mut(&number) {
                        Some(WireValue::List(items)) => items.push(item),
                        _ => drop(fields.insert(number, WireValue::List(vec![item]))),
                    }
                }
                (FieldType::Map(of), Wire::Bytes(entry)) => {
                    let of = FieldType::new(self.types, of);
                    let (mut key, mut item) = (&[][..], None);
                    let mut entry = reader.entry(entry);
                    while let Some((member, value)) = entry.member(of.wire(self.types))? {
                        match (member, value) {
                            (1, Wire::Bytes(bytes)) => key = bytes,
                            (_, value) => item = Some(self.node(of, value, None, depth)?),
                        }
                    }
                    match fields.get_mut(&number) {
                        Some(WireValue::Map(members)) => drop(members.insert(key, item)),
                        _ => drop(fields.insert(number, WireValue::Map(BTreeMap::from([(key, item)])))),
                    }
                }
                (kind, value) => {
                    let before = fields.remove(&number);
                    fields.insert(number, self.node(kind, value, before, depth)?);
                }
            }
        }
        Ok(())
    }

    /// Returns true if a message has a field with this number, and an error if it has another wire type.
    fn has_field(&self, type_: FieldType, number: u64, wire: u64) -> Result<bool, Error> {
        match type_.field(self.types, number) {
            None => Ok(false),
            Some(field) if field.type_.wire(self.types) == wire => Ok(true),
            Some(field) => Err(Error::WrongWireType { wire, field: go_name(field.name) }),
        }
    }

    /// Decodes a value. A message is merged with the one `before`.
    fn node<'b>(
        &self,
        type_: FieldType,
        value: Wire<'b>,
        before: Option<WireValue<'b>>,
        depth: usize,
    ) -> Result<WireValue<'b>, Error> {
        Ok(match (type_, value) {
            (_, Wire::Bytes(bytes)) if type_.message_name(self.types).is_some() => {
                let mut fields = if let Some(WireValue::Message(fields)) = before { fields } else { WireFields::new() };
                self.merge(type_, bytes, &mut fields, depth + 1)?;
                WireValue::Message(fields)
            }
            (FieldType::Custom(type_, _), Wire::Bytes(bytes)) => WireValue::Custom(custom(type_, bytes)?),
            (_, Wire::Bytes(bytes)) => WireValue::Bytes(bytes),
            (_, Wire::Number(number)) => WireValue::Number(number),
            (_, Wire::Eight(bytes)) => WireValue::Eight(bytes),
            (_, Wire::Four(bytes)) => WireValue::Four(bytes),
        })
    }
}

/// The fields of a type with its own encoding, which are numbers (wire type 0) and texts (wire type 2).
fn custom(type_: Custom, bytes: &[u8]) -> Result<WireFields<'_>, Error> {
    // Times are decoded as a `Timestamp`.
    let (name, known): (_, &[(&str, u64)]) = match type_ {
        Custom::Time | Custom::MicroTime => ("Timestamp", &[("Seconds", 0), ("Nanos", 0)]),
        Custom::IntOrString => ("IntOrString", &[("Type", 0), ("IntVal", 0), ("StrVal", 2)]),
        Custom::Duration => ("Duration", &[("Duration", 0)]),
        _ => ("Quantity", &[("String_", 2)]),
    };
    let is_known = |number: u64, wire: u64| {
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        match at.and_then(|at| known.get(at)) {
            Some((field, expected)) if *expected != wire => {
                Err(Error::WrongWireType { wire, field: (*field).to_owned() })
            }
            field => Ok(field.is_some()),
        }
    };
    let mut fields = WireFields::new();
    let mut reader = MessageReader::new(bytes);
    while let Some((number, wire)) = reader.known(name, is_known)? {
        match wire {
            Wire::Number(value) => drop(fields.insert(number, WireValue::Number(value))),
            Wire::Bytes(value) => drop(fields.insert(number, WireValue::Bytes(value))),
            Wire::Eight(_) | Wire::Four(_) => {}
        }
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_about_times_name_a_timestamp() {
        let error = |type_, bytes: &[u8]| custom(type_, bytes).err().unwrap().to_string();
        assert_eq!(error(Custom::Time, &[0, 1]), "proto: Timestamp: illegal tag 0 (wire type 0)");
        assert_eq!(error(Custom::MicroTime, &[9, 1]), "proto: wrong wireType = 1 for field Seconds");
        assert_eq!(error(Custom::IntOrString, &[24, 1]), "proto: wrong wireType = 0 for field StrVal");
        assert_eq!(error(Custom::Quantity, &[8, 1]), "proto: wrong wireType = 0 for field String_");
        assert!(custom(Custom::Time, &[8, 1, 34, 1, 65]).unwrap().len() == 1, "unknown fields are skipped");
    }

    #[test]
    fn the_nesting_of_messages_is_limited() {
        let types = Types::of_definitions(crdx_value::release::Release::NEWEST);
        let schema = FieldType::Message(types.id("apiextensions/v1.JSONSchemaProps").unwrap());
        // `not` in `not`
        let nested = [0xe2, 1, 3, 0xe2, 1, 0];
        let merge = |depth| Decoder { types }.merge(schema, &nested, &mut WireFields::new(), depth);
        assert!(merge(DEPTH - 2).is_ok());
        assert_eq!(merge(DEPTH - 1), Err(Error::TooDeep));
    }
}
