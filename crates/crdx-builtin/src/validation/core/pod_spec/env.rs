//! Environment variables and references to fields (`ValidateEnv`, `ValidateEnvFrom` and `validateObjectFieldSelector`).

use super::each_container;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_cel::value::Quantity;
use crdx_value::field::{
    FieldError,
    names::{self, NameForm},
};
use crdx_value::release::Gate;
use std::cmp::Ordering;
use std::collections::HashMap;

/// `validEnvDownwardAPIFieldPathExpressions`
const ENVIRONMENT_FIELDS: &[&str] = &[
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// `validContainerResourceFieldPathExpressions`
const RESOURCE_FIELDS: &[&str] = &[
    "limits.cpu",
    "limits.ephemeral-storage",
    "limits.memory",
    "requests.cpu",
    "requests.ephemeral-storage",
    "requests.memory",
];

/// The labels that `ConvertDownwardAPIFieldLabel` knows besides `spec.host`.
const FIELD_LABELS: &[&str] = &[
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.restartPolicy",
    "spec.serviceAccountName",
    "spec.schedulerName",
    "status.phase",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

const BYTE_DIVISORS: &[&str] = &["1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"];

/// `ValidateEnv`
pub fn variables(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    for variable in list.items() {
        let name = variable.child("name");
        if errors.require_text(&name) {
            errors.messages(&name, formats::environment_variable_name(name.text(), errors.release));
        }
        value_source(errors, &variable);
    }
}

/// `validateEnvVarValueFrom`
fn value_source(errors: &mut Errors, variable: &FieldValue<'_, '_>) {
    let from = variable.child("valueFrom");
    if !from.is_set() {
        return;
    }
    let has_file_keys = errors.release.enables(Gate::EnvFiles);
    let mut count = 0;
    for (name, check) in [
        ("fieldRef", environment_field as fn(&mut Errors, &FieldValue<'_, '_>)),
        ("resourceFieldRef", environment_resource),
        ("configMapKeyRef", key_selector),
        ("secretKeyRef", key_selector),
        ("fileKeyRef", file_key_selector),
    ] {
        let source = from.child(name);
        // Without the gate, the server drops the field.
        if source.is_set() && (name != "fileKeyRef" || has_file_keys) {
            count += 1;
            check(errors, &source);
        }
    }
    let detail = match count {
        0 if has_file_keys => {
            "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        }
        0 => "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`",
        _ if !variable.child("value").text().is_empty() => "may not be specified when `value` is not empty",
        1 => return,
        _ => "may not have more than one field specified at a time",
    };
    errors.invalid_value(&from.path, "", detail);
}

fn environment_field(errors: &mut Errors, reference: &FieldValue<'_, '_>) {
    field_reference(errors, reference, ENVIRONMENT_FIELDS);
}

fn environment_resource(errors: &mut Errors, reference: &FieldValue<'_, '_>) {
    resource_reference(errors, reference, DownwardApi::Variable);
}

/// `validateObjectFieldSelector`
pub(crate) fn field_reference(errors: &mut Errors, reference: &FieldValue<'_, '_>, allowed: &[&str]) {
    let (version, path) = (reference.child("apiVersion"), reference.child("fieldPath"));
    if !errors.require_text(&version) || !errors.require_text(&path) {
        return;
    }
    let text = path.text();
    let reason = if version.text() != "v1" {
        Some(format!("unsupported pod version: {}", version.text()))
    } else if let Some((parent, key)) = subscript(text) {
        match parent {
            "metadata.annotations" => {
                let key = key.to_lowercase();
                errors.messages_at(&reference.path, &key, names::qualified_name(&key, errors.release));
                None
            }
            "metadata.labels" => {
                errors.messages_at(&reference.path, key, names::qualified_name(key, errors.release));
                None
            }
            _ => Some(format!("field label does not support subscript: {text}")),
        }
    } else {
        // `spec.host` is an older name.
        let known = if text == "spec.host" { "spec.nodeName" } else { text };
        if FIELD_LABELS.contains(&known) {
            if !allowed.contains(&known) {
                errors.list.push(FieldError::not_supported(&path.path, known, allowed));
            }
            None
        } else {
            Some(format!("field label not supported: {text}"))
        }
    };
    if let Some(reason) = reason {
        errors.invalid(&path, format!("error converting fieldPath: {reason}"));
    }
}

/// `SplitMaybeSubscriptedPath`: `metadata.labels['key']`
fn subscript(path: &str) -> Option<(&str, &str)> {
    path.strip_suffix("']")?.split_once("['").filter(|(parent, _)| !parent.is_empty())
}

/// The place that refers to a field of the Pod itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DownwardApi {
    Variable,
    Volume,
}

/// `validateContainerResourceFieldSelector`
pub(crate) fn resource_reference(errors: &mut Errors, reference: &FieldValue<'_, '_>, target: DownwardApi) {
    let (container, resource) = (reference.child("containerName"), reference.child("resource"));
    let name = resource.text();
    let is_huge_page = name.starts_with("requests.hugepages-") || name.starts_with("limits.hugepages-");
    if target == DownwardApi::Volume && container.text().is_empty() {
        errors.required(&container, "");
    } else if errors.require_text(&resource) && !RESOURCE_FIELDS.contains(&name) && !is_huge_page {
        errors.not_supported(&resource, RESOURCE_FIELDS);
    }
    let divisor = reference.child("divisor");
    let Some(quantity) =
        divisor.quantity(errors.release).filter(|q| q.compare(&Quantity::from_int(0)) != Ordering::Equal)
    else {
        return;
    };
    let (supported, text, kind): (&[&str], _, _) = match name {
        "limits.cpu" | "requests.cpu" => (&["1m", "1"], "1m and 1", "cpu"),
        "limits.memory" | "requests.memory" => (BYTE_DIVISORS, "", "memory"),
        "limits.ephemeral-storage" | "requests.ephemeral-storage" => (BYTE_DIVISORS, "", "local ephemeral storage"),
        _ if is_huge_page => (BYTE_DIVISORS, "", "hugepages"),
        _ => return,
    };
    if !supported.contains(&quantity.to_string().as_str()) {
        let values = if text.is_empty() { supported.join(", ") } else { text.to_owned() };
        let detail = format!("only divisor's values {values} are supported with the {kind} resource");
        errors.invalid_value(&divisor.path, name, detail);
    }
}

/// `validateConfigMapKeySelector` and `validateSecretKeySelector`
fn key_selector(errors: &mut Errors, selector: &FieldValue<'_, '_>) {
    formats::object_name(errors, &selector.child("name"));
    let key = selector.child("key");
    if errors.require_text(&key) {
        errors.messages(&key, formats::config_map_key(key.text()));
    }
}

/// `validateFileKeySelector`
fn file_key_selector(errors: &mut Errors, selector: &FieldValue<'_, '_>) {
    let (key, volume, path) = (selector.child("key"), selector.child("volumeName"), selector.child("path"));
    if errors.require_text(&key) {
        errors.messages(&key, formats::relaxed_environment_variable_name(key.text()));
    }
    if errors.require_text(&volume) {
        formats::label(errors, &volume);
    }
    if errors.require_text(&path) {
        formats::path_without_backsteps(errors, &path);
    }
}

/// `ValidateEnvFrom`. The server reports errors about sources at the list.
pub fn sources(errors: &mut Errors, list: &FieldValue<'_, '_>) {
    for source in list.items() {
        let prefix = source.child("prefix");
        if !prefix.text().is_empty() {
            errors.messages(&prefix, formats::environment_variable_name(prefix.text(), errors.release));
        }
        let mut count = 0;
        for reference in ["configMapRef", "secretRef"].map(|name| source.child(name)) {
            if reference.is_set() {
                count += 1;
                let name = reference.child("name");
                if errors.require_text(&name) {
                    errors.messages(&name, names::name_is_subdomain(name.text(), NameForm::Prefix));
                }
            }
        }
        let detail = match count {
            0 => "must specify one of: `configMapRef` or `secretRef`",
            1 => continue,
            _ => "may not have more than one field specified at a time",
        };
        errors.invalid_value(&list.path, "", detail);
    }
}

/// `validateFileKeyRefVolumes`
pub(crate) fn file_volumes(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    if !errors.release.enables(Gate::EnvFiles) {
        return;
    }
    let list = spec.child("volumes");
    let volumes: HashMap<&str, bool> =
        list.items().map(|volume| (volume.child("name").text(), volume.child("emptyDir").is_set())).collect();
    each_container(spec, |container| {
        for variable in container.child("env").items() {
            let from = variable.child("valueFrom");
            let reference = from.child("fileKeyRef");
            if !reference.is_set() {
                continue;
            }
            let name = reference.child("volumeName");
            match volumes.get(name.text()) {
                None => errors.not_found(&name),
                Some(false) => errors.invalid(&name, "referenced volume must be of type emptyDir"),
                Some(true) => {}
            }
        }
    });
}
