//! Conversion of `HorizontalPodAutoscaler`s between `autoscaling/v1` and the stored form, `autoscaling/v2`
//! (`pkg/apis/autoscaling/v1/conversion.go`, `pkg/apis/autoscaling/helpers.go`). What `v1` has no fields for is in
//! annotations.

use crdx_server::server::{Conversion, ConversionUse, ConvertedKind};
use crdx_text as text;
use crdx_value::release::{Release, V1_33, V1_36};
use crdx_value::{Map, Value, json, object};
use metrics::{MetricTable, SPEC, STATUS};

mod metrics;

const METRICS: &str = "autoscaling.alpha.kubernetes.io/metrics";
const CURRENT_METRICS: &str = "autoscaling.alpha.kubernetes.io/current-metrics";
const CONDITIONS: &str = "autoscaling.alpha.kubernetes.io/conditions";
const BEHAVIOR: &str = "autoscaling.alpha.kubernetes.io/behavior";
const TOLERANCES: [&str; 2] =
    ["autoscaling.alpha.kubernetes.io/scale-down-tolerance", "autoscaling.alpha.kubernetes.io/scale-up-tolerance"];

/// The fields that both versions have.
const SHARED_SPEC: [&str; 3] = ["scaleTargetRef", "minReplicas", "maxReplicas"];
const SHARED_STATUS: [&str; 4] = ["observedGeneration", "lastScaleTime", "currentReplicas", "desiredReplicas"];

/// The utilization of the CPU in percent if no metric is given (`DefaultCPUUtilization`).
const DEFAULT_UTILIZATION: i64 = 80;

const CONDITION_FIELDS: [&str; 6] = ["type", "status", "lastTransitionTime", "reason", "message", "observedGeneration"];

/// The Go names of the fields of a behaviour, whose annotation encodes the internal type.
const BEHAVIOR_FIELDS: [&str; 2] = ["ScaleUp", "ScaleDown"];
const RULES_FIELDS: [&str; 4] = ["StabilizationWindowSeconds", "SelectPolicy", "Policies", "Tolerance"];
const POLICY_FIELDS: [&str; 3] = ["Type", "Value", "PeriodSeconds"];

/// The conversion of `autoscaling/v2`, the stored form.
#[derive(Debug)]
pub(super) struct NewAutoscaler;

impl Conversion for NewAutoscaler {
    fn default(&self, mut object: Value, converted: &ConvertedKind<'_>, set_defaults: &dyn Fn(&mut Value)) -> Value {
        set_defaults(&mut object);
        drop_annotations(&mut object, converted.release);
        object
    }

    fn to_stored(&self, _: &Value, _: &ConvertedKind<'_>) -> Option<Value> {
        None
    }

    fn of_stored(&self, _: &Value, _: Release, _: ConversionUse) -> Option<Value> {
        None
    }
}

/// The conversion of `autoscaling/v1`.
#[derive(Debug)]
pub(super) struct OldAutoscaler;

impl Conversion for OldAutoscaler {
    fn default(&self, mut object: Value, converted: &ConvertedKind<'_>, set_defaults: &dyn Fn(&mut Value)) -> Value {
        set_defaults(&mut object);
        let Some((stored, new)) = converted.stored.zip(self.to_stored(&object, converted)) else { return object };
        converted.kind.encode(&to_v1(&stored.complete(&new), converted.release, ConversionUse::Internal))
    }

    fn to_stored(&self, object: &Value, converted: &ConvertedKind<'_>) -> Option<Value> {
        let stored = converted.stored?;
        Some(to_v2(object, converted.release, &|object| stored.fits(object)))
    }

    fn of_stored(&self, stored: &Value, release: Release, use_: ConversionUse) -> Option<Value> {
        Some(to_v1(stored, release, use_))
    }
}

/// Removes the annotations (`DropRoundTripHorizontalPodAutoscalerAnnotations`).
fn drop_annotations(autoscaler: &mut Value, release: Release) {
    let Some(metadata) = autoscaler.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut) else { return };
    let tolerances = TOLERANCES.into_iter().filter(|_| release.since(V1_33));
    for name in [METRICS, CURRENT_METRICS, CONDITIONS, BEHAVIOR].into_iter().chain(tolerances) {
        annotations.remove(name);
    }
    if annotations.is_empty() {
        metadata.remove("annotations");
    }
}

/// The members `keys` of the member `part` of an object.
fn shared(autoscaler: &Value, part: &str, keys: &[&str]) -> Map {
    let members = autoscaler.get(part).and_then(Value::as_object).into_iter().flatten();
    members.filter(|(key, _)| keys.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone())).collect()
}

fn assembled(autoscaler: &Value, spec: Map, status: Map) -> Value {
    let mut members = Map::new();
    if let Some(metadata) = autoscaler.get("metadata") {
        members.insert("metadata".to_owned(), metadata.clone());
    }
    members.insert("spec".to_owned(), Value::Object(spec));
    members.insert("status".to_owned(), Value::Object(status));
    Value::Object(members)
}

fn items<'v>(autoscaler: &'v Value, path: &[&str]) -> &'v [Value] {
    autoscaler.at(path).and_then(Value::as_array).unwrap_or_default()
}

/// The utilization of a metric of the CPU, in `target` or `current`.
fn cpu_utilization<'v>(metric: &'v Value, part: &str) -> Option<&'v Value> {
    let is_cpu = metric.str_at(&["type"]) == Some("Resource") && metric.str_at(&["resource", "name"]) == Some("cpu");
    is_cpu.then(|| metric.at(&["resource", part, "averageUtilization"]))?.filter(|value| !value.is_null())
}

/// Returns true for a current metric that `currentCPUUtilizationPercentage` fully describes.
fn is_only_cpu_utilization(metric: &Value) -> bool {
    cpu_utilization(metric, "current").is_some_and(|utilization| *metric == current_cpu_metric(utilization.clone()))
}

fn current_cpu_metric(utilization: Value) -> Value {
    let current = object([("averageUtilization", utilization)]);
    object([("type", "Resource".into()), ("resource", object([("name", "cpu".into()), ("current", current)]))])
}

/// Converts from `autoscaling/v2`; the caller encodes the result.
fn to_v1(autoscaler: &Value, release: Release, purpose: ConversionUse) -> Value {
    let (metrics, current) =
        (items(autoscaler, &["spec", "metrics"]), items(autoscaler, &["status", "currentMetrics"]));
    let mut spec = shared(autoscaler, "spec", &SHARED_SPEC);
    if let Some(utilization) = metrics.iter().find_map(|metric| cpu_utilization(metric, "target")) {
        spec.insert("targetCPUUtilizationPercentage".to_owned(), utilization.clone());
    }
    let mut status = shared(autoscaler, "status", &SHARED_STATUS);
    if let Some(utilization) = current.iter().rev().find_map(|metric| cpu_utilization(metric, "current")) {
        status.insert("currentCPUUtilizationPercentage".to_owned(), utilization.clone());
    }
    let mut converted = assembled(autoscaler, spec, status);
    drop_annotations(&mut converted, release);
    let to_v1 = |table: MetricTable, metric: &Value| table.to_v1(metric);
    let others = metrics.iter().filter(|metric| cpu_utilization(metric, "target").is_none());
    let others: Vec<Value> = others.map(|metric| to_v1(SPEC, metric)).collect();
    let is_field = |metrics: &[Value]| matches!(metrics, [metric] if is_only_cpu_utilization(metric));
    let current = if purpose == ConversionUse::Internal && is_field(current) { &[] } else { current };
    let current: Vec<Value> = current.iter().map(|metric| to_v1(STATUS, metric)).collect();
    let conditions = items(autoscaler, &["status", "conditions"]).to_vec();
    let lists = [(METRICS, others), (CURRENT_METRICS, current), (CONDITIONS, conditions)];
    for (name, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        annotate(&mut converted, name, metrics::ordered(&Value::Array(list)));
    }
    if let Some(behavior) = autoscaler.at(&["spec", "behavior"]).filter(|behavior| !behavior.is_null()) {
        annotate(&mut converted, BEHAVIOR, behavior_text(behavior, release));
    }
    converted
}

fn annotate(autoscaler: &mut Value, name: &str, text: String) {
    autoscaler.insert_at(&["metadata", "annotations", name], text.into());
}

/// Converts to `autoscaling/v2`; the caller encodes the result. An annotation that cannot be read is ignored; `accepts`
/// returns false for a `v2` object with a value of a wrong type.
fn to_v2(autoscaler: &Value, release: Release, accepts: &dyn Fn(&Value) -> bool) -> Value {
    let annotation = |name: &str| -> Option<Value> {
        text::json::read(autoscaler.str_at(&["metadata", "annotations", name])?.as_bytes()).ok()
    };
    let accepted = |part: &str, key: &str, value: Value| -> Option<Value> {
        accepts(&object([(part, object([(key, value.clone())]))])).then_some(value)
    };
    let list = |part: &str, key: &str, name: &str, convert: &dyn Fn(&Value) -> Value| -> Option<Vec<Value>> {
        let items = match annotation(name)? {
            Value::Null => Vec::new(),
            Value::Array(items) => items.iter().map(convert).collect(),
            _ => return None,
        };
        accepted(part, key, Value::Array(items)).and_then(|items| items.as_array().map(<[Value]>::to_vec))
    };
    let mut spec = shared(autoscaler, "spec", &SHARED_SPEC);
    let from_spec = |metric: &Value| SPEC.to_v2(metric, release.since(V1_36));
    let mut metrics = list("spec", "metrics", METRICS, &from_spec).unwrap_or_default();
    let utilization = autoscaler.at(&["spec", "targetCPUUtilizationPercentage"]).filter(|value| !value.is_null());
    match utilization {
        Some(utilization) => metrics.push(cpu_metric(utilization.clone())),
        None if metrics.is_empty() => metrics.push(cpu_metric(Value::Int(DEFAULT_UTILIZATION))),
        None => {}
    }
    spec.insert("metrics".to_owned(), Value::Array(metrics));
    let behavior = annotation(BEHAVIOR).and_then(|behavior| behavior_of(&behavior));
    if let Some(behavior) = behavior.and_then(|behavior| accepted("spec", "behavior", behavior)) {
        spec.insert("behavior".to_owned(), behavior);
    }
    let mut status = shared(autoscaler, "status", &SHARED_STATUS);
    let current = list("status", "currentMetrics", CURRENT_METRICS, &|metric| STATUS.to_v2(metric, false));
    let utilization = || {
        let value = autoscaler.at(&["status", "currentCPUUtilizationPercentage"]).filter(|value| !value.is_null())?;
        Some(vec![current_cpu_metric(value.clone())])
    };
    if let Some(current) = current.or_else(utilization) {
        status.insert("currentMetrics".to_owned(), Value::Array(current));
    }
    if let Some(conditions) = list("status", "conditions", CONDITIONS, &condition_of) {
        status.insert("conditions".to_owned(), Value::Array(conditions));
    }
    let mut converted = assembled(autoscaler, spec, status);
    drop_annotations(&mut converted, release);
    converted
}

/// A condition from its annotation.
fn condition_of(condition: &Value) -> Value {
    let members = CONDITION_FIELDS
        .into_iter()
        .filter_map(|name| metrics::member(condition, name).map(|value| (name.to_owned(), value.clone())));
    Value::Object(members.collect())
}

fn cpu_metric(utilization: Value) -> Value {
    let target = object([("type", "Utilization".into()), ("averageUtilization", utilization)]);
    object([("type", "Resource".into()), ("resource", object([("name", "cpu".into()), ("target", target)]))])
}

/// The JSON of the internal type of a behaviour: Go's field names, and null for absent fields.
fn behavior_text(behavior: &Value, release: Release) -> String {
    let fields = |value: &Value, names: &[&str], text: &dyn Fn(&str, &Value) -> String| {
        let members = names.iter().map(|name| {
            let member = value.get(&lower_first(name)).unwrap_or(&Value::Null);
            format!("\"{name}\":{}", if member.is_null() { "null".to_owned() } else { text(name, member) })
        });
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    };
    let plain = |_: &str, value: &Value| json::to_string(value);
    let rules_fields = if release.since(V1_33) { &RULES_FIELDS[..] } else { RULES_FIELDS.split_at(3).0 };
    let rules = |_: &str, rules: &Value| {
        fields(rules, rules_fields, &|name, value| match value.as_array() {
            Some(policies) if name == "Policies" => {
                let policies: Vec<String> =
                    policies.iter().map(|policy| fields(policy, &POLICY_FIELDS, &plain)).collect();
                format!("[{}]", policies.join(","))
            }
            _ => json::to_string(value),
        })
    };
    fields(behavior, &BEHAVIOR_FIELDS, &rules)
}

/// A behaviour from the JSON of its internal type; `None` if it is empty or no object.
fn behavior_of(text: &Value) -> Option<Value> {
    let renamed = |value: &Value, names: &[&str], convert: &dyn Fn(&str, &Value) -> Value| -> Value {
        let Some(_) = value.as_object() else { return value.clone() };
        let members = names.iter().filter_map(|name| {
            let member = metrics::member(value, name).filter(|member| !member.is_null())?;
            Some((lower_first(name), convert(name, member)))
        });
        Value::Object(members.collect())
    };
    let plain = |_: &str, value: &Value| value.clone();
    let rules = |_: &str, rules: &Value| {
        renamed(rules, &RULES_FIELDS, &|name, value| match value.as_array() {
            Some(policies) if name == "Policies" => {
                Value::Array(policies.iter().map(|policy| renamed(policy, &POLICY_FIELDS, &plain)).collect())
            }
            _ => value.clone(),
        })
    };
    let behavior = renamed(text, &BEHAVIOR_FIELDS, &rules);
    behavior.as_object().is_some_and(|members| !members.is_empty()).then_some(behavior)
}

fn lower_first(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).chain(letters).collect()
}
