//! Writes of the subresource `resize`, which changes the resources of a running Pod (`ValidatePodResize`).

use super::{is_mirror, metadata_and_spec, only, options, set};
use crate::quality_of_service;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::internal;
use crdx_types::amounts::{is_less, quantity};
use crdx_value::field::ROOT;
use crdx_value::release::{Gate, Release, V1_34, V1_35, V1_36, V1_37, V1_38};
use crdx_value::{Map, Value};

const ONLY_CPU_AND_MEMORY: &str = "only cpu and memory resources are mutable";
const CHANGEABLE: [&str; 2] = ["cpu", "memory"];
const AMOUNTS: [&str; 2] = ["limits", "requests"];

/// The fields that a resize may change.
pub const PATHS: &[&[&str]] = &[
    &["spec", "resources"],
    &["spec", "containers", "*", "resources"],
    &["spec", "containers", "*", "resizePolicy"],
    &["spec", "initContainers", "*", "resources"],
    &["spec", "initContainers", "*", "resizePolicy"],
];

/// Validates a Pod that differs from the existing one only in its resources and resize policies. Features that are off by
/// default in every release are left out: memory-backed volumes and resources of nodes that claims allocate.
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &Value) {
    let release = errors.release;
    metadata_and_spec(errors, object, &options(Some(old), release));
    let (spec, old_spec) = (object.child("spec"), FieldValue::new(old.get("spec"), ROOT));
    let resizes_pod = has_own_resources(&spec) || has_own_resources(&old_spec);
    if resizes_pod && !release.since(V1_35) {
        return only(errors, "pods with pod-level resources cannot be resized");
    }
    if is_mirror(old) {
        return only(errors, "static pods cannot be resized");
    }
    if old_spec.child("os").child("name").text() == "windows" {
        return only(errors, "windows pods cannot be resized");
    }
    quality_of_service_is_kept(errors, object, &spec, old);
    if !release.since(V1_38) && !is_supported(old) {
        errors.forbidden(&spec, "Pod running on node without support for resize");
    }
    let mut merged = spec.value.clone();
    if resizes_pod {
        if !release.enables(Gate::InPlacePodLevelResourcesVerticalScaling) {
            let gate = "InPlacePodLevelResourcesVerticalScalingEnabled";
            let reason =
                format!("resize of pods with pod-level resources is forbidden when {gate} feature gate is disabled");
            return super::forbid_whole(errors, &reason);
        }
        own_resources(errors, &spec, &old_spec, &mut merged);
    }
    if !has_same_containers(errors, &spec, &old_spec) {
        return;
    }
    for (new, old) in spec.child("initContainers").items().zip(old_spec.child("initContainers").items()) {
        if release.enables(Gate::InPlacePodVerticalScalingInitContainers) || is_sidecar(old.value) {
            nothing_removed(errors, &new, &old);
        }
    }
    for (new, old) in spec.child("containers").items().zip(old_spec.child("containers").items()) {
        nothing_removed(errors, &new, &old);
    }
    let containers = spec.child("containers");
    for (new, old) in containers.items().zip(old_spec.child("containers").items()) {
        if !is_equal(&without_changeable(new.value, old.value, release), old.value, release) {
            errors.forbidden(&spec, ONLY_CPU_AND_MEMORY);
        }
    }
    for (new, old) in spec.child("initContainers").items().zip(old_spec.child("initContainers").items()) {
        init_container(errors, &spec, &new, old.value);
    }
    if !errors.list.is_empty() {
        return;
    }
    for list in ["containers", "initContainers"] {
        set(&mut merged, list, old_spec.child(list).value.as_array().map(|items| Value::Array(items.to_vec())));
    }
    if !internal::is_equal("core.PodSpec", &merged, old_spec.value, release) {
        errors.forbidden(&spec, ONLY_CPU_AND_MEMORY);
    }
}

/// Returns true if the resources of the whole Pod have any requests or limits.
fn has_own_resources(spec: &FieldValue<'_, '_>) -> bool {
    AMOUNTS.iter().any(|key| spec.child("resources").child(key).len() > 0)
}

fn quality_of_service_is_kept(
    errors: &mut Errors,
    object: &FieldValue<'_, '_>,
    spec: &FieldValue<'_, '_>,
    old: &Value,
) {
    let stored = old.str_at(&["status", "qosClass"]).filter(|class| !class.is_empty());
    let class = stored.unwrap_or_else(|| quality_of_service::of(old, errors.release));
    if class != quality_of_service::of(object.value, errors.release) {
        let shown = object.value.str_at(&["status", "qosClass"]).unwrap_or_default();
        errors.invalid_value(&spec.path, shown, "Pod QOS Class may not change as a result of resizing");
    }
}

/// `isPodResizeRequestSupported`: the first running container has resources in its status if its node supports them.
fn is_supported(pod: &Value) -> bool {
    let statuses = pod.at(&["status", "containerStatuses"]).and_then(Value::as_array).unwrap_or_default();
    let is_set = |value: Option<&Value>| value.is_some_and(|value| !value.is_null());
    let running = statuses.iter().find(|status| is_set(status.at(&["state", "running"])));
    running.is_none_or(|status| is_set(status.get("resources")))
}

/// `validatePodLevelResourcesResize`. Undoes the changes of the resources in `merged`.
fn own_resources(errors: &mut Errors, spec: &FieldValue<'_, '_>, old_spec: &FieldValue<'_, '_>, merged: &mut Value) {
    let (new, old) = (spec.child("resources"), old_spec.child("resources"));
    if old.is_set() && !new.is_set() {
        return errors.forbidden(&new, "pod-level resources cannot be removed");
    }
    if old.is_set() {
        for key in ["requests", "limits"] {
            if is_removed(&new.child(key), &old.child(key)) {
                errors.forbidden(&new.child(key), &format!("pod-level resource {key} cannot be removed"));
            }
        }
    }
    if let Some(resources) = merged.get_mut("resources") {
        for key in AMOUNTS {
            let amounts = with_old_amounts(new.child(key).value, old.child(key).value, errors.release);
            set(resources, key, amounts);
        }
    }
    let is_empty =
        |key: &str| merged.at(&["resources", key]).is_none_or(|value| value.as_object().is_none_or(Map::is_empty));
    let no_claims = new.child("claims").len() == 0;
    if !old.is_set() && no_claims && AMOUNTS.into_iter().all(is_empty) {
        set(merged, "resources", None);
    }
    let have = merged.get("resources").unwrap_or(&Value::Null);
    if !internal::is_equal("*core.ResourceRequirements", have, old.value, errors.release) {
        errors.forbidden(spec, "only cpu and memory resources are mutable at pod-level");
    }
}

/// `validatePodResizeContainerOrdering`. Returns false if there are errors.
fn has_same_containers(errors: &mut Errors, spec: &FieldValue<'_, '_>, old_spec: &FieldValue<'_, '_>) -> bool {
    let before = errors.list.len();
    for list in ["containers", "initContainers"] {
        let (new, old) = (spec.child(list), old_spec.child(list));
        if new.len() != old.len() {
            errors.forbidden(&new, &format!("{list} may not be added or removed on resize"));
            continue;
        }
        for (new, old) in new.items().zip(old.items()) {
            let name = new.child("name");
            if name.text() != old.child("name").text() {
                errors.forbidden(&name, &format!("{list} may not be renamed or reordered on resize"));
            }
        }
    }
    errors.list.len() == before
}

/// `validateContainerResize`
fn nothing_removed(errors: &mut Errors, new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (resources, old_resources) = (new.child("resources"), old.child("resources"));
    for key in ["requests", "limits"] {
        if is_removed(&resources.child(key), &old_resources.child(key)) {
            errors.forbidden(&resources.child(key), &format!("resource {key} cannot be removed"));
        }
    }
    if !errors.release.since(V1_34) {
        memory_is_kept(errors, new, &old_resources);
    }
}

/// Before 1.34, a memory limit may be lowered or added only if the container restarts.
fn memory_is_kept(errors: &mut Errors, new: &FieldValue<'_, '_>, old_resources: &FieldValue<'_, '_>) {
    let policies = new.child("resizePolicy");
    let of_memory = policies.items().find(|policy| policy.value.str_at(&["resourceName"]) == Some("memory"));
    let policy = of_memory.and_then(|policy| policy.value.str_at(&["restartPolicy"])).unwrap_or_default();
    if !matches!(policy, "" | "NotRequired") {
        return;
    }
    let limit = |resources: &FieldValue<'_, '_>| {
        let limit = resources.value.at(&["limits", "memory"])?;
        quantity(limit, errors.release.minor())
    };
    let resources = new.child("resources");
    let change = match (limit(&resources), limit(old_resources)) {
        (Some(new), Some(old)) if is_less(&new, &old) => "decreased",
        (Some(_), None) => "added",
        _ => return,
    };
    let detail = format!("memory limits cannot be {change} unless resizePolicy is RestartContainer");
    let limits = resources.child("limits");
    let path = limits.path.key("memory");
    errors.forbidden(&FieldValue::new(None, path), &detail);
}

/// `resourcesRemoved`
fn is_removed(new: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) -> bool {
    old.len() > new.len() || old.entries().any(|(name, _)| new.value.get(name).is_none())
}

fn is_sidecar(container: &Value) -> bool {
    container.str_at(&["restartPolicy"]) == Some("Always")
}

fn is_equal(new: &Value, old: &Value, release: Release) -> bool {
    internal::is_equal("core.Container", new, old, release)
}

/// A container with the CPU and memory of the existing one (`dropCPUMemoryResourcesFromContainer`), which lost its claims
/// before 1.37.
fn without_changeable(new: &Value, old: &Value, release: Release) -> Value {
    let mut container = new.clone();
    let (null, mut resources) = (&Value::Null, Value::Object(Map::new()));
    let of = |container: &Value, key: &str| container.at(&["resources", key]).unwrap_or(null).clone();
    for key in AMOUNTS {
        set(&mut resources, key, with_old_amounts(&of(new, key), &of(old, key), release));
    }
    if release.since(V1_37) {
        set(&mut resources, "claims", new.at(&["resources", "claims"]).cloned());
    }
    set(&mut container, "resources", Some(resources));
    container
}

/// Quantities with the CPU and memory of the existing ones (`dropCPUMemoryUpdates`). Before 1.35, there are none if there
/// were none.
fn with_old_amounts(new: &Value, old: &Value, release: Release) -> Option<Value> {
    let old = old.as_object();
    if old.is_none() && !release.since(V1_35) {
        return None;
    }
    let mut amounts = new.as_object().cloned().unwrap_or_default();
    for name in CHANGEABLE {
        amounts.remove(name);
        if let Some(amount) = old.and_then(|old| old.get(name)) {
            amounts.insert(name.to_owned(), amount.clone());
        }
    }
    Some(Value::Object(amounts))
}

/// Without the gate `InPlacePodVerticalScalingInitContainers`, only sidecars can be resized.
fn init_container(errors: &mut Errors, spec: &FieldValue<'_, '_>, new: &FieldValue<'_, '_>, old: &Value) {
    let release = errors.release;
    let (is_sidecar, is_changed) = (is_sidecar(new.value), !is_equal(new.value, old, release));
    if !is_sidecar && !release.enables(Gate::InPlacePodVerticalScalingInitContainers) {
        if is_changed {
            errors.forbidden(spec, "resources for non-sidecar init containers are immutable");
        }
        return;
    }
    if !is_equal(&without_changeable(new.value, old, release), old, release) {
        if release.since(V1_36) {
            errors.forbidden(new, "only cpu and memory resources for init or sidecar containers are mutable");
        } else {
            errors.forbidden(spec, "only cpu and memory resources for sidecar containers are mutable");
        }
    }
    if is_changed && !is_sidecar {
        for policy in new.child("resizePolicy").items() {
            if policy.child("restartPolicy").text() == "RestartContainer" {
                let detail = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized";
                errors.forbidden(new, detail);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::part_updated;
    use crate::validation::validate_resize;

    fn update(old: &str, new: &str, release: &str) -> Vec<String> {
        part_updated(validate_resize, old, new, release)
    }

    fn pod(rest: &str) -> String {
        format!(r#"{{"spec":{{{rest}}}}}"#)
    }

    /// A Pod whose container has these resources.
    fn sized(resources: &str) -> String {
        pod(&format!(r#""containers":[{{"name":"c","image":"i","resources":{resources}}}]"#))
    }

    /// A Pod whose init container has these resources and this restart policy.
    fn init(policy: &str, cpu: &str) -> String {
        let resources = format!(r#"{{"requests":{{"cpu":"{cpu}"}}}}"#);
        pod(&format!(
            r#""containers":[{{"name":"c","image":"i","resources":{{"requests":{{"cpu":"1"}}}}}}],
            "initContainers":[{{"name":"d","image":"i","resources":{resources}{policy}}}]"#
        ))
    }

    const CPU: &str = r#"{"requests":{"cpu":"1"}}"#;
    const NONE: [&str; 0] = [];

    #[test]
    fn cpu_and_memory_are_changed_within_their_class() {
        let more = r#"{"requests":{"cpu":"2","memory":"1Gi"}}"#;
        for release in ["1.33", "1.37"] {
            assert_eq!(update(&sized(CPU), &sized(more), release), NONE, "{release}");
        }
        let status = r#"{"status":{"qosClass":"Burstable"},"#;
        let [old, new] = [CPU, r#"{"requests":{"cpu":"0"}}"#].map(|own| sized(own).replacen('{', status, 1));
        assert_eq!(
            update(&old, &new, "1.37"),
            [r#"spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing"#]
        );
    }

    #[test]
    fn resources_are_not_removed() {
        let both = r#"{"requests":{"cpu":"1","memory":"1Gi"}}"#;
        assert_eq!(
            update(&sized(both), &sized(CPU), "1.37"),
            ["spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"]
        );
    }

    #[test]
    fn other_resources_and_policies_are_fixed() {
        let other = r#"{"requests":{"cpu":"1","ephemeral-storage":"1Gi"}}"#;
        let error = "spec: Forbidden: only cpu and memory resources are mutable";
        assert_eq!(update(&sized(CPU), &sized(other), "1.37"), [error]);
        let policy = r#"},"resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]"#;
        let with_policy = sized(CPU).replacen("}}}]", &format!("}}{policy}}}]"), 1);
        assert_ne!(with_policy, sized(CPU));
        assert_eq!(update(&sized(CPU), &with_policy, "1.37"), [error]);
    }

    #[test]
    fn before_1_35_any_limit_may_be_the_first_one() {
        let limited = r#"{"limits":{"ephemeral-storage":"1Gi"}}"#;
        let errors = |release| update(&sized("{}"), &sized(limited), release);
        assert_eq!(errors("1.34"), NONE);
        assert_eq!(errors("1.35"), ["spec: Forbidden: only cpu and memory resources are mutable"]);
    }

    #[test]
    fn before_1_34_memory_limits_are_not_lowered_without_a_restart() {
        let limit = |memory: &str| format!(r#"{{"requests":{{"cpu":"1"}},"limits":{{"memory":"{memory}"}}}}"#);
        let lower = |release| update(&sized(&limit("2Gi")), &sized(&limit("1Gi")), release);
        let path = "spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be";
        assert_eq!(lower("1.33"), [format!("{path} decreased unless resizePolicy is RestartContainer")]);
        assert_eq!(lower("1.34"), NONE);
        let added = update(&sized(CPU), &sized(&limit("1Gi")), "1.33");
        assert_eq!(added, [format!("{path} added unless resizePolicy is RestartContainer")]);
    }

    #[test]
    fn init_containers_are_resized_since_1_36() {
        let error = "spec: Forbidden: resources for non-sidecar init containers are immutable";
        assert_eq!(update(&init("", "1"), &init("", "2"), "1.35"), [error]);
        assert_eq!(update(&init("", "1"), &init("", "2"), "1.36"), NONE);
        let sidecar = r#","restartPolicy":"Always""#;
        assert_eq!(update(&init(sidecar, "1"), &init(sidecar, "2"), "1.33"), NONE);
        let restarts = r#","resizePolicy":[{"resourceName":"cpu","restartPolicy":"RestartContainer"}]"#;
        assert_eq!(
            update(&init(restarts, "1"), &init(restarts, "2"), "1.37"),
            [
                "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
            ]
        );
    }

    #[test]
    fn containers_are_not_added_or_renamed() {
        let other = sized(CPU).replace(r#""name":"c""#, r#""name":"d""#);
        assert_eq!(
            update(&sized(CPU), &other, "1.37"),
            ["spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"]
        );
        assert_eq!(
            update(&sized(CPU), &init("", "1"), "1.37"),
            ["spec.initContainers: Forbidden: initContainers may not be added or removed on resize"]
        );
    }

    #[test]
    fn resources_of_the_whole_pod_are_changed_since_1_36() {
        let whole =
            |cpu: &str| sized(CPU).replacen(r#""containers""#, &format!(r#""resources":{cpu},"containers""#), 1);
        let (one, two) = (whole(r#"{"requests":{"cpu":"1"}}"#), whole(r#"{"requests":{"cpu":"2"}}"#));
        assert_eq!(update(&one, &two, "1.34"), ["[]: Forbidden: pods with pod-level resources cannot be resized"]);
        assert_eq!(
            update(&one, &two, "1.35"),
            [
                "[]: Forbidden: resize of pods with pod-level resources is forbidden when InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
            ]
        );
        assert_eq!(update(&one, &two, "1.36"), NONE);
        let path = "spec.resources: Forbidden: pod-level resources cannot be removed";
        assert_eq!(update(&one, &sized(CPU), "1.36"), [path]);
    }

    #[test]
    fn some_pods_are_never_resized() {
        let mirror = r#"{"metadata":{"annotations":{"kubernetes.io/config.mirror":"m"}},"#;
        let static_pod = sized(CPU).replacen('{', mirror, 1);
        assert_eq!(update(&static_pod, &static_pod, "1.37"), ["[]: Forbidden: static pods cannot be resized"]);
        let windows = sized(CPU).replacen(r#""containers""#, r#""os":{"name":"windows"},"containers""#, 1);
        assert_eq!(update(&windows, &windows, "1.37"), ["[]: Forbidden: windows pods cannot be resized"]);
        let status = r#"{"status":{"containerStatuses":[{"state":{"running":{}}}]},"#;
        let old_node = sized(CPU).replacen('{', status, 1);
        let error = "spec: Forbidden: Pod running on node without support for resize";
        assert_eq!(update(&old_node, &old_node, "1.37"), [error]);
    }
}
