//! Validates the values at the paths of the scale subresource (`ValidateScaleSpec` and `ValidateScaleStatus` in
//! `apiextensions-apiserver/pkg/registry/customresource/validator.go`).

use super::ScalePaths;
use crdx_value::GoError;
use crdx_value::field::{ErrorList, FieldError, FieldPath};
use crdx_value::{Value, print};

/// `ValidateScaleSpec`
pub(crate) fn validate_spec(object: &Value, paths: &ScalePaths, errors: &mut ErrorList) {
    replicas(object, &paths.spec_replicas, errors);
}

/// `ValidateScaleStatus`
pub(crate) fn validate_status(object: &Value, paths: &ScalePaths, errors: &mut ErrorList) {
    replicas(object, &paths.status_replicas, errors);
    if let Some(path) = &paths.label_selector
        && let Err(text) = nested(object, path, "string", |v| v.as_str().map(|_| 0))
    {
        errors.push(FieldError::invalid(&FieldPath::new(path), "", text));
    }
}

fn replicas(object: &Value, path: &str, errors: &mut ErrorList) {
    let field_path = FieldPath::new(path);
    let message = match nested(object, path, "int64", Value::as_int) {
        Err(error) => (0, error.into()),
        Ok(replicas @ ..=-1) => (replicas, "should be a non-negative integer".to_owned()),
        Ok(replicas) if replicas > i64::from(i32::MAX) => {
            (replicas, format!("should be less than or equal to {}", i32::MAX))
        }
        Ok(_) => return,
    };
    errors.push(FieldError::invalid(&field_path, message.0, message.1));
}

/// `unstructured.NestedInt64` and similar functions: an absent field is 0.
///
/// # Errors
/// Returns Go's message.
fn nested(object: &Value, path: &str, expected: &str, read: impl Fn(&Value) -> Option<i64>) -> Result<i64, GoError> {
    let names: Vec<&str> = path.strip_prefix('.').unwrap_or(path).split('.').collect();
    let complain = |walked: Option<&[&str]>, v: &Value, expected: &str| {
        let walked = walked.unwrap_or_default().join(".");
        let (value, found) = (print::format_v(v), print::type_name(v));
        Err(format!(".{walked} accessor error: {value} is of the type {found}, expected {expected}").into())
    };
    let mut at = object;
    for (i, name) in names.iter().enumerate() {
        match at {
            Value::Null => return Ok(0),
            Value::Object(members) => match members.get(name) {
                Some(v) => at = v,
                None => return Ok(0),
            },
            // The message names the field that was requested, not its parent that is not an object.
            v => return complain(names.get(..=i), v, "map[string]interface{}"),
        }
    }
    match read(at) {
        Some(i) => Ok(i),
        None => complain(Some(&names), at, expected),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::testing::{json, texts};

    #[test]
    fn scale_paths_must_have_integers() {
        let paths = ScalePaths {
            spec_replicas: ".spec.replicas".to_owned(),
            status_replicas: ".status.replicas".to_owned(),
            label_selector: Some(".status.selector".to_owned()),
        };
        for (object, errors) in [
            (r#"{"spec":{},"status":null}"#, &[] as &[&str]),
            (
                r#"{"spec":3,"status":{"replicas":"x"}}"#,
                &[
                    ".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 3 is of the type int64, expected map[string]interface{}",
                    ".status.replicas: Invalid value: 0: .status.replicas accessor error: x is of the type string, expected int64",
                ],
            ),
            (
                r#"{"spec":{"replicas":-1},"status":{"replicas":2147483648,"selector":1}}"#,
                &[
                    ".spec.replicas: Invalid value: -1: should be a non-negative integer",
                    ".status.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647",
                    r#".status.selector: Invalid value: "": .status.selector accessor error: 1 is of the type int64, expected string"#,
                ],
            ),
        ] {
            let mut found = ErrorList::new();
            validate_spec(&json(object), &paths, &mut found);
            validate_status(&json(object), &paths, &mut found);
            assert_eq!(texts(&found), errors);
        }
    }
}
