//! Attributes, which are variables with selections: `a.b`, `a[b]`, `a.?b`, `has(a.b)` (`interpreter/attributes.go`).

use super::{
    cost::go_type_name,
    node::{Attribute, Qualifier, QualifierKey, Root},
    run::Evaluator,
};
use crate::value::{Error, List, Map, Value, number::double_to_int};
use crdx_value as value;
use crdx_value::release::V1_37;
use std::sync::Arc;

impl<'a> Evaluator<'a, '_> {
    /// Resolves an attribute and charges each qualifier, but not the attribute itself.
    pub(super) fn resolve(&mut self, attribute: &'a Attribute) -> Result<Value<'a>, Error> {
        let value = match &attribute.root {
            Root::Slot(slot) => self.read(*slot)?,
            Root::Node(node) => self.exec(node)?,
            Root::Choice { condition, branches } => {
                let [yes, no] = &**branches;
                return match self.exec(condition)? {
                    Value::Bool(true) => self.resolve(yes),
                    Value::Bool(false) => self.resolve(no),
                    _ => Err(Error::no_such_overload()),
                };
            }
        };
        let value = self.optional_as_read(value);
        if attribute.qualifiers.is_empty() { Ok(value) } else { self.qualify_all(value, attribute) }
    }

    /// The value of an attribute's root. Before cel-go 0.29 (Kubernetes 1.37), reading an optional value removes the
    /// declared type of what it contains (`applyQualifiers`): names of fields are not escaped, and dates are strings.
    #[inline]
    pub(super) fn optional_as_read(&self, value: Value<'a>) -> Value<'a> {
        match value {
            Value::Optional(Some(inner)) if self.server < V1_37 => {
                Arc::unwrap_or_clone(inner).without_declared_type().some()
            }
            value => value,
        }
    }

    fn qualify_all(&mut self, value: Value<'a>, attribute: &'a Attribute) -> Result<Value<'a>, Error> {
        let (mut value, mut optional) = match value {
            Value::Optional(None) => return Ok(Value::NONE),
            Value::Optional(Some(inner)) => ((*inner).clone(), true),
            value => (value, false),
        };
        let mut qualifiers = attribute.qualifiers.as_slice();
        if let (false, Value::Map(Map::Untyped(members))) = (optional, &value) {
            (value, qualifiers) = self.plain_fields(members, qualifiers)?;
        }
        for qualifier in qualifiers {
            optional |= qualifier.optional;
            let found = self.qualify(&value, qualifier);
            if optional {
                // A qualifier that finds no value is not charged. Since 1.38, one that fails is.
                if self.stops_at_errors() && matches!(&found, Err(error) if !error.is_fatal()) {
                    self.charge(1)?;
                }
                match found? {
                    Ok(found) => value = found,
                    Err(_) => return Ok(Value::NONE),
                }
                self.charge(1)?;
            } else {
                if !matches!(&found, Err(error) if error.is_fatal()) {
                    self.charge(1)?;
                }
                value = match found? {
                    found if qualifier.test => Value::Bool(found.is_ok()),
                    Ok(found) => found,
                    Err(missing) => return Err(missing.into_error()),
                };
            }
        }
        Ok(if optional { value.some() } else { value })
    }

    /// Selects fields of an object without a declared type for as long as they exist. Returns the value, and the
    /// qualifiers that are left; the usual path handles missing fields, `has()` and other qualifiers.
    fn plain_fields<'q>(
        &mut self,
        mut members: &'a value::Map,
        mut qualifiers: &'q [Arc<Qualifier>],
    ) -> Result<(Value<'a>, &'q [Arc<Qualifier>]), Error> {
        while let [first, rest @ ..] = qualifiers
            && let Qualifier { by: QualifierKey::Field(name), optional: false, test: false } = &**first
            && let Some(found) = members.get(name)
        {
            self.charge(1)?;
            qualifiers = rest;
            match found {
                value::Value::Object(inner) => members = inner,
                other => return Ok((Value::untyped(other), qualifiers)),
            }
        }
        Ok((Value::Map(Map::Untyped(members)), qualifiers))
    }

    /// Applies a qualifier to a value. The result is an error, no value, or a value.
    fn qualify(
        &mut self,
        value: &Value<'a>,
        qualifier: &'a Qualifier,
    ) -> Result<Result<Value<'a>, Missing<'a>>, Error> {
        match &qualifier.by {
            QualifierKey::Field(name) => match value {
                Value::Map(Map::Lazy) => match self.fields.and_then(|fields| fields.get(name)) {
                    Some(found) => found.map(Ok),
                    None => Ok(Err(Missing::Field(name))),
                },
                Value::Map(map) => match map.select(name) {
                    Some(found) => found.map(Ok),
                    None => Ok(Err(Missing::Field(name))),
                },
                Value::List(_) => Err(Error::new("unsupported index type 'string' in list")),
                Value::Message(message) if qualifier.test && !message.has(name) => Ok(Err(Missing::Field(name))),
                Value::Message(message) => Ok(message.get(name).ok_or(Missing::Field(name))),
                _ => Ok(Err(Missing::Field(name))),
            },
            QualifierKey::Constant(index) => look_up(value, index.clone()),
            QualifierKey::Attribute(attribute) => {
                let index = self.resolve(attribute)?;
                self.look_up_computed(value, index)
            }
            QualifierKey::Node(node) => {
                let index = self.exec(node)?;
                self.look_up_computed(value, index)
            }
        }
    }

    fn look_up_computed(&self, value: &Value<'a>, index: Value<'a>) -> Result<Result<Value<'a>, Missing<'a>>, Error> {
        match index {
            Value::String(_) | Value::Int(_) | Value::Uint(_) | Value::Bool(_) | Value::Double(_) => {
                if let Value::String(key) = &index {
                    self.fuel.scan(key.len())?;
                }
                look_up(value, index)
            }
            other => Err(Error::new(format!("invalid qualifier type: {}", go_type_name(self.server, &other)))),
        }
    }
}

/// The reason why an attribute has no value.
enum Missing<'a> {
    Field(&'a str),
    Key(Value<'a>),
    Index(Value<'a>),
}

impl Missing<'_> {
    fn into_error(self) -> Error {
        Error::new(match self {
            Self::Field(name) => format!("no such key: {name}"),
            Self::Key(key) => format!("no such key: {}", key.plain()),
            Self::Index(index) => format!("index out of bounds: {}", index.plain()),
        })
    }
}

fn look_up<'a>(value: &Value<'a>, index: Value<'a>) -> Result<Result<Value<'a>, Missing<'a>>, Error> {
    match value {
        Value::Map(map) => {
            let found = match &index {
                Value::String(key) => map.select(key),
                key => map.find(key),
            };
            found.map_or_else(|| Ok(Err(Missing::Key(index))), |found| found.map(Ok))
        }
        Value::List(list) => element(list, index),
        _ => Ok(Err(Missing::Key(index))),
    }
}

fn element<'a>(list: &List<'a>, index: Value<'a>) -> Result<Result<Value<'a>, Missing<'a>>, Error> {
    let unsupported = || Error::new(format!("unsupported index value {} in list", index.plain()));
    let position = match &index {
        Value::Int(i) => *i,
        Value::Uint(u) => i64::try_from(*u).map_err(|_| unsupported())?,
        Value::Double(d) => double_to_int(*d).filter(|i| *i as f64 == *d).ok_or_else(unsupported)?,
        other => return Err(Error::new(format!("unsupported index type '{}' in list", other.type_name()))),
    };
    match usize::try_from(position).ok().and_then(|position| list.get(position)) {
        None => Ok(Err(Missing::Index(index))),
        // Lists of a document accept only int indices.
        Some(_) if list.is_of_document() && !matches!(index, Value::Int(_)) => {
            Err(Error::new(format!("unsupported index: {}", index.plain())))
        }
        Some(found) => found.map(Ok),
    }
}
