//! `ValidatingWebhookConfiguration` and `MutatingWebhookConfiguration` (`validateValidatingWebhookConfiguration`,
//! `validateMutatingWebhookConfiguration`).

use super::conditions::validate_conditions;
use super::expressions::{Compiler, StoredExpressions};
use super::validating::FAILURE_POLICIES;
use super::values::{Spec, list, present, text, texts, typed};
use super::{resources, selector};
use crate::crd::validation::client_config;
use crate::crd::webhook_client_config;
use crdx_value::Value;
use crdx_value::field::{BadValue, ErrorList, FieldError, FieldPath, names};
use crdx_value::release::Release;
use std::collections::HashSet;

const REVIEW_VERSIONS: [&str; 2] = ["v1", "v1beta1"];
const MATCH_POLICIES: [&str; 2] = ["Equivalent", "Exact"];
const SIDE_EFFECTS: [&str; 2] = ["None", "NoneOnDryRun"];
const ALL_SIDE_EFFECTS: [&str; 4] = ["None", "NoneOnDryRun", "Some", "Unknown"];
const REINVOCATION_POLICIES: [&str; 2] = ["IfNeeded", "Never"];

/// The errors that are tolerated because the stored configuration has them, too.
struct Allowed {
    side_effects: &'static [&'static str],
    unknown_review_versions: bool,
    duplicate_names: bool,
    same_conditions: bool,
}

impl Allowed {
    fn new(webhooks: &[Value], old: Option<&[Value]>) -> Self {
        let Some(old) = old else {
            return Self {
                side_effects: &SIDE_EFFECTS,
                unknown_review_versions: false,
                duplicate_names: false,
                same_conditions: false,
            };
        };
        let none = old.iter().all(|webhook| SIDE_EFFECTS.contains(&text(webhook, "sideEffects")));
        let known = |webhook: &Value| {
            let versions = texts(webhook, "admissionReviewVersions");
            versions.is_empty() || versions.iter().any(|version| REVIEW_VERSIONS.contains(version))
        };
        let mut seen = HashSet::new();
        let conditions = |webhook| list(webhook, "matchConditions");
        let same = old.len() == webhooks.len() && old.iter().zip(webhooks).all(|(a, b)| conditions(a) == conditions(b));
        Self {
            side_effects: if none { &SIDE_EFFECTS } else { &ALL_SIDE_EFFECTS },
            unknown_review_versions: !old.iter().all(known),
            duplicate_names: !old.iter().all(|webhook| seen.insert(text(webhook, "name"))),
            same_conditions: same,
        }
    }
}

/// The resources that webhooks do not intercept since 1.37 (`pkg/kubeapiserver/admission/exclusion`).
const EXCLUDED: [(&str, &str); 6] = [
    ("authentication.k8s.io", "selfsubjectreviews"),
    ("authentication.k8s.io", "tokenreviews"),
    ("authorization.k8s.io", "localsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectaccessreviews"),
    ("authorization.k8s.io", "selfsubjectrulesreviews"),
    ("authorization.k8s.io", "subjectaccessreviews"),
];

/// Returns a warning for each resource of a rule that webhooks do not intercept (`WarningsForValidatingWebhookRules`).
pub(super) fn ineffective_rules(object: &Value) -> Vec<String> {
    let mut warnings = Vec::new();
    for (at, webhook) in list(object, "webhooks").iter().enumerate() {
        for (rule_at, rule) in list(webhook, "rules").iter().enumerate() {
            let (groups, resources) = (texts(rule, "apiGroups"), texts(rule, "resources"));
            if groups.contains(&"*") || resources.contains(&"*") {
                continue;
            }
            let mut seen = HashSet::new();
            for named in groups.iter().flat_map(|group| resources.iter().map(move |resource| (*group, *resource))) {
                if EXCLUDED.contains(&named) && seen.insert(named) {
                    let (group, resource) = named;
                    warnings.push(format!(
                        "webhooks[{at}].rules[{rule_at}]: {resource}.{group} is excluded from admission webhooks; this rule will have no effect"
                    ));
                }
            }
        }
    }
    warnings
}

/// Validates a configuration.
pub fn validate(object: &Value, old: Option<&Value>, release: Release, errors: &mut ErrorList) {
    let root = FieldPath::new("webhooks");
    let webhooks = list(object, "webhooks");
    let old = old.map(|old| list(old, "webhooks"));
    let allowed = Allowed::new(webhooks, old);
    let conditions = old.unwrap_or_default().iter().flat_map(|webhook| list(webhook, "matchConditions"));
    let stored = StoredExpressions {
        match_conditions: conditions.map(|c| text(c, "expression")).collect(),
        ..StoredExpressions::default()
    };
    let mut seen = HashSet::new();
    for (index, value) in webhooks.iter().enumerate() {
        let path = root.index(index);
        let webhook = Spec { value, path: &path, release };
        validate_webhook(webhook, &allowed, &stored, errors);
        review_versions(webhook, &allowed, errors);
        let name = text(value, "name");
        if !allowed.duplicate_names && !name.is_empty() && !seen.insert(name) {
            errors.push(FieldError::duplicate(&path.child("name"), name));
        }
    }
}

fn validate_webhook(webhook: Spec<'_>, allowed: &Allowed, stored: &StoredExpressions<'_>, errors: &mut ErrorList) {
    let Spec { value, path, release } = webhook;
    qualified_name(text(value, "name"), &path.child("name"), errors);
    let rules = path.child("rules");
    for (index, value) in list(value, "rules").iter().enumerate() {
        resources::validate_rule(Spec { value, path: &rules.index(index), release }, errors);
    }
    let one_of = |key: &str, supported: &[&str], errors: &mut ErrorList| {
        if let Some(word) = present(value, key).and_then(Value::as_str).filter(|word| !supported.contains(word)) {
            errors.push(FieldError::not_supported(&path.child(key), typed(word, release), supported));
        }
    };
    one_of("failurePolicy", &FAILURE_POLICIES, errors);
    one_of("matchPolicy", &MATCH_POLICIES, errors);
    if present(value, "sideEffects").is_none() {
        let detail = format!("must specify one of {}", allowed.side_effects.join(", "));
        errors.push(FieldError::required(&path.child("sideEffects"), detail));
    }
    one_of("sideEffects", allowed.side_effects, errors);
    if let Some(seconds) = value.get("timeoutSeconds").and_then(Value::as_int).filter(|s| !(1..=30).contains(s)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        errors.push(FieldError::invalid(&path.child("timeoutSeconds"), seconds, detail));
    }
    for key in ["namespaceSelector", "objectSelector"] {
        if let Some(value) = present(value, key) {
            selector::validate(Spec { value, path: &path.child(key), release }, errors);
        }
    }
    one_of("reinvocationPolicy", &REINVOCATION_POLICIES, errors);
    let config = webhook_client_config(value.get("clientConfig").unwrap_or(&Value::Null));
    client_config(&config, &path.child("clientConfig"), release, errors);
    if !allowed.same_conditions {
        validate_conditions(webhook, None, &Compiler::new(false, false, release), stored, errors);
    }
}

/// `IsFullyQualifiedName`
fn qualified_name(name: &str, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let problems = names::dns1123_subdomain(name.as_bytes());
    if name.is_empty() {
        errors.push(FieldError::required(path, ""));
    } else if !problems.is_empty() {
        errors.push(FieldError::invalid(path, name, problems.join(",")));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        errors.push(FieldError::invalid(path, name, detail));
    }
}

/// `validateAdmissionReviewVersions`
fn review_versions(webhook: Spec<'_>, allowed: &Allowed, errors: &mut ErrorList) {
    let versions = texts(webhook.value, "admissionReviewVersions");
    let path = webhook.path.child("admissionReviewVersions");
    let known = REVIEW_VERSIONS.join(", ");
    if versions.is_empty() {
        errors.push(FieldError::required(&path, format!("must specify one of {known}")));
        return;
    }
    let mut seen = HashSet::new();
    for (index, version) in versions.iter().enumerate() {
        let path = path.index(index);
        if !seen.insert(*version) {
            errors.push(FieldError::invalid(&path, *version, "duplicate version"));
            continue;
        }
        let problems = names::dns1035_label(version.as_bytes());
        errors.extend(problems.into_iter().map(|detail| FieldError::invalid(&path, *version, detail)));
    }
    if !allowed.unknown_review_versions && !versions.iter().any(|version| REVIEW_VERSIONS.contains(version)) {
        let detail = format!("must include at least one of {known}");
        errors.push(FieldError::invalid(&path, BadValue::strings(versions, webhook.release), detail));
    }
}

#[cfg(test)]
mod tests {
    use crate::policies::validation::validate;
    use crdx_text::json::read;
    use crdx_value::release::Release;

    const WEBHOOK: &str = r#"{"name":"w.example.com","clientConfig":{"url":"https://h/"},"sideEffects":"None",
        "admissionReviewVersions":["v1"],"timeoutSeconds":10,"reinvocationPolicy":"Never"}"#;

    fn errors(webhook: &str, old: Option<&str>) -> Vec<String> {
        let configuration = |webhook: &str| {
            let text = format!(
                r#"{{"kind":"MutatingWebhookConfiguration","metadata":{{"name":"c"}},"webhooks":[{webhook}]}}"#
            );
            read(text.as_bytes()).unwrap()
        };
        let old = old.map(configuration);
        validate(&configuration(webhook), old.as_ref(), Release::NEWEST).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn errors_are_those_of_the_server() {
        assert_eq!(errors(WEBHOOK, None), [""; 0]);
        for (from, to, error) in [
            (
                r#""w.example.com""#,
                r#""w.com""#,
                "webhooks[0].name: Invalid value: \"w.com\": should be a domain with at least three segments separated by dots",
            ),
            (
                r#""sideEffects":"None","#,
                "",
                "webhooks[0].sideEffects: Required value: must specify one of None, NoneOnDryRun",
            ),
            (
                r#""None""#,
                r#""Some""#,
                "webhooks[0].sideEffects: Unsupported value: \"Some\": supported values: \"None\", \"NoneOnDryRun\"",
            ),
            (
                "10",
                "31",
                "webhooks[0].timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 seconds",
            ),
            (r#"["v1"]"#, "[]", "webhooks[0].admissionReviewVersions: Required value: must specify one of v1, v1beta1"),
            (
                r#"["v1"]"#,
                r#"["v2"]"#,
                "webhooks[0].admissionReviewVersions: Invalid value: [\"v2\"]: must include at least one of v1, v1beta1",
            ),
            (
                r#""url":"https://h/""#,
                "",
                "webhooks[0].clientConfig: Required value: exactly one of url or service is required",
            ),
            (
                "https:",
                "http:",
                "webhooks[0].clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL scheme; desired format: https://host[/path]",
            ),
            (
                "Never",
                "Always",
                "webhooks[0].reinvocationPolicy: Unsupported value: \"Always\": supported values: \"IfNeeded\", \"Never\"",
            ),
            (
                r#""timeoutSeconds":10"#,
                r#""rules":[{"operations":["READ"],"apiGroups":["*"],"apiVersions":["*"],"resources":["*"]}]"#,
                "webhooks[0].rules[0].operations[0]: Unsupported value: \"READ\": supported values: \"*\", \"CONNECT\", \"CREATE\", \"DELETE\", \"UPDATE\"",
            ),
            (
                r#""timeoutSeconds":10"#,
                r#""matchConditions":[{"name":"c","expression":"variables.x"}]"#,
                "webhooks[0].matchConditions[0].expression: Invalid value: \"variables.x\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.x\n | ^",
            ),
        ] {
            let wrong = WEBHOOK.replace(from, to);
            assert_ne!(wrong, WEBHOOK);
            assert_eq!(errors(&wrong, None), [error]);
        }
        let twice = format!("{WEBHOOK},{WEBHOOK}");
        assert_eq!(errors(&twice, None), ["webhooks[1].name: Duplicate value: \"w.example.com\""]);
        assert_eq!(errors(&twice, Some(&twice)), [""; 0]);
    }

    #[test]
    fn stored_errors_are_tolerated() {
        let some = WEBHOOK.replace("None", "Some");
        assert_eq!(errors(&some, Some(&some)), [""; 0]);
        let condition = r#""matchConditions":[{"name":"c","expression":"1 +"}]"#;
        let uncompiled = WEBHOOK.replace(r#""timeoutSeconds":10"#, condition);
        assert_eq!(errors(&uncompiled, Some(&uncompiled)), [""; 0]);
        assert_eq!(errors(&uncompiled, Some(WEBHOOK)).len(), 1);
    }
}
