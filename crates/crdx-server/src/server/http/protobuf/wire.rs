//! Decodes the fields of messages, as the generated Go code does (`Unmarshal` in `generated.pb.go`).
//!
//! A field that occurs several times replaces its value, but a message is merged with the one before, and an element
//! is added to a list or a map.

use super::{Error, Kind, Message, messages};
use crdx_text::protobuf::{Reader, Wire, go_name};
use std::collections::BTreeMap;

/// The maximum depth of nested messages, as for JSON values.
const DEPTH: usize = 10_000;

/// The decoded fields of a message by their numbers.
pub(super) type Fields<'b> = BTreeMap<u64, Node<'b>>;

/// The decoded value of a field.
#[derive(Debug, PartialEq)]
pub(super) enum Node<'b> {
    Number(u64),
    Eight([u8; 8]),
    Bytes(&'b [u8]),
    /// The seconds of a time; `None` is the zero time.
    Time(Option<i64>),
    Message(Fields<'b>),
    List(Vec<Node<'b>>),
    /// The values of a map by their keys; the value may be missing.
    Map(BTreeMap<&'b [u8], Option<Node<'b>>>),
}

impl Kind {
    /// The wire type.
    fn wire(self) -> u64 {
        match self {
            Self::Bool | Self::BoolPointer | Self::Int | Self::IntPointer | Self::Int32 | Self::Int32Pointer => 0,
            Self::Double => 1,
            Self::Repeated(each) => each.wire(),
            _ => 2,
        }
    }

    /// The type of a value that is a message.
    pub(super) fn message(self) -> Option<&'static Message> {
        Some(match self {
            Self::Json => &messages::JSON,
            Self::Fields => &messages::FIELDS,
            Self::One(type_) | Self::Inline(type_) => type_,
            Self::Items => &messages::ITEMS,
            Self::SchemaOrList => &messages::SCHEMA_OR_LIST,
            Self::SchemaOrBool => &messages::SCHEMA_OR_BOOL,
            Self::SchemaOrTexts => &messages::SCHEMA_OR_TEXTS,
            _ => return None,
        })
    }
}

/// Decodes a message.
pub(super) fn fields<'b>(type_: &'static Message, message: &'b [u8]) -> Result<Fields<'b>, Error> {
    let mut fields = Fields::new();
    merge(type_, message, &mut fields, 0)?;
    Ok(fields)
}

fn merge<'b>(type_: &'static Message, message: &'b [u8], fields: &mut Fields<'b>, depth: usize) -> Result<(), Error> {
    if depth > DEPTH {
        return Err(Error::TooDeep);
    }
    let mut reader = Reader::new(message);
    while let Some((number, value)) = reader.known(type_.name, |number, wire| has_field(type_, number, wire))? {
        let Some((_, _, kind)) = type_.fields.iter().find(|(n, _, _)| *n == number) else { continue };
        match (kind, value) {
            (Kind::Repeated(each), value) => {
                let item = node(**each, value, None, depth)?;
                match fields.get_mut(&number) {
                    Some(Node::List(items)) => items.push(item),
                    _ => drop(fields.insert(number, Node::List(vec![item]))),
                }
            }
            (Kind::Map(each), Wire::Bytes(entry)) => {
                let (mut key, mut item) = (&[][..], None);
                let mut entry = reader.entry(entry);
                while let Some((member, value)) = entry.member(each.wire())? {
                    match (member, value) {
                        (1, Wire::Bytes(bytes)) => key = bytes,
                        (_, value) => item = Some(node(**each, value, None, depth)?),
                    }
                }
                match fields.get_mut(&number) {
                    Some(Node::Map(members)) => drop(members.insert(key, item)),
                    _ => drop(fields.insert(number, Node::Map(BTreeMap::from([(key, item)])))),
                }
            }
            (kind, value) => {
                let before = fields.remove(&number);
                fields.insert(number, node(*kind, value, before, depth)?);
            }
        }
    }
    Ok(())
}

/// Decodes a value. A message is merged with the one `before`.
fn node<'b>(kind: Kind, value: Wire<'b>, before: Option<Node<'b>>, depth: usize) -> Result<Node<'b>, Error> {
    Ok(match (kind.message(), value) {
        (Some(type_), Wire::Bytes(bytes)) => {
            let mut fields = if let Some(Node::Message(fields)) = before { fields } else { Fields::new() };
            merge(type_, bytes, &mut fields, depth + 1)?;
            Node::Message(fields)
        }
        (_, Wire::Bytes(bytes)) if matches!(kind, Kind::Time) => Node::Time(seconds(bytes)?),
        (_, Wire::Bytes(bytes)) => Node::Bytes(bytes),
        (_, Wire::Number(number)) => Node::Number(number),
        (_, Wire::Eight(bytes)) => Node::Eight(bytes),
        // No field has this wire type.
        (_, Wire::Four(_)) => Node::Number(0),
    })
}

/// `Time.Unmarshal`
fn seconds(bytes: &[u8]) -> Result<Option<i64>, Error> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let timestamp = fields(&messages::TIMESTAMP, bytes)?;
    Ok(Some(if let Some(Node::Number(seconds)) = timestamp.get(&1) { *seconds as i64 } else { 0 }))
}

/// Returns true if a message has a field with this number, and an error if it has another wire type.
fn has_field(type_: &Message, number: u64, wire: u64) -> Result<bool, Error> {
    match type_.fields.iter().find(|(n, _, _)| *n == number) {
        None => Ok(false),
        Some((_, _, kind)) if kind.wire() == wire => Ok(true),
        Some((_, name, _)) => Err(Error::WrongWireType { wire, field: go_name(name) }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nesting_of_messages_is_limited() {
        // `not` in `not`
        let nested = [0xe2, 1, 3, 0xe2, 1, 0];
        let mut found = Fields::new();
        assert!(merge(&messages::SCHEMA, &nested, &mut found, DEPTH - 2).is_ok());
        assert_eq!(merge(&messages::SCHEMA, &nested, &mut found, DEPTH - 1), Err(Error::TooDeep));
    }
}
