//! Deployments.

use crate::validation::apps::{replica_set_template, required_selector, selector_is_immutable};
use crate::validation::core::pod_template::template_options;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::int_or_percent;
use crdx_value::Value;

/// `ValidateDeployment` and `ValidateDeploymentUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
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

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

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
}
