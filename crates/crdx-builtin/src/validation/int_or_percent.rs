//! Numbers that may be percentages (`pkg/apis/apps/validation`).

use crate::validation::field_value::{Errors, FieldValue};
use crdx_value::Value;
use crdx_value::field::names;

/// The Go type.
pub const TYPE: &str = "intstr.IntOrString";

/// `ValidatePositiveIntOrPercent`: a number that is not negative, or a percentage
pub fn validate(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    match field.value {
        Value::String(text) if percent(text).is_none() => {
            let rule = "a valid percent string must be a numeric string followed by an ending '%'";
            errors.invalid_typed(field, TYPE, names::no_match(rule, "[0-9]+%", &["1%", "93%"]));
        }
        Value::String(_) => {}
        _ => errors.nonnegative(field),
    }
}

/// `IsNotMoreThan100Percent`
pub(crate) fn at_most_100(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if percent(field.text()).is_some_and(|percent| percent > 100) {
        errors.invalid_typed(field, TYPE, "must not be greater than 100%");
    }
}

/// `getIntOrPercentValue`
pub fn number(field: &FieldValue<'_, '_>) -> i64 {
    match field.value {
        Value::String(text) => percent(text).or_else(|| text.parse().ok()).unwrap_or_default(),
        _ => field.int().unwrap_or_default(),
    }
}

/// The number before the percent sign; `None` for another text.
fn percent(text: &str) -> Option<i64> {
    let digits = text.strip_suffix('%')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(i64::MAX))
}
