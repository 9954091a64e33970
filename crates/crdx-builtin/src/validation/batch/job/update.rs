//! Updates of Jobs (`ValidateJobSpecUpdate`).

use crate::validation::core::pod_spec;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crate::validation::immutable::copy;
use crate::validation::statuses::jobs::has_condition;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::Gate;

/// Reports changes of fields that are immutable; `old` is the existing Job.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, old_spec: &FieldValue<'_, '_>, old: &Value) {
    completions(errors, spec, old_spec);
    immutable::typed(errors, &spec.child("selector"), &old_spec.child("selector"), immutable::SELECTOR);
    template(errors, spec, old_spec, old);
    for (name, type_) in [
        ("completionMode", "*string"),
        ("podFailurePolicy", "*batch.PodFailurePolicy"),
        ("backoffLimitPerIndex", "*int32"),
        ("managedBy", "*string"),
        ("successPolicy", "*batch.SuccessPolicy"),
    ] {
        immutable::typed(errors, &spec.child(name), &old_spec.child(name), type_);
    }
}

/// `validateCompletions`
fn completions(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (new, old) = (spec.child("completions"), old.child("completions"));
    if spec.child("completionMode").text() != "Indexed" {
        return immutable::typed(errors, &new, &old, "*int32");
    }
    let changes = new.is_set() && new.value != old.value;
    if changes && new.value != spec.child("parallelism").value {
        errors.invalid(&new, "can only be modified in tandem with spec.parallelism");
    }
}

/// `validatePodTemplateUpdate`. A suspended Job that has not started may change how its Pods are scheduled.
fn template(errors: &mut Errors, spec: &FieldValue<'_, '_>, old_spec: &FieldValue<'_, '_>, old: &Value) {
    let is_suspended = old_spec.child("suspend").bool();
    let has_started = old.at(&["status", "startTime"]).is_some_and(|time| !time.is_null());
    let has_condition = has_condition(&FieldValue::new(old.get("status"), ROOT), "Suspended", "True");
    let is_active = old.at(&["status", "active"]).and_then(Value::as_int).unwrap_or_default() != 0;
    let is_mutable = is_suspended && (!has_started || has_condition) && !is_active;
    let changes_scheduling = if errors.release.enables(Gate::MutableSchedulingDirectivesForSuspendedJobs) {
        is_mutable
    } else {
        is_suspended && !has_started
    };
    let (new, old) = (spec.child("template"), old_spec.child("template"));
    let mut old = old.value.clone();
    if changes_scheduling {
        copy_scheduling(new.value, &mut old);
    }
    if !errors.release.enables(Gate::MutablePodResourcesForSuspendedJobs) || !is_mutable {
        let mut empties = new.empties.cloned().unwrap_or_default();
        pod_spec::clear_volumes(&mut empties, &["spec"], errors.release);
        let new = FieldValue { empties: Some(&empties), ..new };
        immutable::typed(errors, &new, &FieldValue::new(Some(&old), new.path), "core.PodTemplateSpec");
        return;
    }
    copy_resources(new.value, &mut old);
    // The server reports this field in one segment.
    let pod = FieldValue { path: spec.path.child("template.spec"), ..new.child("spec") };
    let old = FieldValue::new(old.get("spec"), pod.path);
    immutable::typed(errors, &pod, &old, "core.PodSpec");
}

fn copy_scheduling(new: &Value, old: &mut Value) {
    for path in [
        &["spec", "affinity", "nodeAffinity"][..],
        &["spec", "nodeSelector"],
        &["spec", "tolerations"],
        &["metadata", "annotations"],
        &["metadata", "labels"],
        &["spec", "schedulingGates"],
    ] {
        copy(new, old, path);
    }
}

fn copy_resources(new: &Value, old: &mut Value) {
    for list in ["containers", "initContainers"] {
        let containers = new.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default();
        let Some(Value::Array(old_containers)) = old.get_mut("spec").and_then(|spec| spec.get_mut(list)) else {
            continue;
        };
        if containers.len() != old_containers.len() {
            continue;
        }
        for (new, old) in containers.iter().zip(old_containers) {
            if new.get("name") == old.get("name") {
                copy(new, old, &["resources"]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn job(labels: &str, image: &str) -> String {
        format!(
            r#"{{"metadata":{{"name":"j","uid":"u"}},"spec":{{"selector":{{"matchLabels":{{"controller-uid":"u"}}}},"template":{{"metadata":{{"labels":{{"job-name":"j","batch.kubernetes.io/job-name":"j","batch.kubernetes.io/controller-uid":"u"{labels}}}}},"spec":{{"restartPolicy":"Never","containers":[{{"name":"c","image":"{image}"}}]}}}}}}}}"#
        )
    }

    #[test]
    fn a_changed_template_is_shown_with_its_internal_type() {
        let labels = r#","controller-uid":"u""#;
        let errors = updated("batch/v1", "Job", &job(labels, "a"), &job(labels, "b"), "1.37");
        let start = r#"spec.template: Invalid value: {"labels":{"batch.kubernetes.io/controller-uid":"u","batch.kubernetes.io/job-name":"j","controller-uid":"u","job-name":"j"},"Spec":{"Volumes":null,"InitContainers":null,"Containers":[{"Name":"c","Image":"b","Command":null,"#;
        assert!(errors.len() == 1 && errors[0].starts_with(start), "{errors:?}");
    }

    #[test]
    fn a_success_policy_is_shown_with_its_internal_type() {
        let old = job(r#","controller-uid":"u""#, "a");
        let new = old
            .replace(r#""spec":{"selector""#, r#""spec":{"successPolicy":{"rules":[{"succeededCount":1}]},"selector""#);
        let value = r#"spec.successPolicy: Invalid value: {"Rules":[{"SucceededIndexes":null,"SucceededCount":1}]}: "#;
        assert_eq!(
            updated("batch/v1", "Job", &old, &new, "1.37"),
            [format!("{value}requires indexed completion mode"), format!("{value}field is immutable")]
        );
    }

    #[test]
    fn an_empty_completion_mode_is_not_supported() {
        let old = job(r#","controller-uid":"u""#, "a");
        let new = old.replace(r#""spec":{"selector""#, r#""spec":{"completionMode":"","selector""#);
        assert_eq!(
            updated("batch/v1", "Job", &old, &new, "1.37"),
            [
                r#"spec.completionMode: Unsupported value: "": supported values: "NonIndexed", "Indexed""#,
                r#"spec.completionMode: Invalid value: "": field is immutable"#,
            ]
        );
    }

    #[test]
    fn updates_need_the_generated_labels_before_1_37() {
        let old = job(r#","controller-uid":"u""#, "a");
        let missing = |release| {
            let errors = updated("batch/v1", "Job", &old, &job("", "a"), release);
            errors
                .iter()
                .any(|error| error == "spec.template.metadata.labels[controller-uid]: Required value: must be 'u'")
        };
        assert!(missing("1.36") && !missing("1.37"));
    }
    #[test]
    fn delegation_needs_both_annotations_since_1_38() {
        let job = |annotations: &str| format!(r#"{{"metadata":{{"annotations":{{{annotations}}}}},"spec":{{}}}}"#);
        let about_annotations =
            |found: Vec<String>| found.into_iter().filter(|error| error.contains("annotations")).collect::<Vec<_>>();
        let one = job(r#""scheduling.k8s.io/workload-name":"w""#);
        let of = |release| about_annotations(created("batch/v1", "Job", &one, release));
        let expected = "metadata.annotations[scheduling.k8s.io/group-template-name]: Required value: must be set to a non-empty value when scheduling.k8s.io/workload-name or scheduling.k8s.io/group-template-name is set";
        assert_eq!((of("1.38"), of("1.37")), (vec![expected.to_owned()], Vec::new()));
        assert_eq!(about_annotations(updated("batch/v1", "Job", &one, &one, "1.38")), [""; 0]);
    }

    #[test]
    fn the_manager_of_a_job_is_validated_and_immutable_before_1_32_too() {
        let old = job(r#","controller-uid":"u""#, "a");
        let with = |manager: &str| old.replace(r#""spec":{"s"#, &format!(r#""spec":{{"managedBy":"{manager}","s"#));
        let update = |new: &str| updated("batch/v1", "Job", &old, new, "1.31");
        assert_eq!(update(&with("a.b/c")), [r#"spec.managedBy: Invalid value: "a.b/c": field is immutable"#]);
        let message = r#"spec.managedBy: Invalid value: "a": must be a domain-prefixed path (such as "acme.io/foo")"#;
        assert!(update(&with("a")).contains(&message.to_owned()));
        let cron_job = r#"{"spec":{"jobTemplate":{"spec":{"managedBy":"a"}}}}"#;
        let errors = created("batch/v1", "CronJob", cron_job, "1.31");
        assert!(errors.contains(&message.replace("spec", "spec.jobTemplate.spec")), "{errors:?}");
    }
}
