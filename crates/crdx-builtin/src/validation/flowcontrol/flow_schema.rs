//! `FlowSchema`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::flowcontrol::{conditions, is_fixed};
use crate::validation::formats;
use crdx_value::Value;
use crdx_value::field::{
    BadValue, FieldError,
    names::{self, NameForm},
};

const VERBS: &[&str] = &["create", "delete", "deletecollection", "get", "list", "patch", "proxy", "update", "watch"];
const MAX_PRECEDENCE: i64 = 10_000;
/// The flow schemas that every server has (`MandatoryFlowSchemas`).
const EXEMPT_SCHEMA: &str = r#"{"priorityLevelConfiguration":{"name":"exempt"},"matchingPrecedence":1,"rules":[
    {"subjects":[{"kind":"Group","group":{"name":"system:masters"}}],
    "resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}],
    "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}"#;
const CATCH_ALL_SCHEMA: &str = r#"{"priorityLevelConfiguration":{"name":"catch-all"},"matchingPrecedence":10000,
    "distinguisherMethod":{"type":"ByUser"},"rules":[
    {"subjects":[{"kind":"Group","group":{"name":"system:unauthenticated"}},{"kind":"Group","group":{"name":"system:authenticated"}}],
    "resourceRules":[{"verbs":["*"],"apiGroups":["*"],"resources":["*"],"clusterScope":true,"namespaces":["*"]}],
    "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["*"]}]}]}"#;

/// `ValidateFlowSchema` and `ValidateFlowSchemaUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    let name = metadata.child("name");
    schema_spec(errors, &spec, name.text());
    let fixed = match name.text() {
        "exempt" => Some(EXEMPT_SCHEMA),
        "catch-all" => Some(CATCH_ALL_SCHEMA),
        _ => None,
    };
    if fixed.is_some_and(|fixed| !is_fixed(spec.value, fixed)) {
        let detail = format!("spec of '{}' must equal the fixed value", name.text());
        errors.invalid_typed(&spec, "flowcontrol.FlowSchemaSpec", detail);
    }
    conditions(errors, object);
}

/// `ValidateFlowSchemaSpec`
fn schema_spec(errors: &mut Errors, spec: &FieldValue<'_, '_>, name: &str) {
    let precedence = spec.child("matchingPrecedence");
    let value = precedence.int().unwrap_or_default();
    if value <= 0 {
        errors.invalid_value(&precedence.path, value, "must be a positive value");
    }
    if value > MAX_PRECEDENCE {
        errors.invalid(&precedence, format!("must not be greater than {MAX_PRECEDENCE}"));
    }
    if value == 1 && name != "exempt" {
        errors.invalid(&precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
    }
    let method = spec.child("distinguisherMethod");
    let type_ = method.child("type");
    if method.is_set() && !matches!(type_.text(), "ByNamespace" | "ByUser") {
        let bad = errors.typed(&method, "flowcontrol.FlowDistinguisherMethod");
        errors.list.push(FieldError::not_supported(&type_.path, bad, &["ByNamespace", "ByUser"]));
    }
    let level = spec.child("priorityLevelConfiguration");
    let level = level.child("name");
    if level.text().is_empty() {
        errors.required(&level, "must reference a priority level");
    } else {
        formats::object_name(errors, &level);
    }
    for rule in spec.child("rules").items() {
        policy_rules(errors, &rule);
    }
}

/// `ValidateFlowSchemaPolicyRulesWithSubjects`
fn policy_rules(errors: &mut Errors, rule: &FieldValue<'_, '_>) {
    let subjects = rule.child("subjects");
    for subject in subjects.items() {
        validate_subject(errors, &subject);
    }
    if subjects.len() == 0 {
        errors.required(&subjects, "subjects must contain at least one value");
    }
    let (resources, others) = (rule.child("resourceRules"), rule.child("nonResourceRules"));
    if resources.len() + others.len() == 0 {
        errors.required(rule, "at least one of resourceRules and nonResourceRules has to be non-empty");
    }
    for resource in resources.items() {
        resource_rule(errors, &resource);
    }
    for other in others.items() {
        non_resource_rule(errors, &other);
    }
}

/// `ValidateFlowSchemaSubject`
fn validate_subject(errors: &mut Errors, subject: &FieldValue<'_, '_>) {
    const KINDS: &[(&str, &str)] = &[("Group", "group"), ("ServiceAccount", "serviceAccount"), ("User", "user")];
    let kind = subject.child("kind");
    let Some((_, own)) = KINDS.iter().find(|(name, _)| *name == kind.text()) else {
        return errors.not_supported(&kind, &["Group", "ServiceAccount", "User"]);
    };
    let value = subject.child(own);
    if value.is_set() {
        subject_name(errors, &value, *own == "serviceAccount");
    } else {
        errors.required(&value, &format!("{own} is required when subject kind is '{}'", kind.text()));
    }
    for (other, field) in KINDS.iter().filter(|(_, field)| field != own) {
        let detail = format!("{field} is forbidden when subject kind is not '{other}'");
        errors.forbid_if_set(&subject.child(field), &detail);
    }
}

fn subject_name(errors: &mut Errors, subject: &FieldValue<'_, '_>, is_account: bool) {
    let (name, namespace) = (subject.child("name"), subject.child("namespace"));
    if errors.require_text(&name) && is_account && name.text() != "*" {
        formats::object_name(errors, &name);
    }
    match namespace.text() {
        _ if !is_account => {}
        "" => errors.required(&namespace, "must specify namespace for service account"),
        text => errors.messages(&namespace, names::name_is_label(text, NameForm::Whole)),
    }
}

/// Validates the verbs of a rule.
fn verbs(errors: &mut Errors, verbs: &FieldValue<'_, '_>) {
    if verbs.len() == 0 {
        return errors.required(verbs, "verbs must contain at least one value");
    }
    if only_wildcard(errors, verbs, "verbs") || verbs.texts().all(|verb| VERBS.contains(&verb)) {
        return;
    }
    let bad = BadValue::strings(verbs.texts(), errors.release);
    errors.list.push(FieldError::not_supported(&verbs.path, bad, VERBS));
}

/// Returns true if the list has the wildcard, which must be its only item.
fn only_wildcard(errors: &mut Errors, list: &FieldValue<'_, '_>, items: &str) -> bool {
    let has_wildcard = list.texts().any(|item| item == "*");
    if has_wildcard && list.len() > 1 {
        let shown = BadValue::strings(list.texts(), errors.release);
        let detail = format!("if '*' is present, must not specify other {items}");
        errors.list.push(FieldError::invalid(&list.path, shown, detail));
    }
    has_wildcard
}

/// `ValidateFlowSchemaResourcePolicyRule`
fn resource_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>) {
    verbs(errors, &rule.child("verbs"));
    for (name, one, many) in [("apiGroups", "api group", "api groups"), ("resources", "resource", "resources")] {
        let list = rule.child(name);
        if list.len() == 0 {
            errors.required(&list, &format!("resource rules must supply at least one {one}"));
        } else {
            only_wildcard(errors, &list, many);
        }
    }
    let namespaces = rule.child("namespaces");
    if namespaces.len() == 0 && !rule.child("clusterScope").bool() {
        let detail = "resource rules that are not cluster scoped must supply at least one namespace";
        errors.required(&namespaces, detail);
    } else if !only_wildcard(errors, &namespaces, "namespaces") {
        for namespace in namespaces.items() {
            for message in names::name_is_label(namespace.text(), NameForm::Whole) {
                let detail = format!("each member of this list must be '*' or a DNS-1123 label; {message}");
                errors.invalid(&namespace, detail);
            }
        }
    }
}

/// `ValidateFlowSchemaNonResourcePolicyRule`
fn non_resource_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>) {
    verbs(errors, &rule.child("verbs"));
    let urls = rule.child("nonResourceURLs");
    if urls.len() == 0 {
        errors.required(&urls, "nonResourceURLs must contain at least one value");
    } else if !only_wildcard(errors, &urls, "non-resource URLs") {
        for url in urls.items() {
            if let Some(detail) = url_error(url.text()) {
                errors.invalid(&url, detail);
            }
        }
    }
}

/// `ValidateNonResourceURLPath`
fn url_error(path: &str) -> Option<&'static str> {
    let wildcards = path.matches('*').count();
    match path {
        "" => Some("must not be empty"),
        "/" => None,
        _ if !path.starts_with('/') => Some("must start with slash"),
        _ if path.contains(' ') => Some("must not contain white-space"),
        _ if path.contains("//") => Some("must not contain double slash"),
        _ if wildcards > 1 || wildcards == 1 && !path.ends_with("/*") => Some("wildcard can only do suffix matching"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    fn schema(name: &str, spec: &str, release: &str) -> Vec<String> {
        let object = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#);
        created("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", &object, release)
    }

    fn rules(rules: &str) -> Vec<String> {
        let spec =
            format!(r#"{{"matchingPrecedence":2,"priorityLevelConfiguration":{{"name":"a"}},"rules":[{rules}]}}"#);
        schema("a", &spec, "1.37")
    }

    const SUBJECTS: &str = r#""subjects":[{"kind":"User","user":{"name":"*"}}]"#;

    #[test]
    fn a_rule_has_subjects_and_rules_about_requests() {
        let valid = r#""resourceRules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"],"namespaces":["*"]}],
            "nonResourceRules":[{"verbs":["*"],"nonResourceURLs":["/","/a/*"]}]"#;
        assert_eq!(rules(&format!("{{{SUBJECTS},{valid}}}")), [""; 0]);
        assert_eq!(
            rules("{}"),
            [
                "spec.rules[0].subjects: Required value: subjects must contain at least one value",
                "spec.rules[0]: Required value: at least one of resourceRules and nonResourceRules has to be non-empty",
            ]
        );
    }

    #[test]
    fn the_precedence_is_bounded_and_a_level_is_referenced() {
        let found = |precedence: &str| {
            let spec = format!(r#"{{"matchingPrecedence":{precedence},"distinguisherMethod":{{"type":"x"}}}}"#);
            schema("a", &spec, "1.37")
        };
        let rest = [
            r#"spec.distinguisherMethod.type: Unsupported value: {"Type":"x"}: supported values: "ByNamespace", "ByUser""#,
            "spec.priorityLevelConfiguration.name: Required value: must reference a priority level",
        ];
        for (precedence, error) in [
            ("-1", "spec.matchingPrecedence: Invalid value: -1: must be a positive value"),
            (
                "1",
                "spec.matchingPrecedence: Invalid value: 1: only the schema named 'exempt' may have matchingPrecedence 1",
            ),
            ("10001", "spec.matchingPrecedence: Invalid value: 10001: must not be greater than 10000"),
        ] {
            assert_eq!(found(precedence), [&[error][..], &rest].concat());
        }
    }

    #[test]
    fn subjects_have_the_field_of_their_kind() {
        let subject = |subject: &str| {
            let rule =
                format!(r#"{{"subjects":[{subject}],"nonResourceRules":[{{"verbs":["*"],"nonResourceURLs":["*"]}}]}}"#);
            let found = rules(&rule);
            found
                .iter()
                .map(|error| error.trim_start_matches("spec.rules[0].subjects[0]").to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(subject(r#"{"kind":"ServiceAccount","serviceAccount":{"name":"*","namespace":"a"}}"#), [""; 0]);
        assert_eq!(
            subject(r#"{"kind":"ServiceAccount","user":{"name":"a"}}"#),
            [
                ".serviceAccount: Required value: serviceAccount is required when subject kind is 'ServiceAccount'",
                ".user: Forbidden: user is forbidden when subject kind is not 'User'",
            ]
        );
        assert_eq!(
            subject(r#"{"kind":"ServiceAccount","serviceAccount":{"name":"a"}}"#),
            [".serviceAccount.namespace: Required value: must specify namespace for service account"]
        );
        assert_eq!(subject(r#"{"kind":"Group","group":{}}"#), [".group.name: Required value"]);
        assert_eq!(
            subject("{}"),
            [r#".kind: Unsupported value: "": supported values: "Group", "ServiceAccount", "User""#]
        );
    }

    #[test]
    fn wildcards_are_alone_in_their_list() {
        let rule = r#""resourceRules":[{"verbs":["*","get"],"apiGroups":["*","a"],"resources":["*","a"],"namespaces":["*","a"]},
            {"verbs":["x"],"namespaces":["A"]}],"nonResourceRules":[{"nonResourceURLs":["*","/"]}]"#;
        let found = rules(&format!("{{{SUBJECTS},{rule}}}"));
        let starts = [
            r#"spec.rules[0].resourceRules[0].verbs: Invalid value: ["*","get"]: if '*' is present, must not specify other verbs"#,
            r#"spec.rules[0].resourceRules[0].apiGroups: Invalid value: ["*","a"]: if '*' is present, must not specify other api groups"#,
            r#"spec.rules[0].resourceRules[0].resources: Invalid value: ["*","a"]: if '*' is present, must not specify other resources"#,
            r#"spec.rules[0].resourceRules[0].namespaces: Invalid value: ["*","a"]: if '*' is present, must not specify other namespaces"#,
            r#"spec.rules[0].resourceRules[1].verbs: Unsupported value: ["x"]: supported values: "create", "delete""#,
            "spec.rules[0].resourceRules[1].apiGroups: Required value: resource rules must supply at least one api group",
            "spec.rules[0].resourceRules[1].resources: Required value: resource rules must supply at least one resource",
            r#"spec.rules[0].resourceRules[1].namespaces[0]: Invalid value: "A": each member of this list must be '*' or a DNS-1123 label; a lowercase"#,
            "spec.rules[0].nonResourceRules[0].verbs: Required value: verbs must contain at least one value",
            r#"spec.rules[0].nonResourceRules[0].nonResourceURLs: Invalid value: ["*","/"]: if '*' is present, must not specify other non-resource URLs"#,
        ];
        assert_eq!(found.len(), starts.len());
        for (found, start) in found.iter().zip(starts) {
            assert!(found.starts_with(start), "{found}");
        }
    }

    #[test]
    fn urls_are_absolute_paths() {
        for (url, detail) in [
            ("", Some("must not be empty")),
            ("/", None),
            ("/a/*", None),
            ("a", Some("must start with slash")),
            ("/a b", Some("must not contain white-space")),
            ("/a//b", Some("must not contain double slash")),
            ("/a*", Some("wildcard can only do suffix matching")),
            ("/*/*", Some("wildcard can only do suffix matching")),
        ] {
            assert_eq!(super::url_error(url), detail, "{url}");
        }
    }

    #[test]
    fn the_schemas_of_the_server_have_a_fixed_specification() {
        assert_eq!(schema("catch-all", super::CATCH_ALL_SCHEMA, "1.37"), [""; 0]);
        assert_eq!(schema("exempt", super::EXEMPT_SCHEMA, "1.37"), [""; 0]);
        let other = super::CATCH_ALL_SCHEMA.replace("10000", "9999");
        let found = schema("catch-all", &other, "1.37");
        assert!(
            found.iter().any(|error| error.ends_with("spec of 'catch-all' must equal the fixed value")),
            "{found:?}"
        );
    }
}
