//! `PersistentVolume`s.

use crate::validation::core::pod_spec::affinity;
use crate::validation::core::pod_spec::volumes::sources;
use crate::validation::core::{persistent_volume_claim, resources};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    difference, formats, immutable, internal,
    selectors::{self, LabelValues},
};
use crdx_value::Value;
use crdx_value::field::{
    FieldError, FieldPath, ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{V1_33, V1_34};

const ONE_TYPE: &str = "may not specify more than 1 volume type";
/// The types of volumes, in the order in which the server validates them.
const TYPES: &[&str] = &[
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
];

/// `ValidatePersistentVolume` and `ValidatePersistentVolumeUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let old_spec = FieldValue::new(old.and_then(|old| old.get("spec")), ROOT);
    let modes = spec.child("accessModes");
    if modes.len() == 0 {
        errors.required(&modes, "");
    }
    persistent_volume_claim::access_modes(errors, &modes);
    capacity(errors, &spec.child("capacity"));
    let policy = spec.child("persistentVolumeReclaimPolicy");
    if !policy.text().is_empty() {
        errors.supported(&policy, &["Delete", "Recycle", "Retain"]);
    }
    node_affinity(errors, &spec.child("nodeAffinity"), &old_spec);
    let name = object.value.str_at(&["metadata", "name"]).unwrap_or_default();
    source(errors, &spec, name);
    let path = spec.value.str_at(&["hostPath", "path"]);
    if path.is_some_and(is_root) && policy.text() == "Recycle" {
        errors.forbidden(&policy, "may not be 'recycle' for a hostPath mount of '/'");
    }
    let class = spec.child("storageClassName");
    if !class.text().is_empty() {
        formats::object_name(errors, &class);
    }
    let mode = spec.child("volumeMode");
    if mode.is_set() {
        errors.supported(&mode, persistent_volume_claim::VOLUME_MODES);
    }
    let attributes = spec.child("volumeAttributesClassName");
    if attributes.is_set() && errors.release.since(V1_34) {
        if attributes.text().is_empty() {
            errors.required(&attributes, "an empty string is disallowed");
        } else {
            formats::object_name(errors, &attributes);
        }
        let csi = spec.child("csi");
        if !csi.is_set() {
            errors.required(&csi, "has to be specified when using volumeAttributesClassName");
        }
    }
    if old.is_some() {
        update(errors, &spec, &old_spec);
    }
}

/// Returns true if Go's `path.Clean` gives `/`.
fn is_root(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => depth = depth.saturating_sub(1),
            _ => depth += 1,
        }
    }
    path.starts_with('/') && depth == 0
}

fn capacity(errors: &mut Errors, capacity: &FieldValue<'_, '_>) {
    if capacity.len() == 0 {
        errors.required(capacity, "");
    }
    if capacity.value.get("storage").is_none() || capacity.len() > 1 {
        errors.not_supported_typed(capacity, "core.ResourceList", &["storage"]);
    }
    for (_, quantity) in capacity.entries() {
        resources::basic(errors, &quantity);
        resources::positive_quantity(errors, &quantity);
    }
}

/// `validateVolumeNodeAffinity`
fn node_affinity(errors: &mut Errors, node_affinity: &FieldValue<'_, '_>, old_spec: &FieldValue<'_, '_>) {
    if !node_affinity.is_set() {
        return;
    }
    let required = node_affinity.child("required");
    if !required.is_set() {
        return errors.required(&required, "must specify required node constraints");
    }
    let old_affinity = old_spec.child("nodeAffinity");
    let old_required = old_affinity.child("required");
    let has_invalid = |term: FieldValue<'_, '_>| selectors::has_invalid_value(&term, errors);
    // Values of labels are validated since 1.33.
    let allows_invalid =
        !errors.release.since(V1_33) || old_required.child("nodeSelectorTerms").items().any(has_invalid);
    affinity::node_selector(errors, &required, LabelValues::allow_invalid_if(allows_invalid));
}

/// Validates the only volume type of a specification.
pub fn source(errors: &mut Errors, spec: &FieldValue<'_, '_>, name: &str) {
    let mut found = false;
    for type_ in TYPES {
        let source = spec.child(type_);
        if !source.is_set() {
            continue;
        }
        // The server does not count this type.
        if found && *type_ != "flexVolume" {
            let shown = if *type_ == "cephfs" { "cephFS" } else { type_ };
            errors.forbidden(&spec.child(shown), ONE_TYPE);
            continue;
        }
        found = true;
        let path = if *type_ == "gcePersistentDisk" { spec.path.child("persistentDisk") } else { source.path };
        validate_type(errors, type_, &FieldValue { path, ..source }, name);
        if *type_ == "local" && !spec.child("nodeAffinity").is_set() {
            errors.required(&spec.child("nodeAffinity"), "Local volume requires node affinity");
        }
    }
    if !found {
        errors.required(spec, "must specify a volume type");
    }
}

fn validate_type(errors: &mut Errors, type_: &str, source: &FieldValue<'_, '_>, name: &str) {
    match type_ {
        "iscsi" => {
            let portal = source.child("targetPortal");
            if source.child("initiatorName").is_set() && name.len() + 1 + portal.text().len() > 64 {
                let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
                errors.invalid_value(&source.path.child("targetportal"), portal.text(), detail);
            }
            sources::iscsi(errors, source, "must be valid format");
            let secret = source.child("secretRef");
            if secret.is_set() {
                errors.require_text(&secret.child("name"));
            }
        }
        "glusterfs" => {
            sources::validate(errors, type_, source);
            let namespace = source.child("endpointsNamespace");
            if namespace.is_set() {
                if namespace.text().is_empty() {
                    errors.invalid(&namespace, "if the endpointnamespace is set, it must be a valid namespace name");
                } else {
                    errors.messages(&namespace, names::name_is_label(namespace.text(), NameForm::Whole));
                }
            }
        }
        "azureFile" => {
            sources::validate(errors, type_, source);
            let namespace = source.child("secretNamespace");
            if namespace.is_set() {
                errors.require_text(&namespace);
            }
        }
        "cinder" | "storageos" => {
            sources::validate(errors, type_, source);
            let secret = source.child("secretRef");
            if secret.is_set() {
                errors.require_text(&secret.child("namespace"));
            }
        }
        "local" => {
            let path = source.child("path");
            if errors.require_text(&path) {
                formats::path_without_backsteps(errors, &path);
            }
        }
        "csi" => csi(errors, source),
        _ => sources::validate(errors, type_, source),
    }
}

/// `validateCSIPersistentVolumeSource`
fn csi(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    sources::csi_driver_name(errors, &source.child("driver"));
    errors.require_text(&source.child("volumeHandle"));
    for name in
        ["controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef"]
    {
        let secret = source.child(name);
        if !secret.is_set() {
            continue;
        }
        let (name, namespace) = (secret.child("name"), secret.child("namespace"));
        if errors.require_text(&name) {
            formats::subdomain(errors, &name);
        }
        if errors.require_text(&namespace) {
            formats::label(errors, &namespace);
        }
    }
}

fn update(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let sources = |spec: &FieldValue<'_, '_>| {
        let types = TYPES.iter().filter_map(|type_| Some(((*type_).to_owned(), spec.value.get(type_)?.clone())));
        Value::Object(types.collect())
    };
    let (mut new_source, old_source) = (sources(spec), sources(old));
    let expand = ["csi", "controllerExpandSecretRef"];
    if old_source.get("csi").is_some() && old_source.at(&expand).is_none() {
        // This reference may be added.
        if let Some(csi) = new_source.get_mut("csi").and_then(Value::as_object_mut) {
            csi.remove("controllerExpandSecretRef");
        }
    }
    if !internal::is_equal("core.PersistentVolumeSource", &new_source, &old_source, errors.release) {
        let path = spec.path.child("persistentvolumesource");
        let new = FieldValue::with_empties(Some(&new_source), ROOT, spec.empties);
        let old = FieldValue::new(Some(&old_source), ROOT);
        let difference = difference::of("core.PersistentVolumeSource", &old, &new, errors.release);
        let detail = format!("spec.persistentvolumesource is immutable after creation\n{difference}");
        errors.list.push(FieldError::forbidden(&path, detail));
    }
    let top = |name: &'static str| FieldValue { path: FieldPath::new(name), ..spec.child(name) };
    immutable::typed(errors, &top("volumeMode"), &old.child("volumeMode"), "*string");
    let affinity = top("nodeAffinity");
    let old_affinity = old.child("nodeAffinity");
    if old_affinity.is_set() && !immutable::is_equal(affinity.value, old_affinity.value) {
        let detail = format!("{}, except for updating from beta label to GA", immutable::IMMUTABLE);
        errors.invalid_typed(&affinity, "*core.VolumeNodeAffinity", detail);
    }
    let (new, old) = (spec.child("volumeAttributesClassName"), old.child("volumeAttributesClassName"));
    if errors.release.since(V1_34) && old.is_set() && !new.is_set() {
        errors.forbidden(&new, "update from non-nil value to nil is forbidden");
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn an_empty_capacity_is_shown_as_it_was_given() {
        let errors = |capacity: &str, release| {
            let volume =
                format!(r#"{{"spec":{{"accessModes":["ReadWriteOnce"],"hostPath":{{"path":"/a"}}{capacity}}}}}"#);
            created("v1", "PersistentVolume", &volume, release).remove(1)
        };
        let given = r#","capacity":{}"#;
        assert_eq!(errors(given, "1.37"), "spec.capacity: Unsupported value: {}: supported values: \"storage\"");
        assert_eq!(errors("", "1.37"), "spec.capacity: Unsupported value: null: supported values: \"storage\"");
        assert_eq!(
            errors(given, "1.31"),
            "spec.capacity: Unsupported value: core.ResourceList{}: supported values: \"storage\""
        );
    }
}
