//! Converts the decoded fields of a message to the JSON value of the object.

use super::wire::{Fields, Node};
use super::{Kind, Message};
use crdx_text as text;
use crdx_text::malformed::MalformedStrings;
use crdx_value::base64::Encoding;
use crdx_value::number;
use crdx_value::time::{self, Timestamp};
use crdx_value::{Map, Value};

/// An object that cannot be decoded.
#[derive(Debug, thiserror::Error)]
pub(super) enum Error {
    /// The bytes are malformed.
    #[error(transparent)]
    Wire(#[from] text::protobuf::Error),
    /// A text that should be JSON is not.
    #[error(transparent)]
    Json(#[from] text::Error),
}

/// Converts messages and collects the strings in them that are not UTF-8.
#[derive(Default)]
pub(super) struct Converter {
    /// The malformed strings.
    pub malformed: MalformedStrings,
}

impl Converter {
    /// Converts a message to an object.
    pub(super) fn object(&mut self, type_: &Message, fields: &Fields<'_>) -> Result<Map, Error> {
        let mut object = Map::new();
        for (number, name, kind) in type_.fields {
            match (kind, fields.get(number)) {
                (_, None) => {}
                (Kind::Inline(type_), Some(Node::Message(fields))) => object.append(&mut self.object(type_, fields)?),
                (kind, Some(node)) => {
                    if let Some(value) = self.value(*kind, node)? {
                        object.insert((*name).to_owned(), value);
                    }
                }
            }
        }
        Ok(object)
    }

    /// Converts a value; `None` if JSON omits it.
    fn value(&mut self, kind: Kind, node: &Node<'_>) -> Result<Option<Value>, Error> {
        Ok(match (kind, node) {
            (Kind::Repeated(each), Node::List(items)) => {
                Some(Value::Array(items.iter().map(|item| self.kept(*each, Some(item))).collect::<Result<_, _>>()?))
            }
            (Kind::Map(each), Node::Map(members)) => {
                let members = members
                    .iter()
                    .map(|(key, item)| Ok((self.malformed.decode(key), self.kept(*each, item.as_ref())?)));
                Some(Value::Object(members.collect::<Result<_, Error>>()?))
            }
            (Kind::Text | Kind::Bytes, Node::Bytes([])) => None,
            (Kind::Text | Kind::TextPointer, Node::Bytes(bytes)) => Some(self.malformed.decode(bytes).into()),
            (Kind::Bytes, Node::Bytes(bytes)) => Some(Encoding::Standard.encode(bytes).into()),
            (Kind::Bool, Node::Number(number)) => (*number != 0).then_some(Value::Bool(true)),
            (Kind::BoolPointer, Node::Number(number)) => Some(Value::Bool(*number != 0)),
            (Kind::Int, Node::Number(number)) => Some(*number as i64).filter(|n| *n != 0).map(Value::Int),
            (Kind::IntPointer, Node::Number(number)) => Some(Value::Int(*number as i64)),
            (Kind::Int32, Node::Number(number)) => {
                Some(*number as i32).filter(|n| *n != 0).map(|n| Value::Int(n.into()))
            }
            (Kind::Int32Pointer, Node::Number(number)) => Some(Value::Int((*number as i32).into())),
            // NaN and infinities are kept: JSON cannot represent them, but objects are validated before they are
            // encoded as JSON.
            (Kind::Double, Node::Eight(bytes)) => Some(number::to_value(f64::from_le_bytes(*bytes))),
            (Kind::Time, Node::Time(seconds)) => {
                seconds.map(|seconds| time::format(Timestamp { seconds, nanos: 0 }).into())
            }
            (kind, Node::Message(fields)) => Some(self.of_message(kind, fields)?),
            _ => None,
        })
    }

    /// Converts a list item or a map value; they are kept even if they are zero.
    fn kept(&mut self, kind: Kind, node: Option<&Node<'_>>) -> Result<Value, Error> {
        let value = node.map(|node| self.value(kind, node)).transpose()?.flatten();
        Ok(value.unwrap_or_else(|| match (kind, node) {
            (Kind::Text, _) | (Kind::Bytes, Some(_)) => Value::from(""),
            (Kind::One(_), _) => Value::Object(Map::new()),
            _ => Value::Null,
        }))
    }

    /// Converts a message that a value is encoded as.
    fn of_message(&mut self, kind: Kind, fields: &Fields<'_>) -> Result<Value, Error> {
        let Some(type_) = kind.message() else { return Ok(Value::Null) };
        if let Kind::Json | Kind::Fields = kind {
            let raw: &[u8] = match fields.get(&1) {
                Some(Node::Bytes(raw)) if !raw.is_empty() => raw,
                _ => b"null",
            };
            return match (text::json::read(raw), kind) {
                (Err(_), Kind::Fields) => Ok(text::lossy(raw).into()),
                (read, _) => Ok(read?),
            };
        }
        let mut members = self.object(type_, fields)?;
        Ok(match kind {
            Kind::Items => members.remove("items").unwrap_or(Value::Null),
            Kind::SchemaOrList => {
                // Without a schema it is an empty list, which some validations distinguish from a missing one.
                let given = members.remove("jSONSchemas").or_else(|| members.remove("schema"));
                given.unwrap_or_else(|| Value::Array(Vec::new()))
            }
            Kind::SchemaOrBool => {
                let allows = members.contains_key("allows");
                members.remove("schema").unwrap_or(Value::Bool(allows))
            }
            Kind::SchemaOrTexts => {
                members.remove("property").or_else(|| members.remove("schema")).unwrap_or(Value::Null)
            }
            _ => Value::Object(members),
        })
    }
}
