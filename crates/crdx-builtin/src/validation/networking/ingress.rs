//! Ingresses.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{formats, network};
use crdx_value::Value;
use crdx_value::field::{
    ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{Gate, Release, V1_34};

const CLASS_ANNOTATION: &str = "kubernetes.io/ingress.class";
const PATH_TYPES: &[&str] = &["Exact", "ImplementationSpecific", "Prefix"];
const INVALID_SEQUENCES: &[&str] = &["//", "/./", "/../", "%2f", "%2F"];
const INVALID_SUFFIXES: &[&str] = &["/..", "/."];
const NO_NAME: &str = "must be a DNS name, not an IP address";

/// What the existing Ingress of an update already contains.
#[derive(Clone, Copy, Default)]
struct Existing {
    allows_invalid_secret_names: bool,
    allows_invalid_wildcard_rules: bool,
    allows_relaxed_service_names: bool,
}

/// `ValidateIngressCreate` and `ValidateIngressUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let existing = existing(old, errors.release);
    let (rules, backend, class) = (spec.child("rules"), spec.child("defaultBackend"), spec.child("ingressClassName"));
    if rules.len() == 0 && !backend.is_set() {
        let field = FieldValue { path: spec.path, ..rules };
        let detail = "either `defaultBackend` or `rules` must be specified";
        errors.invalid_typed(&field, "[]networking.IngressRule", detail);
    }
    if backend.is_set() {
        validate_backend(errors, &backend, existing);
    }
    for rule in rules.items() {
        validate_rule(errors, &rule, existing);
    }
    for tls in spec.child("tls").items() {
        for host in tls.child("hosts").items() {
            host_name(errors, &host);
        }
        let secret = tls.child("secretName");
        if !secret.text().is_empty() && !existing.allows_invalid_secret_names {
            formats::object_name(errors, &secret);
        }
    }
    if class.is_set() {
        formats::object_name(errors, &class);
    }
    let annotation = object.value.at(&["metadata", "annotations", CLASS_ANNOTATION]).and_then(Value::as_str);
    if let Some(annotation) = annotation.filter(|name| old.is_none() && class.is_set() && *name != class.text()) {
        let path = object.path.child("annotations");
        let detail = "must match `ingressClassName` when both are specified";
        errors.invalid_value(&path.child(CLASS_ANNOTATION), annotation, detail);
    }
}

fn existing(old: Option<&Value>, release: Release) -> Existing {
    let old = FieldValue::new(old, ROOT);
    let spec = old.child("spec");
    let is_relaxed = |backend: &FieldValue<'_, '_>| {
        let name = backend.value.str_at(&["service", "name"]).unwrap_or_default();
        names::name_is_label(name, NameForm::Whole).is_empty()
            && !names::name_is_dns1035_label(name, NameForm::Whole).is_empty()
    };
    let is_rule_relaxed = |rule: FieldValue<'_, '_>| {
        let http = rule.child("http");
        http.child("paths").items().any(|path| is_relaxed(&path.child("backend")))
    };
    let is_secret_invalid = |tls: FieldValue<'_, '_>| {
        let name = tls.child("secretName");
        !name.text().is_empty() && !names::name_is_subdomain(name.text(), NameForm::Whole).is_empty()
    };
    let is_wildcard_invalid = |rule: FieldValue<'_, '_>| {
        let mut found = Errors::new(release);
        rule_value(&mut found, &rule, Existing::default());
        rule.child("host").text().contains('*') && !found.list.is_empty()
    };
    Existing {
        allows_invalid_secret_names: spec.child("tls").items().any(is_secret_invalid),
        allows_invalid_wildcard_rules: spec.child("rules").items().any(is_wildcard_invalid),
        allows_relaxed_service_names: release.enables(Gate::RelaxedServiceNameValidation)
            || is_relaxed(&spec.child("defaultBackend"))
            || spec.child("rules").items().any(is_rule_relaxed),
    }
}

fn host_name(errors: &mut Errors, host: &FieldValue<'_, '_>) {
    if host.text().contains('*') {
        errors.messages(host, formats::wildcard_subdomain(host.text()));
    } else {
        formats::subdomain(errors, host);
    }
}

/// `validateIngressRules`, for one rule
fn validate_rule(errors: &mut Errors, rule: &FieldValue<'_, '_>, existing: Existing) {
    let host = rule.child("host");
    if !host.text().is_empty() {
        if network::parse_ip(host.text()).is_some() {
            errors.invalid(&host, NO_NAME);
        }
        host_name(errors, &host);
    }
    if !host.text().contains('*') || !existing.allows_invalid_wildcard_rules {
        rule_value(errors, rule, existing);
    }
}

/// `validateIngressRuleValue`
fn rule_value(errors: &mut Errors, rule: &FieldValue<'_, '_>, existing: Existing) {
    let http = rule.child("http");
    if !http.is_set() {
        return;
    }
    let paths = http.child("paths");
    if paths.len() == 0 {
        errors.required(&paths, "");
    }
    for path in paths.items() {
        validate_path(errors, &path, existing);
    }
}

/// `validateHTTPIngressPath`
fn validate_path(errors: &mut Errors, rule: &FieldValue<'_, '_>, existing: Existing) {
    let (type_, path) = (rule.child("pathType"), rule.child("path"));
    if !type_.is_set() {
        return errors.required(&type_, "pathType must be specified");
    }
    let text = path.text();
    let mut invalid = |detail: String| errors.invalid_value(&path.path, text, detail);
    match type_.text() {
        "Exact" | "Prefix" => {
            if !text.starts_with('/') {
                invalid("must be an absolute path".to_owned());
            }
            for sequence in INVALID_SEQUENCES.iter().filter(|sequence| text.contains(**sequence)) {
                invalid(format!("must not contain '{sequence}'"));
            }
            for suffix in INVALID_SUFFIXES.iter().filter(|suffix| text.ends_with(**suffix)) {
                invalid(format!("cannot end with '{suffix}'"));
            }
        }
        "ImplementationSpecific" => {
            if !text.is_empty() && !text.starts_with('/') {
                invalid("must be an absolute path".to_owned());
            }
        }
        _ => errors.not_supported(&type_, PATH_TYPES),
    }
    validate_backend(errors, &rule.child("backend"), existing);
}

/// `validateIngressBackend`
fn validate_backend(errors: &mut Errors, backend: &FieldValue<'_, '_>, existing: Existing) {
    let (resource, service) = (backend.child("resource"), backend.child("service"));
    match (resource.is_set(), service.is_set()) {
        (true, true) => errors.invalid_value(&backend.path, "", "cannot set both resource and service backends"),
        (true, false) => typed_reference(errors, &resource),
        (false, true) => {
            let name = service.child("name");
            if errors.require_text(&name) {
                let check = if existing.allows_relaxed_service_names {
                    names::name_is_label
                } else {
                    names::name_is_dns1035_label
                };
                errors.messages(&name, check(name.text(), NameForm::Whole));
            }
            let port = service.child("port");
            let (name, number) = (port.child("name"), port.child("number"));
            match (!name.text().is_empty(), number.int().unwrap_or_default() != 0) {
                (true, true) => errors.invalid_value(&backend.path, "", "cannot set both port name & port number"),
                (true, false) => errors.messages(&name, formats::port_name(name.text())),
                (false, true) => formats::port_number(errors, &number),
                (false, false) => errors.required(backend, "port name or number is required"),
            }
        }
        (false, false) => errors.invalid_value(&backend.path, "", "resource or service backend is required"),
    }
}

/// `validateIngressTypedLocalObjectReference`
pub(crate) fn typed_reference(errors: &mut Errors, reference: &FieldValue<'_, '_>) {
    let group = reference.child("apiGroup");
    if group.is_set() {
        formats::subdomain(errors, &group);
    }
    for name in ["kind", "name"] {
        let field = reference.child(name);
        if !field.text().is_empty() {
            errors.messages(&field, names::path_segment(field.text(), NameForm::Whole));
        } else if errors.release.since(V1_34) {
            errors.required(&field, "");
        } else {
            errors.required(&field, &format!("{name} is required"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn rules_are_shown_as_they_were_given() {
        let errors =
            |spec: &str, release| created("networking.k8s.io/v1", "Ingress", &format!(r#"{{"spec":{spec}}}"#), release);
        let text = |value: &str| {
            [format!("spec: Invalid value: {value}: either `defaultBackend` or `rules` must be specified")]
        };
        assert_eq!(errors(r#"{"rules":[]}"#, "1.37"), text("[]"));
        assert_eq!(errors("{}", "1.37"), text("null"));
        assert_eq!(errors(r#"{"rules":[]}"#, "1.31"), text("[]networking.IngressRule{}"));
        assert_eq!(errors("{}", "1.31"), text("[]networking.IngressRule(nil)"));
    }
}
