//! Reads the Scale of an object at the paths in the CRD (`scaleFromCustomResource` in
//! `registry/customresource/etcd.go`).

use crate::pipeline::ScalePaths;
use crate::server::metadata;
use crdx_value::GoError;
use crdx_value::{Map, Value, object, print};

/// The Scale of an object; `None` if a GET of the Scale would fail.
pub(in crate::server) fn of(object: &Value, paths: &ScalePaths) -> Option<Value> {
    Scale::from_object(object, paths).ok().filter(|scale| scale.found).map(Scale::into_value)
}

/// A Scale read from an object.
pub(in crate::server) struct Scale {
    metadata: Map,
    /// `spec.replicas`
    pub replicas: i64,
    /// True if the object has the field at the replicas path.
    pub found: bool,
    status_replicas: i64,
    selector: String,
}

impl Scale {
    /// Reads the Scale.
    ///
    /// # Errors
    /// Returns the message for a field with a wrong type.
    pub fn from_object(object: &Value, paths: &ScalePaths) -> Result<Self, GoError> {
        let spec = nested_int(object, &paths.spec_replicas)?;
        let status = nested_int(object, &paths.status_replicas)?;
        let selector = match paths.label_selector.as_deref().filter(|p| !p.is_empty()) {
            Some(path) => nested_text(object, path)?,
            None => String::new(),
        };
        let mut metadata = Map::new();
        for key in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
            if let Some(value) = metadata::get(object, key) {
                metadata.insert(key.to_owned(), value.clone());
            }
        }
        let int32 = |i: Option<i64>| i64::from(i.unwrap_or_default() as i32);
        Ok(Self { metadata, replicas: int32(spec), found: spec.is_some(), status_replicas: int32(status), selector })
    }

    pub(crate) fn with_selector(self, selector: String) -> Self {
        Self { selector, ..self }
    }

    /// The `autoscaling/v1` Scale as JSON.
    pub fn into_value(self) -> Value {
        let mut spec = Map::new();
        if self.replicas != 0 {
            spec.insert("replicas".to_owned(), Value::Int(self.replicas));
        }
        let mut status = Map::new();
        status.insert("replicas".to_owned(), Value::Int(self.status_replicas));
        if !self.selector.is_empty() {
            status.insert("selector".to_owned(), Value::from(self.selector));
        }
        object([
            ("kind", Value::from("Scale")),
            ("apiVersion", Value::from("autoscaling/v1")),
            ("metadata", Value::Object(self.metadata)),
            ("spec", Value::Object(spec)),
            ("status", Value::Object(status)),
        ])
    }
}

fn split(path: &str) -> Vec<&str> {
    path.strip_prefix('.').unwrap_or(path).split('.').collect()
}

/// `unstructured.NestedFieldNoCopy`
fn nested<'v>(object: &'v Value, path: &str) -> Result<Option<&'v Value>, GoError> {
    let fields = split(path);
    let mut at = object;
    for (i, field) in fields.iter().enumerate() {
        match at {
            Value::Null => return Ok(None),
            Value::Object(members) => match members.get(field) {
                Some(below) => at = below,
                None => return Ok(None),
            },
            other => {
                let so_far = fields.get(..=i).unwrap_or_default().join(".");
                return Err(accessor(&so_far, other, "map[string]interface{}"));
            }
        }
    }
    Ok(Some(at))
}

fn accessor(path: &str, value: &Value, expected: &str) -> GoError {
    format!(
        ".{path} accessor error: {} is of the type {}, expected {expected}",
        print::format_v(value),
        print::type_name(value)
    )
    .into()
}

fn nested_int(object: &Value, path: &str) -> Result<Option<i64>, GoError> {
    match nested(object, path)? {
        None => Ok(None),
        Some(Value::Int(i)) => Ok(Some(*i)),
        Some(other) => Err(accessor(&split(path).join("."), other, "int64")),
    }
}

fn nested_text(object: &Value, path: &str) -> Result<String, GoError> {
    match nested(object, path)? {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(other) => Err(accessor(&split(path).join("."), other, "string")),
    }
}

/// `unstructured.SetNestedField`
pub(super) fn set_nested(object: &mut Value, path: &str, value: Value) -> Result<(), GoError> {
    let fields = split(path);
    let Some((last, parents)) = fields.split_last() else { return Ok(()) };
    let mut at = object;
    for (i, field) in parents.iter().enumerate() {
        let Some(members) = at.as_object_mut() else { return Ok(()) };
        let below = members.entry((*field).to_owned()).or_insert_with(|| Value::Object(Map::new()));
        if !matches!(below, Value::Object(_)) {
            let so_far = fields.get(..=i).unwrap_or_default().join(".");
            return Err(format!("value cannot be set because .{so_far} is not a map[string]interface{{}}").into());
        }
        at = below;
    }
    if let Some(members) = at.as_object_mut() {
        members.insert((*last).to_owned(), value);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::json::to_string;

    #[test]
    fn zero_replicas_are_omitted_only_in_spec() {
        let paths = ScalePaths {
            spec_replicas: ".spec.replicas".to_owned(),
            status_replicas: ".status.replicas".to_owned(),
            label_selector: None,
        };
        let o = object([("spec", object([("replicas", Value::Int(0))]))]);
        let scale = Scale::from_object(&o, &paths).unwrap();
        assert!(scale.found);
        assert_eq!(
            to_string(&scale.into_value()),
            r#"{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{},"spec":{},"status":{"replicas":0}}"#
        );
        let o = object([("spec", Value::Int(3))]);
        assert_eq!(
            Scale::from_object(&o, &paths).err().as_ref().map(GoError::as_str),
            Some(".spec.replicas accessor error: 3 is of the type int64, expected map[string]interface{}")
        );
    }

    #[test]
    fn replicas_are_set_if_the_field_is_missing() {
        let mut o = object([("kind", "X")]);
        set_nested(&mut o, ".spec.a.replicas", Value::Int(2)).unwrap();
        assert_eq!(o.at(&["spec", "a", "replicas"]), Some(&Value::Int(2)));
        let refused = set_nested(&mut o, ".kind.replicas", Value::Int(2));
        assert_eq!(refused, Err("value cannot be set because .kind is not a map[string]interface{}".into()));
    }
}
