//! Pods and templates of Pods (`pkg/api/pod/warnings.go`).

use super::{Warnings, addresses, app_armor, node_labels, overlaps, ports, removed_plugins};
use crate::validation::core::pod_spec::each_container;
use crate::validation::field_value::FieldValue;
use crate::validation::selectors::LabelValues;
use crdx_value::Value;
use crdx_value::quote::go_quote;
use crdx_value::release::{V1_32, V1_33, V1_34};
use std::collections::HashSet;

const ANNOTATIONS: &[(&str, &str)] = &[
    (
        "scheduler.alpha.kubernetes.io/critical-pod",
        r#"non-functional in v1.16+; use the "priorityClassName" field instead"#,
    ),
    ("security.alpha.kubernetes.io/sysctls", r#"non-functional in v1.11+; use the "sysctls" field instead"#),
    ("security.alpha.kubernetes.io/unsafe-sysctls", r#"non-functional in v1.11+; use the "sysctls" field instead"#),
];
const SECCOMP: &str = r#"non-functional in v1.27+; use the "seccompProfile" field instead"#;
const SECCOMP_POD: &str = "seccomp.security.alpha.kubernetes.io/pod";
const SECCOMP_CONTAINER: &str = "container.seccomp.security.alpha.kubernetes.io/";

/// The owner of a specification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Pod,
    Template,
}

/// `WarningsOnCreate` of a Pod; updates give none.
pub(super) fn pod(warnings: &mut Warnings, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if old.is_some() {
        return;
    }
    warnings.name(object, "this is used in the Pod's hostname");
    validate(warnings, object, Owner::Pod);
}

/// `GetWarningsForPodTemplate`
pub(super) fn template(warnings: &mut Warnings, template: &FieldValue<'_, '_>) {
    if template.is_set() {
        validate(warnings, template, Owner::Template);
    }
}

/// `warningsForPodSpecAndMeta`
fn validate(warnings: &mut Warnings, object: &FieldValue<'_, '_>, owner: Owner) {
    let (metadata, spec) = (object.child("metadata"), object.child("spec"));
    scheduling(warnings, &spec);
    for (key, message) in ANNOTATIONS {
        warnings.annotation(&metadata, key, message);
    }
    volumes(warnings, &spec.child("volumes"));
    if warnings.release.since(V1_32) {
        overlaps::volumes(warnings, &spec.child("volumes"));
    }
    let (aliases, secrets) = (spec.child("hostAliases"), spec.child("imagePullSecrets"));
    repeated(warnings, &aliases, "ip");
    repeated(warnings, &secrets, "name");
    for secret in secrets.items() {
        let name = secret.child("name");
        if name.text().is_empty() {
            warnings.at(&name.path, r#"invalid empty name """#);
        }
    }
    bytes(warnings, &spec.child("overhead"));
    let context = spec.child("securityContext");
    if !context.child("seccompProfile").is_set() {
        warnings.annotation(&metadata, SECCOMP_POD, SECCOMP);
    }
    let profile = context.child("appArmorProfile");
    let is_annotated = metadata.child("annotations").is_set();
    each_container(&spec, |container| {
        let own = container.child("securityContext");
        let name = container.child("name").text();
        if is_annotated && !own.child("seccompProfile").is_set() {
            warnings.annotation(&metadata, &format!("{SECCOMP_CONTAINER}{name}"), SECCOMP);
        }
        // The server checks the annotations of a Pod when it copies them to fields.
        let is_checked = warnings.release.since(V1_34) || profile.value.is_null();
        if is_annotated && owner == Owner::Template && is_checked && !own.child("appArmorProfile").is_set() {
            app_armor::annotation(warnings, &metadata, name, profile.value);
        }
        let resources = container.child("resources");
        for name in ["memory", "ephemeral-storage"] {
            for amounts in ["limits", "requests"].map(|list| resources.child(list)) {
                warnings.fractional(&amounts, name);
            }
        }
        environment(warnings, &container.child("env"));
    });
    ports::ports(warnings, &spec);
    let grace_period = spec.child("terminationGracePeriodSeconds");
    if grace_period.int().is_some_and(|seconds| seconds < 0) {
        warnings.at(&grace_period.path, "must be >= 0; negative values are invalid and will be treated as 1");
    }
    for affinity in ["podAffinity", "podAntiAffinity"] {
        let parent = spec.child("affinity");
        let affinity = parent.child(affinity);
        for term in affinity.child("requiredDuringSchedulingIgnoredDuringExecution").items() {
            null_selector(warnings, &term);
        }
        for term in affinity.child("preferredDuringSchedulingIgnoredDuringExecution").items() {
            null_selector(warnings, &term.child("podAffinityTerm"));
        }
    }
    if warnings.release.since(V1_33) {
        let config = spec.child("dnsConfig");
        config.child("nameservers").items().for_each(|address| addresses::ip(warnings, &address));
        aliases.items().for_each(|alias| addresses::ip(warnings, &alias.child("ip")));
    }
}

fn scheduling(warnings: &mut Warnings, spec: &FieldValue<'_, '_>) {
    node_labels::selector(warnings, &spec.child("nodeSelector"));
    let parent = spec.child("affinity");
    let affinity = parent.child("nodeAffinity");
    let required = affinity.child("requiredDuringSchedulingIgnoredDuringExecution");
    for term in required.child("nodeSelectorTerms").items() {
        node_labels::term(warnings, &term, LabelValues::AllowInvalid);
    }
    for term in affinity.child("preferredDuringSchedulingIgnoredDuringExecution").items() {
        node_labels::term(warnings, &term.child("preference"), LabelValues::Validate);
    }
    for constraint in spec.child("topologySpreadConstraints").items() {
        node_labels::key(warnings, &constraint.child("topologyKey"));
        null_selector(warnings, &constraint);
    }
}

fn null_selector(warnings: &mut Warnings, parent: &FieldValue<'_, '_>) {
    let selector = parent.child("labelSelector");
    if !selector.is_set() {
        warnings.at(&selector.path, "a null labelSelector results in matching no pod");
    }
}

fn volumes(warnings: &mut Warnings, volumes: &FieldValue<'_, '_>) {
    for volume in volumes.items() {
        for (field, message) in removed_plugins::SOURCES {
            let source = volume.child(field);
            match *field {
                _ if !source.is_set() => {}
                "gitRepo" if warnings.release.since(V1_33) => {
                    warnings.at(&source.path, format!("{message}, and disabled by default in v1.33+"));
                }
                _ => warnings.at(&source.path, message),
            }
        }
        let ephemeral = volume.child("ephemeral");
        let template = ephemeral.child("volumeClaimTemplate");
        warnings.claim_amounts(&template.child("spec"));
    }
}

/// Warns about items whose field has the text of an earlier item.
fn repeated(warnings: &mut Warnings, list: &FieldValue<'_, '_>, field: &str) {
    let mut seen = HashSet::new();
    for item in list.items() {
        let text = item.value.str_at(&[field]).unwrap_or_default();
        if !seen.insert(text) {
            warnings.at(&item.path.child(field), format!("duplicate {field} {}", go_quote(text)));
        }
    }
}

fn bytes(warnings: &mut Warnings, amounts: &FieldValue<'_, '_>) {
    for name in ["memory", "ephemeral-storage"] {
        warnings.fractional(amounts, name);
    }
}

/// Warns about a variable that hides an earlier one without using it.
fn environment(warnings: &mut Warnings, list: &FieldValue<'_, '_>) {
    if !repeats(list) {
        return;
    }
    let mut seen = HashSet::new();
    for variable in list.items() {
        let name = variable.value.str_at(&["name"]).unwrap_or_default();
        if seen.insert(name) {
            continue;
        }
        let (value, reference) = (variable.child("value").text(), format!("$({name})"));
        if variable.child("valueFrom").is_set() || value == reference || !value.contains(&reference) {
            let quoted = go_quote(name);
            let text = format!("hides previous definition of {quoted}, which may be dropped when using apply");
            warnings.at(&variable.path, text);
        }
    }
}

/// Returns true if two variables have the same name. Sorting a short list takes less time than hashing its names.
fn repeats(list: &FieldValue<'_, '_>) -> bool {
    let mut names: Vec<_> = list.items().map(|variable| variable.value.str_at(&["name"]).unwrap_or_default()).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| matches!(pair, [one, next] if one == next))
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;

    fn warnings(metadata: &str, spec: &str) -> Vec<String> {
        let template = format!(r#"{{"metadata":{metadata},"spec":{spec}}}"#);
        created("", "PodTemplate", &format!(r#"{{"template":{template}}}"#), "1.37")
    }

    #[test]
    fn a_variable_hides_an_earlier_one() {
        let spec = |second: &str| {
            warnings(
                "{}",
                &format!(r#"{{"containers":[{{"env":[{{"name":"A","value":"1"}},{{"name":"A",{second}}}]}}]}}"#),
            )
        };
        let hidden = r#"template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply"#;
        assert_eq!(spec(r#""value":"2""#), [hidden]);
        assert_eq!(spec(r#""value":"$(A)2""#), [""; 0]);
        assert_eq!(spec(r#""valueFrom":{}"#), [hidden]);
    }

    #[test]
    fn removed_plugins_and_annotations_are_named() {
        assert_eq!(
            warnings(
                r#"{"annotations":{"scheduler.alpha.kubernetes.io/critical-pod":""}}"#,
                r#"{"volumes":[{"name":"a","gitRepo":{}},{"name":"b","rbd":{}}]}"#
            ),
            [
                r#"template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead"#,
                "template.spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
                "template.spec.volumes[1].rbd: deprecated in v1.28, non-functional in v1.31+",
            ]
        );
    }

    #[test]
    fn an_app_armor_annotation_needs_the_field() {
        let found = |context: &str| {
            let annotations = r#"{"annotations":{"container.apparmor.security.beta.kubernetes.io/c":"localhost/x"}}"#;
            warnings(annotations, &format!(r#"{{"containers":[{{"name":"c"}}],"securityContext":{context}}}"#)).len()
        };
        assert_eq!(found("{}"), 1);
        assert_eq!(found(r#"{"appArmorProfile":{"type":"Unconfined"}}"#), 1);
        assert_eq!(found(r#"{"appArmorProfile":{"type":"Localhost","localhostProfile":"x"}}"#), 0);
    }

    #[test]
    fn items_are_repeated_or_empty() {
        let spec = r#"{"hostAliases":[{"ip":"1.2.3.4"},{"ip":"1.2.3.4"}],"imagePullSecrets":[{"name":"a"},{"name":""}],
            "terminationGracePeriodSeconds":-1,"affinity":{"podAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{}]}}}"#;
        assert_eq!(
            warnings("{}", spec),
            [
                r#"template.spec.hostAliases[1].ip: duplicate ip "1.2.3.4""#,
                r#"template.spec.imagePullSecrets[1].name: invalid empty name """#,
                "template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
                "template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod",
            ]
        );
    }
}
