//! Decides if `x-kubernetes-validations` are evaluated (`hasBlockingErr` in
//! `apiextensions-apiserver/pkg/registry/customresource/strategy.go`).

use crdx_value::Value;
use crdx_value::field::{BadValue, ErrorList, ErrorType, FieldError, ROOT};
use crdx_value::release::Release;

/// The error that replaces the evaluation of rules if earlier errors prevent it.
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
        FieldError::invalid(&ROOT, BadValue::new(&Value::Null, release), detail)
    })
}
