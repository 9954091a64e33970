//! Restores an object of a Go type from a map (`FromUnstructuredWithValidation` in
//! `k8s.io/apimachinery/pkg/runtime/converter.go`), which the server does with the results of strategic merge patches and
//! applies. Its errors differ from those of the JSON decoder.

use super::custom::{Custom, ValueError};
use super::types::{Field, Struct, Type, TypeDefinition, TypeId, Types};
use crdx_value::GoError;
use crdx_value::base64::Encoding;
use crdx_value::print::kind_name;
use crdx_value::release::Minor;
use crdx_value::{Map, Value, json};
use std::fmt::Write as _;

/// The maximum depth to which values are checked.
const MAX_DEPTH: usize = 500;

/// Checks that a value can be restored as an object of a struct type. Returns the paths of unknown fields, in the order
/// of their errors. The paths do not contain the keys of maps.
///
/// # Errors
/// Returns Go's message for the first value of a wrong type.
pub fn check(types: &'static Types, id: TypeId, value: &Value) -> Result<Vec<String>, GoError> {
    let mut walk = Restorer { types, path: String::new(), unknown: Vec::new(), depth: 0 };
    walk.named(&Type::Named(id), id, value)?;
    sort_by_error(&mut walk.unknown);
    Ok(walk.unknown)
}

/// Sorts the paths of unknown fields like the texts of their errors, in which they are quoted.
pub fn sort_by_error(paths: &mut [String]) {
    paths.sort_by(|one, other| one.bytes().chain([b'"']).cmp(other.bytes().chain([b'"'])));
}

struct Restorer {
    types: &'static Types,
    path: String,
    unknown: Vec<String>,
    depth: usize,
}

impl Restorer {
    fn value(&mut self, type_: &Type, value: &Value) -> Result<(), GoError> {
        if value.is_null() || self.depth > MAX_DEPTH {
            return Ok(());
        }
        let target = type_.target();
        match (target, value) {
            (Type::Named(id), _) => self.named(target, *id, value),
            (Type::Map(_, of), Value::Object(members)) => members.values().try_for_each(|value| self.value(of, value)),
            (Type::Map(..), other) => Err(format!("cannot restore map from {}", kind_name(other)).into()),
            (Type::List(item), Value::String(text)) if **item == Type::Uint(8) => Encoding::Standard
                .decode(text)
                .map(drop)
                .map_err(|at| format!("error decoding from json: illegal base64 data at input byte {at}").into()),
            (Type::List(item), Value::Array(items)) => {
                let length = self.path.len();
                for (i, one) in items.iter().enumerate() {
                    let _ = write!(self.path, "[{i}]");
                    self.value(item, one)?;
                    self.path.truncate(length);
                }
                Ok(())
            }
            (Type::List(_), other) => Err(format!("cannot restore slice from {}", kind_name(other)).into()),
            (plain, value) => self.plain(plain, target, value),
        }
    }

    fn named(&mut self, shown: &Type, id: TypeId, value: &Value) -> Result<(), GoError> {
        match self.types.definition(id) {
            Some(TypeDefinition::Struct(s)) => match value {
                Value::Object(members) => self.members(s, members),
                other => Err(format!("cannot restore struct from: {}", kind_name(other)).into()),
            },
            Some(TypeDefinition::Custom(custom)) => custom_value(*custom, value, self.types.minor()),
            Some(TypeDefinition::Named { of, .. }) => match of {
                Type::List(_) | Type::Map(..) | Type::Named(_) | Type::Pointer(_) => self.value(of, value),
                plain => self.plain(plain, shown, value),
            },
            None => Ok(()),
        }
    }

    /// A value of a basic type.
    fn plain(&self, base: &Type, shown: &Type, value: &Value) -> Result<(), GoError> {
        let cannot = |from: &str| Err(format!("cannot convert {from} to {}", self.types.display(shown)).into());
        match (base, value) {
            (Type::String, Value::String(_))
            | (Type::Bool, Value::Bool(_))
            | (Type::Int(_) | Type::Uint(_) | Type::Float(_), Value::Int(_))
            | (Type::Float(_), Value::Float(_)) => Ok(()),
            (Type::Int(_) | Type::Uint(_), Value::Float(x)) if x.fract() == 0.0 => Ok(()),
            (Type::Int(_) | Type::Uint(_), Value::Float(_)) => cannot("float64"),
            (Type::String, Value::Int(_)) => cannot("int64"),
            _ => Err(format!("unrecognized type: {}", base.kind()).into()),
        }
    }

    fn members(&mut self, s: &Struct, members: &Map) -> Result<(), GoError> {
        let mut fields: Vec<&Field> = s.fields.iter().filter(|field| members.contains_key(field.name)).collect();
        fields.sort_unstable_by_key(|field| field.order);
        let length = self.path.len();
        self.depth += 1;
        for field in fields {
            if let Some(value) = members.get(field.name) {
                self.push(field.name);
                self.value(&field.type_, value)?;
                self.path.truncate(length);
            }
        }
        self.depth -= 1;
        for key in members.keys().filter(|key| s.field(key).is_none()) {
            self.push(key);
            self.unknown.push(self.path.clone());
            self.path.truncate(length);
        }
        Ok(())
    }

    fn push(&mut self, key: &str) {
        if !self.path.is_empty() {
            self.path.push('.');
        }
        self.path.push_str(key);
    }
}

/// A value of a type with its own `UnmarshalJSON`, which gets the value as JSON.
fn custom_value(custom: Custom, value: &Value, release: Minor) -> Result<(), GoError> {
    custom.read(json::to_string(value).as_bytes(), release).map_err(|fault| match fault {
        ValueError::Type(value, type_) => {
            format!("json: cannot unmarshal {value} into Go value of type {type_}").into()
        }
        ValueError::Text(error) => error,
    })
}

/// The kind of a value, as `reflect.Kind` names it.
#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn wrong_types_and_unknown_fields_are_reported() {
        let types = Types::for_release(37);
        let check = |text: &str| check(types, types.id("core/v1.PodSpec").unwrap(), &read(text.as_bytes()).unwrap());
        assert_eq!(
            check(r#"{"x":1,"containers":[{"name":"a","y":{}}],"$patch":"x"}"#),
            Ok(vec!["$patch".to_owned(), "containers[0].y".to_owned(), "x".to_owned()])
        );
        let error = |text: &str| check(text).unwrap_err();
        assert_eq!(error(r#"{"containers":{}}"#), "cannot restore slice from map".into());
        assert_eq!(error(r#"{"containers":["a"]}"#), "cannot restore struct from: string".into());
        assert_eq!(error(r#"{"hostname":5}"#), "cannot convert int64 to string".into());
        assert_eq!(error(r#"{"priority":"5"}"#), "unrecognized type: int32".into());
        assert_eq!(error(r#"{"priority":1.5}"#), "cannot convert float64 to int32".into());
        assert_eq!(error(r#"{"dnsPolicy":5}"#), "cannot convert int64 to v1.DNSPolicy".into());
    }
}
