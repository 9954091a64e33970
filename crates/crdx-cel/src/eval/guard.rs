//! Checks values against declared types at run time.

use crate::{
    types::Type,
    value::{Map, Value},
};

/// Like cel-go's `IsAssignableRuntimeType`: only the first element of a list or map is checked.
pub(super) fn admits(declared: &Type, value: &Value<'_>) -> bool {
    match declared {
        Type::Dyn | Type::Any | Type::Error | Type::Param(_) | Type::Var(_) => true,
        Type::Null => matches!(value, Value::Null),
        Type::Bool => matches!(value, Value::Bool(_)),
        Type::Int => matches!(value, Value::Int(_)),
        Type::Uint => matches!(value, Value::Uint(_)),
        Type::Double => matches!(value, Value::Double(_)),
        Type::String => matches!(value, Value::String(_)),
        Type::Bytes => matches!(value, Value::Bytes(_)),
        Type::Timestamp => matches!(value, Value::Timestamp(_)),
        Type::Duration => matches!(value, Value::Duration(_)),
        Type::List(element) => match value {
            Value::List(list) => match list.get(0) {
                None => true,
                Some(Ok(first)) => admits(element, &first),
                Some(Err(_)) => admits_error(element),
            },
            _ => false,
        },
        Type::Map(key_type, value_type) => match value {
            Value::Map(map) => admits_map(key_type, value_type, map),
            _ => false,
        },
        Type::Optional(_) => matches!(value, Value::Optional(_)),
        Type::Type(_) => matches!(value, Value::Type(_)),
        Type::Wrapper(inner) => matches!(value, Value::Null) || admits(inner, value),
        Type::Opaque(name) | Type::Object(name) => value.type_name() == &**name,
    }
}

/// Returns true if a parameter of this type admits a value that cannot be read.
fn admits_error(declared: &Type) -> bool {
    matches!(declared, Type::Dyn | Type::Any | Type::Error | Type::Param(_) | Type::Var(_))
}

fn admits_map(key_type: &Type, value_type: &Type, map: &Map<'_>) -> bool {
    let Some(key) = map.first_key() else {
        return true;
    };
    let admits_value = match map.find(&key) {
        Some(Ok(value)) => admits(value_type, &value),
        _ => admits_error(value_type),
    };
    admits(key_type, &key) && admits_value
}
