//! `ServiceAccount`s.

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::Value;

/// `ValidateServiceAccount`: only the metadata are validated.
pub(crate) fn validate(_: &mut Errors, _: &FieldValue<'_, '_>, _: Option<&Value>) {}
