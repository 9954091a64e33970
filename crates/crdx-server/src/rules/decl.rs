//! Declares CEL types for schemas, with the maximum sizes of values.
//!
//! Follows `k8s.io/apiserver/pkg/cel/common/schemas.go` and `schema/cel/model`. Values without a CEL type are omitted:
//! fields of unknown type, unknown fields, and fields whose names cannot be escaped. Object types are named by their
//! path.

use super::escape::escape;
use crate::schema::Schema;
use crdx_cel::{
    decl::{DeclField, DeclType, ListKind, Shape},
    env::Objects,
    types::Type,
};
use crdx_value::Value;
use crdx_value::release::{Release, V1_34, V1_37};
use std::{collections::BTreeMap, sync::Arc};

pub use crdx_cel::decl::MAX_REQUEST;
/// The maximum length of an object name.
const MAX_NAME: i64 = 253;
/// The prefix of the root's type name; error messages show `selfType0` for the type of `self`.
pub const ROOT: &str = "self";

/// Declares types and collects the object types.
#[derive(Debug)]
pub struct Declarations {
    release: Release,
    /// The format of schemas whose values are integers or strings, besides those that the extension marks.
    int_or_string: Option<&'static str>,
    /// True if values without a type in their schema may be of any type.
    untyped: bool,
    /// Every declared object type, by name.
    pub objects: Objects,
}

impl Declarations {
    /// Starts without types.
    pub fn new(release: Release) -> Self {
        Self { release, int_or_string: None, untyped: false, objects: Objects::default() }
    }

    /// Starts without types, for published schemas: those of built-in kinds have a format instead of the extension
    /// (`isXIntOrString` in `k8s.io/apiserver/pkg/cel/openapi/extensions.go`).
    pub fn of_openapi(release: Release) -> Self {
        Self { int_or_string: Some("int-or-string"), ..Self::new(release) }
    }

    /// Declares values as they are evaluated: those without a type in their schema, such as quantities, and objects without
    /// fields, may be of any type.
    #[must_use]
    pub fn with_untyped(self) -> Self {
        Self { untyped: true, ..self }
    }

    /// Returns true if values of a schema may be of any type.
    fn is_untyped(&self, schema: &Schema) -> bool {
        let is_open = schema.properties.is_empty() && schema.additional_properties_schema().is_none();
        self.untyped && (schema.type_.is_empty() || schema.type_ == "object" && is_open)
    }

    /// Declares the type of a schema; `None` if CEL cannot access its values. `resource` is true for the root of a
    /// resource, which always has apiVersion, kind and metadata. `path` is the name of the type.
    pub fn declare(&mut self, schema: &Schema, resource: bool, path: &str) -> Option<Arc<DeclType>> {
        if schema.x_int_or_string || self.int_or_string == Some(&*schema.format) {
            let bound = schema.max_length.filter(|_| self.release.since(V1_34));
            let longest = bound.map_or(MAX_REQUEST - 2, code_points);
            return Some(scalar(schema, Type::Dyn, longest, 1));
        }
        if !resource && self.is_untyped(schema) {
            return Some(scalar(schema, Type::Dyn, MAX_REQUEST - 2, 1));
        }
        match schema.type_.as_str() {
            "array" => {
                let item = schema.items_schema()?;
                let items = self.declare(item, item.x_embedded_resource, &format!("{path}.@idx"))?;
                let kind = match schema.x_list_type.as_deref() {
                    Some("set") => ListKind::Set,
                    Some("map") => ListKind::Map(schema.x_list_map_keys.clone()),
                    _ => ListKind::Atomic,
                };
                let shape = Shape::List { items: Arc::clone(&items), kind };
                Some(Arc::new(bounded(DeclType { shape, ..DeclType::list(items) }, schema.max_items, schema)))
            }
            "object" => match schema.additional_properties_schema() {
                Some(value) => {
                    let values = self.declare(value, value.x_embedded_resource, &format!("{path}.@elem"))?;
                    Some(Arc::new(bounded(DeclType::map(values), schema.max_properties, schema)))
                }
                None => Some(self.object(schema, resource, path)),
            },
            "string" => Some(string(schema)),
            "boolean" => Some(scalar(schema, Type::Bool, 0, 4)),
            "number" => Some(scalar(schema, Type::Double, 0, 1)),
            "integer" => Some(scalar(schema, Type::Int, 0, 1)),
            _ => None,
        }
    }

    fn object(&mut self, schema: &Schema, resource: bool, path: &str) -> Arc<DeclType> {
        let own = if resource && !has_meta(schema) { Some(meta(schema, self.release)) } else { None };
        let names = schema.properties.keys().map(String::as_str);
        let mut names: Vec<&str> = names.chain(own.iter().flat_map(|own| own.keys().copied())).collect();
        names.sort_unstable();
        names.dedup();
        let mut fields = BTreeMap::new();
        let mut min_size: i64 = 2;
        for name in names {
            let property = own.as_ref().and_then(|own| own.get(name)).or_else(|| schema.property(name));
            let Some(property) = property else { continue };
            let escaped = escape(name);
            let field_path = format!("{path}.{}", escaped.as_deref().unwrap_or(name));
            let Some(type_) = self.declare(property, property.x_embedded_resource, &field_path) else { continue };
            let required = schema.required.iter().any(|required| required == name);
            if required && property.default.is_none() {
                min_size = min_size.wrapping_add(name.len() as i64 + 4).wrapping_add(type_.min_serialized_size as i64);
            }
            if let Some(escaped) = escaped {
                fields.insert(escaped, DeclField { json_name: name.to_owned(), required, type_ });
            }
        }
        let name: Arc<str> = path.into();
        let declared = Arc::new(DeclType {
            cel_type: Type::Object(Arc::clone(&name)),
            shape: Shape::Object(fields),
            max_elements: 0,
            min_serialized_size: min_size as u64,
            nullable: schema.nullable,
        });
        self.objects.insert(name, Arc::clone(&declared));
        declared
    }
}

fn scalar(schema: &Schema, cel_type: Type, max: i64, min_size: u64) -> Arc<DeclType> {
    Arc::new(DeclType { nullable: schema.nullable, ..DeclType::scalar(cel_type, max as u64, min_size) })
}

/// The type of a list or map with the limit that its schema has.
fn bounded(declared: DeclType, max: Option<i64>, schema: &Schema) -> DeclType {
    let max_elements = max.map_or(declared.max_elements, |max| max.max(0) as u64);
    DeclType { max_elements, nullable: schema.nullable, ..declared }
}

fn string(schema: &Schema) -> Arc<DeclType> {
    match schema.format.as_str() {
        "byte" => {
            let max = schema.max_length.map_or(MAX_REQUEST - 2, |max| max.max(0));
            scalar(schema, Type::Bytes, max, 2)
        }
        "duration" => scalar(schema, Type::Duration, 32, 3),
        "date" => scalar(schema, Type::Timestamp, 12, 12),
        "date-time" => scalar(schema, Type::Timestamp, 32, 21),
        _ => {
            let max = match schema.max_length {
                Some(max) => code_points(max),
                None if schema.enum_.is_empty() => MAX_REQUEST - 2,
                None => {
                    let lengths = schema.enum_.iter().map(|value| match value {
                        Value::String(text) => text.len() as i64,
                        _ => 0,
                    });
                    lengths.max().unwrap_or(0)
                }
            };
            scalar(schema, Type::String, max, 2)
        }
    }
}

/// The maximum size in bytes of this number of code points.
fn code_points(max: i64) -> i64 {
    max.max(0).wrapping_mul(4)
}

/// Returns true if the schema itself specifies apiVersion, kind and metadata.
fn has_meta(schema: &Schema) -> bool {
    let is = |of: &Schema, name: &str, type_: &str| of.properties.get(name).is_some_and(|found| found.type_ == type_);
    is(schema, "kind", "string")
        && is(schema, "apiVersion", "string")
        && is(schema, "metadata", "object")
        && schema
            .properties
            .get("metadata")
            .is_some_and(|meta| is(meta, "name", "string") && is(meta, "generateName", "string"))
}

/// The schemas of apiVersion, kind and metadata (`WithTypeAndObjectMeta`). Before 1.37, names have no bound, which makes rules
/// about them expensive.
fn meta(schema: &Schema, release: Release) -> BTreeMap<&'static str, Schema> {
    let string = |max_length| Schema { type_: "string".to_owned(), max_length, ..Schema::default() };
    let name = |name: &str, max: i64| {
        let given = schema.properties.get("metadata").and_then(|meta| meta.properties.get(name)?.max_length);
        let bound = release.since(V1_37).then(|| given.map_or(max, |given| given.min(max)));
        (name.to_owned(), Box::new(string(bound)))
    };
    let metadata = Schema {
        type_: "object".to_owned(),
        properties: BTreeMap::from([name("name", MAX_NAME), name("generateName", MAX_NAME - 1)]),
        ..Schema::default()
    };
    BTreeMap::from([("kind", string(None)), ("apiVersion", string(None)), ("metadata", metadata)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_since_1_37() {
        let length = |name: &str, release: &str| {
            let release = release.parse().unwrap();
            let root = Schema { type_: "object".to_owned(), ..Schema::default() };
            let declared = Declarations::new(release).declare(&root, true, ROOT).unwrap();
            let field = |declared: &DeclType, name: &str| match &declared.shape {
                Shape::Object(fields) => Arc::clone(&fields[name].type_),
                _ => panic!("no object"),
            };
            field(&field(&declared, "metadata"), name).max_elements as i64
        };
        assert_eq!((length("name", "1.37"), length("generateName", "1.37")), (253 * 4, 252 * 4));
        assert_eq!((length("name", "1.36"), length("generateName", "1.36")), (MAX_REQUEST - 2, MAX_REQUEST - 2));
    }
}
