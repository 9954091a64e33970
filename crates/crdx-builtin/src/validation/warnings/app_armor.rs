//! `AppArmor` annotations without the field that replaces them (`applyAppArmorVersionSkew` in `pkg/registry/core/pod/strategy.go`,
//! and `pkg/api/pod/warnings.go`).

use super::Warnings;
use crate::validation::core::pod_spec::each_container;
use crate::validation::field_value::FieldValue;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::Release;

const ANNOTATION: &str = "container.apparmor.security.beta.kubernetes.io/";
const MESSAGE: &str = r#"deprecated since v1.30; use the "appArmorProfile" field instead"#;
/// The length of the longest path of a profile in bytes.
const MAX_PATH: usize = 4095;

/// Returns the warnings about a new Pod, before the server copies its annotations to fields.
pub fn app_armor_warnings(pod: &Value, release: Release) -> Vec<String> {
    let mut warnings = Warnings { release, list: Vec::new() };
    if pod.str_at(&["spec", "os", "name"]) == Some("windows") {
        return warnings.list;
    }
    let pod = FieldValue::new(Some(pod), ROOT);
    let (metadata, spec) = (pod.child("metadata"), pod.child("spec"));
    let context = spec.child("securityContext");
    let profile = context.child("appArmorProfile");
    each_container(&spec, |container| {
        if !container.child("securityContext").child("appArmorProfile").is_set() {
            annotation(&mut warnings, &metadata, container.child("name").text(), profile.value);
        }
    });
    warnings.list
}

/// Warns about the annotation for a container, unless it names the profile of the Pod.
pub(super) fn annotation(warnings: &mut Warnings, metadata: &FieldValue<'_, '_>, container: &str, profile: &Value) {
    let key = format!("{ANNOTATION}{container}");
    let annotation = metadata.value.get("annotations").and_then(|all| all.str_at(&[&key]));
    if annotation.is_some_and(|annotation| !names(annotation, profile)) {
        warnings.annotation(metadata, &key, MESSAGE);
    }
}

/// Returns true if an annotation names a profile (`ApparmorFieldForAnnotation`).
fn names(annotation: &str, profile: &Value) -> bool {
    let expected = match annotation {
        "unconfined" => ("Unconfined", None),
        "runtime/default" => ("RuntimeDefault", None),
        text => match text.strip_prefix("localhost/") {
            Some(path) if !path.is_empty() && path.trim() == path && path.len() <= MAX_PATH => {
                ("Localhost", Some(path))
            }
            _ => return false,
        },
    };
    profile.str_at(&["type"]).is_some_and(|type_| (type_, profile.str_at(&["localhostProfile"])) == expected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn an_annotation_without_a_field_is_deprecated() {
        let found = |annotation: &str, spec: &str| {
            let annotations = format!(r#"{{"container.apparmor.security.beta.kubernetes.io/a":"{annotation}"}}"#);
            let text = format!(r#"{{"metadata":{{"annotations":{annotations}}},"spec":{spec}}}"#);
            app_armor_warnings(&read(text.as_bytes()).unwrap(), Release::NEWEST).len()
        };
        assert_eq!(found("unconfined", r#"{"containers":[{"name":"a"}]}"#), 1);
        assert_eq!(found("unconfined", r#"{"containers":[{"name":"b"}]}"#), 0);
        let pod = r#"{"securityContext":{"appArmorProfile":{"type":"Unconfined"}},"containers":[{"name":"a"}]}"#;
        assert_eq!((found("unconfined", pod), found("other", pod)), (0, 1));
        let windows = r#"{"os":{"name":"windows"},"containers":[{"name":"a"}]}"#;
        assert_eq!(found("unconfined", windows), 0);
    }
}
