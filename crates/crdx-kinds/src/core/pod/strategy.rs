//! The strategy of Pods (`pkg/registry/core/pod/strategy.go`).

use crate::core::pod::printer::COLUMNS;
use crate::core::pod::{app_armor, parts, resources, status};
use crate::declared_kind::DeclaredKind;
use crate::features::{Features, drop_features};
use crdx_builtin::quality_of_service;
use crdx_builtin::validation;
use crdx_server::server::behaviour::{NAMESPACE, text};
use crdx_server::server::{Behaviour, BuiltInKind, FieldLabel, InitialStatus, KindRequest, KindStrategy, Subresource};
use crdx_value::field::ErrorList;
use crdx_value::release::{Minor, Release, V1_31, V1_33, V1_34, V1_37};
use crdx_value::time::{self, Timestamp};
use crdx_value::{Map, Value, object};

/// The strategy.
#[derive(Debug)]
pub(crate) struct Pod;

/// The facts about the kind.
static FACTS: DeclaredKind = DeclaredKind {
    behaviour: Behaviour {
        generation_since: V1_33,
        status: InitialStatus::Phase("Pending"),
        fields: Some(FIELDS),
        status_keeps: &[&["spec"], &["metadata", "deletionTimestamp"], &["metadata", "ownerReferences"]],
        // The gate InPlacePodVerticalScaling is enabled by default since 1.33 (`storage_core.go`).
        subresources: &[(Subresource::EphemeralContainers, Minor::ALWAYS), (Subresource::Resize, V1_33)],
        ..Behaviour::RETURNED
    },
    columns: Some(COLUMNS),
    features: Features { template: Some(&[]), ..Features::NONE },
    ..DeclaredKind::MOST
};

static FIELDS: &[FieldLabel] = &[
    NAMESPACE,
    text("spec.nodeName", &[&["spec", "nodeName"]]),
    text("spec.host", &[&["spec", "nodeName"]]),
    text("spec.restartPolicy", &[&["spec", "restartPolicy"]]),
    text("spec.schedulerName", &[&["spec", "schedulerName"]]),
    text("spec.serviceAccountName", &[&["spec", "serviceAccountName"]]),
    FieldLabel { label: "spec.hostNetwork", paths: &[&["spec", "hostNetwork"]], absent: "false" },
    text("status.phase", &[&["status", "phase"]]),
    text("status.podIP", &[&["status", "podIP"]]),
    text("status.podIPs", &[]),
    text("status.nominatedNodeName", &[&["status", "nominatedNodeName"]]),
];

impl KindStrategy for Pod {
    fn facts(&self) -> Option<&dyn KindStrategy> {
        Some(&FACTS)
    }

    fn complete_decoded(&self, object: &mut Value, release: Release) {
        FACTS.complete_decoded(object, release);
        resources::default(object, release);
    }

    fn early_warnings(&self, object: &Value, release: Release) -> Vec<String> {
        validation::app_armor_warnings(object, release)
    }

    fn prepare_create(&self, object: &mut Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            drop_disabled(object, None, request);
            create(request.kind, object, (request.release, request.now));
        }
        app_armor::synchronize(object, request.release);
        if request.generates_fields {
            set_priority(object);
            let class = quality_of_service::of(object, request.release);
            object.insert_at(&["status", "qosClass"], class.into());
        }
    }

    fn prepare_update(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            update(object, old, request.release);
            drop_disabled(object, Some(old), request);
        }
    }

    fn prepare_part(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        let is_resize = request.subresource == Subresource::Resize;
        if is_resize {
            parts::keep_resources(object, old, request.release);
        } else {
            parts::keep_ephemeral_containers(object, old, request.release);
        }
        self.prepare_update(object, old, request);
        if is_resize && request.generates_fields {
            resources::prepare(object, request.release);
        }
    }

    fn prepare_status(&self, object: &mut Value, old: &Value, request: &KindRequest<'_>) {
        status::prepare(object, old, request);
    }

    fn validate_part(&self, object: &Value, old: &Value, request: &KindRequest<'_>) -> ErrorList {
        match request.subresource {
            Subresource::EphemeralContainers => {
                validation::validate_ephemeral_containers(object, request.empties, old, request.release)
            }
            Subresource::Resize => validation::validate_resize(object, request.empties, old, request.release),
            _ => ErrorList::new(),
        }
    }

    fn validate_bound(&self, object: &Value, old: &Value, release: Release) -> ErrorList {
        validation::validate_bound_annotations(object, old, release)
    }

    /// `CheckGracefulDelete`
    fn grace_period(&self, object: &Value, requested: Option<i64>) -> Option<i64> {
        let is_scheduled = object.str_at(&["spec", "nodeName"]).is_some_and(|node| !node.is_empty());
        let is_terminated = matches!(object.str_at(&["status", "phase"]), Some("Failed" | "Succeeded"));
        if !is_scheduled || is_terminated {
            return Some(0);
        }
        let own = || object.at(&["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_int).unwrap_or_default();
        let period = requested.unwrap_or_else(own);
        Some(if period < 0 { 1 } else { period })
    }
}

/// Drops the disabled fields of the Pod and of its status, which an update copied before.
fn drop_disabled(object: &mut Value, old: Option<&Value>, request: &KindRequest<'_>) {
    FACTS.features.drop_disabled(object, old, request.release);
    drop_features(status::FEATURES, object, old, request.release);
}

/// The priority of a Pod without class, if the plugin `Priority` has set none, as for an existing Pod, which is stored
/// without admission.
fn set_priority(pod: &mut Value) {
    if pod.str_at(&["spec", "priorityClassName"]).is_some_and(|name| !name.is_empty()) {
        return;
    }
    let spec = [("priority", Value::Int(0)), ("preemptionPolicy", "PreemptLowerPriority".into())];
    for (field, value) in spec {
        if pod.at(&["spec", field]).is_none() {
            pod.insert_at(&["spec", field], value);
        }
    }
}

/// Completes a new Pod without disabled fields.
fn create(kind: &BuiltInKind, pod: &mut Value, (release, now): (Release, Timestamp)) {
    resources::prepare(pod, release);
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
fn update(new: &mut Value, old: &Value, release: Release) {
    let path = ["spec", "resources"];
    if release.since(V1_37) && new.at(&path).is_none() {
        new.copy_at(old, &path);
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
        let kind = crate::KINDS.kind("", "v1", "Pod", "pods", release).unwrap();
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
