//! Policies for requests of a part of a capacity (`validateRequestPolicy`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource::fits;
use crdx_cel::value::Quantity;
use crdx_value::field::FieldPath;
use crdx_value::release::{Gate, V1_37};
use std::cmp::Ordering;
use std::collections::HashSet;

const MAX_OPTIONS: usize = 10;

/// Validates a policy for a capacity of this size.
pub fn validate(errors: &mut Errors, policy: &FieldValue<'_, '_>, capacity: &FieldValue<'_, '_>) {
    let (values, range) = (policy.child("validValues"), policy.child("validRange"));
    let Some(capacity) = capacity.quantity(errors.release) else { return };
    let default = policy.child("default");
    match (values.len() > 0, range.is_set()) {
        (true, true) => {
            let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time";
            errors.forbidden(policy, detail);
        }
        (true, false) => match default.quantity(errors.release) {
            None => errors.required(&default, "required when validValues is defined"),
            Some(default) => valid_values(errors, &values, &default, &capacity),
        },
        (false, true) => match default.quantity(errors.release) {
            None => errors.required(&default, "required when validRange is defined"),
            Some(default) => valid_range(errors, &range, &default, &capacity),
        },
        (false, false) => {}
    }
}

fn invalid(errors: &mut Errors, field: &FieldValue<'_, '_>, shown: &Quantity, detail: impl Into<String>) {
    errors.invalid_value(&field.path, shown.to_string(), detail);
}

fn is_more(a: &Quantity, b: &Quantity) -> bool {
    a.compare(b) == Ordering::Greater
}

/// `validateRequestPolicyValidValues`
fn valid_values(errors: &mut Errors, values: &FieldValue<'_, '_>, default: &Quantity, capacity: &Quantity) {
    let mut last: Option<Quantity> = None;
    for value in values.items() {
        let Some(quantity) = value.quantity(errors.release) else { continue };
        if last.is_some_and(|last| is_more(&last, &quantity)) {
            invalid(errors, &value, &quantity, "values must be sorted in ascending order");
        }
        last = Some(quantity);
    }
    let mut has_default = false;
    let has_fractions = errors.release.enables(Gate::DRAFractionalCapacityRange);
    if fits(errors, values, MAX_OPTIONS) {
        let mut seen = HashSet::new();
        for value in values.items() {
            let Some(quantity) = value.quantity(errors.release) else { continue };
            if is_more(&quantity, capacity) {
                invalid(errors, &value, &quantity, format!("option is larger than capacity value: {capacity}"));
            }
            has_default |= quantity.compare(default) == Ordering::Equal;
            // `quantityKeyAsDec` tells `1` from `1000m`, which are one text in the encoded object.
            let key = if has_fractions { quantity.decimal_text() } else { quantity.value().to_string() };
            if !seen.insert(key.clone()) {
                errors.list.push(crdx_value::field::FieldError::duplicate(&value.path, key));
            }
        }
    }
    if !has_default {
        invalid(errors, values, default, "default value is not valid according to the requestPolicy");
    }
}

/// `validateRequestPolicyRange`
fn valid_range(errors: &mut Errors, range: &FieldValue<'_, '_>, default: &Quantity, capacity: &Quantity) {
    let (path_min, path_max, path_step) = (range.path.child("min"), range.path.child("max"), range.path.child("step"));
    let release = errors.release;
    let quantity = |name: &str| range.child(name).quantity(release);
    let Some(min) = quantity("min") else {
        return errors.required(&range.child("min"), "required when validRange is defined");
    };
    let is_newest = errors.release.since(V1_37);
    let default_path = range.path.child("default");
    if is_more(&min, capacity) {
        let detail = format!("min is larger than capacity value: {capacity}");
        errors.invalid_value(&path_min, min.to_string(), detail);
    }
    if is_more(&min, default) {
        let path = if is_newest { &default_path } else { &path_min };
        errors.invalid_value(path, default.to_string(), format!("default is less than min: {min}"));
    }
    let max = quantity("max");
    if let Some(max) = &max {
        if is_more(&min, max) {
            errors.invalid_value(&path_max, min.to_string(), format!("min is larger than max: {max}"));
        }
        if is_more(max, capacity) {
            let detail = format!("max is larger than capacity value: {capacity}");
            errors.invalid_value(&path_max, max.to_string(), detail);
        }
        if is_more(default, max) {
            let path = if is_newest { &default_path } else { &path_max };
            errors.invalid_value(path, default.to_string(), format!("default is more than max: {max}"));
        }
    }
    let step = quantity("step");
    let parts = [("default", Some(default)), ("min", Some(&min)), ("max", max.as_ref()), ("step", step.as_ref())];
    let parts = || parts.iter().filter_map(|(name, part)| Some((range.path.child(name), (*part)?)));
    let is_milli = release.enables(Gate::DRAFractionalCapacityRange) && parts().any(|(_, part)| !part.is_whole());
    if is_milli {
        let before = errors.list.len();
        for (path, part) in parts().filter(|(_, part)| Quantity::from_milli(part.milli_value()) != **part) {
            errors.invalid_value(&path, part.to_string(), "value cannot be represented as a milli value");
        }
        if errors.list.len() > before {
            return;
        }
    }
    let Some(step) = &step else { return };
    // Before 1.37, the server panics if it divides by zero.
    if if is_newest { step.sign() <= 0 } else { step.value() == 0 } {
        return errors.invalid_value(&path_step, step.to_string(), "must be greater than zero");
    }
    if let Ok(added) = min.add(step)
        && is_more(&added, capacity)
    {
        let detail = format!("one step {added} is larger than capacity value: {capacity}");
        errors.invalid_value(&path_step, step.to_string(), detail);
    }
    if is_newest && !is_milli {
        let before = errors.list.len();
        parts().for_each(|(path, part)| int64_range(errors, &path, part));
        if errors.list.len() > before {
            return;
        }
    }
    let scaled = if is_milli { Quantity::milli_value } else { Quantity::value };
    for value in std::iter::once(default).chain(&max) {
        // `validateRequestPolicyRangeStep`, which wraps as Go does
        if scaled(value).wrapping_sub(scaled(&min)).wrapping_rem(scaled(step)) != 0 {
            let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
            errors.invalid_value(&path_step, value.to_string(), detail);
        }
    }
}

/// `validateInt64Range`
fn int64_range(errors: &mut Errors, path: &FieldPath<'_>, quantity: &Quantity) {
    if quantity.sign() < 0 {
        errors.invalid_value(path, quantity.to_string(), "must be greater than or equal to 0");
    } else if is_more(quantity, &Quantity::from_int(i64::MAX)) {
        errors.invalid_value(path, quantity.to_string(), format!("must not be larger than {}", i64::MAX));
    }
}
