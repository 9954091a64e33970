//! Kinds with a template of Pods (`pkg/registry/apps`, `batch` and `core`).

use super::{Warnings, pods};
use crate::validation::field_value::FieldValue;
use crdx_value::Value;
use crdx_value::release::{V1_33, V1_38};

const COMPLETIONS: i64 = 100_000;
const PARALLELISM: i64 = 10_000;
const TOO_MANY_INDEXES: &str = "In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail";

fn workload_name(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if old.is_none() {
        warnings.name(object, "this is used in Pod names and hostnames");
    }
}

/// Returns true for a create, and for an update that changes the generation. The strategies only look at the template then.
fn is_new_generation(object: &FieldValue<'_, '_>, old: Option<&Value>) -> bool {
    const GENERATION: &[&str] = &["metadata", "generation"];
    old.is_none_or(|old| old.at(GENERATION) != object.value.at(GENERATION))
}

/// Deployments and `ReplicaSet`s
pub(super) fn named_workload(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    workload_name(warnings, object, old);
    if is_new_generation(object, old) {
        pods::template(warnings, &object.child("spec").child("template"));
    }
}

/// `ReplicationController`s. Before 1.38, the warnings about an update are those about the template that it replaces.
pub(super) fn replication_controller(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let Some(before) = old else { return named_workload(warnings, object, None) };
    if is_new_generation(object, old) {
        let spec = object.child("spec");
        let path = spec.child("template").path;
        let warned = if warnings.release.since(V1_38) { object.value } else { before };
        pods::template(warnings, &FieldValue::new(warned.at(&["spec", "template"]), path));
    }
}

/// `PodTemplate`s
pub(super) fn pod_template(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if is_new_generation(object, old) {
        pods::template(warnings, &object.child("template"));
    }
}

/// `DaemonSet`s: an update gives warnings if it changes the template.
pub(super) fn daemon_set(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    const TEMPLATE: &[&str] = &["spec", "template"];
    if old.is_none_or(|old| old.at(TEMPLATE) != object.value.at(TEMPLATE)) {
        pods::template(warnings, &object.child("spec").child("template"));
    }
}

/// `StatefulSet`s
pub(super) fn stateful_set(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    if is_new_generation(object, old) {
        pods::template(warnings, &spec.child("template"));
    }
    for claim in spec.child("volumeClaimTemplates").items() {
        let value = claim.value.get("spec");
        // The paths do not have the field `spec`.
        match old {
            None => warnings.claim_amounts(&FieldValue::new(value, claim.path)),
            Some(_) => warnings.claim_amounts(&FieldValue::new(value, claim.path.child("Spec"))),
        }
    }
    if spec.child("revisionHistoryLimit").int().is_some_and(|limit| limit < 0) && warnings.release.since(V1_33) {
        let text = "a negative value retains all historical revisions; a value >= 0 is recommended";
        warnings.at(&spec.child("revisionHistoryLimit").path, text);
    }
}

pub(super) fn job(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    workload_name(warnings, object, old);
    if is_new_generation(object, old) {
        job_spec(warnings, &object.child("spec"));
    }
}

/// `CronJob`s
pub(super) fn cron_job(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    workload_name(warnings, object, old);
    let spec = object.child("spec");
    if is_new_generation(object, old) {
        job_spec(warnings, &spec.child("jobTemplate").child("spec"));
    }
    if old.is_some() && spec.child("schedule").text().contains("TZ") {
        warnings.add("cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details");
    }
}

/// `WarningsForJobSpec`
fn job_spec(warnings: &mut Warnings, spec: &FieldValue<'_, '_>) {
    let number = |name| spec.value.get(name).and_then(Value::as_int).unwrap_or_default();
    if spec.child("completionMode").text() == "Indexed"
        && number("completions") > COMPLETIONS
        && number("parallelism") > PARALLELISM
    {
        warnings.at(&spec.path, TOO_MANY_INDEXES);
    }
    pods::template(warnings, &spec.child("template"));
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;
    use super::super::warnings;
    use crdx_text::json;

    #[test]
    fn a_name_should_be_a_label() {
        let found = created("apps", "Deployment", r#"{"metadata":{"name":"a.b"},"spec":{}}"#, "1.37");
        let text = "this is used in Pod names and hostnames, which can result in surprising behavior; a DNS label is recommended: [must not contain dots]";
        assert_eq!(found, [format!("metadata.name: {text}")]);
        assert_eq!(created("apps", "StatefulSet", r#"{"metadata":{"name":"a.b"},"spec":{}}"#, "1.37"), [""; 0]);
    }

    #[test]
    fn an_update_of_the_same_generation_gives_no_warnings() {
        let read = |generation: i64| {
            let text = format!(
                r#"{{"metadata":{{"name":"a","generation":{generation}}},"spec":{{"template":{{"spec":{{"nodeSelector":{{"beta.kubernetes.io/os":"a"}}}}}}}}}}"#
            );
            json::read(text.as_bytes()).unwrap()
        };
        let found =
            |generation| warnings(("apps", "Deployment"), &read(generation), Some(&read(1)), "1.37".parse().unwrap());
        assert_eq!(found(1), [""; 0]);
        assert_eq!(found(2).len(), 1);
    }

    #[test]
    fn amounts_of_claim_templates_are_integers() {
        let set = r#"{"spec":{"volumeClaimTemplates":[{"spec":{"resources":{"limits":{"storage":"1m"}}}}],"revisionHistoryLimit":-1}}"#;
        assert_eq!(
            created("apps", "StatefulSet", set, "1.37"),
            [
                r#"spec.volumeClaimTemplates[0].resources.limits[storage]: fractional byte value "1m" is invalid, must be an integer"#,
                "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended",
            ]
        );
    }
    #[test]
    fn an_update_of_a_replication_controller_gives_warnings_about_the_old_template() {
        let read = |generation: i64, selector: &str| {
            let text = format!(
                r#"{{"metadata":{{"name":"a","generation":{generation}}},"spec":{{"template":{{"spec":{{"nodeSelector":{{{selector}}}}}}}}}}}"#
            );
            json::read(text.as_bytes()).unwrap()
        };
        let (plain, deprecated) = ("", r#""beta.kubernetes.io/os":"a""#);
        let found = |old: &str, new: &str, release: &str| {
            let kind = ("", "ReplicationController");
            warnings(kind, &read(2, new), Some(&read(1, old)), release.parse().unwrap()).len()
        };
        assert_eq!((found(plain, deprecated, "1.37"), found(deprecated, plain, "1.37")), (0, 1));
        assert_eq!((found(plain, deprecated, "1.38"), found(deprecated, plain, "1.38")), (1, 0));
    }
}
