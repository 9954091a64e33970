//! `x-kubernetes-validations`: when they are evaluated at all (`hasBlockingErr` in
//! `apiextensions-apiserver/pkg/registry/customresource/strategy.go`).

use crate::field::{BadValue, ErrorList, ErrorType, FieldError, ROOT};
use crate::release::Release;
use crate::value::Value;

/// The error that is reported instead of evaluating the rules, if earlier errors are of a type that prevents that.
pub fn blocked(errors: &ErrorList, release: Release) -> Option<FieldError> {
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
        FieldError::invalid(&ROOT, BadValue::of(&Value::Null, release), detail)
    })
}
