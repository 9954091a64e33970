//! `apps`: Deployments, `ReplicaSet`s, `DaemonSet`s and `StatefulSet`s (`pkg/apis/apps/validation`), and
//! `ReplicationController`s (`pkg/apis/core/validation`).

use super::field_value::{Errors, FieldValue};
use super::pod_spec::PodOptions;
use super::{claims, formats, immutable, int_or_percent, internal, pod_template, selectors};
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::{V1_33, V1_34, V1_37, V1_38};
use std::collections::BTreeSet;

/// The options for `spec.template`.
fn template_options(errors: &Errors, old: Option<&Value>) -> PodOptions {
    pod_template::options(old.and_then(|old| old.at(&["spec", "template"])), errors.release)
}

/// Reports a selector that changed.
fn selector_is_immutable(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if let Some(old) = old {
        let (new, old) = (object.child("spec"), FieldValue::new(Some(old), ROOT));
        let old_spec = old.child("spec");
        immutable::typed(errors, &new.child("selector"), &old_spec.child("selector"), immutable::SELECTOR);
    }
}

/// Validates a selector that must be present and not empty. Returns true if `LabelSelectorAsSelector` accepts it.
fn required_selector(errors: &mut Errors, selector: &FieldValue<'_, '_>, kind: &str, invalid: &str) -> bool {
    if selector.is_set() {
        selectors::label_selector(errors, selector, false);
        if selectors::is_empty(selector) {
            let detail = format!("empty selector is invalid for {kind}");
            errors.invalid_typed(selector, immutable::SELECTOR, detail);
        }
    } else {
        errors.required(selector, "");
    }
    let is_valid = selectors::is_valid(selector, errors);
    if !is_valid {
        errors.invalid_typed(selector, immutable::SELECTOR, invalid);
    }
    is_valid
}

/// `ValidatePodTemplateSpecForReplicaSet`
fn replica_set_template(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: &PodOptions) {
    let (template, selector) = (spec.child("template"), spec.child("selector"));
    if !selector.is_set() || !selectors::is_empty(&selector) {
        pod_template::selected(errors, &template, &selector);
    }
    pod_template::validate(errors, &template, options);
    pod_template::never_ends(errors, &template, "ReplicaSet");
}

/// `ValidateDeployment` and `ValidateDeploymentUpdate`
pub fn deployment(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    errors.nonnegative(&spec.child("replicas"));
    if required_selector(errors, &spec.child("selector"), "deployment", "invalid label selector") {
        replica_set_template(errors, &spec, &options);
    }
    deployment_strategy(errors, &spec.child("strategy"));
    for field in ["minReadySeconds", "revisionHistoryLimit", "progressDeadlineSeconds"] {
        errors.nonnegative(&spec.child(field));
    }
    let (deadline, ready) = (spec.child("progressDeadlineSeconds"), spec.child("minReadySeconds"));
    if deadline.int().is_some_and(|seconds| seconds <= ready.int().unwrap_or_default()) {
        errors.invalid(&deadline, "must be greater than minReadySeconds");
    }
    selector_is_immutable(errors, object, old);
}

/// `ValidateDeploymentStrategy`
fn deployment_strategy(errors: &mut Errors, strategy: &FieldValue<'_, '_>) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "Recreate" => {
            errors.forbid_if_set(&rolling, "may not be specified when strategy `type` is 'Recreate'");
        }
        "RollingUpdate" if rolling.is_set() => {
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            int_or_percent::validate(errors, &unavailable);
            int_or_percent::validate(errors, &surge);
            if int_or_percent::number(&unavailable) == 0 && int_or_percent::number(&surge) == 0 {
                errors.invalid_typed(&unavailable, int_or_percent::TYPE, "may not be 0 when `maxSurge` is 0");
            }
            int_or_percent::at_most_100(errors, &unavailable);
        }
        "RollingUpdate" => errors.required(&rolling, "this should be defaulted and never be nil"),
        // The server shows the whole strategy.
        _ => errors.not_supported_typed(strategy, "apps.DeploymentStrategy", &["Recreate", "RollingUpdate"]),
    }
}

/// `ValidateReplicaSet` and `ValidateReplicaSetUpdate`
pub(crate) fn replica_set(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    errors.nonnegative(&spec.child("replicas"));
    errors.nonnegative(&spec.child("minReadySeconds"));
    if required_selector(errors, &spec.child("selector"), "deployment", "invalid label selector") {
        replica_set_template(errors, &spec, &options);
    }
    selector_is_immutable(errors, object, old);
}

/// `ValidateDaemonSet` and `ValidateDaemonSetUpdate`
pub(crate) fn daemon_set(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    selector_is_immutable(errors, object, old);
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    selectors::label_selector(errors, &selector, options.allows_invalid_affinity_selectors);
    if selectors::is_valid(&selector, errors) {
        pod_template::selected(errors, &template, &selector);
    }
    if selector.is_set() && selectors::is_empty(&selector) {
        errors.invalid_typed(&selector, immutable::SELECTOR, "empty selector is invalid for daemonset");
    }
    pod_template::validate(errors, &template, &options);
    pod_template::never_ends(errors, &template, "DaemonSet");
    errors.nonnegative(&spec.child("minReadySeconds"));
    daemon_set_strategy(errors, &spec.child("updateStrategy"));
    errors.nonnegative(&spec.child("revisionHistoryLimit"));
}

/// `ValidateDaemonSetUpdateStrategy`
fn daemon_set_strategy(errors: &mut Errors, strategy: &FieldValue<'_, '_>) {
    let rolling = strategy.child("rollingUpdate");
    match strategy.child("type").text() {
        "OnDelete" => {}
        "RollingUpdate" if !rolling.is_set() => errors.required(&rolling, ""),
        "RollingUpdate" => {
            let (unavailable, surge) = (rolling.child("maxUnavailable"), rolling.child("maxSurge"));
            for field in [&unavailable, &surge] {
                int_or_percent::validate(errors, field);
            }
            for field in [&unavailable, &surge] {
                int_or_percent::at_most_100(errors, field);
            }
            match (int_or_percent::number(&unavailable) != 0, int_or_percent::number(&surge) != 0) {
                (true, true) => {
                    errors.invalid_typed(
                        &surge,
                        int_or_percent::TYPE,
                        "may not be set when maxUnavailable is non-zero",
                    );
                }
                (false, false) => errors.required(&unavailable, "cannot be 0 when maxSurge is 0"),
                _ => {}
            }
        }
        _ => errors.not_supported_typed(strategy, "apps.DaemonSetUpdateStrategy", &["RollingUpdate", "OnDelete"]),
    }
}

/// `ValidateStatefulSet` and `ValidateStatefulSetUpdate`
pub(crate) fn stateful_set(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    let old_spec = old.map(|old| FieldValue::new(old.get("spec"), ROOT));
    // Since 1.34, the specification of Pods is validated, and an existing invalid one is tolerated.
    let skips_template = !errors.release.since(V1_34)
        || old_spec.is_some_and(|old| {
            let mut found = Errors::new(errors.release);
            stateful_set_spec(
                &mut found,
                &old,
                &options,
                StatefulSetOptions { skips_template: false, is_update: true },
            );
            !found.list.is_empty()
        });
    stateful_set_spec(errors, &spec, &options, StatefulSetOptions { skips_template, is_update: old.is_some() });
    let Some(old_spec) = old_spec else { return };
    if errors.release.since(V1_37) {
        for (name, type_) in [
            ("selector", immutable::SELECTOR),
            ("volumeClaimTemplates", "[]core.PersistentVolumeClaim"),
            ("serviceName", "string"),
            ("podManagementPolicy", "string"),
        ] {
            immutable::declared_since(errors, &spec.child(name), &old_spec.child(name), type_, V1_38);
        }
        return;
    }
    let (history, shown) =
        if errors.release.since(V1_33) { ("revisionHistoryLimit", "'revisionHistoryLimit', ") } else { ("", "") };
    let others = |value: &Value| {
        let is_other = |key: &str| key != history && key != CLAIMS && !MUTABLE.contains(&key);
        let members = value.as_object().into_iter().flatten().filter(|(key, _)| is_other(key));
        Value::Object(members.map(|(key, value)| (key.clone(), value.clone())).collect())
    };
    let [claims, old_claims] = [&spec, &old_spec].map(|spec| spec.child(CLAIMS));
    let has_same_claims =
        internal::is_equal("[]core.PersistentVolumeClaim", claims.value, old_claims.value, errors.release);
    if !has_same_claims || !immutable::is_equal(&others(spec.value), &others(old_spec.value)) {
        let detail = format!(
            "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', {shown}'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
        );
        errors.forbidden(&spec, &detail);
    }
}

const CLAIMS: &str = "volumeClaimTemplates";
/// The fields of a `StatefulSet` that an update may change.
const MUTABLE: &[&str] =
    &["replicas", "template", "updateStrategy", "minReadySeconds", "ordinals", "persistentVolumeClaimRetentionPolicy"];

#[derive(Clone, Copy)]
struct StatefulSetOptions {
    skips_template: bool,
    is_update: bool,
}

/// `ValidateStatefulSetSpec`
fn stateful_set_spec(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: &PodOptions, of: StatefulSetOptions) {
    let policy = spec.child("podManagementPolicy");
    match policy.text() {
        "" => errors.required(&policy, ""),
        "OrderedReady" | "Parallel" => {}
        _ => errors.invalid(&policy, "must be 'OrderedReady' or 'Parallel'"),
    }
    stateful_set_strategy(errors, &spec.child("updateStrategy"));
    let retention = spec.child("persistentVolumeClaimRetentionPolicy");
    if retention.is_set() {
        for field in ["whenDeleted", "whenScaled"] {
            errors.supported(&retention.child(field), &["Retain", "Delete"]);
        }
    }
    if !of.is_update && errors.release.since(V1_34) {
        for template in spec.child("volumeClaimTemplates").items() {
            claims::specification(errors, &template.child("spec"), claims::ClaimOptions::default());
        }
    }
    errors.nonnegative(&spec.child("replicas"));
    errors.nonnegative(&spec.child("minReadySeconds"));
    let ordinals = spec.child("ordinals");
    let start = FieldValue { path: spec.path.child("ordinals.start"), ..ordinals.child("start") };
    errors.nonnegative(&start);
    let service = spec.child("serviceName");
    if !of.is_update && !service.text().is_empty() && errors.release.since(V1_33) {
        formats::label(errors, &service);
    }
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    if required_selector(errors, &selector, "statefulset", "") {
        stateful_set_template(errors, spec, options, of.skips_template);
    }
    pod_template::never_ends(errors, &template, "StatefulSet");
}

/// `ValidatePodTemplateSpecForStatefulSet`, with the volumes that claims provide
fn stateful_set_template(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: &PodOptions, skips: bool) {
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    if !selector.is_set() || !selectors::is_empty(&selector) {
        pod_template::selected(errors, &template, &selector);
    }
    let completed = with_claims(spec, template.value);
    let template = FieldValue { value: &completed, ..template };
    // Before 1.34, only the metadata were validated.
    if !skips && errors.release.since(V1_34) {
        pod_template::validate(errors, &template, options);
    }
    pod_template::metadata_of(errors, &template, options);
}

/// The template without fields that the controller sets, and with the volumes of the claims.
fn with_claims(spec: &FieldValue<'_, '_>, template: &Value) -> Value {
    let mut template = template.clone();
    let claims = spec.child("volumeClaimTemplates");
    if let Some(pod) = template.get_mut("spec").and_then(Value::as_object_mut) {
        pod.remove("subdomain");
        pod.remove("hostname");
        let names: BTreeSet<&str> =
            claims.items().map(|claim| claim.value.str_at(&["metadata", "name"]).unwrap_or_default()).collect();
        if !names.is_empty() {
            let claim_volume = |name: &&str| {
                let source = crdx_value::object([("claimName", *name)]);
                crdx_value::object([("name", Value::from(*name)), ("persistentVolumeClaim", source)])
            };
            let mut volumes: Vec<Value> = names.iter().map(claim_volume).collect();
            let own = pod.get("volumes").and_then(Value::as_array).unwrap_or_default();
            let is_other = |volume: &&Value| !names.contains(&volume.str_at(&["name"]).unwrap_or_default());
            volumes.extend(own.iter().filter(is_other).cloned());
            pod.insert("volumes".to_owned(), volumes.into());
        }
    }
    template
}

fn stateful_set_strategy(errors: &mut Errors, strategy: &FieldValue<'_, '_>) {
    let rolling = strategy.child("rollingUpdate");
    let has_recreate = errors.release.since(V1_38);
    match strategy.child("type").text() {
        "" => errors.required(strategy, ""),
        // `StatefulSetRecreateStrategy` is enabled by default since 1.38.
        type_ if type_ == "OnDelete" || type_ == "Recreate" && has_recreate => {
            if rolling.is_set() {
                errors.invalid_typed(
                    &rolling,
                    "*apps.RollingUpdateStatefulSetStrategy",
                    "only allowed for updateStrategy 'RollingUpdate'",
                );
            }
        }
        "RollingUpdate" => {
            errors.nonnegative(&rolling.child("partition"));
            let unavailable = rolling.child("maxUnavailable");
            if unavailable.is_set() && errors.release.since(V1_37) {
                int_or_percent::validate(errors, &unavailable);
                if int_or_percent::number(&unavailable) == 0 {
                    errors.invalid_typed(&unavailable, int_or_percent::TYPE, "cannot be 0");
                }
                int_or_percent::at_most_100(errors, &unavailable);
            }
        }
        _ => {
            let detail = if has_recreate {
                "must be 'RollingUpdate', 'OnDelete', or 'Recreate'"
            } else {
                "must be 'RollingUpdate' or 'OnDelete'"
            };
            errors.invalid_typed(strategy, "apps.StatefulSetUpdateStrategy", detail);
        }
    }
}

/// `ValidateReplicationController` and `ValidateReplicationControllerUpdate`
pub(crate) fn replication_controller(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    errors.nonnegative(&spec.child("minReadySeconds"));
    let (selector, replicas) = (spec.child("selector"), spec.child("replicas"));
    if selector.len() == 0 {
        errors.required(&selector, "");
    }
    if replicas.is_set() {
        errors.nonnegative(&replicas);
    } else {
        errors.required(&replicas, "");
    }
    let template = spec.child("template");
    if !template.is_set() {
        return errors.required(&template, "");
    }
    let metadata = template.child("metadata");
    let labels = metadata.child("labels");
    let is_selected = selector.entries().all(|(key, value)| labels.value.get(key) == Some(value.value));
    if !is_selected {
        errors.invalid_typed(&labels, "map[string]string", "`selector` does not match template `labels`");
    }
    pod_template::validate(errors, &template, &options);
    pod_template::never_ends(errors, &template, "ReplicationController");
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    const POD: &str = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;

    fn workload(selector: &str, template: &str, rest: &str) -> String {
        format!(r#"{{"spec":{{"selector":{selector},"template":{template}{rest}}}}}"#)
    }

    #[test]
    fn labels_selectors_and_strategies_are_shown_with_their_types() {
        let selector = r#"{"matchLabels":{"a":"c"}}"#;
        let deployment = workload(selector, POD, r#","strategy":{"type":"x"}"#);
        assert_eq!(
            created("apps/v1", "Deployment", &deployment, "1.31"),
            [
                "spec.template.metadata.labels: Invalid value: map[string]string{\"a\":\"b\"}: `selector` does not match template `labels`",
                "spec.strategy: Unsupported value: apps.DeploymentStrategy{Type:\"x\", RollingUpdate:(*apps.RollingUpdateDeployment)(nil)}: supported values: \"Recreate\", \"RollingUpdate\"",
            ]
        );
        let empty =
            workload(selector, r#"{"metadata":{"labels":{}},"spec":{"containers":[{"name":"c","image":"i"}]}}"#, "");
        let expected =
            ["spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`"];
        assert_eq!(created("apps/v1", "Deployment", &empty, "1.37"), expected);
        let set = workload("{}", POD, "");
        let expected = "spec.selector: Invalid value: v1.LabelSelector{MatchLabels:map[string]string(nil), MatchExpressions:[]v1.LabelSelectorRequirement(nil)}: empty selector is invalid for daemonset";
        assert_eq!(created("apps/v1", "DaemonSet", &set, "1.33"), [expected]);
    }

    #[test]
    fn strategies_of_daemon_sets_are_listed_in_the_order_of_the_source() {
        let set = workload(r#"{"matchLabels":{"a":"b"}}"#, POD, r#","updateStrategy":{"type":"x"}"#);
        let text = r#"spec.updateStrategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete""#;
        assert_eq!(created("apps/v1", "DaemonSet", &set, "1.37"), [text]);
    }

    #[test]
    fn stateful_sets_validate_their_pods_since_1_34() {
        let pod = POD.replace("\"c\"", "\"C\"");
        let set = workload(r#"{"matchLabels":{"a":"b"}}"#, &pod, "");
        let errors = |release| created("apps/v1", "StatefulSet", &set, release).len();
        assert_eq!((errors("1.33"), errors("1.34")), (0, 1));
    }

    #[test]
    fn claim_templates_are_shown_with_their_internal_type() {
        let selector = r#"{"matchLabels":{"a":"b"}}"#;
        let claims = r#","volumeClaimTemplates":[{"metadata":{"name":"d"},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}]"#;
        let errors =
            updated("apps/v1", "StatefulSet", &workload(selector, POD, ""), &workload(selector, POD, claims), "1.37");
        let start = r#"spec.volumeClaimTemplates: Invalid value: [{"name":"d","Spec":{"AccessModes":["ReadWriteOnce"],"Selector":null,"Resources":{"Limits":null,"Requests":{"storage":"1Gi"}},"VolumeName":"","StorageClassName":null,"VolumeMode":"Filesystem","#;
        assert!(errors.len() == 1 && errors[0].starts_with(start), "{errors:?}");
    }
}
