//! The message types that expressions can construct: Protobuf's well-known types.

use crate::{types::Type, value::message::JSON_PATCH};
use crdx_value::GoError;

/// The message name of a type; `None` if the type is not a message.
pub(super) fn of(type_: &Type) -> Option<&'static str> {
    Some(match type_ {
        Type::Any => "google.protobuf.Any",
        Type::Timestamp => "google.protobuf.Timestamp",
        Type::Duration => "google.protobuf.Duration",
        Type::Dyn => "google.protobuf.Value",
        Type::Null => "google.protobuf.NullValue",
        Type::Wrapper(of) => match **of {
            Type::Bool => "google.protobuf.BoolValue",
            Type::Bytes => "google.protobuf.BytesValue",
            Type::Double => "google.protobuf.DoubleValue",
            Type::Int => "google.protobuf.Int64Value",
            Type::String => "google.protobuf.StringValue",
            Type::Uint => "google.protobuf.UInt64Value",
            _ => return None,
        },
        Type::List(item) if **item == Type::Dyn => "google.protobuf.ListValue",
        Type::Map(key, value) if **key == Type::String && **value == Type::Dyn => "google.protobuf.Struct",
        Type::Opaque(name) if **name == *"google.protobuf.Empty" => "google.protobuf.Empty",
        _ => return None,
    })
}

/// The name of a type without its type arguments.
pub(super) fn declared_name(type_: &Type) -> String {
    match type_ {
        Type::List(_) => "list".to_owned(),
        Type::Map(..) => "map".to_owned(),
        Type::Optional(_) => "optional_type".to_owned(),
        Type::Type(_) => "type".to_owned(),
        other => other.to_string(),
    }
}

/// The type of a field of `Object`, of a type below `Object`, or of `JSONPatch`. The former accept any field.
pub(super) fn patch_field(message: &str, name: &str) -> Type {
    match name {
        "op" | "path" | "from" if message == JSON_PATCH => Type::String,
        "value" => Type::Dyn,
        // In cel-go, such a field has no type, to which no value is assignable.
        _ if message == JSON_PATCH => Type::Opaque("".into()),
        _ => Type::Dyn,
    }
}

/// The types without fields that the type provider of Kubernetes declares besides the messages.
const SCALARS: [&str; 6] = ["bool", "bytes", "double", "int", "string", "uint"];

/// The type of a message field.
///
/// # Errors
/// Returns the error message if the message has no such field.
pub(super) fn field(message: &str, name: &str) -> Result<Type, GoError> {
    if SCALARS.contains(&message) {
        return Err(format!("undefined field '{name}'").into());
    }
    let fields = fields(message).ok_or_else(|| format!("unexpected failed resolution of '{message}'"))?;
    let found = fields.into_iter().find(|(field, _)| *field == name);
    found.map(|(_, type_)| type_).ok_or_else(|| format!("undefined field '{name}'").into())
}

fn fields(message: &str) -> Option<Vec<(&'static str, Type)>> {
    let json_map = || Type::map(Type::String, Type::Dyn);
    Some(match message.strip_prefix("google.protobuf.")? {
        "Any" => vec![("type_url", Type::String), ("value", Type::Bytes)],
        "BoolValue" => vec![("value", Type::Bool)],
        "BytesValue" => vec![("value", Type::Bytes)],
        "DoubleValue" => vec![("value", Type::Double)],
        "Int64Value" => vec![("value", Type::Int)],
        "StringValue" => vec![("value", Type::String)],
        "UInt64Value" => vec![("value", Type::Uint)],
        "Empty" => Vec::new(),
        "Timestamp" | "Duration" => vec![("seconds", Type::Int), ("nanos", Type::Int)],
        "ListValue" => vec![("values", Type::list(Type::Dyn))],
        "Struct" => vec![("fields", json_map())],
        "Value" => vec![
            ("null_value", Type::Int),
            ("number_value", Type::Double),
            ("string_value", Type::String),
            ("bool_value", Type::Bool),
            ("struct_value", json_map()),
            ("list_value", Type::list(Type::Dyn)),
        ],
        _ => return None,
    })
}
