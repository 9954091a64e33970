//! A schema of an OpenAPI v2 document as kubectl reads it (`Definitions.ParseSchema` in
//! `kube-openapi/pkg/util/proto`).

use crdx_types::openapi::PREFIX_V2;
use crdx_value::{Map, Value};

/// A schema.
#[derive(Clone, Copy, Debug)]
pub enum Model<'d> {
    /// The name of another schema of the document.
    Reference(&'d str),
    /// An object with known fields.
    Kind(&'d Map),
    /// An object with any keys, with the schema of its values; `None` for any value.
    Map(Option<&'d Value>),
    /// A list, with the schema of its items.
    Array(&'d Value),
    /// The name of a scalar type.
    Primitive(&'d str),
    /// Any value.
    Arbitrary,
}

impl<'d> Model<'d> {
    /// Reads a schema.
    pub fn read(schema: &'d Value) -> Self {
        if let Some(reference) = schema.str_at(&["$ref"]).filter(|text| !text.is_empty()) {
            return Self::Reference(reference.strip_prefix(PREFIX_V2).unwrap_or_default());
        }
        let properties = schema.get("properties").and_then(Value::as_object);
        match (schema.str_at(&["type"]), properties) {
            (None | Some("object"), Some(properties)) => Self::Kind(properties),
            (None, None) => Self::Arbitrary,
            (Some("object"), None) => {
                Self::Map(schema.get("additionalProperties").filter(|values| values.as_object().is_some()))
            }
            (Some("array"), _) => schema.get("items").map_or(Self::Arbitrary, Self::Array),
            (Some(type_), _) => Self::Primitive(type_),
        }
    }
}
