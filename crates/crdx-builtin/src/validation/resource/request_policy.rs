//! Policies for requests of a part of a capacity (`validateRequestPolicy`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource::fits;
use crdx_cel::value::Quantity;
use crdx_value::release::V1_37;
use std::cmp::Ordering;
use std::collections::HashSet;

const MAX_OPTIONS: usize = 10;

/// Validates a policy for a capacity of this size.
pub fn validate(errors: &mut Errors, policy: &FieldValue<'_, '_>, capacity: &FieldValue<'_, '_>) {
    let (values, range) = (policy.child("validValues"), policy.child("validRange"));
    let Some(capacity) = capacity.quantity() else { return };
    let default = policy.child("default");
    match (values.len() > 0, range.is_set()) {
        (true, true) => {
            let detail = "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time";
            errors.forbidden(policy, detail);
        }
        (true, false) => match default.quantity() {
            None => errors.required(&default, "required when validValues is defined"),
            Some(default) => valid_values(errors, &values, &default, &capacity),
        },
        (false, true) => match default.quantity() {
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
        let Some(quantity) = value.quantity() else { continue };
        if last.is_some_and(|last| is_more(&last, &quantity)) {
            invalid(errors, &value, &quantity, "values must be sorted in ascending order");
        }
        last = Some(quantity);
    }
    let mut has_default = false;
    if fits(errors, values, MAX_OPTIONS) {
        let mut seen = HashSet::new();
        for value in values.items() {
            let Some(quantity) = value.quantity() else { continue };
            if is_more(&quantity, capacity) {
                invalid(errors, &value, &quantity, format!("option is larger than capacity value: {capacity}"));
            }
            has_default |= quantity.compare(default) == Ordering::Equal;
            let key = quantity.value().to_string();
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
    let quantity = |name: &str| range.child(name).quantity();
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
    let Some(step) = quantity("step") else { return };
    if step.sign() <= 0 {
        return errors.invalid_value(&path_step, step.to_string(), "must be greater than zero");
    }
    let added = min.as_float() + step.as_float();
    if added > capacity.as_float() {
        let shown = if let (Some(min), Some(step)) = (min.as_int(), step.as_int()) {
            Quantity::from_int(min.saturating_add(step)).to_string()
        } else {
            added.to_string()
        };
        let detail = format!("one step {shown} is larger than capacity value: {capacity}");
        errors.invalid_value(&path_step, step.to_string(), detail);
    }
    for value in std::iter::once(default).chain(&max) {
        let (Some(value_milli), Some(min_milli), Some(step_milli)) = (milli(value), milli(&min), milli(&step)) else {
            continue;
        };
        if (value_milli - min_milli) % step_milli != 0 {
            let detail = format!("value is not a multiple of a given step ({step}) from ({min})");
            errors.invalid_value(&path_step, value.to_string(), detail);
        }
    }
}

/// The value in thousandths.
fn milli(quantity: &Quantity) -> Option<i128> {
    let value = match quantity.as_int() {
        Some(value) => i128::from(value) * 1000,
        None => (quantity.as_float() * 1000.0).round() as i128,
    };
    (value != 0 || quantity.sign() == 0).then_some(value)
}
