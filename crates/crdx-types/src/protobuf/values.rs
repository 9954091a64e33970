//! Converts the decoded fields of a message to the JSON value of the object.

use super::Error;
use super::fields::FieldType;
use super::wire::{WireFields, WireValue};
use crate::custom::Custom;
use crate::types::{Type, Types};
use crdx_text as text;
use crdx_text::malformed::MalformedStrings;
use crdx_value::base64::Encoding;
use crdx_value::number;
use crdx_value::time::{self, Timestamp};
use crdx_value::{Map, Value};

/// Converts messages and collects the strings in them that are not UTF-8.
pub struct Converter {
    pub types: &'static Types,
    pub malformed: MalformedStrings,
}

impl Converter {
    /// Converts a message to an object.
    pub fn object(&mut self, type_: FieldType, fields: &WireFields<'_>) -> Result<Map, Error> {
        let mut object = Map::new();
        for (number, node) in fields {
            let Some(field) = type_.field(self.types, *number) else { continue };
            match (field.type_, node) {
                (FieldType::Inline(_), WireValue::Message(fields)) => {
                    object.append(&mut self.object(field.type_, fields)?);
                }
                (type_, node) => {
                    if let Some(value) = self.value(type_, node)? {
                        object.insert(field.name.to_owned(), value);
                    }
                }
            }
        }
        Ok(object)
    }

    /// Converts a value; `None` if JSON omits it.
    fn value(&mut self, type_: FieldType, node: &WireValue<'_>) -> Result<Option<Value>, Error> {
        Ok(match (type_, node) {
            (FieldType::Repeated(item), WireValue::List(items)) => {
                let item = FieldType::new(self.types, item);
                Some(Value::Array(items.iter().map(|one| self.kept(item, Some(one))).collect::<Result<_, _>>()?))
            }
            (FieldType::Map(of), WireValue::Map(members)) => {
                let of = FieldType::new(self.types, of);
                let members =
                    members.iter().map(|(key, item)| Ok((self.malformed.decode(key), self.kept(of, item.as_ref())?)));
                Some(Value::Object(members.collect::<Result<_, Error>>()?))
            }
            (FieldType::Bytes, WireValue::Bytes([])) => None,
            (FieldType::Bytes, WireValue::Bytes(bytes)) => Some(Encoding::Standard.encode(bytes).into()),
            (FieldType::Basic { type_, pointer }, node) => {
                self.basic(type_, node).filter(|value| pointer || !is_zero(value))
            }
            (FieldType::Custom(custom, _), WireValue::Custom(fields)) => custom_value(custom, fields),
            (type_, WireValue::Message(fields)) => Some(self.message(type_, fields)?),
            _ => None,
        })
    }

    fn basic(&mut self, type_: &Type, node: &WireValue<'_>) -> Option<Value> {
        Some(match (type_, node) {
            (Type::String, WireValue::Bytes(bytes)) => self.malformed.decode(bytes).into(),
            (Type::Bool, WireValue::Number(number)) => Value::Bool(*number != 0),
            // Integers are cut to the size of their type.
            (Type::Int(64) | Type::Uint(_), WireValue::Number(number)) => Value::Int(*number as i64),
            (Type::Int(_), WireValue::Number(number)) => Value::Int((*number as i32).into()),
            // NaN and infinities are kept: JSON cannot represent them, but objects are validated before they are
            // encoded as JSON.
            (Type::Float(_), WireValue::Eight(bytes)) => number::to_value(f64::from_le_bytes(*bytes)),
            (Type::Float(_), WireValue::Four(bytes)) => number::to_value(f64::from(f32::from_le_bytes(*bytes))),
            _ => return None,
        })
    }

    /// Converts a list item or a map value; they are kept even if they are zero.
    fn kept(&mut self, type_: FieldType, node: Option<&WireValue<'_>>) -> Result<Value, Error> {
        let value = node.map(|node| self.value(type_, node)).transpose()?.flatten();
        Ok(value.unwrap_or_else(|| match (type_, node) {
            (FieldType::Basic { type_, .. }, _) => zero(type_),
            (FieldType::Bytes, Some(_)) => Value::from(""),
            (FieldType::Message(_), _) => Value::Object(Map::new()),
            _ => Value::Null,
        }))
    }

    /// Converts a message that a value is encoded as.
    fn message(&mut self, type_: FieldType, fields: &WireFields<'_>) -> Result<Value, Error> {
        if let FieldType::Custom(Custom::Json | Custom::FieldsV1 | Custom::RawExtension, _) = type_ {
            let raw: &[u8] = match fields.get(&1) {
                Some(WireValue::Bytes(raw)) if !raw.is_empty() => raw,
                _ => b"null",
            };
            return match (text::json::read(raw), type_) {
                // The text of managed fields is not parsed when it is decoded. A text that is not JSON is kept as a string,
                // which is not a valid set of fields either.
                (Err(_), FieldType::Custom(Custom::FieldsV1, _)) => Ok(text::lossy(raw).into()),
                (read, _) => Ok(read?),
            };
        }
        let mut members = self.object(type_, fields)?;
        Ok(match type_ {
            FieldType::Items(..) => members.remove("items").unwrap_or_default(),
            FieldType::Custom(Custom::SchemaOrList, _) => {
                // Without a schema it is an empty list, which some validations distinguish from a missing one.
                let given = members.remove("jSONSchemas").or_else(|| members.remove("schema"));
                given.unwrap_or_else(|| Value::Array(Vec::new()))
            }
            FieldType::Custom(Custom::SchemaOrBool, _) => {
                let allows = members.contains_key("allows");
                members.remove("schema").unwrap_or(Value::Bool(allows))
            }
            FieldType::Custom(Custom::SchemaOrNames, _) => {
                members.remove("property").or_else(|| members.remove("schema")).unwrap_or_default()
            }
            _ => Value::Object(members),
        })
    }
}

fn is_zero(value: &Value) -> bool {
    matches!(value, Value::Bool(false) | Value::Int(0)) || value.as_str() == Some("")
}

/// The zero value of a basic type.
fn zero(type_: &Type) -> Value {
    match type_ {
        Type::Bool => Value::Bool(false),
        Type::String => Value::from(""),
        _ => Value::Int(0),
    }
}

/// Converts a value of a type with its own encoding; `None` if JSON omits it.
fn custom_value(custom: Custom, fields: &WireFields<'_>) -> Option<Value> {
    let number = |number: u64| match fields.get(&number) {
        Some(WireValue::Number(value)) => *value as i64,
        _ => 0,
    };
    let text = |number: u64| match fields.get(&number) {
        Some(WireValue::Bytes(bytes)) => text::lossy(bytes),
        _ => String::new(),
    };
    Some(match custom {
        Custom::Quantity => text(1).into(),
        // The zero time has no bytes.
        Custom::Time | Custom::MicroTime if fields.is_empty() => return None,
        Custom::Time => time::format(Timestamp { seconds: number(1), nanos: 0 }).into(),
        Custom::MicroTime => {
            let nanos = u32::try_from(number(2)).unwrap_or_default();
            time::format_micro(Timestamp { seconds: number(1), nanos }).into()
        }
        Custom::IntOrString if number(1) == 0 => Value::Int(i64::from(number(2) as i32)),
        Custom::IntOrString => text(3).into(),
        Custom::Duration => duration(number(1)).into(),
        _ => return None,
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
