//! `DaemonSet`s.

use crate::validation::apps::selector_is_immutable;
use crate::validation::core::pod_template;
use crate::validation::core::pod_template::template_options;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    immutable, int_or_percent,
    selectors::{self, LabelValues},
};
use crdx_value::Value;

/// `ValidateDaemonSet` and `ValidateDaemonSetUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, options) = (object.child("spec"), template_options(errors, old));
    selector_is_immutable(errors, object, old);
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    selectors::label_selector(
        errors,
        &selector,
        LabelValues::allow_invalid_if(options.allows_invalid_affinity_selectors),
    );
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

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    const POD: &str = r#"{"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"}]}}"#;

    fn workload(selector: &str, template: &str, rest: &str) -> String {
        format!(r#"{{"spec":{{"selector":{selector},"template":{template}{rest}}}}}"#)
    }

    #[test]
    fn strategies_of_daemon_sets_are_listed_in_the_order_of_the_source() {
        let set = workload(r#"{"matchLabels":{"a":"b"}}"#, POD, r#","updateStrategy":{"type":"x"}"#);
        let text = r#"spec.updateStrategy: Unsupported value: {"Type":"x","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete""#;
        assert_eq!(created("apps/v1", "DaemonSet", &set, "1.37"), [text]);
    }
}
