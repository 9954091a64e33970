//! `ResourceSlice`s (`validateResourceSliceSpec`). Fields of gates that are disabled by default are not validated, because
//! the server drops them.

use crate::validation::core::pod_spec::affinity;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource::device_taint_rule::validate_taint;
use crate::validation::resource::names::{keys, pool_name, qualified_name, shown_key};
use crate::validation::resource::{fits, request_policy, unique};
use crate::validation::selectors::LabelValues;
use crate::validation::{driver_names, formats, immutable};
use crdx_value::Value;
use crdx_value::field::{BadValue, FieldError, ROOT};
use crdx_value::release::{V1_35, V1_36, V1_37, V1_38};
use std::collections::BTreeSet;

const MAX_DEVICES: usize = 128;
const MAX_ADVANCED_DEVICES: usize = 64;
const MAX_COUNTER_SETS: usize = 8;
const MAX_COUNTERS: usize = 32;
const MAX_CONSUMPTIONS: usize = 2;
const MAX_ATTRIBUTES: usize = 32;
const MAX_TAINTS: usize = 16;
const MAX_CONDITIONS: usize = 4;
const MAX_TEXT: usize = 64;
/// The maximum length of the key of an attribute.
pub(crate) const MAX_KEY: usize = 63 + 1 + 32;
/// The fields of an attribute.
const VALUES: &str = "`int`, `bool`, `string`, `version`, `ints`, `bools`, `strings`, `versions`";
const UNSET_OR_TRUE: &str = "must be either unset or set to true";

/// `ValidateResourceSlice` and `ValidateResourceSliceUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let old = FieldValue::new(old.and_then(|old| old.get("spec")), ROOT);
    let (driver, pool, node) = (spec.child("driver"), spec.child("pool"), spec.child("nodeName"));
    driver_names::validate(errors, &driver);
    pool_name(errors, &pool.child("name"));
    let count = pool.child("resourceSliceCount");
    if count.int().unwrap_or_default() <= 0 {
        errors.invalid_value(&count.path, count.int().unwrap_or_default(), "must be greater than zero");
    }
    let generation = pool.child("generation");
    if generation.int().is_some_and(|generation| generation < 0) {
        errors.invalid(&generation, "must be greater than or equal to zero");
    }
    if old.is_set() {
        immutable::field(errors, &pool.child("name"), &old.child("pool").child("name"));
        immutable::field(errors, &driver, &old.child("driver"));
        immutable::field(errors, &node, &old.child("nodeName"));
    }
    let has_advanced = errors.release.since(V1_36);
    node_selection(errors, &spec, has_advanced);
    let (counters, devices) = (spec.child("sharedCounters"), spec.child("devices"));
    let is_given = |list: &FieldValue<'_, '_>| list.is_set() || list.is_given_empty();
    if has_advanced && is_given(&counters) && is_given(&devices) {
        errors.invalid_value(&spec.path, "", "only one of `sharedCounters` or `devices` is allowed");
    }
    let is_advanced = |device: FieldValue<'_, '_>| {
        has_advanced && device.child("taints").len() + device.child("consumesCounters").len() > 0
    };
    let max = if devices.items().any(is_advanced) { MAX_ADVANCED_DEVICES } else { MAX_DEVICES };
    let selects_per_device = has_advanced && spec.child("perDeviceNodeSelection").bool();
    // Since 1.38, an update that does not change the devices does not validate them, instead of single fields of a device.
    let by_list = errors.release.since(V1_38);
    let keeps = |name| old.is_set() && immutable::is_equal(spec.child(name).value, old.child(name).value);
    let keeps_devices = by_list && keeps("devices");
    if !keeps_devices && fits(errors, &devices, max) {
        let mut seen = BTreeSet::new();
        for device in devices.items() {
            let name = device.child("name").text();
            let old_devices = old.child("devices");
            let before = old_devices.items().find(|old| old.child("name").text() == name).map(|old| old.value);
            validate_device(errors, &device, before.filter(|_| !by_list));
            if has_advanced && !by_list {
                device_nodes(errors, &device, selects_per_device);
            }
            if !seen.insert(name) {
                let path = if errors.release.since(V1_35) { device.path } else { device.path.child("name") };
                errors.list.push(FieldError::duplicate(&path, name));
            }
        }
    }
    if by_list && !(keeps_devices && keeps("perDeviceNodeSelection")) {
        for device in devices.items() {
            device_nodes(errors, &device, selects_per_device);
        }
    }
    if has_advanced && fits(errors, &counters, MAX_COUNTER_SETS) {
        for set in counters.items() {
            counter_set(errors, &set, "name");
        }
        unique(errors, &counters, ("name", "resource/v1.CounterSet"));
    }
}

/// Which nodes have access: exactly one field says it.
fn node_selection(errors: &mut Errors, spec: &FieldValue<'_, '_>, has_advanced: bool) {
    let mut set = named_or_selected(errors, spec, "must be either unset or set to a non-empty string");
    one_term(errors, &spec.child("nodeSelector"));
    let mut flags = vec![("allNodes", "`allNodes`")];
    if has_advanced {
        flags.push(("perDeviceNodeSelection", "`perDeviceNodeSelection`"));
    }
    for (name, shown) in flags {
        let flag = spec.child(name);
        match flag.value.as_bool() {
            Some(true) => set.push(shown),
            Some(false) => errors.invalid(&flag, UNSET_OR_TRUE),
            None => {}
        }
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
    match set.len() {
        0 => errors.required(spec, detail),
        1 => {}
        _ => {
            let shown = format!("{{{}}}", set.join(", "));
            errors.invalid_value(&spec.path, shown, format!("{detail}, but multiple fields are set"));
        }
    }
}

fn one_term(errors: &mut Errors, selector: &FieldValue<'_, '_>) {
    let terms = selector.child("nodeSelectorTerms");
    if selector.is_set() && terms.len() != 1 {
        errors.invalid_typed(&terms, "[]core.NodeSelectorTerm", "must have exactly one node selector term");
    }
}

/// `validateCounterSet` and `validateDeviceCounterConsumption`; `name` is the field with the name of the set.
fn counter_set(errors: &mut Errors, set: &FieldValue<'_, '_>, name: &str) {
    let (name, counters) = (set.child(name), set.child("counters"));
    if errors.require_text(&name) {
        formats::label(errors, &name);
    }
    if counters.len() == 0 {
        errors.required(&counters, "");
    } else if fits(errors, &counters, MAX_COUNTERS) {
        keys(errors, &counters, 63, |errors, field, key| {
            errors.messages_at(&field.path, key, crdx_value::field::names::dns1123_label(key.as_bytes()));
        });
    }
}

/// `validateDevice`
fn validate_device(errors: &mut Errors, device: &FieldValue<'_, '_>, old: Option<&Value>) {
    let has_advanced = errors.release.since(V1_36);
    formats::label(errors, &device.child("name"));
    let (attributes, capacity) = (device.child("attributes"), device.child("capacity"));
    let total = attributes.len() + capacity.len();
    if total > MAX_ATTRIBUTES {
        let detail = format!("the total number of attributes and capacities must not exceed {MAX_ATTRIBUTES}");
        errors.invalid_value(&device.path, total as i64, detail);
    }
    keys(errors, &attributes, MAX_KEY, qualified_name);
    for (key, attribute) in attributes.value.as_object().into_iter().flatten() {
        let key = shown_key(key, MAX_KEY);
        validate_attribute(errors, &FieldValue::new(Some(attribute), attributes.path.key(&key)));
    }
    let is_changed = |name: &str| {
        let before = |old: &Value| immutable::is_equal(device.child(name).value, old.get(name).unwrap_or(&Value::Null));
        !old.is_some_and(before)
    };
    if is_changed("capacity") {
        keys(errors, &capacity, MAX_KEY, qualified_name);
        for (key, value) in capacity.value.as_object().into_iter().flatten().filter(|_| has_advanced) {
            let key = shown_key(key, MAX_KEY);
            let value = FieldValue::new(Some(value), capacity.path.key(&key));
            let policy = value.child("requestPolicy");
            if policy.is_set() && device.child("allowMultipleAllocations").bool() {
                request_policy::validate(errors, &policy, &value.child("value"));
            } else {
                errors.forbid_if_set(&policy, "allowMultipleAllocations must be true");
            }
        }
    }
    if !has_advanced {
        return;
    }
    let taints = device.child("taints");
    if is_changed("taints") && fits(errors, &taints, MAX_TAINTS) {
        for taint in taints.items() {
            validate_taint(errors, &taint, None);
        }
    }
    let consumed = device.child("consumesCounters");
    if fits(errors, &consumed, MAX_CONSUMPTIONS) {
        for set in consumed.items() {
            counter_set(errors, &set, "counterSet");
        }
        unique(errors, &consumed, ("counterSet", "resource/v1.DeviceCounterConsumption"));
    }
    binding_conditions(errors, device);
}

/// Validates `nodeName` and `nodeSelector`, and returns those that are set; `empty` is the error about an empty name.
fn named_or_selected(errors: &mut Errors, object: &FieldValue<'_, '_>, empty: &str) -> Vec<&'static str> {
    let (node, selector) = (object.child("nodeName"), object.child("nodeSelector"));
    let mut set = Vec::new();
    if node.is_set() {
        if node.text().is_empty() {
            errors.invalid(&node, empty);
        } else {
            set.push("`nodeName`");
            formats::object_name(errors, &node);
        }
    }
    if selector.is_set() {
        set.push("`nodeSelector`");
        affinity::node_selector(errors, &selector, LabelValues::Validate);
    }
    set
}

/// Which nodes have access to a device, if each device says it.
fn device_nodes(errors: &mut Errors, device: &FieldValue<'_, '_>, selects_per_device: bool) {
    let (node, selector, all) = (device.child("nodeName"), device.child("nodeSelector"), device.child("allNodes"));
    let detail = "`nodeName`, `nodeSelector` and `allNodes` can only be set if `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    if !selects_per_device {
        if [node, selector, all].iter().any(FieldValue::is_set) {
            errors.invalid_value(&device.path, BadValue::new(&Value::Null, errors.release), detail);
        }
        return;
    }
    let mut set = named_or_selected(errors, device, "must not be empty");
    if errors.release.since(V1_38) {
        one_term(errors, &selector);
    }
    match all.value.as_bool() {
        Some(true) => set.push("`allNodes`"),
        Some(false) => errors.invalid(&all, UNSET_OR_TRUE),
        None => {}
    }
    let detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to true in the ResourceSlice spec";
    match set.len() {
        0 => errors.required(device, detail),
        1 => {}
        _ => errors.invalid_value(&device.path, format!("{{{}}}", set.join(", ")), detail),
    }
}

/// `validateDeviceBindingParameters`
pub(crate) fn binding_conditions(errors: &mut Errors, device: &FieldValue<'_, '_>) {
    let (needed, failed) = (device.child("bindingConditions"), device.child("bindingFailureConditions"));
    for list in [&needed, &failed] {
        if fits(errors, list, MAX_CONDITIONS) {
            for condition in list.items() {
                formats::qualified_name(errors, &condition);
            }
        }
    }
    for list in [&needed, &failed] {
        let mut seen = BTreeSet::new();
        for condition in list.items() {
            if !seen.insert(condition.text()) {
                errors.duplicate(&condition);
            }
        }
    }
    let all: BTreeSet<&str> = needed.texts().collect();
    for condition in failed.items().filter(|condition| all.contains(condition.text())) {
        errors.invalid(&condition, "bindingFailureConditions must not overlap with bindingConditions");
    }
    for (list, other, detail) in [
        (&needed, &failed, "bindingConditions are required to use bindingFailureConditions"),
        (&failed, &needed, "bindingFailureConditions are required to use bindingConditions"),
    ] {
        if list.len() == 0 && other.len() > 0 {
            errors.invalid_typed(list, "[]string", detail);
        }
    }
}

/// `validateDeviceAttribute`
fn validate_attribute(errors: &mut Errors, attribute: &FieldValue<'_, '_>) {
    let is_set = |name: &&str| attribute.child(name).is_set();
    let set: Vec<&str> = ["int", "bool", "string", "version"].into_iter().filter(is_set).collect();
    let (text, version) = (attribute.child("string"), attribute.child("version"));
    if version.is_set() && !is_semantic_version(version.text()) {
        let most = if errors.release.since(V1_38) { ", with at most 18 digits in numbers" } else { "" };
        errors.invalid(&version, format!("must be a string compatible with semver.org spec 2.0.0{most}"));
    }
    for field in [&text, &version] {
        if field.text().len() > MAX_TEXT {
            errors.too_long(field, MAX_TEXT as i64);
        }
    }
    // Declared in the type since 1.37.
    let is_declared = errors.release.since(V1_37);
    match set.len() {
        0 if is_declared => errors.invalid_value(&attribute.path, "", format!("must specify one of: {VALUES}")),
        0 if errors.release.since(V1_35) => {
            errors.invalid_value(&attribute.path, "", "exactly one value must be specified");
        }
        0 => errors.required(attribute, "exactly one value must be specified"),
        1 => {}
        _ if is_declared => {
            let shown = format!("{{{}}}", set.join(", "));
            errors.invalid_value(&attribute.path, shown, format!("must specify exactly one of: {VALUES}"));
        }
        _ => errors.invalid_typed(attribute, "resource.DeviceAttribute", "exactly one value must be specified"),
    }
}

/// `semverRe`
fn is_semantic_version(text: &str) -> bool {
    let (rest, build) = text.split_once('+').map_or((text, None), |(rest, build)| (rest, Some(build)));
    let (core, early) = rest.split_once('-').map_or((rest, None), |(core, early)| (core, Some(early)));
    let is_number = |text: &str| {
        !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && (text == "0" || !text.starts_with('0'))
    };
    let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    let is_early = |text: &str| is_word(text) && (is_number(text) || !text.bytes().all(|b| b.is_ascii_digit()));
    core.split('.').count() == 3
        && core.split('.').all(is_number)
        && early.is_none_or(|early| early.split('.').all(is_early))
        && build.is_none_or(|build| build.split('.').all(is_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_semantic() {
        for version in ["1.2.3", "0.0.0", "1.2.3-alpha.1", "1.2.3-0a", "1.2.3+001.x", "1.2.3-a-b+c"] {
            assert!(is_semantic_version(version), "{version}");
        }
        for version in ["", "1.2", "01.2.3", "1.2.3-01", "1.2.3-", "1.2.3+", "v1.2.3", "1.2.3-a..b"] {
            assert!(!is_semantic_version(version), "{version}");
        }
    }
}
