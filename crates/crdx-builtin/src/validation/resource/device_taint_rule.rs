//! `DeviceTaintRule`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource::names::{label_value, pool_name};
use crate::validation::{driver_names, formats};
use crdx_value::Value;

pub(crate) const EFFECTS: &[&str] = &["NoExecute", "NoSchedule", "None"];

/// `ValidateDeviceTaintRule` and `ValidateDeviceTaintRuleUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let selector = spec.child("deviceSelector");
    let (driver, pool, device) = (selector.child("driver"), selector.child("pool"), selector.child("device"));
    if driver.is_set() {
        driver_names::validate(errors, &driver);
    }
    if pool.is_set() {
        pool_name(errors, &pool);
    }
    if device.is_set() {
        formats::label(errors, &device);
    }
    let old_effect = old.and_then(|old| old.str_at(&["spec", "taint", "effect"]));
    validate_taint(errors, &spec.child("taint"), old_effect);
}

/// `validateDeviceTaint`
pub(crate) fn validate_taint(errors: &mut Errors, taint: &FieldValue<'_, '_>, old_effect: Option<&str>) {
    let (key, value, effect) = (taint.child("key"), taint.child("value"), taint.child("effect"));
    formats::qualified_name(errors, &key);
    if !value.text().is_empty() {
        label_value(errors, &value);
    }
    if old_effect != Some(effect.text()) {
        errors.one_of(&effect, EFFECTS);
    }
}
