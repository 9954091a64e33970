//! Deprecated labels of nodes in selectors (`pkg/api/node/util.go`).

use super::Warnings;
use crate::validation::field_value::FieldValue;
use crate::validation::selectors::LabelValues;
use crdx_value::Value;
use crdx_value::field::names;
use crdx_value::release::{Release, V1_31, V1_33, V1_38};

const DEPRECATED: &[(&str, &str)] = &[
    ("app.kubernetes.io/created-by", "deprecated since v1.9"),
    ("beta.kubernetes.io/arch", r#"deprecated since v1.14; use "kubernetes.io/arch" instead"#),
    ("beta.kubernetes.io/instance-type", r#"deprecated since v1.17; use "node.kubernetes.io/instance-type" instead"#),
    ("beta.kubernetes.io/os", r#"deprecated since v1.14; use "kubernetes.io/os" instead"#),
    (
        "failure-domain.beta.kubernetes.io/region",
        r#"deprecated since v1.17; use "topology.kubernetes.io/region" instead"#,
    ),
    ("failure-domain.beta.kubernetes.io/zone", r#"deprecated since v1.17; use "topology.kubernetes.io/zone" instead"#),
    ("node-role.kubernetes.io/master", r#"use "node-role.kubernetes.io/control-plane" instead"#),
    ("scheduler.alpha.kubernetes.io/preferAvoidPods", "deprecated since v1.22; use Taints and Tolerations instead"),
];

/// `GetNodeLabelDeprecatedMessage`
pub(super) fn deprecation(label: &str, release: Release) -> Option<&'static str> {
    let is_newer = label.contains(".alpha.") || label.ends_with("/master");
    if is_newer && !release.since(V1_31) {
        return None;
    }
    if label == "node-role.kubernetes.io/master" && release.since(V1_38) {
        return Some(r#"deprecated since v1.20; use "node-role.kubernetes.io/control-plane" instead"#);
    }
    DEPRECATED.iter().find(|(deprecated, _)| *deprecated == label).map(|(_, message)| *message)
}

/// Warns about the labels of a map.
pub(super) fn selector(warnings: &mut Warnings, selector: &FieldValue<'_, '_>) {
    for (label, entry) in selector.entries() {
        if let Some(message) = deprecation(label, warnings.release) {
            warnings.at(&entry.path, message);
        }
    }
}

/// Warns about a key, whose text the warning shows.
pub(super) fn key(warnings: &mut Warnings, key: &FieldValue<'_, '_>) {
    if let Some(message) = deprecation(key.text(), warnings.release) {
        warnings.at(&key.path, format!("{} is {message}", key.text()));
    }
}

/// `GetWarningsForNodeSelectorTerm`
pub(super) fn term(warnings: &mut Warnings, term: &FieldValue<'_, '_>, label_values: LabelValues) {
    for expression in term.child("matchExpressions").items() {
        key(warnings, &expression.child("key"));
        if label_values == LabelValues::AllowInvalid || !warnings.release.since(V1_33) {
            continue;
        }
        for value in expression.child("values").items() {
            for message in names::label_value(value.text(), warnings.release) {
                warnings.at(&value.path, format!("{} is invalid, {message}", value.text()));
            }
        }
    }
}

/// `GetWarningsForRuntimeClass`
pub(super) fn runtime_class(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let scheduling = object.child("scheduling");
    let selector = scheduling.child("nodeSelector");
    let release = warnings.release;
    for message in selector.entries().filter_map(|(label, _)| deprecation(label, release)) {
        warnings.at(&selector.path, message);
    }
}

/// `GetWarningsForStorageClass`
pub(super) fn storage_class(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    for topology in object.child("allowedTopologies").items() {
        for expression in topology.child("matchLabelExpressions").items() {
            let key = expression.child("key");
            if let Some(message) = deprecation(key.text(), warnings.release) {
                warnings.at(&key.path, message);
            }
        }
    }
}

/// `GetWarningsForCSIStorageCapacity`
pub(super) fn storage_capacity(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    let topology = object.child("nodeTopology");
    for expression in topology.child("matchExpressions").items() {
        key(warnings, &expression.child("key"));
    }
    let labels = topology.child("matchLabels");
    for (label, _) in labels.entries() {
        if let Some(message) = deprecation(label, warnings.release) {
            warnings.at(&labels.path.child(label), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;

    #[test]
    fn labels_of_earlier_releases_are_deprecated() {
        let pod = r#"{"metadata":{"name":"a"},"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux","a":"b"}}}"#;
        assert_eq!(
            created("", "Pod", pod, "1.37"),
            [r#"spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead"#]
        );
        let class = r#"{"allowedTopologies":[{"matchLabelExpressions":[{"key":"node-role.kubernetes.io/master"}]}]}"#;
        assert_eq!(
            created("storage.k8s.io", "StorageClass", class, "1.37"),
            [
                r#"allowedTopologies[0].matchLabelExpressions[0].key: use "node-role.kubernetes.io/control-plane" instead"#
            ]
        );
    }

    #[test]
    fn preferred_terms_may_have_values_that_no_label_has() {
        let pod = r#"{"metadata":{"name":"a"},"spec":{"affinity":{"nodeAffinity":{"preferredDuringSchedulingIgnoredDuringExecution":[
            {"preference":{"matchExpressions":[{"key":"a","values":["-"]}]}}]}}}}"#;
        let found = created("", "Pod", pod, "1.37");
        let start = "spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[0].values[0]: - is invalid, ";
        assert!(found[0].starts_with(start), "{found:?}");
    }
}
