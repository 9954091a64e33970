//! Checks metadata against its Go type (`runtime.DefaultUnstructuredConverter.FromUnstructured`). The metadata of
//! requests was decoded into that type, but a JSON patch of a mutating policy can set values of any type.

use crdx_value::{Map, Value, print};

/// A type of `ObjectMeta`.
#[derive(Clone, Copy, Debug)]
enum Type {
    Text,
    /// A named string type.
    NamedText(&'static str),
    Int,
    Bool,
    Time,
    /// A map of strings.
    Texts,
    List(&'static Self),
    Struct(&'static [(&'static str, Self)]),
}

/// The fields in the order of the Go type, without managedFields, because policies do not set them.
const OBJECT_META: &[(&str, Type)] = &[
    ("name", Type::Text),
    ("generateName", Type::Text),
    ("namespace", Type::Text),
    ("selfLink", Type::Text),
    ("uid", Type::NamedText("types.UID")),
    ("resourceVersion", Type::Text),
    ("generation", Type::Int),
    ("creationTimestamp", Type::Time),
    ("deletionTimestamp", Type::Time),
    ("deletionGracePeriodSeconds", Type::Int),
    ("labels", Type::Texts),
    ("annotations", Type::Texts),
    ("ownerReferences", Type::List(&Type::Struct(OWNER_REFERENCE))),
    ("finalizers", Type::List(&Type::Text)),
];

const OWNER_REFERENCE: &[(&str, Type)] = &[
    ("apiVersion", Type::Text),
    ("kind", Type::Text),
    ("name", Type::Text),
    ("uid", Type::NamedText("types.UID")),
    ("controller", Type::Bool),
    ("blockOwnerDeletion", Type::Bool),
];

/// Returns the converter's error for the first field whose value has the wrong type.
pub fn mismatch(metadata: &Map) -> Option<String> {
    fields(metadata, OBJECT_META)
}

fn fields(members: &Map, types: &[(&str, Type)]) -> Option<String> {
    let type_of = |name: &str| types.iter().find(|(known, _)| *known == name);
    let fits =
        |(name, value): (&String, &Value)| type_of(name).is_none_or(|(_, type_)| convert(value, *type_).is_none());
    // The order of the fields matters only if there is an error.
    if members.iter().all(fits) {
        return None;
    }
    types.iter().find_map(|(name, type_)| convert(members.get(name)?, *type_))
}

fn convert(value: &Value, type_: Type) -> Option<String> {
    let kind = print::kind_name(value);
    match (type_, value) {
        (_, Value::Null)
        | (Type::Text | Type::NamedText(_) | Type::Time, Value::String(_))
        | (Type::Int, Value::Int(_))
        | (Type::Bool, Value::Bool(_)) => None,
        (Type::Int, Value::Float(float)) if float.trunc() == *float => None,
        // The Go types are convertible, but the converter rejects the conversion; its error differs from those below.
        (Type::Int, Value::Float(_)) => Some("cannot convert float64 to int64".to_owned()),
        (Type::Text, Value::Int(_)) => Some("cannot convert int64 to string".to_owned()),
        (Type::NamedText(name), Value::Int(_)) => Some(format!("cannot convert int64 to {name}")),
        (Type::Text | Type::NamedText(_), _) => Some("unrecognized type: string".to_owned()),
        (Type::Int, _) => Some("unrecognized type: int64".to_owned()),
        (Type::Bool, _) => Some("unrecognized type: bool".to_owned()),
        (Type::Time, _) => {
            let json = match value {
                Value::Int(_) | Value::Float(_) => "number",
                Value::Array(_) => "array",
                Value::Object(_) => "object",
                _ => kind,
            };
            Some(format!("json: cannot unmarshal {json} into Go value of type string"))
        }
        (Type::Texts, Value::Object(members)) => members.values().find_map(|value| convert(value, Type::Text)),
        (Type::Texts, _) => Some(format!("cannot restore map from {kind}")),
        (Type::List(of), Value::Array(items)) => items.iter().find_map(|item| convert(item, *of)),
        (Type::List(_), _) => Some(format!("cannot restore slice from {kind}")),
        (Type::Struct(types), Value::Object(members)) => fields(members, types),
        (Type::Struct(_), _) => Some(format!("cannot restore struct from: {kind}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::json;

    #[test]
    fn the_first_field_of_another_type_is_reported() {
        let found = |text: &str| mismatch(json(text).as_object().unwrap());
        assert_eq!(found(r#"{"name":"a","labels":{"a":"b","c":null},"generation":2.0,"finalizers":["x"]}"#), None);
        for (metadata, error) in [
            (r#"{"labels":1.5}"#, "cannot restore map from float64"),
            (r#"{"annotations":{"a":1}}"#, "cannot convert int64 to string"),
            (r#"{"annotations":{"a":true}}"#, "unrecognized type: string"),
            (r#"{"uid":1}"#, "cannot convert int64 to types.UID"),
            (r#"{"finalizers":"x"}"#, "cannot restore slice from string"),
            (r#"{"ownerReferences":["x"]}"#, "cannot restore struct from: string"),
            (r#"{"labels":[],"generation":1.5}"#, "cannot convert float64 to int64"),
            (r#"{"creationTimestamp":5}"#, "json: cannot unmarshal number into Go value of type string"),
        ] {
            assert_eq!(found(metadata).as_deref(), Some(error), "{metadata}");
        }
    }
}
