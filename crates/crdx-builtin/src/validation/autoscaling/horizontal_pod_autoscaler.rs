//! `HorizontalPodAutoscaler`s (`pkg/apis/autoscaling/validation`), in the form of `autoscaling/v2`.

use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::field::{
    FieldError, ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{Gate, V1_34, V1_36, V1_37};
use crdx_value::{Value, group_version};

const MAX_PERIOD: i64 = 1800;
const MAX_STABILIZATION: i64 = 3600;
const SOURCES: &[(&str, &str)] = &[
    ("Object", "object"),
    ("External", "external"),
    ("Pods", "pods"),
    ("Resource", "resource"),
    ("ContainerResource", "containerResource"),
];
const SOURCE_TYPES: &[&str] = &["ContainerResource", "External", "Object", "Pods", "Resource"];

/// Which versions a reference to another object may have (`CrossVersionObjectReferenceValidationOptions`).
#[derive(Clone, Copy)]
struct ReferenceOptions {
    allows_empty_group: bool,
    allows_invalid_version: bool,
}

/// `ValidateHorizontalPodAutoscaler` and `ValidateHorizontalPodAutoscalerUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let old_spec = FieldValue::new(old.and_then(|old| old.get("spec")), ROOT);
    let (min, max, target) = (spec.child("minReplicas"), spec.child("maxReplicas"), spec.child("scaleTargetRef"));
    let allows_zero = errors.release.enables(Gate::HPAScaleToZero) || old_spec.child("minReplicas").int() == Some(0);
    let lowest = i64::from(!allows_zero);
    if min.int().is_some_and(|replicas| replicas < lowest) {
        errors.invalid(&min, format!("must be greater than or equal to {lowest}"));
    }
    max_replicas(errors, &max);
    if min.int().is_some_and(|min| max.int().unwrap_or_default() < min) {
        let detail = "must be greater than or equal to `minReplicas`";
        errors.invalid_value(&max.path, max.int().unwrap_or_default(), detail);
    }
    let (target_options, metric_options) = reference_options(old, &target, &old_spec);
    reference(errors, &target, target_options);
    metrics(errors, &spec, metric_options);
    let behavior = spec.child("behavior");
    for rules in ["scaleUp", "scaleDown"].map(|name| behavior.child(name)) {
        if rules.is_set() {
            scaling_rules(errors, &rules);
        }
    }
}

fn max_replicas(errors: &mut Errors, max: &FieldValue<'_, '_>) {
    match (max.int().unwrap_or_default(), errors.release) {
        // The rule that the types declare is enforced since 1.37.
        (0, release) if release.since(V1_37) => errors.required(max, ""),
        (0, release) if release.since(V1_36) => errors.required(max, "must be set and greater than 0"),
        (replicas, release) if replicas < 0 && release.since(V1_36) => {
            errors.invalid(max, "must be greater than or equal to 1");
        }
        (replicas, _) if replicas < 1 => errors.invalid_value(&max.path, replicas, "must be greater than 0"),
        _ => {}
    }
}

/// The options for the target, and for the objects of metrics.
fn reference_options(
    old: Option<&Value>,
    target: &FieldValue<'_, '_>,
    old_spec: &FieldValue<'_, '_>,
) -> (ReferenceOptions, ReferenceOptions) {
    let old_target = old_spec.child("scaleTargetRef");
    let is_same = |name| target.value.get(name) == old_target.value.get(name);
    let is_unchanged = old.is_some() && is_same("apiVersion") && is_same("kind");
    let target_options = ReferenceOptions {
        allows_empty_group: !is_unchanged && target.child("kind").text() == "ReplicationController",
        allows_invalid_version: is_unchanged,
    };
    let metric_options = ReferenceOptions { allows_empty_group: true, allows_invalid_version: false };
    let is_invalid = |metric: FieldValue<'_, '_>| {
        let object = metric.child("object");
        let described = object.child("describedObject");
        object.is_set() && version_error(described.child("apiVersion").text(), metric_options).is_some()
    };
    let has_invalid = old_spec.child("metrics").items().any(is_invalid);
    (target_options, ReferenceOptions { allows_invalid_version: has_invalid, ..metric_options })
}

/// `ValidateCrossVersionObjectReference`
fn reference(errors: &mut Errors, reference: &FieldValue<'_, '_>, options: ReferenceOptions) {
    for field in ["kind", "name"].map(|name| reference.child(name)) {
        if errors.require_text(&field) {
            errors.messages(&field, names::path_segment(field.text(), NameForm::Whole));
        }
    }
    let version = reference.child("apiVersion");
    // Before 1.34, the version was not validated.
    if let Some(message) = version_error(version.text(), options).filter(|_| errors.release.since(V1_34)) {
        errors.invalid_value(&version.path, version.text(), message);
    }
}

/// `ValidateAPIVersion`
fn version_error(version: &str, options: ReferenceOptions) -> Option<String> {
    if options.allows_invalid_version {
        return None;
    }
    match group_version::parse(version) {
        Err(message) => Some(message.into()),
        Ok(("", _)) if !options.allows_empty_group => Some("apiVersion must specify API group".to_owned()),
        Ok(_) => None,
    }
}

/// `validateMetrics`
fn metrics(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: ReferenceOptions) {
    let list = spec.child("metrics");
    for metric in list.items() {
        validate_metric(errors, &metric, options);
    }
    let counts_from_zero = |metric: FieldValue<'_, '_>| matches!(metric.child("type").text(), "Object" | "External");
    if spec.child("minReplicas").int() == Some(0) && !list.items().any(counts_from_zero) {
        let detail = "must specify at least one Object or External metric to support scaling to zero replicas";
        errors.forbidden(&list, detail);
    }
}

/// `validateMetricSpec`
fn validate_metric(errors: &mut Errors, metric: &FieldValue<'_, '_>, options: ReferenceOptions) {
    let type_ = metric.child("type");
    if type_.text().is_empty() {
        errors.required(&type_, "must specify a metric source type");
    }
    let expected = SOURCES.iter().find(|(name, _)| *name == type_.text()).map(|(_, field)| *field);
    if expected.is_none() {
        errors.list.push(FieldError::not_supported(&type_.path, type_.text(), SOURCE_TYPES));
    }
    let present: Vec<&str> =
        SOURCES.iter().map(|(_, field)| *field).filter(|field| metric.child(field).is_set()).collect();
    if let Some(first) = present.first() {
        source(errors, first, &metric.child(first), options);
    }
    match expected {
        Some(field) if !metric.child(field).is_set() => {
            errors.required(&metric.child(field), "must populate information for the given metric source");
        }
        Some(_) => {}
        None => errors.list.push(FieldError::not_supported(&type_.path, type_.text(), SOURCE_TYPES)),
    }
    if present.len() != 1 {
        for field in present.iter().filter(|field| Some(**field) != expected) {
            errors.forbidden(&metric.child(field), "must populate the given metric source only");
        }
    }
}

fn source(errors: &mut Errors, type_: &str, source: &FieldValue<'_, '_>, options: ReferenceOptions) {
    let (name, target) = (source.child("name"), source.child("target"));
    match type_ {
        "object" => {
            reference(errors, &source.child("describedObject"), options);
            metric_name(errors, source);
        }
        "external" | "pods" => metric_name(errors, source),
        _ if name.text().is_empty() => errors.required(&name, "must specify a resource name"),
        "containerResource" => resources::container_resource_name(errors, &name, name.text()),
        _ => {}
    }
    if type_ == "containerResource" {
        let container = source.child("container");
        if container.text().is_empty() {
            errors.required(&container, "must specify a container");
        } else {
            formats::label(errors, &container);
        }
    }
    metric_target(errors, &target);
    let (value, average, utilization) =
        (target.child("value"), target.child("averageValue"), target.child("averageUtilization"));
    match type_ {
        "object" if !value.is_set() && !average.is_set() => {
            errors.required(&average, "must set either a target value or averageValue");
        }
        "external" if !value.is_set() && !average.is_set() => {
            errors.required(&average, "must set either a target value for metric or a per-pod target");
        }
        "external" if value.is_set() && average.is_set() => {
            errors.forbidden(&value, "may not set both a target value for metric and a per-pod target");
        }
        "pods" if !average.is_set() => errors.required(&average, "must specify a positive target averageValue"),
        "resource" | "containerResource" => match (utilization.is_set(), average.is_set()) {
            (false, false) => {
                errors.required(&utilization, "must set either a target raw value or a target utilization");
            }
            (true, true) => {
                errors.forbidden(&average, "may not set both a target raw value and a target utilization");
            }
            _ => {}
        },
        _ => {}
    }
}

/// `validateMetricIdentifier`
fn metric_name(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let metric = source.child("metric");
    let name = metric.child("name");
    if name.text().is_empty() {
        errors.required(&name, "must specify a metric name");
    } else {
        errors.messages(&name, names::path_segment(name.text(), NameForm::Whole));
    }
}

/// `validateMetricTarget`
fn metric_target(errors: &mut Errors, target: &FieldValue<'_, '_>) {
    let type_ = target.child("type");
    if type_.text().is_empty() {
        errors.required(&type_, "must specify a metric target type");
    }
    if !matches!(type_.text(), "Utilization" | "Value" | "AverageValue") {
        let detail = "must be either Utilization, Value, or AverageValue";
        errors.invalid_value(&type_.path, type_.text(), detail);
    }
    for quantity in ["value", "averageValue"].map(|name| target.child(name)) {
        if quantity.quantity(errors.release).is_some_and(|quantity| quantity.sign() != 1) {
            errors.invalid(&quantity, "must be positive");
        }
    }
    let utilization = target.child("averageUtilization");
    if utilization.int().is_some_and(|percent| percent < 1) {
        errors.invalid(&utilization, "must be greater than 0");
    }
}

/// `validateScalingRules`
fn scaling_rules(errors: &mut Errors, rules: &FieldValue<'_, '_>) {
    let (window, select, policies) =
        (rules.child("stabilizationWindowSeconds"), rules.child("selectPolicy"), rules.child("policies"));
    if window.int().is_some_and(|seconds| seconds < 0) {
        errors.invalid(&window, "must be greater than or equal to zero");
    }
    if window.int().is_some_and(|seconds| seconds > MAX_STABILIZATION) {
        errors.invalid(&window, format!("must be less than or equal to {MAX_STABILIZATION}"));
    }
    if select.is_set() {
        errors.supported(&select, &["Disabled", "Max", "Min"]);
    }
    resources::nonnegative_quantity(errors, &rules.child("tolerance"));
    // Only an absent list gets defaults.
    if policies.len() == 0 || policies.is_given_empty() {
        return errors.required(&policies, "must specify at least one Policy");
    }
    for policy in policies.items() {
        let (type_, value, period) = (policy.child("type"), policy.child("value"), policy.child("periodSeconds"));
        errors.supported(&type_, &["Percent", "Pods"]);
        errors.positive(&value);
        errors.positive(&period);
        if period.int().is_some_and(|seconds| seconds > MAX_PERIOD) {
            errors.invalid(&period, format!("must be less than or equal to {MAX_PERIOD}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn an_empty_list_of_policies_gets_no_defaults() {
        let scaler = |policies: &str| {
            format!(
                r#"{{"spec":{{"maxReplicas":2,"scaleTargetRef":{{"apiVersion":"apps/v1","kind":"a","name":"b"}},"behavior":{{"scaleDown":{{{policies}}}}}}}}}"#
            )
        };
        let errors = |policies: &str| created("autoscaling/v2", "HorizontalPodAutoscaler", &scaler(policies), "1.37");
        let expected = ["spec.behavior.scaleDown.policies: Required value: must specify at least one Policy"];
        assert_eq!(errors(r#""policies":[]"#), expected);
    }
    #[test]
    fn the_largest_number_of_replicas_is_worded_by_release() {
        let errors = |replicas: i64, release| {
            let target = r#""scaleTargetRef":{"apiVersion":"apps/v1","kind":"a","name":"b"}"#;
            let scaler = format!(r#"{{"spec":{{"maxReplicas":{replicas},{target}}}}}"#);
            created("autoscaling/v2", "HorizontalPodAutoscaler", &scaler, release).remove(0)
        };
        let is = |detail: &str| format!("spec.maxReplicas: {detail}");
        assert_eq!(errors(0, "1.37"), is("Required value"));
        assert_eq!(errors(0, "1.36"), is("Required value: must be set and greater than 0"));
        assert_eq!(errors(0, "1.35"), is("Invalid value: 0: must be greater than 0"));
        assert_eq!(errors(-1, "1.36"), is("Invalid value: -1: must be greater than or equal to 1"));
    }
}
