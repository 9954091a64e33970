//! `x-kubernetes-validations`: when they are evaluated at all, and how many that would be
//! (`hasBlockingErr` in `apiextensions-apiserver/pkg/registry/customresource/strategy.go`).

use super::compiled::Node;
use crate::field::{ErrorList, ErrorType, FieldError, ROOT};
use crate::value::Value;

/// The error that stands for the rules when the object is so wrong that they are not evaluated.
pub fn blocked(errors: &ErrorList) -> Option<FieldError> {
    let blocking = |e: &FieldError| {
        matches!(
            e.kind,
            ErrorType::NotSupported
                | ErrorType::Required
                | ErrorType::TooLong
                | ErrorType::TooMany
                | ErrorType::TypeInvalid
        )
    };
    errors.iter().any(blocking).then(|| {
        let detail = "some validation rules were not checked because the object was invalid; \
                      correct the existing errors to complete validation";
        FieldError::invalid(&ROOT, Value::Null, detail)
    })
}

/// How many rules apply to nodes of `v`; null values have none.
pub fn count(v: &Value, node: &Node) -> usize {
    if !node.has.rules || v.is_null() {
        return 0;
    }
    let below: usize = match v {
        Value::Object(members) => members.iter().filter_map(|(name, v)| Some(count(v, node.member(name)?))).sum(),
        Value::Array(items) => node.items.iter().flat_map(|n| items.iter().map(|v| count(v, n))).sum(),
        _ => 0,
    };
    node.rules + below
}
