//! `ResourceClaim`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resource::device_taint_rule::EFFECTS;
use crate::validation::resource::names::{self, fully_qualified_name, label_value};
use crate::validation::resource::{AlreadyStored, MAX_LIST, TEXTS, fits, opaque, resource_slice, selectors, unique};
use crate::validation::{formats, immutable, internal};
use crdx_value::Value;
use crdx_value::field::BadValue;
use crdx_value::release::{Minor, V1_35, V1_36, V1_37, V1_38};
use std::collections::{BTreeMap, BTreeSet};

const MAX_ALTERNATIVES: usize = 8;
const ONE_REQUEST: &str = "exactly one of `exactly` or `firstAvailable` is required";
const REQUEST_NAME: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";
const MODES: &[&str] = &["All", "ExactCount"];
const OPERATORS: &[&str] = &["Equal", "Exists"];

/// The names of the requests of a claim, with those of their alternatives.
pub(crate) type RequestNames<'v> = BTreeMap<&'v str, BTreeSet<&'v str>>;

/// `ValidateResourceClaim` and `ValidateResourceClaimUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let stored = specification_is_fixed(errors, &spec, old, ("resource.ResourceClaimSpec", V1_37));
    if stored == AlreadyStored::No || !errors.release.since(V1_35) {
        claim_spec(errors, &spec, stored);
    }
}

/// Reports a changed specification of an internal type; since the release `declared`, without its value.
pub(crate) fn specification_is_fixed(
    errors: &mut Errors,
    spec: &FieldValue<'_, '_>,
    old: Option<&Value>,
    (type_, declared): (&str, Minor),
) -> AlreadyStored {
    let Some(old) = old else { return AlreadyStored::No };
    if !internal::is_equal(type_, spec.value, old.get("spec").unwrap_or(&Value::Null), errors.release) {
        if errors.release.since(declared) {
            errors.invalid_value(&spec.path, BadValue::new(&Value::Null, errors.release), immutable::IMMUTABLE);
        } else {
            errors.invalid_typed(spec, type_, immutable::IMMUTABLE);
        }
        return AlreadyStored::Changed;
    }
    AlreadyStored::Yes
}

/// `validateDeviceClaim`
pub(crate) fn claim_spec(errors: &mut Errors, spec: &FieldValue<'_, '_>, stored: AlreadyStored) {
    let devices = spec.child("devices");
    let (requests, constraints, configurations) =
        (devices.child("requests"), devices.child("constraints"), devices.child("config"));
    let names = request_names(&requests);
    if fits(errors, &requests, MAX_LIST) {
        for request in requests.items() {
            validate_request(errors, &request, stored);
        }
        unique(errors, &requests, ("name", "resource/v1.DeviceRequest"));
    }
    if fits(errors, &constraints, MAX_LIST) {
        for constraint in constraints.items() {
            validate_constraint(errors, &constraint, &names);
        }
    }
    if fits(errors, &configurations, MAX_LIST) {
        for configuration in configurations.items() {
            references(errors, &configuration.child("requests"), &names);
            opaque(errors, &configuration, stored);
        }
    }
}

/// `gatherRequestNames`
pub(crate) fn request_names<'v>(requests: &FieldValue<'v, '_>) -> RequestNames<'v> {
    let name = |value: &'v Value| value.str_at(&["name"]).unwrap_or_default();
    let items = |value: &'v Value| value.as_array().unwrap_or_default();
    let named = items(requests.value).iter().map(|request| {
        let alternatives = request.get("firstAvailable").map(items).unwrap_or_default();
        (name(request), alternatives.iter().map(name).collect())
    });
    named.collect()
}

/// A list of references to requests
pub(crate) fn references(errors: &mut Errors, list: &FieldValue<'_, '_>, names: &RequestNames<'_>) {
    if !fits(errors, list, MAX_LIST) {
        return;
    }
    for item in list.items() {
        reference(errors, &item, names);
    }
    unique(errors, list, TEXTS);
}

/// `validateRequestNameRef`
pub(crate) fn reference(errors: &mut Errors, reference: &FieldValue<'_, '_>, names: &RequestNames<'_>) {
    let parts: Vec<&str> = reference.text().split('/').collect();
    let is_known = match parts.as_slice() {
        [name] => names.contains_key(name),
        [name, alternative] => names.get(name).is_some_and(|names| names.contains(alternative)),
        _ => return errors.invalid(reference, REQUEST_NAME),
    };
    for part in parts {
        errors.messages_at(&reference.path, part, crdx_value::field::names::dns1123_label(part.as_bytes()));
    }
    if !is_known {
        errors.invalid(reference, REQUEST_NAME);
    }
}

/// `validateDeviceRequest`
fn validate_request(errors: &mut Errors, request: &FieldValue<'_, '_>, stored: AlreadyStored) {
    formats::label(errors, &request.child("name"));
    let (exactly, alternatives) = (request.child("exactly"), request.child("firstAvailable"));
    match (exactly.is_set(), alternatives.len() > 0) {
        (false, false) => errors.required(request, ONE_REQUEST),
        (true, true) => {
            // Before 1.35, both were validated.
            if !errors.release.since(V1_35) {
                list_of_alternatives(errors, &alternatives, stored);
                exact_request(errors, &exactly, stored);
            }
            let detail = format!("{ONE_REQUEST}, but multiple fields are set");
            errors.invalid_value(&request.path, BadValue::new(&Value::Null, errors.release), detail);
            if errors.release.since(V1_37) {
                declared_rules(errors, &exactly, &alternatives);
            }
        }
        (true, false) => exact_request(errors, &exactly, stored),
        (false, true) => list_of_alternatives(errors, &alternatives, stored),
    }
}

fn list_of_alternatives(errors: &mut Errors, alternatives: &FieldValue<'_, '_>, stored: AlreadyStored) {
    if fits(errors, alternatives, MAX_ALTERNATIVES) {
        for alternative in alternatives.items() {
            formats::label(errors, &alternative.child("name"));
            exact_request(errors, &alternative, stored);
        }
        unique(errors, alternatives, ("name", "resource/v1.DeviceSubRequest"));
    }
}

/// The rules that types declare since 1.37. They apply even to a request with too many fields.
fn declared_rules(errors: &mut Errors, exactly: &FieldValue<'_, '_>, alternatives: &FieldValue<'_, '_>) {
    declared_in_both(errors, exactly);
    if fits(errors, alternatives, MAX_ALTERNATIVES) {
        for alternative in alternatives.items() {
            class_name(errors, &alternative);
            declared_in_both(errors, &alternative);
        }
        unique(errors, alternatives, ("name", "resource/v1.DeviceSubRequest"));
    }
}

/// The declared rules that exact requests and alternatives have in common.
fn declared_in_both(errors: &mut Errors, request: &FieldValue<'_, '_>) {
    fits(errors, &request.child("selectors"), MAX_LIST);
    let mode = request.child("allocationMode");
    if !mode.text().is_empty() {
        errors.supported(&mode, MODES);
    }
    for toleration in request.child("tolerations").items() {
        let (key, operator, effect) =
            (toleration.child("key"), toleration.child("operator"), toleration.child("effect"));
        if !key.text().is_empty() {
            formats::qualified_name(errors, &key);
        }
        if errors.require_text(&operator) {
            errors.supported(&operator, OPERATORS);
        }
        if !effect.text().is_empty() {
            errors.supported(&effect, EFFECTS);
        }
    }
}

fn class_name(errors: &mut Errors, request: &FieldValue<'_, '_>) {
    let class = request.child("deviceClassName");
    if errors.require_text(&class) {
        formats::subdomain(errors, &class);
    }
}

/// `validateExactDeviceRequest` and `validateDeviceSubRequest`
fn exact_request(errors: &mut Errors, request: &FieldValue<'_, '_>, stored: AlreadyStored) {
    class_name(errors, request);
    selectors::validate(errors, &request.child("selectors"), stored);
    let (mode, count) = (request.child("allocationMode"), request.child("count"));
    let number = count.int().unwrap_or_default();
    match mode.text() {
        "All" if number != 0 => errors.invalid(&count, "must not be specified when allocationMode is 'All'"),
        "ExactCount" if number <= 0 => errors.invalid_value(&count.path, number, "must be greater than zero"),
        "All" | "ExactCount" => {}
        _ => errors.not_supported(&mode, MODES),
    }
    for toleration in request.child("tolerations").items() {
        validate_toleration(errors, &toleration);
    }
    // Since 1.38; those of an existing claim are not validated (`validateCapacityRequirements`, `Validate_CapacityRequirements`).
    let capacity = request.child("capacity");
    let requests = capacity.child("requests");
    if errors.release.since(V1_38) && stored != AlreadyStored::Yes {
        names::keys(errors, &requests, resource_slice::MAX_KEY, names::qualified_name);
        if fits(errors, &requests, MAX_LIST) {
            for (_, requested) in requests.entries() {
                if requested.quantity(errors.release).is_some_and(|quantity| quantity.sign() < 0) {
                    errors.invalid(&requested, "must be greater than or equal to 0");
                }
            }
        }
    }
}

/// `validateDeviceToleration`
pub(crate) fn validate_toleration(errors: &mut Errors, toleration: &FieldValue<'_, '_>) {
    let [key, operator, value, effect] =
        ["key", "operator", "value", "effect"].map(|name| toleration.value.str_at(&[name]).unwrap_or_default());
    if !key.is_empty() {
        formats::qualified_name(errors, &toleration.child("key"));
    }
    match operator {
        "Exists" if !value.is_empty() => {
            errors.invalid(&toleration.child("value"), "must be empty for operator `Exists`");
        }
        "Exists" => {}
        "Equal" => label_value(errors, &toleration.child("value")),
        "" => errors.required(&toleration.child("operator"), ""),
        _ => errors.not_supported(&toleration.child("operator"), OPERATORS),
    }
    if !effect.is_empty() {
        errors.supported(&toleration.child("effect"), EFFECTS);
    }
}

/// `validateDeviceConstraint`
fn validate_constraint(errors: &mut Errors, constraint: &FieldValue<'_, '_>, names: &RequestNames<'_>) {
    references(errors, &constraint.child("requests"), names);
    let (matched, distinct) = (constraint.child("matchAttribute"), constraint.child("distinctAttribute"));
    if matched.is_set() {
        fully_qualified_name(errors, &matched);
        // Both types of attributes declare the format since 1.37.
        if distinct.is_set() && errors.release.since(V1_37) {
            fully_qualified_name(errors, &distinct);
        }
    } else if distinct.is_set() {
        fully_qualified_name(errors, &distinct);
    } else if !errors.release.since(V1_36) {
        errors.required(&matched, "");
    } else {
        let detail =
            "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, but multiple fields are set";
        errors.required(constraint, detail);
    }
}
