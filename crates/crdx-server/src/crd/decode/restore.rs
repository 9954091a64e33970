//! Restores a CRD from a map (`FromUnstructured` in `k8s.io/apimachinery/pkg/runtime/converter.go`), which the server does
//! with the result of an apply. Unlike the JSON decoder, it converts numbers and visits fields in the order of the Go
//! types.

use super::DecodeError;
use super::check::{NoSource, check};
use crdx_text::json;
use crdx_types::go_type::{GoStruct, GoType, Shape};
use crdx_types::restore::sort_by_error;
use crdx_value::GoError;
use crdx_value::base64::Encoding;
use crdx_value::json::to_string;
use crdx_value::print::kind_name;
use crdx_value::release::Release;
use crdx_value::{Map, Value, number};
use std::fmt::Write as _;

/// Converts the numbers of an object of a Go type. Returns the unknown fields as the server shows them: sorted, and without
/// the keys of maps in their paths.
///
/// # Errors
/// Returns Go's message for the first value of a wrong type.
pub fn restore(object: &mut Value, root: GoType, release: Release) -> Result<Vec<String>, DecodeError> {
    let mut walk = CrdRestorer { release, path: String::new(), shown: String::new(), unknown: Vec::new() };
    walk.value(object, root).map_err(|message| DecodeError { message: message.into(), path: walk.path })?;
    sort_by_error(&mut walk.unknown);
    Ok(walk.unknown)
}

struct CrdRestorer {
    release: Release,
    /// The path of the current value; after an error, that of the invalid value.
    path: String,
    /// The path of the current value without the keys of maps.
    shown: String,
    unknown: Vec<String>,
}

impl CrdRestorer {
    fn value(&mut self, value: &mut Value, type_: GoType) -> Result<(), GoError> {
        let shape = type_.shape();
        match (shape, &mut *value) {
            (_, Value::Null)
            | (Shape::String, Value::String(_))
            | (Shape::Bool, Value::Bool(_))
            | (Shape::Float, Value::Int(_) | Value::Float(_)) => Ok(()),
            (Shape::Int(bits), _) => integer(value, bits, &type_.name()),
            (Shape::String, Value::Int(_)) => Err(format!("cannot convert int64 to {}", type_.name()).into()),
            (Shape::String, _) => Err("unrecognized type: string".into()),
            (Shape::Bool | Shape::Uint(_) | Shape::Float, _) => {
                Err(format!("unrecognized type: {}", type_.name()).into())
            }
            (Shape::Custom(_), _) => self.unmarshal(value, type_),
            (Shape::Bytes, Value::String(text)) => Encoding::Standard
                .decode(text)
                .map(drop)
                .map_err(|at| format!("error decoding from json: illegal base64 data at input byte {at}").into()),
            (Shape::Bytes, Value::Array(items)) => self.items(items, |_, item| byte(item)),
            (Shape::List(of), Value::Array(items)) => self.items(items, |walk, item| walk.value(item, of)),
            (Shape::Bytes | Shape::List(_), _) => Err(format!("cannot restore slice from {}", kind_name(value)).into()),
            (Shape::Map(of), Value::Object(members)) => {
                members.iter_mut().try_for_each(|(key, value)| self.below(key, |walk| walk.value(value, of)))
            }
            (Shape::Map(_), _) => Err(format!("cannot restore map from {}", kind_name(value)).into()),
            (Shape::Struct(s), Value::Object(members)) => self.fields(members, s),
            (Shape::Struct(_), _) => Err(format!("cannot restore struct from: {}", kind_name(value)).into()),
        }
    }

    /// A value of a type with its own `UnmarshalJSON`, which gets the value as JSON.
    fn unmarshal(&mut self, value: &mut Value, type_: GoType) -> Result<(), GoError> {
        if let Ok(read) = json::read(to_string(value).as_bytes()) {
            *value = read;
        }
        let Some(error) = check(value, type_, self.release, &NoSource).error else { return Ok(()) };
        if !error.path.is_empty() {
            let dot = if error.path.starts_with('[') { "" } else { "." };
            let _ = write!(self.path, "{dot}{}", error.path);
        }
        Err(error.message.into())
    }

    fn items(
        &mut self,
        items: &mut [Value],
        each: impl Fn(&mut Self, &mut Value) -> Result<(), GoError>,
    ) -> Result<(), GoError> {
        let (length, shown) = (self.path.len(), self.shown.len());
        for (i, item) in items.iter_mut().enumerate() {
            let _ = write!(self.path, "[{i}]");
            let _ = write!(self.shown, "[{i}]");
            each(self, item)?;
            self.path.truncate(length);
            self.shown.truncate(shown);
        }
        Ok(())
    }

    fn fields(&mut self, members: &mut Map, s: GoStruct) -> Result<(), GoError> {
        let length = self.shown.len();
        for field in s.fields() {
            if let Some(value) = members.get_mut(field.name()) {
                push(&mut self.shown, field.name());
                self.below(field.name(), |walk| walk.value(value, field.type_()))?;
                self.shown.truncate(length);
            }
        }
        for key in members.keys().filter(|key| s.field(key).is_none()) {
            push(&mut self.shown, key);
            self.unknown.push(self.shown.clone());
            self.shown.truncate(length);
        }
        Ok(())
    }

    /// Visits the value of a member.
    fn below(&mut self, key: &str, visit: impl FnOnce(&mut Self) -> Result<(), GoError>) -> Result<(), GoError> {
        let length = self.path.len();
        push(&mut self.path, key);
        visit(self)?;
        self.path.truncate(length);
        Ok(())
    }
}

/// Appends the name of a member to a path.
fn push(path: &mut String, key: &str) {
    if !path.is_empty() {
        path.push('.');
    }
    path.push_str(key);
}

/// Converts a number to an integer of this size as Go does.
fn integer(value: &mut Value, bits: u32, type_: &str) -> Result<(), GoError> {
    let wrapped = |number: i64| Value::Int(number::to_signed(number, bits));
    match value {
        Value::Int(number) => *value = wrapped(*number),
        Value::Float(x) if x.fract() == 0.0 => *value = wrapped(number::to_int64(*x)),
        Value::Float(_) => return Err(format!("cannot convert float64 to {type_}").into()),
        _ => return Err(format!("unrecognized type: {type_}").into()),
    }
    Ok(())
}

/// Converts a number to a byte.
fn byte(value: &mut Value) -> Result<(), GoError> {
    if value.is_null() {
        return Ok(());
    }
    integer(value, 64, "uint8")?;
    if let Value::Int(number) = value {
        *number = number::to_unsigned(*number, 8);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;
    use crdx_types::types::Types;

    fn restored(text: &str) -> Result<String, (String, String)> {
        let mut value = read(text.as_bytes()).unwrap();
        let schema = GoType::schema(Types::of_definitions(Release::NEWEST)).unwrap();
        restore(&mut value, schema, Release::NEWEST)
            .map(|_| to_string(&value))
            .map_err(|error| (error.message, error.path))
    }

    #[test]
    fn numbers_are_converted() {
        assert_eq!(
            restored(r#"{"minLength":2.0,"maximum":3,"title":null}"#).as_deref(),
            Ok(r#"{"maximum":3,"minLength":2,"title":null}"#)
        );
        assert_eq!(restored(r#"{"minLength":1e30}"#).as_deref(), Ok(r#"{"minLength":-9223372036854775808}"#));
        assert_eq!(restored(r#"{"items":{"minLength":2.0}}"#).as_deref(), Ok(r#"{"items":{"minLength":2}}"#));
        let error = |text: &str| restored(text).unwrap_err();
        let at = |message: &str, path: &str| (message.to_owned(), path.to_owned());
        assert_eq!(error(r#"{"minLength":2.5}"#), at("cannot convert float64 to int64", "minLength"));
        assert_eq!(error(r#"{"minLength":"2"}"#), at("unrecognized type: int64", "minLength"));
        assert_eq!(error(r#"{"title":2}"#), at("cannot convert int64 to string", "title"));
        assert_eq!(error(r#"{"title":true}"#), at("unrecognized type: string", "title"));
    }

    #[test]
    fn the_first_field_of_the_type_is_reported() {
        let error = |text: &str| restored(text).unwrap_err().0;
        assert_eq!(error(r#"{"allOf":1,"title":2}"#), "cannot convert int64 to string");
        assert_eq!(error(r#"{"properties":{"a":{"allOf":1}}}"#), "cannot restore slice from int64");
        assert_eq!(error(r#"{"properties":[]}"#), "cannot restore map from slice");
        assert_eq!(error(r#"{"properties":{"a":"x"}}"#), "cannot restore struct from: string");
    }

    #[test]
    fn unknown_fields_are_sorted_and_have_no_keys_of_maps() {
        let unknown = |text: &str| {
            let schema = GoType::schema(Types::of_definitions(Release::NEWEST)).unwrap();
            restore(&mut read(text.as_bytes()).unwrap(), schema, Release::NEWEST).unwrap()
        };
        assert_eq!(
            unknown(r#"{"z":1,"properties":{"a":{"properties":{"b":{"x":1}}},"c":{"x":1}},"allOf":[{"y":1}]}"#),
            ["allOf[0].y", "properties.properties.x", "properties.x", "z"]
        );
        assert_eq!(unknown(r#"{"properties":{"a":{"x":1},"b":{"x":1}}}"#), ["properties.x", "properties.x"]);
        assert_eq!(unknown(r#"{"items":{"x":1},"default":{"x":1},"title":"x"}"#), [""; 0]);
    }

    #[test]
    fn custom_unmarshalers_report_errors_of_json() {
        let (message, path) = restored(r#"{"properties":{"a":{"items":{"properties":{"b":"x"}}}}}"#).unwrap_err();
        assert_eq!(
            message,
            "json: cannot unmarshal string into Go struct field JSONSchemaProps.properties of type v1.JSONSchemaProps"
        );
        assert_eq!(path, "properties.a.items.properties.b");
        let (message, path) = restored(r#"{"properties":{"a":{"additionalProperties":7}}}"#).unwrap_err();
        assert_eq!((&*message, &*path), ("boolean or JSON schema expected", "properties.a.additionalProperties"));
    }
}
