//! Messages constructed by expressions: `Object{…}`, `Object.spec{…}` and `JSONPatch{…}` of mutating admission policies
//! (`k8s.io/apiserver/pkg/cel/mutation`).

use super::{Error, Fuel, Value, equal_strictly};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The type name of JSON patch operations.
pub const JSON_PATCH: &str = "JSONPatch";
/// The type name of the object that a policy changes; the types of its fields are nested below it (`Object.spec`).
pub const OBJECT: &str = "Object";

/// A message.
#[derive(Clone, Debug)]
pub struct Message<'a> {
    /// The name of the message type.
    pub type_name: Arc<str>,
    /// The fields that are set.
    pub fields: BTreeMap<Arc<str>, Value<'a>>,
}

/// Returns true for the names of message types: `JSONPatch`, `Object` and `Object.…`.
pub fn is_type(name: &str) -> bool {
    name == JSON_PATCH || name.strip_prefix(OBJECT).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

impl<'a> Message<'a> {
    /// Creates a message with these fields.
    ///
    /// # Errors
    /// Returns an error if a field of a `JSONPatch` that must be a string is not one.
    pub fn new(type_name: &Arc<str>, fields: BTreeMap<Arc<str>, Value<'a>>) -> Result<Self, Error> {
        if &**type_name == JSON_PATCH {
            for (name, value) in &fields {
                match (&**name, value) {
                    ("op" | "path" | "from", Value::String(_)) | ("value", _) => {}
                    ("op" | "path" | "from", other) => {
                        let found = native_type(other);
                        let text = format!("unexpected type {found} for JSONPatchType '{name}' field");
                        return Err(Error::new(text));
                    }
                    _ => return Err(Error::new(format!("unexpected JSONPatchType field: {name}"))),
                }
            }
        }
        Ok(Self { type_name: Arc::clone(type_name), fields })
    }

    /// Returns true if the message is part of an apply configuration rather than a JSON patch operation.
    pub fn is_object(&self) -> bool {
        &*self.type_name != JSON_PATCH
    }

    /// The value of a field; `None` if the message has no such field.
    pub fn get(&self, name: &str) -> Option<Value<'a>> {
        let set = self.fields.get(name).cloned();
        if self.is_object() {
            return set.or(Some(Value::Null));
        }
        match name {
            "op" | "path" | "from" => set.or_else(|| Some(Value::string(String::new()))),
            "value" => set.or(Some(Value::Null)),
            _ => None,
        }
    }

    /// `has(self.name)`
    pub fn has(&self, name: &str) -> bool {
        match self.fields.get(name) {
            Some(Value::String(text)) if !self.is_object() && name != "value" => !text.is_empty(),
            found => found.is_some(),
        }
    }

    /// Compares two messages: equal if they have the same type and the same fields.
    ///
    /// # Errors
    /// Returns an error if fields cannot be compared.
    pub fn equal(&self, other: &Self, fuel: &Fuel) -> Result<bool, Error> {
        if self.type_name != other.type_name || self.fields.len() != other.fields.len() {
            return Ok(false);
        }
        for ((name, value), (other_name, other_value)) in self.fields.iter().zip(&other.fields) {
            if name != other_name || !equal_strictly(value, other_value, fuel)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The Go type of the native value of a CEL value.
fn native_type(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "structpb.NullValue",
        Value::Bool(_) => "bool",
        Value::Int(_) => "int64",
        Value::Uint(_) => "uint64",
        Value::Double(_) => "float64",
        Value::String(_) | Value::Type(_) => "string",
        Value::Bytes(_) => "[]uint8",
        Value::Timestamp(_) => "time.Time",
        Value::Duration(_) => "time.Duration",
        Value::List(super::List::Untyped(_) | super::List::Partial(..)) => "[]interface {}",
        Value::Map(super::Map::Untyped(_) | super::Map::Partial(..)) => "map[string]interface {}",
        Value::List(_) => "[]ref.Val",
        Value::Map(_) => "map[ref.Val]ref.Val",
        Value::Optional(Some(inner)) => native_type(inner),
        Value::Optional(None) => "<nil>",
        Value::Message(message) if message.is_object() => "map[string]interface {}",
        Value::Message(_) => "*mutation.JSONPatchVal",
        Value::Opaque(_) => "*types.Err",
    }
}

impl Message<'_> {
    /// Writes the message as a literal.
    pub(super) fn write(&self, f: &mut fmt::Formatter<'_>, fuel: &Fuel) -> fmt::Result {
        write!(f, "{}{{", self.type_name)?;
        for (index, (name, value)) in self.fields.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{name}: ")?;
            value.write(f, fuel)?;
        }
        f.write_str("}")
    }
}
