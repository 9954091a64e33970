//! Fields that the server sets in new Pods and keeps in updates (`PrepareForCreate` and `PrepareForUpdate` in
//! `pkg/registry/core/pod/strategy.go`).

use super::copy::copy;
use super::pod_resources;
use crate::server::strategy::built_in_kind::BuiltInKind;
use crdx_value::release::{Release, V1_31, V1_34, V1_37};
use crdx_value::time::{self, Timestamp};
use crdx_value::{Map, Value, object};

/// Completes a new Pod without disabled fields.
pub(super) fn create(kind: &BuiltInKind, pod: &mut Value, (release, now): (Release, Timestamp)) {
    pod_resources::prepare(pod, release);
    if is_gated(pod) {
        add_gated_condition(pod, now);
        *pod = kind.encode(pod);
    }
    let labels = pod.at(&["metadata", "labels"]).and_then(Value::as_object).cloned().unwrap_or_default();
    let Some(spec) = pod.get_mut("spec") else { return };
    if release.since(V1_31)
        && let Some(affinity) = spec.get_mut("affinity")
    {
        merge_affinity(affinity, &labels);
    }
    if release.since(V1_34) {
        for constraint in items(spec, "topologySpreadConstraints") {
            merge_label_keys(constraint, &labels, &[("matchLabelKeys", "In")]);
        }
    }
}

/// Keeps the resources of the Pod that a client leaves out.
pub(super) fn update(new: &mut Value, old: &Value, release: Release) {
    let path = ["spec", "resources"];
    if release.since(V1_37) && new.at(&path).is_none() {
        copy(new, old, &path);
    }
}

fn is_gated(pod: &Value) -> bool {
    pod.at(&["spec", "schedulingGates"]).and_then(Value::as_array).is_some_and(|gates| !gates.is_empty())
}

/// `applySchedulingGatedCondition`
fn add_gated_condition(pod: &mut Value, now: Timestamp) {
    let condition = object([
        ("type", Value::from("PodScheduled")),
        ("status", "False".into()),
        ("reason", "SchedulingGated".into()),
        ("message", "Scheduling is blocked due to non-empty scheduling gates".into()),
        ("lastTransitionTime", time::format(now).into()),
    ]);
    pod.insert_at(&["status", "conditions"], vec![condition].into());
}

/// `mutatePodAffinity`
fn merge_affinity(affinity: &mut Value, labels: &Map) {
    const KEYS: [(&str, &str); 2] = [("matchLabelKeys", "In"), ("mismatchLabelKeys", "NotIn")];
    for kind in ["podAffinity", "podAntiAffinity"] {
        let Some(affinity) = affinity.get_mut(kind) else { continue };
        for weighted in items(affinity, "preferredDuringSchedulingIgnoredDuringExecution") {
            if let Some(term) = weighted.get_mut("podAffinityTerm") {
                merge_label_keys(term, labels, &KEYS);
            }
        }
        for term in items(affinity, "requiredDuringSchedulingIgnoredDuringExecution") {
            merge_label_keys(term, labels, &KEYS);
        }
    }
}

/// Adds the labels of the Pod that a term names by their keys to its label selector, which selects nothing if it is absent
/// (`applyLabelKeysToLabelSelector`).
fn merge_label_keys(term: &mut Value, labels: &Map, fields: &[(&str, &str)]) {
    let requirement = |key: &Value, operator: &str| {
        let key = key.as_str()?;
        let values = vec![labels.get(key)?.clone()];
        Some(object([("key", Value::from(key)), ("operator", operator.into()), ("values", values.into())]))
    };
    let of_field = |(field, operator): &(&str, &str)| {
        let keys = term.get(field).and_then(Value::as_array).unwrap_or_default();
        keys.iter().filter_map(|key| requirement(key, operator)).collect::<Vec<_>>()
    };
    let added: Vec<Value> = fields.iter().flat_map(of_field).collect();
    if added.is_empty() {
        return;
    }
    let Some(selector) = term.get_mut("labelSelector").and_then(Value::as_object_mut) else { return };
    let requirements = selector.entry("matchExpressions".to_owned()).or_default();
    match requirements {
        Value::Array(requirements) => requirements.extend(added),
        _ => *requirements = added.into(),
    }
}

/// The items of a list.
fn items<'v>(value: &'v mut Value, list: &str) -> impl Iterator<Item = &'v mut Value> {
    let list = value.get_mut(list).and_then(|list| if let Value::Array(items) = list { Some(items) } else { None });
    list.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn created(spec: &str, release: &str) -> Value {
        let release: Release = release.parse().unwrap();
        let kind = BuiltInKind::new("", "v1", "Pod", "pods", release).unwrap();
        let mut pod = read(&format!(r#"{{"metadata":{{"labels":{{"app":"a"}}}},"spec":{spec}}}"#));
        create(&kind, &mut pod, (release, Timestamp::default()));
        pod
    }

    #[test]
    fn a_gated_pod_has_a_condition() {
        let pod = created(r#"{"schedulingGates":[{"name":"example.com/a"}]}"#, "1.37");
        let conditions = pod.at(&["status", "conditions"]).and_then(Value::as_array).unwrap();
        assert_eq!(conditions[0].str_at(&["reason"]), Some("SchedulingGated"));
        assert_eq!(created("{}", "1.37").at(&["status", "conditions"]), None);
    }

    #[test]
    fn label_keys_become_requirements() {
        let term = r#"{"matchLabelKeys":["app","b"],"mismatchLabelKeys":["app"],"labelSelector":{}}"#;
        let spec = format!(
            r#"{{"affinity":{{"podAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":[{term}]}}}},
                "topologySpreadConstraints":[{term},{{"matchLabelKeys":["app"]}}]}}"#
        );
        let pod = created(&spec, "1.37");
        let path = ["spec", "affinity", "podAffinity", "requiredDuringSchedulingIgnoredDuringExecution"];
        let (is_in, not_in) =
            (r#"{"key":"app","operator":"In","values":["a"]}"#, r#"{"key":"app","operator":"NotIn","values":["a"]}"#);
        let of = |list: &[&str]| {
            let term = pod.at(list).and_then(Value::as_array).unwrap();
            term[0].at(&["labelSelector", "matchExpressions"]).cloned().unwrap()
        };
        assert_eq!(of(&path), read(&format!("[{is_in},{not_in}]")));
        assert_eq!(of(&["spec", "topologySpreadConstraints"]), read(&format!("[{is_in}]")));
        let constraints = |pod: &Value| pod.at(&["spec", "topologySpreadConstraints"]).cloned();
        assert_eq!(constraints(&created(&spec, "1.33")), constraints(&read(&format!(r#"{{"spec":{spec}}}"#))));
    }
}
