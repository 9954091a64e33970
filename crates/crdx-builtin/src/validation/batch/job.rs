//! Jobs.

mod failure_policy;
mod success_policy;
pub mod update;

use crate::validation::core::pod_template;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    formats, immutable,
    selectors::{self, LabelValues},
};
use crdx_value::Value;
use crdx_value::field::{FieldError, ROOT, names};
use crdx_value::quote::go_quote;
use crdx_value::release::{V1_37, V1_38};

const MAX_PARALLELISM: i64 = 100_000;
const MAX_FAILED_INDEXES: i64 = 100_000;
/// Above this number of completions, the next limits apply, too.
const MANY_COMPLETIONS: i64 = 100_000;
const MAX_WITH_MANY_COMPLETIONS: i64 = 10_000;
const MAX_MANAGED_BY: usize = 63;
/// The labels of the Pods of a Job, with the names of older releases.
const UID_LABELS: [&str; 2] = ["controller-uid", "batch.kubernetes.io/controller-uid"];
const NAME_LABELS: [&str; 2] = ["job-name", "batch.kubernetes.io/job-name"];

/// `ValidateJobCreate` and `ValidateJobUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (spec, metadata) = (object.child("spec"), object.child("metadata"));
    // Before 1.37, updates were validated like new Jobs too.
    if old.is_none() || !errors.release.since(V1_37) {
        let has_prefixed = |old: &Value| {
            let label = |label: &str| old.at(&["spec", "template", "metadata", "labels", label]).is_some();
            label(UID_LABELS[1]) && label(NAME_LABELS[1])
        };
        generated_selector(errors, &metadata, &spec, old.is_none_or(has_prefixed));
    }
    let old_spec = old.map(|old| FieldValue::new(old.get("spec"), ROOT));
    let mut options = pod_template::options(old.and_then(|old| old.at(&["spec", "template"])), errors.release);
    if let Some(old_spec) = &old_spec {
        options.allows_invalid_affinity_selectors |= selectors::has_invalid_value(&old_spec.child("selector"), errors);
    }
    specification(errors, &spec, &options);
    let (selector, template) = (spec.child("selector"), spec.child("template"));
    if selector.is_set() {
        selectors::label_selector(
            errors,
            &selector,
            LabelValues::allow_invalid_if(options.allows_invalid_affinity_selectors),
        );
    } else {
        errors.required(&selector, "");
    }
    if selectors::is_valid(&selector, errors) {
        pod_template::selected(errors, &template, &selector);
    }
    if let (Some(old), Some(old_spec)) = (old, &old_spec) {
        update::validate(errors, &spec, old_spec, old);
    }
    name_allows_completions(errors, &metadata, &spec);
    delegation(errors, &metadata, old.map(|old| FieldValue::new(old.get("metadata"), ROOT)));
}

/// Reports an annotation without the other one that it needs, unless an update keeps them (`validateDelegationAnnotations`, since 1.38).
pub(crate) fn delegation(errors: &mut Errors, metadata: &FieldValue<'_, '_>, old: Option<FieldValue<'_, '_>>) {
    const KEYS: [&str; 2] = ["scheduling.k8s.io/workload-name", "scheduling.k8s.io/group-template-name"];
    let annotations = metadata.child("annotations");
    let of = |metadata: &FieldValue<'_, '_>, key| {
        metadata.value.at(&["annotations", key]).and_then(Value::as_str).map(str::to_owned)
    };
    let is_set = KEYS.iter().any(|key| of(metadata, key).is_some());
    let is_kept = old.is_some_and(|old| KEYS.iter().all(|key| of(&old, key) == of(metadata, key)));
    if !errors.release.since(V1_38) || !is_set || is_kept {
        return;
    }
    for key in KEYS {
        if of(metadata, key).is_none_or(|text| text.is_empty()) {
            let detail = format!("must be set to a non-empty value when {} or {} is set", KEYS[0], KEYS[1]);
            errors.list.push(FieldError::required(&annotations.path.key(key), detail));
        }
    }
}

/// `validateGeneratedSelector`
fn generated_selector(
    errors: &mut Errors,
    metadata: &FieldValue<'_, '_>,
    spec: &FieldValue<'_, '_>,
    requires_prefixed: bool,
) {
    let selector = spec.child("selector");
    if spec.child("manualSelector").bool() || !selector.is_set() {
        return;
    }
    let (uid, name, template) = (metadata.child("uid"), metadata.child("name"), spec.child("template"));
    errors.require_text(&uid);
    let template_metadata = template.child("metadata");
    let labels = template_metadata.child("labels");
    let mut expected = crdx_value::Map::new();
    for (legacy, current, value) in
        [(UID_LABELS[0], UID_LABELS[1], uid.text()), (NAME_LABELS[0], NAME_LABELS[1], name.text())]
    {
        for label in [legacy, current].into_iter().take(if requires_prefixed { 2 } else { 1 }) {
            expected.insert(label.to_owned(), value.into());
            let (path, detail) = (labels.path.key(label), format!("must be '{value}'"));
            match labels.value.get(label).and_then(Value::as_str) {
                None => errors.list.push(FieldError::required(&path, detail)),
                Some(found) if found != value => {
                    errors.invalid_typed(&FieldValue { path, ..labels }, "map[string]string", detail);
                }
                Some(_) => {}
            }
        }
    }
    if selectors::is_valid(&selector, errors) && !selectors::selects(&selector, &Value::Object(expected)) {
        errors.invalid_typed(&selector, immutable::SELECTOR, "`selector` not auto-generated");
    }
}

/// `validateNameAllowsCompletions`
fn name_allows_completions(errors: &mut Errors, metadata: &FieldValue<'_, '_>, spec: &FieldValue<'_, '_>) {
    let completions = spec.child("completions").int().unwrap_or_default();
    if spec.child("completionMode").text() == "Indexed" && completions > 0 {
        let name = metadata.child("name");
        let hostname = format!("{}-{}", name.text(), completions - 1);
        if !names::dns1123_label(hostname.as_bytes()).is_empty() {
            let detail = format!("will not able to create pod with invalid DNS label: {hostname}");
            errors.invalid_value(&name.path, name.text(), detail);
        }
    }
}

/// `validateJobSpec`
pub(crate) fn specification(
    errors: &mut Errors,
    spec: &FieldValue<'_, '_>,
    options: &crate::validation::core::pod_spec::PodOptions,
) {
    for name in [
        "parallelism",
        "completions",
        "activeDeadlineSeconds",
        "backoffLimit",
        "ttlSecondsAfterFinished",
        "backoffLimitPerIndex",
        "maxFailedIndexes",
    ] {
        errors.nonnegative(&spec.child(name));
    }
    if spec.child("maxFailedIndexes").is_set() && !spec.child("backoffLimitPerIndex").is_set() {
        let detail = if errors.release.since(V1_38) {
            "must be set when maxFailedIndexes is set"
        } else {
            "when maxFailedIndexes is specified"
        };
        errors.required(&spec.child("backoffLimitPerIndex"), detail);
    }
    managed_by(errors, &spec.child("managedBy"));
    completion_mode(errors, spec);
    failure_policy::validate(errors, spec);
    success_policy::validate(errors, spec);
    replacement_policy(errors, spec);
    let template = spec.child("template");
    pod_template::validate(errors, &template, options);
    let pod = template.child("spec");
    let policy = pod.child("restartPolicy");
    match policy.text() {
        "" | "Always" => errors.required(&policy, "valid values: \"OnFailure\", \"Never\""),
        "Never" => {}
        "OnFailure" => {
            if spec.child("podFailurePolicy").is_set() {
                errors.invalid(&policy, "only \"Never\" is supported when podFailurePolicy is specified");
            }
        }
        _ => errors.not_supported(&policy, &["OnFailure", "Never"]),
    }
}

/// The name of the controller of a Job. Before 1.32, the server drops it from new Jobs, but not from updates and from
/// `CronJob`s.
fn managed_by(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if !field.is_set() {
        return;
    }
    formats::domain_prefixed_path(errors, field);
    if field.text().len() > MAX_MANAGED_BY {
        errors.too_long(field, MAX_MANAGED_BY as i64);
    }
}

fn completion_mode(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let (mode, completions, parallelism) =
        (spec.child("completionMode"), spec.child("completions"), spec.child("parallelism"));
    let (limit, failed) = (spec.child("backoffLimitPerIndex"), spec.child("maxFailedIndexes"));
    let at_most = |errors: &mut Errors, field: &FieldValue<'_, '_>, max: i64, suffix: &str| {
        if field.int().is_some_and(|value| value > max) {
            errors.invalid(field, format!("must be less than or equal to {max}{suffix}"));
        }
    };
    match mode.text() {
        "Indexed" => {
            if !completions.is_set() {
                errors.required(&completions, "when completion mode is Indexed");
            }
            at_most(errors, &parallelism, MAX_PARALLELISM, " when completion mode is Indexed");
            if let (Some(completions), Some(failed_indexes)) = (completions.int(), failed.int())
                && failed_indexes > completions
            {
                errors.invalid(&failed, "must be less than or equal to completions");
            }
            at_most(errors, &failed, MAX_FAILED_INDEXES, "");
            if completions.int().is_some_and(|completions| completions > MANY_COMPLETIONS) && limit.is_set() {
                if !failed.is_set() {
                    let detail = format!("must be specified when completions is above {MANY_COMPLETIONS}");
                    errors.required(&failed, &detail);
                }
                let suffix =
                    format!(" when completions are above {MANY_COMPLETIONS} and used with backoff limit per index");
                at_most(errors, &parallelism, MAX_WITH_MANY_COMPLETIONS, &suffix);
                at_most(errors, &failed, MAX_WITH_MANY_COMPLETIONS, &suffix);
            }
        }
        text if !mode.is_set() || text == "NonIndexed" => {
            for field in [&limit, &failed] {
                if field.is_set() {
                    errors.invalid(field, "requires indexed completion mode");
                }
            }
        }
        _ => errors.not_supported(&mode, &["NonIndexed", "Indexed"]),
    }
}

/// `validatePodReplacementPolicy`
fn replacement_policy(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let policy = spec.child("podReplacementPolicy");
    if policy.is_set() {
        let has_failure_policy = spec.child("podFailurePolicy").is_set();
        let supported: &[&str] = if has_failure_policy { &["Failed"] } else { &["Failed", "TerminatingOrFailed"] };
        errors.supported(&policy, supported);
    }
}

/// A list as Go formats it with `%q`.
fn quoted(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| go_quote(name)).collect();
    format!("valid values: [{}]", names.join(" "))
}

/// The qualified name of a condition.
fn condition_type(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    formats::qualified_name(errors, field);
}
