//! `APIService`s (`k8s.io/kube-aggregator/pkg/apis/apiregistration/validation`).

use crate::validation::field_value::{Errors, FieldValue, range};
use crdx_value::Value;
use crdx_value::field::{
    FieldError,
    names::{self, NameForm},
};
use crdx_value::quote::go_quote;

/// `ValidateAPIService` and `ValidateAPIServiceUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    let (group, version) = (spec.child("group"), spec.child("version"));
    let required = format!("{}.{}", version.text(), group.text());
    // The prefix of a generated name is checked like a name.
    for name in [metadata.child("generateName"), metadata.child("name")] {
        let is_segment = names::path_segment(name.text(), NameForm::Whole).is_empty();
        if !name.text().is_empty() && is_segment && name.text() != required {
            errors.invalid(&name, format!("must be `spec.version+\".\"+spec.group`: {}", go_quote(&required)));
        }
    }
    match group.text() {
        "" if version.text() != "v1" => {
            errors.required(&group, "only v1 may have an empty group and it better be legacy kube");
        }
        "" => {}
        text => errors.messages(&group, names::dns1123_subdomain(text.as_bytes())),
    }
    errors.messages(&version, names::dns1035_label(version.text().as_bytes()));
    for (name, max) in [("groupPriorityMinimum", 20_000), ("versionPriority", 1000)] {
        let priority = spec.child(name);
        let value = priority.int().unwrap_or_default();
        if !(1..=max).contains(&value) {
            errors.invalid_value(&priority.path, value, format!("must be positive and less than {max}"));
        }
    }
    let (service, bundle, insecure) =
        (spec.child("service"), spec.child("caBundle"), spec.child("insecureSkipTLSVerify"));
    if !service.is_set() {
        local(errors, &bundle, &insecure);
        return;
    }
    for field in ["namespace", "name"].map(|name| service.child(name)) {
        errors.require_text(&field);
    }
    let port = service.child("port");
    let number = port.int().unwrap_or_default();
    if !(1..=65535).contains(&number) {
        errors.invalid_value(&port.path, number, format!("port is not valid: {}", range(1, 65535)));
    }
    if insecure.bool() && !bundle.text().is_empty() {
        errors.invalid(&insecure, "may not be true if caBundle is present");
    }
}

/// Validates what only an `APIService` with a service may have.
fn local(errors: &mut Errors, bundle: &FieldValue<'_, '_>, insecure: &FieldValue<'_, '_>) {
    let bytes = bundle.bytes();
    if !bytes.is_empty() {
        let shown = format!("{} bytes", bytes.len());
        errors.list.push(FieldError::invalid(&bundle.path, shown, "local APIServices may not have a caBundle"));
    }
    if insecure.bool() {
        errors.invalid(insecure, "local APIServices may not have insecureSkipTLSVerify");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    fn create(name: &str, spec: &str) -> Vec<String> {
        let object = format!(r#"{{"metadata":{{"name":"{name}"}},"spec":{spec}}}"#);
        created("apiregistration.k8s.io/v1", "APIService", &object, "1.37")
    }

    const PRIORITIES: &str = r#""groupPriorityMinimum":100,"versionPriority":1"#;

    #[test]
    fn the_name_consists_of_version_and_group() {
        let spec = format!(r#"{{"group":"a.b","version":"v1","service":{{"name":"s","namespace":"n"}},{PRIORITIES}}}"#);
        assert_eq!(create("v1.a.b", &spec), [""; 0]);
        assert_eq!(
            create("v2.a.b", &spec),
            [r#"metadata.name: Invalid value: "v2.a.b": must be `spec.version+"."+spec.group`: "v1.a.b""#]
        );
    }

    #[test]
    fn a_prefix_of_a_generated_name_is_checked_like_the_name() {
        let object = format!(
            r#"{{"metadata":{{"name":"v1.a.b","generateName":"v1."}},"spec":{{"group":"a.b","version":"v1",{PRIORITIES}}}}}"#
        );
        assert_eq!(
            created("apiregistration.k8s.io/v1", "APIService", &object, "1.37"),
            [r#"metadata.generateName: Invalid value: "v1.": must be `spec.version+"."+spec.group`: "v1.a.b""#]
        );
    }

    #[test]
    fn only_v1_has_an_empty_group() {
        assert_eq!(create("v1.", &format!(r#"{{"version":"v1",{PRIORITIES}}}"#)), [""; 0]);
        assert_eq!(
            create("v2.", &format!(r#"{{"version":"v2",{PRIORITIES}}}"#)),
            ["spec.group: Required value: only v1 may have an empty group and it better be legacy kube"]
        );
    }

    #[test]
    fn priorities_are_bounded() {
        assert_eq!(
            create("v1.a", r#"{"group":"a","version":"v1","groupPriorityMinimum":20001}"#),
            [
                "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less than 20000",
                "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
            ]
        );
    }

    #[test]
    fn a_service_is_complete_and_only_it_has_tls() {
        let spec = |rest: &str| format!(r#"{{"group":"a","version":"v1",{PRIORITIES},{rest}}}"#);
        assert_eq!(
            create("v1.a", &spec(r#""service":{"port":0},"insecureSkipTLSVerify":true,"caBundle":"YQ==""#)),
            [
                "spec.service.namespace: Required value",
                "spec.service.name: Required value",
                "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive",
                "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle is present",
            ]
        );
        assert_eq!(
            create("v1.a", &spec(r#""insecureSkipTLSVerify":true,"caBundle":"YQ==""#)),
            [
                r#"spec.caBundle: Invalid value: "1 bytes": local APIServices may not have a caBundle"#,
                "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not have insecureSkipTLSVerify",
            ]
        );
    }
}
