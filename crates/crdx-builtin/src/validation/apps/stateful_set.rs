//! `StatefulSet`s.

use crate::validation::apps::required_selector;
use crate::validation::core::pod_spec::PodOptions;
use crate::validation::core::pod_template::template_options;
use crate::validation::core::{persistent_volume_claim, pod_template};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, immutable, int_or_percent, internal, selectors};
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::{Gate, V1_33, V1_34, V1_37, V1_38};
use std::collections::BTreeSet;

/// `ValidateStatefulSet` and `ValidateStatefulSetUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
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
            persistent_volume_claim::specification(
                errors,
                &template.child("spec"),
                persistent_volume_claim::ClaimOptions::default(),
            );
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
    let has_recreate = errors.release.enables(Gate::StatefulSetRecreateStrategy);
    match strategy.child("type").text() {
        "" => errors.required(strategy, ""),
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
            if unavailable.is_set() && errors.release.enables(Gate::MaxUnavailableStatefulSet) {
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

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    const POD: &str = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;

    fn workload(selector: &str, template: &str, rest: &str) -> String {
        format!(r#"{{"spec":{{"selector":{selector},"template":{template}{rest}}}}}"#)
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
