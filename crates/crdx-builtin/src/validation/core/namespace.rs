//! Namespaces (`pkg/apis/core/validation`).

use crate::pod_security::{self, LEVELS};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::Value;
use crdx_value::field::{FieldPath, names};

/// `ValidateNamespace`, and `ValidateNamespaceFinalizeUpdate`: other updates keep the finalizers of the specification.
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let metadata = object.child("metadata");
    metadata_finalizers(errors, &metadata);
    let spec = object.child("spec");
    let finalizers = spec.child("finalizers");
    for name in finalizers.items() {
        let path = if old.is_some() { &name.path } else { &finalizers.path };
        errors.messages_at(path, name.text(), names::qualified_name(name.text(), errors.release));
        known_finalizer(errors, path, name.text());
    }
    // The plugin sees valid objects only.
    let mut others = Errors::new(errors.release);
    formats::labels(&mut others, &metadata.child("labels"));
    formats::label(&mut others, &metadata.child("name"));
    if errors.list.is_empty() && others.list.is_empty() {
        pod_security(errors, object, old);
    }
}

/// `ValidateNamespaceStatusUpdate`
pub(crate) fn status(errors: &mut Errors, object: &FieldValue<'_, '_>, _: &FieldValue<'_, '_>) {
    metadata_finalizers(errors, &object.child("metadata"));
    let status = object.child("status");
    let phase = status.child("phase");
    let deleted = object.child("metadata").child("deletionTimestamp").is_set();
    let (wanted, detail) = if deleted {
        ("Terminating", "may only be 'Terminating' if `deletionTimestamp` is not empty")
    } else {
        ("Active", "may only be 'Active' if `deletionTimestamp` is empty")
    };
    if phase.text() != wanted {
        errors.invalid_value(&status.path.child("Phase"), phase.text(), detail);
    }
}

/// Finalizers without a prefix are known ones (`ValidateObjectMeta` in `pkg/apis/core/validation`).
fn metadata_finalizers(errors: &mut Errors, metadata: &FieldValue<'_, '_>) {
    for name in metadata.child("finalizers").items() {
        known_finalizer(errors, &name.path, name.text());
    }
}

/// `validateKubeFinalizerName`
fn known_finalizer(errors: &mut Errors, path: &FieldPath<'_>, name: &str) {
    if !name.contains('/') && !names::is_standard_finalizer(name) {
        errors.invalid_value(path, name, "name is neither a standard finalizer name nor is it fully qualified");
    }
}

/// The admission plugin `PodSecurity` (`PolicyToEvaluate` in `k8s.io/pod-security-admission/api`). An update may keep
/// labels that are invalid.
fn pod_security(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let metadata = object.child("metadata");
    let labels = metadata.child("labels");
    let old = old.and_then(|old| old.at(&["metadata", "labels"])).unwrap_or(&Value::Null);
    let (found, before) = (policy_errors(labels.value), policy_errors(old));
    if found != before {
        for (label, text, detail) in found {
            errors.invalid_value(&labels.path.key(&label), text, detail);
        }
    }
}

/// The labels that are no valid policy, with their values and the errors.
fn policy_errors(labels: &Value) -> Vec<(String, &str, &'static str)> {
    let mut errors = Vec::new();
    for mode in ["enforce", "audit", "warn"] {
        let label = format!("pod-security.kubernetes.io/{mode}");
        if let Some(level) = labels.str_at(&[&label]).filter(|level| !LEVELS.contains(level)) {
            errors.push((label.clone(), level, "must be one of privileged, baseline, restricted"));
        }
        let label = format!("{label}-version");
        if let Some(version) = labels.str_at(&[&label]).filter(|text| pod_security::version(text).is_none()) {
            errors.push((label, version, "must be \"latest\" or \"v1.x\""));
        }
    }
    errors
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn object(members: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},{members}}}"#)
    }

    #[test]
    fn finalizers_of_a_namespace_are_qualified() {
        let create = |spec: &str| created("v1", "Namespace", &object(&format!(r#""spec":{spec}"#)), "1.37");
        assert_eq!(create(r#"{"finalizers":["kubernetes","a/b"]}"#), [""; 0]);
        assert_eq!(
            create(r#"{"finalizers":["a"]}"#),
            [
                r#"spec.finalizers: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified"#
            ]
        );
    }

    #[test]
    fn finalizers_in_the_metadata_are_qualified() {
        let namespace = |finalizers: &str| format!(r#"{{"metadata":{{"name":"a","finalizers":[{finalizers}]}}}}"#);
        assert_eq!(created("v1", "Namespace", &namespace(r#""a/b","orphan""#), "1.37"), [""; 0]);
        let error = r#"metadata.finalizers[1]: Invalid value: "a": name is neither a standard finalizer name nor is it fully qualified"#;
        assert_eq!(created("v1", "Namespace", &namespace(r#""a/b","a""#), "1.30"), [error]);
        assert_eq!(updated("v1", "Namespace", &namespace(""), &namespace(r#""a/b","a""#), "1.37"), [error]);
    }

    #[test]
    fn labels_of_pod_security_are_policies() {
        let namespace = |labels: &str| format!(r#"{{"metadata":{{"name":"a","labels":{{{labels}}}}}}}"#);
        let valid =
            r#""pod-security.kubernetes.io/enforce":"baseline","pod-security.kubernetes.io/warn-version":"v1.30""#;
        let invalid =
            r#""pod-security.kubernetes.io/enforce":"x","pod-security.kubernetes.io/enforce-version":"v1.030""#;
        assert_eq!(created("v1", "Namespace", &namespace(valid), "1.37"), [""; 0]);
        let errors = [
            r#"metadata.labels[pod-security.kubernetes.io/enforce]: Invalid value: "x": must be one of privileged, baseline, restricted"#,
            r#"metadata.labels[pod-security.kubernetes.io/enforce-version]: Invalid value: "v1.030": must be "latest" or "v1.x""#,
        ];
        assert_eq!(created("v1", "Namespace", &namespace(invalid), "1.30"), errors);
        assert_eq!(updated("v1", "Namespace", &namespace(valid), &namespace(invalid), "1.37"), errors);
        assert_eq!(updated("v1", "Namespace", &namespace(invalid), &namespace(invalid), "1.37"), [""; 0]);
    }
}
