//! `metadata` read into a typed ObjectMeta and written again: unknown fields and empty ones are gone.

use super::types::{METADATA, Struct, Type};
use crate::value::{Map, Value};

/// `metadata` as its typed form writes it; its types were checked before.
pub fn normalize(v: &Value) -> Map {
    match v {
        Value::Object(members) => object(members, &METADATA),
        _ => Map::new(),
    }
}

fn object(members: &Map, s: &'static Struct) -> Map {
    let mut out: Map = s.fields().filter(|f| f.always).map(|f| (f.name.to_owned(), zero(f.type_))).collect();
    for (key, v) in members {
        let Some(field) = s.field(key) else { continue };
        if let Some(v) = value(v, field.type_) {
            out.insert(key.clone(), v);
        }
    }
    out
}

fn zero(type_: Type) -> Value {
    match type_ {
        Type::String(_) => Value::from(""),
        Type::Bool => Value::Bool(false),
        _ => Value::Null,
    }
}

/// `None` for what is empty.
fn value(v: &Value, type_: Type) -> Option<Value> {
    match (type_, v) {
        (_, Value::Null) => None,
        // Only pointers to booleans occur: false is not empty.
        (Type::String(_) | Type::Time, Value::String(text)) if text.is_empty() => None,
        (Type::Int64, Value::Int(0)) => None,
        (Type::Struct(s), Value::Object(members)) => Some(Value::Object(object(members, s()))),
        (Type::List(_, item), Value::Array(items)) => (!items.is_empty())
            .then(|| Value::Array(items.iter().map(|v| value(v, *item).unwrap_or_else(|| zero_item(*item))).collect())),
        (Type::Map(_, item), Value::Object(members)) => (!members.is_empty()).then(|| {
            let entry = |(k, v): (&String, &Value)| (k.clone(), value(v, *item).unwrap_or_else(|| zero_item(*item)));
            Value::Object(members.iter().map(entry).collect())
        }),
        _ => Some(v.clone()),
    }
}

/// What a null in a list or map reads as.
fn zero_item(type_: Type) -> Value {
    match type_ {
        Type::Struct(s) => Value::Object(object(&Map::new(), s())),
        type_ => zero(type_),
    }
}
