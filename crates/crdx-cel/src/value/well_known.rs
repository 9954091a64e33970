//! The values of messages that expressions construct from Protobuf's well-known types, such as
//! `google.protobuf.Int64Value{value: 1}` (`Registry.NewValue` in cel-go). All but `Empty` are values of other types.

use super::{Duration, Error, Map, MapKey, Message, Timestamp, Value};
use crdx_value::GoError;
use crdx_value::{base64::Encoding, quote::go_quote};
use std::{collections::BTreeMap, sync::Arc};

/// The largest integer that is a number in JSON: 2^53 - 1.
const LARGEST_SAFE: u64 = (1 << 53) - 1;

type MessageFields<'a> = BTreeMap<Arc<str>, Value<'a>>;

/// The value of a message.
///
/// # Errors
/// Returns an error if a field has a value of a wrong type, or if the type is unknown.
pub fn make<'a>(type_name: &Arc<str>, fields: MessageFields<'a>) -> Result<Value<'a>, Error> {
    let unknown = || Error::new(format!("unknown type '{type_name}'"));
    let message = Fieldwise { type_name, fields };
    let value = "value";
    match type_name.strip_prefix("google.protobuf.").ok_or_else(unknown)? {
        "BoolValue" => Ok(message.read(value, boolean)?.unwrap_or(Value::Bool(false))),
        "BytesValue" => Ok(message.read(value, bytes)?.unwrap_or_else(|| Value::Bytes(Arc::default()))),
        "DoubleValue" => Ok(message.read(value, double)?.unwrap_or(Value::Double(0.0))),
        "FloatValue" => Ok(message.read(value, float)?.unwrap_or(Value::Double(0.0))),
        "Int32Value" => Ok(Value::Int(message.read(value, int32)?.unwrap_or(0))),
        "Int64Value" => Ok(Value::Int(message.read(value, int64)?.unwrap_or(0))),
        "StringValue" => Ok(message.read(value, string)?.unwrap_or_else(|| Value::string(String::new()))),
        "UInt32Value" => Ok(message.read(value, uint32)?.unwrap_or(Value::Uint(0))),
        "UInt64Value" => Ok(message.read(value, uint64)?.unwrap_or(Value::Uint(0))),
        "Timestamp" => {
            let (seconds, nanos) = message.time()?;
            Ok(Value::Timestamp(Timestamp::of_message(seconds, nanos)))
        }
        "Duration" => {
            let (seconds, nanos) = message.time()?;
            Ok(Value::Duration(Duration::of_message(seconds, nanos)))
        }
        "ListValue" => Ok(message.list("values")?.unwrap_or_else(|| Value::list(Vec::new()))),
        "Struct" => Ok(message.map("fields")?.unwrap_or_else(|| Value::Map(Map::Shared(Arc::default())))),
        "Value" => message.value(),
        "Any" => Err(message.any()),
        "Empty" => {
            let message = Message { type_name: Arc::clone(type_name), fields: BTreeMap::new() };
            Ok(Value::Message(Arc::new(message)))
        }
        _ => Err(unknown()),
    }
}

struct Fieldwise<'t, 'a> {
    type_name: &'t str,
    fields: MessageFields<'a>,
}

impl<'a> Fieldwise<'_, 'a> {
    fn read<T>(&self, name: &str, read: fn(&Value<'a>) -> Result<T, GoError>) -> Result<Option<T>, Error> {
        self.fields.get(name).map(read).transpose().map_err(|error| self.wrong(name, &error))
    }

    fn wrong(&self, name: &str, error: &GoError) -> Error {
        Error::new(format!("field type conversion error for {}.{name} value type: {error}", self.type_name))
    }

    fn unsupported(&self, name: &str, value: &Value<'_>) -> Error {
        let found = match value {
            Value::List(_) => "list(dyn)",
            Value::Map(_) => "map(dyn, dyn)",
            other => other.type_name(),
        };
        Error::new(format!("unsupported field type for {}.{name}: {found}", self.type_name))
    }

    fn time(&self) -> Result<(i64, i64), Error> {
        Ok((self.read("seconds", int64)?.unwrap_or(0), self.read("nanos", int32)?.unwrap_or(0)))
    }

    fn list(&self, name: &str) -> Result<Option<Value<'a>>, Error> {
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        let Value::List(list) = value else { return Err(self.unsupported(name, value)) };
        let items = list.iter().map(|item| json(&item?).map_err(|error| self.wrong(name, &error)));
        Ok(Some(Value::list(items.collect::<Result<_, _>>()?)))
    }

    fn map(&self, name: &str) -> Result<Option<Value<'a>>, Error> {
        let Some(value) = self.fields.get(name) else { return Ok(None) };
        let Value::Map(map) = value else { return Err(self.unsupported(name, value)) };
        json_map(map).map(Some).map_err(|error| self.wrong(name, &error))
    }

    /// `google.protobuf.Value`, a union: one of its fields is set.
    fn value(&self) -> Result<Value<'a>, Error> {
        let Some((name, value)) = self.fields.iter().next_back() else { return Ok(Value::Null) };
        let read = match &**name {
            "null_value" => {
                let wrong = || impossible(value, "protoreflect.EnumNumber");
                if let Value::Int(_) = value { int32(value).map(|_| Value::Null) } else { Err(wrong()) }
            }
            "number_value" => double(value),
            "string_value" => string(value),
            "bool_value" => boolean(value),
            _ => json(value),
        };
        read.map_err(|error| self.wrong(name, &error))
    }

    /// The server does not know the types of URLs here; its message shows the fields.
    fn any(&self) -> Error {
        let url = self.fields.get("type_url").and_then(Value::as_str).unwrap_or_default();
        let shown = if url.is_empty() { String::new() } else { format!("type_url:{}", go_quote(url)) };
        Error::new(format!("unsupported conversion to ref.Val: (*dynamicpb.Message){shown}"))
    }
}

/// The message of the server for a value that it cannot convert to a Go type.
fn impossible(value: &Value<'_>, to: &str) -> GoError {
    let message = match value {
        Value::Int(_) | Value::Uint(_) => format!("unsupported type conversion from '{}' to {to}", value.type_name()),
        Value::Double(_) => format!("type conversion error from Double to '{to}'"),
        Value::Bool(_) => format!("type conversion error from bool to '{to}'"),
        Value::String(_) => format!("unsupported native conversion from string to '{to}'"),
        Value::Bytes(_) => format!("type conversion error from Bytes to '{to}'"),
        Value::Timestamp(_) => format!("type conversion error from 'Timestamp' to '{to}'"),
        Value::Duration(_) => format!("type conversion error from 'Duration' to '{to}'"),
        Value::Null => format!("type conversion error from 'null_type' to '{to}'"),
        Value::Type(_) => "type conversion not supported for 'type'".to_owned(),
        Value::Optional(None) => "optional.none() dereference".to_owned(),
        // A list or an object of the document.
        Value::List(list) if list.is_strict() => format!("type conversion error from 'list(dyn)' to '{to}'"),
        Value::Map(map) if map.is_strict() => format!("type conversion error from 'map(dyn, dyn)' to '{to}'"),
        other => format!("type conversion error from {} to '{to}'", other.type_name()),
    };
    message.into()
}

fn boolean<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    if let Value::Bool(_) = value { Ok(value.clone()) } else { Err(impossible(value, "bool")) }
}

fn bytes<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    if let Value::Bytes(_) = value { Ok(value.clone()) } else { Err(impossible(value, "[]uint8")) }
}

fn string<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    if let Value::String(_) = value { Ok(value.clone()) } else { Err(impossible(value, "string")) }
}

fn double<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    if let Value::Double(_) = value { Ok(value.clone()) } else { Err(impossible(value, "float64")) }
}

fn float<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    match value {
        Value::Double(value) => Ok(Value::Double(f64::from(*value as f32))),
        other => Err(impossible(other, "float32")),
    }
}

fn int64(value: &Value<'_>) -> Result<i64, GoError> {
    if let Value::Int(value) = value { Ok(*value) } else { Err(impossible(value, "int64")) }
}

fn int32(value: &Value<'_>) -> Result<i64, GoError> {
    match value {
        Value::Int(value) => i32::try_from(*value).map(i64::from).map_err(|_| "integer overflow".into()),
        other => Err(impossible(other, "int32")),
    }
}

fn uint64<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    if let Value::Uint(_) = value { Ok(value.clone()) } else { Err(impossible(value, "uint64")) }
}

fn uint32<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    match value {
        Value::Uint(value) if u32::try_from(*value).is_ok() => Ok(Value::Uint(*value)),
        Value::Uint(_) => Err("unsigned integer overflow".into()),
        other => Err(impossible(other, "uint32")),
    }
}

/// The value as JSON, in which all numbers are doubles.
fn json<'a>(value: &Value<'a>) -> Result<Value<'a>, GoError> {
    let of_text = |text: String| Ok(Value::string(text));
    match value {
        Value::Null | Value::Bool(_) | Value::Double(_) | Value::String(_) => Ok(value.clone()),
        Value::Int(number) if number.unsigned_abs() <= LARGEST_SAFE => Ok(Value::Double(*number as f64)),
        Value::Int(number) => of_text(number.to_string()),
        Value::Uint(number) if *number <= LARGEST_SAFE => Ok(Value::Double(*number as f64)),
        Value::Uint(number) => of_text(number.to_string()),
        Value::Bytes(bytes) => of_text(Encoding::Standard.encode(bytes)),
        Value::Timestamp(time) => of_text(time.to_text()),
        Value::Duration(span) => of_text(span.to_text()),
        Value::Optional(Some(inner)) => json(inner),
        Value::List(list) if !list.is_strict() => {
            let items = list.iter().map(|item| json(&item.map_err(|error| error.to_string())?));
            Ok(Value::list(items.collect::<Result<_, _>>()?))
        }
        Value::Map(map) if !map.is_strict() => json_map(map),
        other => Err(impossible(other, "*structpb.Value")),
    }
}

fn json_map<'a>(map: &Map<'a>) -> Result<Value<'a>, GoError> {
    let mut made = BTreeMap::new();
    for (key, value) in map.entries().map_err(|error| error.to_string())? {
        let Value::String(key) = key else { return Err(impossible(&key, "string")) };
        made.insert(MapKey::String(key), json(&value)?);
    }
    Ok(Value::Map(Map::Shared(Arc::new(made))))
}

#[cfg(test)]
mod tests {
    use crate::env::{BaseEnv, Env};
    use crate::eval::{PER_CALL_LIMIT, Program};
    use crate::types::Type;
    use crdx_value::release::Release;

    /// The result of an expression, or the error of its compilation or evaluation.
    fn run(source: &str) -> String {
        let env = Env::new(BaseEnv::for_new(Release::NEWEST)).with_variable("self", Type::Dyn);
        let checked = match env.compile(source) {
            Ok(checked) => checked,
            Err(issues) => return issues.display(),
        };
        let program = Program::plan(&checked, &env).expect(source);
        let outcome = program.run(&[Ok(super::Value::Int(5))], PER_CALL_LIMIT, &crdx_value::steps::Steps::of_request());
        outcome.result.map_or_else(|error| error.to_string(), |value| value.to_string())
    }

    #[test]
    fn messages_are_values_of_other_types() {
        for (source, result) in [
            ("google.protobuf.BoolValue{} == false", "true"),
            ("google.protobuf.BytesValue{value: b'a'} == b'a'", "true"),
            ("google.protobuf.DoubleValue{value: 1.5}", "1.5"),
            ("google.protobuf.FloatValue{value: 0.1} == 0.1", "false"),
            ("google.protobuf.Int32Value{value: 7}", "7"),
            ("google.protobuf.Int64Value{}", "0"),
            ("google.protobuf.StringValue{value: 'a'} == 'a'", "true"),
            ("google.protobuf.UInt32Value{value: 3u} == 3u", "true"),
            ("google.protobuf.UInt64Value{} == 0u", "true"),
            ("google.protobuf.Timestamp{seconds: 5} == timestamp('1970-01-01T00:00:05Z')", "true"),
            ("google.protobuf.Duration{seconds: 1, nanos: 5} == duration('1.000000005s')", "true"),
            ("google.protobuf.ListValue{values: dyn([1])} == [1.0]", "true"),
            ("google.protobuf.Struct{fields: {'a': {'b': [1u]}}} == {'a': {'b': [1.0]}}", "true"),
            ("google.protobuf.Value{} == null", "true"),
            ("google.protobuf.Value{string_value: 'a'} == 'a'", "true"),
            ("google.protobuf.Value{list_value: [b'a']} == ['YQ==']", "true"),
            ("google.protobuf.ListValue{values: [9007199254740992]} == ['9007199254740992']", "true"),
            ("google.protobuf.Empty{} == google.protobuf.Empty{}", "true"),
        ] {
            assert_eq!(run(source), result, "{source}");
        }
    }

    #[test]
    fn fields_of_wrong_types_are_errors() {
        for (source, error) in [
            (
                "google.protobuf.Int32Value{value: 2147483648}",
                "google.protobuf.Int32Value.value value type: integer overflow",
            ),
            (
                "google.protobuf.UInt32Value{value: 4294967296u}",
                "google.protobuf.UInt32Value.value value type: unsigned integer overflow",
            ),
            (
                "google.protobuf.StringValue{value: self}",
                "google.protobuf.StringValue.value value type: unsupported type conversion from 'int' to string",
            ),
            (
                "google.protobuf.Struct{fields: dyn({1: 1})}",
                "google.protobuf.Struct.fields value type: unsupported type conversion from 'int' to string",
            ),
        ] {
            assert_eq!(run(source), format!("field type conversion error for {error}"), "{source}");
        }
        let wrong = "type conversion error from Double to 'protoreflect.EnumNumber'";
        let path = "field type conversion error for google.protobuf.Value.null_value value type";
        assert_eq!(run("google.protobuf.Value{null_value: dyn(1.5)}"), format!("{path}: {wrong}"));
        let wrong = "unsupported field type for google.protobuf.ListValue.values: int";
        assert_eq!(run("google.protobuf.ListValue{values: self}"), wrong);
        let wrong = "unsupported field type for google.protobuf.Struct.fields: list(dyn)";
        assert_eq!(run("google.protobuf.Struct{fields: dyn([1])}"), wrong);
        let unknown = "unsupported conversion to ref.Val: (*dynamicpb.Message)";
        assert_eq!(run("google.protobuf.Any{}"), unknown);
        assert_eq!(run("google.protobuf.Any{type_url: 'a'}"), format!("{unknown}type_url:\"a\""));
        assert_eq!(run("list{}"), "unknown type 'list'");
    }

    #[test]
    fn scalars_are_no_messages() {
        let text = run("int{a: 1}");
        assert!(text.contains("'int' is not a message type") && text.contains("undefined field 'a'"), "{text}");
    }
}
