//! The paths of the scale subresource must lead to replicas and a selector
//! (`ValidateScaleSpec` and `ValidateScaleStatus` in `apiextensions-apiserver/pkg/registry/customresource/validator.go`).

use super::ScalePaths;
use crate::field::{ErrorList, FieldError, FieldPath};
use crate::value::{Value, print};

/// `ValidateScaleSpec`
pub fn validate_spec(object: &Value, paths: &ScalePaths, errors: &mut ErrorList) {
    replicas(object, &paths.spec_replicas, errors);
}

/// `ValidateScaleStatus`
pub fn validate_status(object: &Value, paths: &ScalePaths, errors: &mut ErrorList) {
    replicas(object, &paths.status_replicas, errors);
    if let Some(path) = &paths.label_selector
        && let Err(text) = nested(object, path, "string", |v| v.as_str().map(|_| 0))
    {
        errors.push(FieldError::invalid(&FieldPath::new(path), "", text));
    }
}

fn replicas(object: &Value, path: &str, errors: &mut ErrorList) {
    let place = FieldPath::new(path);
    let complaint = match nested(object, path, "int64", Value::as_int) {
        Err(text) => (0, text),
        Ok(replicas @ ..=-1) => (replicas, "should be a non-negative integer".to_owned()),
        Ok(replicas) if replicas > i64::from(i32::MAX) => {
            (replicas, format!("should be less than or equal to {}", i32::MAX))
        }
        Ok(_) => return,
    };
    errors.push(FieldError::invalid(&place, complaint.0, complaint.1));
}

/// `unstructured.NestedInt64` and the like: absent is 0; the error is Go's.
fn nested(object: &Value, path: &str, expected: &str, read: impl Fn(&Value) -> Option<i64>) -> Result<i64, String> {
    let names: Vec<&str> = path.strip_prefix('.').unwrap_or(path).split('.').collect();
    let complain = |walked: Option<&[&str]>, v: &Value, expected: &str| {
        let walked = walked.unwrap_or_default().join(".");
        let (value, found) = (print::format_v(v), print::type_name(v));
        Err(format!(".{walked} accessor error: {value} is of the type {found}, expected {expected}"))
    };
    let mut at = object;
    for (i, name) in names.iter().enumerate() {
        match at {
            Value::Null => return Ok(0),
            Value::Object(members) => match members.get(*name) {
                Some(v) => at = v,
                None => return Ok(0),
            },
            // The field that was looked for is named, not the one that is no object.
            v => return complain(names.get(..=i), v, "map[string]interface{}"),
        }
    }
    match read(at) {
        Some(i) => Ok(i),
        None => complain(Some(&names), at, expected),
    }
}
