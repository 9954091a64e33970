//! `LimitRange`s (`ValidateLimitRange`).

use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_cel::value::Quantity;
use crdx_types::amounts::{is_huge_page, is_native};
use crdx_value::Value;
use crdx_value::field::{FieldError, names};
use crdx_value::quantity::MAX_MILLI_VALUE;
use std::cmp::Ordering;
use std::collections::{BTreeSet, HashSet};

const TYPES: &[&str] = &["Pod", "Container", "PersistentVolumeClaim"];
const NOT_FOR_PODS: &str = "may not be specified when `type` is 'Pod'";

/// Validates the limits; updates are validated in the same way.
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let spec = object.child("spec");
    let mut seen = HashSet::new();
    for limit in spec.child("limits").items() {
        let type_ = limit.child("type");
        limit_type(errors, &type_);
        if !seen.insert(type_.text()) {
            errors.duplicate(&type_);
        }
        validate_limit(errors, &limit, type_.text());
    }
}

/// `validateLimitRangeTypeName`
fn limit_type(errors: &mut Errors, type_: &FieldValue<'_, '_>) {
    let messages = names::qualified_name(type_.text(), errors.release);
    let is_valid = messages.is_empty();
    errors.messages(type_, messages);
    if is_valid && !type_.text().contains('/') && !TYPES.contains(&type_.text()) {
        errors.invalid(type_, "must be a standard limit type or fully qualified");
    }
}

fn validate_limit(errors: &mut Errors, limit: &FieldValue<'_, '_>, type_: &str) {
    let mut keys = BTreeSet::new();
    for name in ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] {
        let list = limit.child(name);
        if type_ == "Pod" && name.starts_with("default") {
            if list.len() > 0 {
                errors.forbidden(&list, NOT_FOR_PODS);
            }
            continue;
        }
        for (key, quantity) in list.entries() {
            if matches!(type_, "Pod" | "Container") {
                resources::container_resource_name(errors, &quantity, key);
            } else {
                resources::resource_name(errors, &quantity, key);
            }
            keys.insert(key);
        }
    }
    let has_storage = |name: &str| limit.value.at(&[name, "storage"]).is_some();
    if type_ == "PersistentVolumeClaim" && !has_storage("min") && !has_storage("max") {
        let detail = "either minimum or maximum storage value is required, but neither was provided";
        errors.list.push(FieldError::required(&limit.path.child("limits"), detail));
    }
    for key in keys {
        compare(errors, limit, type_, key);
    }
}

/// Compares the limits of one resource.
fn compare(errors: &mut Errors, limit: &FieldValue<'_, '_>, type_: &str, key: &str) {
    let quantity = |name: &str| {
        let is_ignored = type_ == "Pod" && name.starts_with("default");
        let value = limit.value.at(&[name, key]).filter(|_| !is_ignored)?;
        FieldValue::new(Some(value), limit.path).quantity(errors.release)
    };
    let (min, max, ratio) = (quantity("min"), quantity("max"), quantity("maxLimitRequestRatio"));
    let (default, request) = (quantity("default"), quantity("defaultRequest"));
    let mut report = |field: &str, shown: &Quantity, detail: String| {
        let list = limit.path.child(field);
        errors.invalid_value(&list.key(key), shown.to_string(), detail);
    };
    let exceeds = |a: &Option<Quantity>, b: &Option<Quantity>| match (a, b) {
        (Some(a), Some(b)) if a.compare(b) == Ordering::Greater => Some((a.clone(), b.clone())),
        _ => None,
    };
    if let Some((min, max)) = exceeds(&min, &max) {
        report("min", &min, format!("min value {min} is greater than max value {max}"));
    }
    if let Some((min, request)) = exceeds(&min, &request) {
        let detail = format!("min value {min} is greater than default request value {request}");
        report("defaultRequest", &request, detail);
    }
    if let Some((request, max)) = exceeds(&request, &max) {
        let detail = format!("default request value {request} is greater than max value {max}");
        report("defaultRequest", &request, detail);
    }
    if let Some((request, default)) = exceeds(&request, &default) {
        let detail = format!("default request value {request} is greater than default limit value {default}");
        report("defaultRequest", &request, detail);
    }
    if let Some((min, default)) = exceeds(&min, &default) {
        report("default", &min, format!("min value {min} is greater than default value {default}"));
    }
    if let Some((default, max)) = exceeds(&default, &max) {
        report("default", &max, format!("default value {default} is greater than max value {max}"));
    }
    if let Some(ratio) = &ratio {
        if ratio.compare(&Quantity::from_int(1)) == Ordering::Less {
            report("maxLimitRequestRatio", ratio, format!("ratio {ratio} is less than 1"));
        }
        if let (Some(min), Some(max)) = (&min, &max) {
            let (ratio_value, most) = ratios(ratio, min, max);
            if ratio_value > most {
                let detail = format!("ratio {ratio} is greater than max/min = {most:.6}");
                report("maxLimitRequestRatio", ratio, detail);
            }
        }
    }
    if let (Some(default), Some(request)) = (&default, &request) {
        let must_be_equal = !is_native(key) || is_huge_page(key);
        if must_be_equal && default.compare(request) != Ordering::Equal {
            let detail = format!("default value {default} must equal to defaultRequest value {request} in {key}");
            report("defaultRequest", request, detail);
        }
    }
}

/// A ratio and that of a maximum to a minimum: of thousandths, or of integers if thousandths do not fit in 64 bits.
fn ratios(ratio: &Quantity, min: &Quantity, max: &Quantity) -> (f64, f64) {
    if [ratio, min, max].iter().all(|quantity| quantity.value() < MAX_MILLI_VALUE) {
        (ratio.milli_value() as f64 / 1000.0, max.milli_value() as f64 / min.milli_value() as f64)
    } else {
        (ratio.value() as f64, max.value() as f64 / min.value() as f64)
    }
}
