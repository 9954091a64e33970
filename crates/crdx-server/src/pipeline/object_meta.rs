//! Normalizes metadata by its Go type: `json.Unmarshal` into `ObjectMeta`, then `ToUnstructured`
//! (`apiextensions-apiserver/pkg/apiserver/schema/objectmeta/coerce.go`, `sigs.k8s.io/json`).
//!
//! Unknown fields are dropped and reported, empty fields are dropped, a null label becomes `""`, and timestamps lose
//! their fraction. Of several values of wrong types, the first in key order is reported, except that a malformed
//! timestamp takes precedence, because its `UnmarshalJSON` ends decoding.

use super::DecodeError;
use crdx_value::json::go_kind;
use crdx_value::time::{self, Timestamp};
use crdx_value::{Map, Value};

/// Normalized metadata.
#[derive(Debug, Default)]
pub struct Normal {
    /// The normalized metadata.
    pub metadata: Map,
    /// The paths of unknown fields below `metadata`, in key order.
    pub unknown: Vec<String>,
}

/// The error for metadata that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub(crate) struct MetadataError {
    /// The message of Go's JSON decoder.
    pub message: String,
    /// The path of the field below `metadata` (`ownerReferences[0].uid`); empty for the metadata itself.
    pub path: String,
}

impl MetadataError {
    /// The path of the field in the object (`metadata.ownerReferences[0].uid`).
    pub fn field(&self) -> String {
        let dot = if self.path.is_empty() { "" } else { "." };
        format!("metadata{dot}{}", self.path)
    }
}

impl From<MetadataError> for DecodeError {
    fn from(error: MetadataError) -> Self {
        Self { field: Some(error.field()), message: error.message }
    }
}

/// The maximum number of unknown fields that are reported.
const MAX_UNKNOWN: usize = 100;

/// Normalizes metadata.
///
/// # Errors
/// Returns an error if a value has a wrong type or a timestamp is malformed.
pub fn normalize(metadata: Value) -> Result<Normal, MetadataError> {
    let members = match metadata {
        Value::Object(members) => members,
        Value::Null => return Ok(Normal::default()),
        other => {
            let message = format!("json: cannot unmarshal {} into Go value of type v1.ObjectMeta", go_kind(&other));
            return Err(MetadataError { message, path: String::new() });
        }
    };
    let mut reader = MetadataReader::default();
    let metadata = reader.object_meta(members)?;
    match reader.mismatch {
        Some(error) => Err(error),
        None => Ok(Normal { metadata, unknown: reader.unknown }),
    }
}

/// Normalizes metadata field by field and drops malformed fields.
///
/// # Errors
/// Returns an error if the metadata is not an object.
pub(crate) fn normalize_dropping(metadata: Value) -> Result<Map, MetadataError> {
    let members = match metadata {
        Value::Object(members) => members,
        Value::Null => return Ok(Map::new()),
        other => {
            let found = crdx_value::print::type_name(&other);
            let message = format!("invalid metadata: expected object, got {found}");
            return Err(MetadataError { message, path: String::new() });
        }
    };
    let mut normalized = Map::new();
    for (key, value) in members {
        let mut reader = MetadataReader::default();
        let read = reader.object_meta(Map::from([(key, value)]));
        if let (Ok(fields), None) = (read, reader.mismatch) {
            normalized.extend(fields);
        }
    }
    Ok(normalized)
}

/// The field being decoded.
#[derive(Clone, Copy)]
struct StructPath<'a> {
    /// The Go struct that has the field.
    structure: &'a str,
    /// The list whose item the struct is, and the index of the item.
    item: Option<(&'a str, usize)>,
    /// The name of the field.
    field: &'a str,
}

impl StructPath<'_> {
    /// The path in an object; the paths in Go's messages have no indexes.
    fn path(&self) -> String {
        match self.item {
            None => self.field.to_owned(),
            Some((list, index)) => format!("{list}[{index}].{}", self.field),
        }
    }

    fn mismatch(&self, found: &str, expected: &str) -> MetadataError {
        let Self { structure, item, field } = self;
        let (outer, dot) = item.map_or(("", ""), |(list, _)| (list, "."));
        let message = format!(
            "json: cannot unmarshal {found} into Go struct field {structure}.{outer}{dot}{field} of type {expected}"
        );
        MetadataError { message, path: self.path() }
    }
}

#[derive(Default)]
struct MetadataReader {
    mismatch: Option<MetadataError>,
    unknown: Vec<String>,
}

impl MetadataReader {
    fn wrong_type(&mut self, v: &Value, path: StructPath<'_>, expected: &str) {
        if self.mismatch.is_none() {
            self.mismatch = Some(path.mismatch(go_kind(v), expected));
        }
    }
    fn unknown(&mut self, path: String) {
        if self.unknown.len() < MAX_UNKNOWN {
            self.unknown.push(path);
        }
    }
    /// Decodes a string; null and values of other types decode to an empty string.
    fn text(&mut self, v: Value, path: StructPath<'_>, type_name: &str) -> String {
        match v {
            Value::String(s) => s,
            Value::Null => String::new(),
            other => {
                self.wrong_type(&other, path, type_name);
                String::new()
            }
        }
    }
    fn flag(&mut self, v: &Value, path: StructPath<'_>) -> Option<bool> {
        if !matches!(v, Value::Bool(_) | Value::Null) {
            self.wrong_type(v, path, "bool");
        }
        v.as_bool()
    }
    fn integer(&mut self, v: &Value, path: StructPath<'_>) -> Option<i64> {
        match v {
            Value::Int(i) => return Some(*i),
            Value::Float(_) => {
                // The value passes through JSON text, where 1.0 is written as 1.
                let text = crdx_value::json::to_string(v);
                if let Ok(i) = text.parse() {
                    return Some(i);
                }
                if self.mismatch.is_none() {
                    self.mismatch = Some(path.mismatch(&format!("number {text}"), "int64"));
                }
            }
            Value::Null => {}
            other => self.wrong_type(other, path, "int64"),
        }
        None
    }
    fn time(v: &Value, path: StructPath<'_>) -> Result<Option<Timestamp>, MetadataError> {
        match v {
            Value::Null => Ok(None),
            Value::String(s) => {
                time::parse(s).map(Some).map_err(|message| MetadataError { message: message.into(), path: path.path() })
            }
            other => Err(path.mismatch(go_kind(other), "string")),
        }
    }
    fn text_map(&mut self, v: Value, path: StructPath<'_>) -> Map {
        match v {
            Value::Object(members) => {
                members.into_iter().map(|(k, v)| (k, Value::String(self.text(v, path, "string")))).collect()
            }
            Value::Null => Map::new(),
            other => {
                self.wrong_type(&other, path, "map[string]string");
                Map::new()
            }
        }
    }
    fn list(&mut self, v: Value, path: StructPath<'_>, type_name: &str) -> Vec<Value> {
        match v {
            Value::Array(items) => items,
            Value::Null => Vec::new(),
            other => {
                self.wrong_type(&other, path, type_name);
                Vec::new()
            }
        }
    }
    /// Decodes a list item that is a struct.
    fn item(&mut self, v: Value, path: StructPath<'_>, type_name: &str) -> Map {
        match v {
            Value::Object(members) => members,
            Value::Null => Map::new(),
            other => {
                self.wrong_type(&other, path, type_name);
                Map::new()
            }
        }
    }

    fn object_meta(&mut self, members: Map) -> Result<Map, MetadataError> {
        let mut out = Map::new();
        for (key, v) in members {
            let path = StructPath { structure: "ObjectMeta", item: None, field: &key };
            let value = match key.as_str() {
                "name" | "generateName" | "namespace" | "selfLink" | "resourceVersion" => {
                    non_empty(self.text(v, path, "string"))
                }
                "uid" => non_empty(self.text(v, path, "types.UID")),
                "generation" => self.integer(&v, path).filter(|i| *i != 0).map(Value::Int),
                "creationTimestamp" => {
                    Self::time(&v, path)?.filter(|t| !t.is_zero()).map(|t| Value::String(time::format(t)))
                }
                "deletionTimestamp" => Self::time(&v, path)?.map(time_value),
                "deletionGracePeriodSeconds" => self.integer(&v, path).map(Value::Int),
                "labels" | "annotations" => {
                    let map = self.text_map(v, path);
                    (!map.is_empty()).then_some(Value::Object(map))
                }
                "finalizers" => {
                    let items = self.list(v, path, "[]string").into_iter();
                    non_empty_list(items.map(|v| Value::String(self.text(v, path, "string"))).collect())
                }
                "ownerReferences" => {
                    let items = self.list(v, path, "[]v1.OwnerReference").into_iter().enumerate();
                    non_empty_list(items.map(|(i, v)| self.owner_reference(v, i, path)).collect())
                }
                "managedFields" => {
                    let items = self.list(v, path, "[]v1.ManagedFieldsEntry").into_iter().enumerate();
                    non_empty_list(items.map(|(i, v)| self.managed_fields(v, i, path)).collect::<Result<_, _>>()?)
                }
                _ => {
                    self.unknown(key);
                    continue;
                }
            };
            if let Some(value) = value {
                out.insert(key, value);
            }
        }
        Ok(out)
    }

    fn owner_reference(&mut self, v: Value, index: usize, list: StructPath<'_>) -> Value {
        let mut out: Map =
            ["apiVersion", "kind", "name", "uid"].into_iter().map(|k| (k.to_owned(), Value::from(""))).collect();
        for (key, v) in self.item(v, list, "v1.OwnerReference") {
            let path = StructPath { structure: "OwnerReference", item: Some((list.field, index)), field: &key };
            let value = match key.as_str() {
                "apiVersion" | "kind" | "name" => Some(Value::String(self.text(v, path, "string"))),
                "uid" => Some(Value::String(self.text(v, path, "types.UID"))),
                "controller" | "blockOwnerDeletion" => self.flag(&v, path).map(Value::Bool),
                _ => {
                    self.unknown(format!("{}[{index}].{key}", list.field));
                    continue;
                }
            };
            if let Some(value) = value {
                out.insert(key, value);
            }
        }
        Value::Object(out)
    }

    fn managed_fields(&mut self, v: Value, index: usize, list: StructPath<'_>) -> Result<Value, MetadataError> {
        let mut out = Map::new();
        for (key, v) in self.item(v, list, "v1.ManagedFieldsEntry") {
            let path = StructPath { structure: "ManagedFieldsEntry", item: Some((list.field, index)), field: &key };
            let value = match key.as_str() {
                "manager" | "apiVersion" | "fieldsType" | "subresource" => non_empty(self.text(v, path, "string")),
                "operation" => non_empty(self.text(v, path, "v1.ManagedFieldsOperationType")),
                "time" => Self::time(&v, path)?.map(time_value),
                "fieldsV1" => Some(v).filter(|v| !v.is_null()),
                _ => {
                    self.unknown(format!("{}[{index}].{key}", list.field));
                    continue;
                }
            };
            if let Some(value) = value {
                out.insert(key, value);
            }
        }
        Ok(Value::Object(out))
    }
}

fn non_empty(s: String) -> Option<Value> {
    (!s.is_empty()).then_some(Value::String(s))
}

fn non_empty_list(items: Vec<Value>) -> Option<Value> {
    (!items.is_empty()).then_some(Value::Array(items))
}

/// Encodes a `*metav1.Time`; the zero time is encoded as null.
fn time_value(t: Timestamp) -> Value {
    if t.is_zero() { Value::Null } else { Value::String(time::format(t)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn metadata_survives_a_round_trip() {
        let v = object([
            ("name", Value::from("a")),
            ("Name", Value::from("b")),
            ("labels", object([("x", Value::Null)])),
            ("annotations", object([] as [(&str, Value); 0])),
            ("creationTimestamp", Value::Null),
            ("generation", Value::Float(2.0)),
            ("finalizers", Value::Array(vec![Value::Null])),
            ("ownerReferences", Value::Array(vec![object([("kind", "K"), ("zz", "1")])])),
            ("managedFields", Value::Array(vec![object([("time", "2024-01-01T00:00:00.5+01:00")])])),
        ]);
        let normal = normalize(v).unwrap();
        assert_eq!(normal.unknown, ["Name", "ownerReferences[0].zz"]);
        assert_eq!(
            crdx_value::json::to_string(&Value::Object(normal.metadata)),
            r#"{"finalizers":[""],"generation":2,"labels":{"x":""},"managedFields":[{"time":"2023-12-31T23:00:00Z"}],"name":"a","ownerReferences":[{"apiVersion":"","kind":"K","name":"","uid":""}]}"#
        );
    }

    #[test]
    fn errors_are_those_of_the_json_reader() {
        for (v, error) in [
            (Value::from("x"), "json: cannot unmarshal string into Go value of type v1.ObjectMeta"),
            (
                object([("name", Value::Int(1)), ("labels", Value::Int(1))]),
                "json: cannot unmarshal number into Go struct field ObjectMeta.labels of type map[string]string",
            ),
            (
                object([("labels", object([("a", Value::Bool(true))]))]),
                "json: cannot unmarshal bool into Go struct field ObjectMeta.labels of type string",
            ),
            (
                object([("generation", Value::Float(1.5))]),
                "json: cannot unmarshal number 1.5 into Go struct field ObjectMeta.generation of type int64",
            ),
            (
                object([("ownerReferences", Value::Array(vec![object([("controller", "x")])]))]),
                "json: cannot unmarshal string into Go struct field OwnerReference.ownerReferences.controller of type bool",
            ),
            (
                object([("annotations", Value::Int(1)), ("creationTimestamp", Value::Int(1))]),
                "json: cannot unmarshal number into Go struct field ObjectMeta.creationTimestamp of type string",
            ),
        ] {
            assert_eq!(normalize(v).unwrap_err().message, error);
        }
    }

    #[test]
    fn errors_have_the_path_of_the_field() {
        let path = |v| normalize(v).unwrap_err().path;
        assert_eq!(path(Value::from("x")), "");
        assert_eq!(path(object([("labels", object([("a", Value::Bool(true))]))])), "labels");
        assert_eq!(path(object([("creationTimestamp", "x")])), "creationTimestamp");
        let items = vec![object([("uid", "u")]), object([("controller", "x")])];
        assert_eq!(path(object([("ownerReferences", Value::Array(items))])), "ownerReferences[1].controller");
    }

    #[test]
    fn malformed_fields_are_dropped_from_storage() {
        let v =
            object([("name", Value::from("a")), ("labels", object([("a", Value::Int(1))])), ("uid", Value::Int(1))]);
        assert_eq!(normalize_dropping(v), Ok(Map::from([("name".to_owned(), Value::from("a"))])));
        assert_eq!(
            normalize_dropping(Value::Int(1)).unwrap_err().message,
            "invalid metadata: expected object, got int64"
        );
    }
}
