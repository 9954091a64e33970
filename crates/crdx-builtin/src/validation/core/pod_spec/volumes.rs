//! The volumes of a Pod specification (`ValidateVolumes`).

pub(super) mod projected;
pub mod sources;

use super::{PodOptions, containers};
use crate::validation::core::persistent_volume_claim;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::Value;
use crdx_value::field::{
    FieldPath,
    names::{self, NameForm},
};
use crdx_value::quote::go_quote;
use crdx_value::release::{Gate, V1_37};
use std::collections::{HashMap, HashSet};

const ONE_TYPE: &str = "may not specify more than 1 volume type";

/// The types of volumes in the order in which the server validates them.
const TYPES: &[&str] = &[
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

/// Validates the volumes and returns the valid ones by name. `metadata` is that of a Pod.
pub fn validate<'v>(
    errors: &mut Errors,
    list: &FieldValue<'v, '_>,
    metadata: Option<&Value>,
    options: &PodOptions,
) -> HashMap<&'v str, &'v Value> {
    let pod = metadata.and_then(|metadata| metadata.str_at(&["name"])).unwrap_or_default();
    let created: HashSet<String> = list
        .items()
        .filter(|volume| !pod.is_empty() && volume.child("ephemeral").is_set())
        .map(|volume| format!("{pod}-{}", volume.child("name").text()))
        .collect();
    let mut valid = HashMap::new();
    for volume in list.items() {
        let name = volume.child("name");
        let before = errors.list.len();
        volume_source(errors, &volume, pod, options);
        if errors.require_text(&name) {
            formats::label(errors, &name);
        }
        if valid.contains_key(name.text()) {
            errors.duplicate(&name);
        }
        if errors.list.len() == before {
            valid.insert(name.text(), volume.value);
        }
        let claim = volume.child("persistentVolumeClaim");
        let claim_name = claim.child("claimName");
        if claim.is_set() && created.contains(claim_name.text()) {
            let detail = "must not reference a PVC that gets created for an ephemeral volume";
            errors.invalid_value(&claim_name.path, claim_name.text(), detail);
        }
    }
    valid
}

/// `validateVolumeSource`
fn volume_source(errors: &mut Errors, volume: &FieldValue<'_, '_>, pod: &str, options: &PodOptions) {
    let name = volume.child("name");
    let mut found = false;
    for type_ in TYPES {
        let source = volume.child(type_);
        // Without the gate, the server drops the field.
        if !source.is_set() || (*type_ == "image" && !errors.release.enables(Gate::ImageVolume)) {
            continue;
        }
        if found {
            // The names in these two messages differ from those of the fields.
            let shown = match *type_ {
                "downwardAPI" => "downwarAPI",
                "cephfs" => "cephFS",
                other => other,
            };
            errors.forbidden(&volume.child(shown), ONE_TYPE);
        } else {
            found = true;
            // The server has another name for this field, too.
            let path = if *type_ == "gcePersistentDisk" { volume.path.child("persistentDisk") } else { source.path };
            validate_type(errors, type_, &FieldValue { path, ..source }, options);
        }
        match *type_ {
            "iscsi" => portal_length(errors, &name, &source),
            "ephemeral" if !pod.is_empty() && !name.text().is_empty() => {
                let claim = format!("{pod}-{}", name.text());
                let messages = names::name_is_subdomain(&claim, NameForm::Whole);
                let quoted = go_quote(&claim);
                let messages = messages.into_iter().map(|message| format!("PVC name {quoted}: {message}")).collect();
                errors.messages(&name, messages);
            }
            _ => {}
        }
    }
    if !found {
        errors.required(volume, "must specify a volume type");
    }
}

fn portal_length(errors: &mut Errors, name: &FieldValue<'_, '_>, iscsi: &FieldValue<'_, '_>) {
    let length = name.text().len() + 1 + iscsi.child("targetPortal").text().len();
    if iscsi.child("initiatorName").is_set() && length > 64 {
        let detail = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";
        errors.invalid_value(&name.path, name.text(), detail);
    }
}

fn validate_type(errors: &mut Errors, type_: &str, source: &FieldValue<'_, '_>, options: &PodOptions) {
    match type_ {
        "emptyDir" => {
            let limit = source.child("sizeLimit");
            if limit.quantity(errors.release).is_some_and(|quantity| quantity.sign() < 0) {
                errors.forbidden(&limit, "SizeLimit field must be a valid resource quantity");
            }
            let mode = source.child("mode");
            let is_kept = errors.release.enables(Gate::EmptyDirVolumeMode);
            if is_kept && mode.int().is_some_and(|mode| !(0..=0o1777).contains(&mode)) {
                errors.invalid(&mode, "must be a number between 0 and 01777 (octal), both inclusive");
            }
        }
        "secret" => files(errors, source, "secretName"),
        "configMap" => files(errors, source, "name"),
        "downwardAPI" => {
            sources::file_mode(errors, &source.child("defaultMode"));
            sources::file_owner(errors, &source.child("defaultUser"));
            for file in source.child("items").items() {
                // The server reports these errors at the volume source.
                projected::downward_file(errors, &FieldValue { path: source.path, ..file });
            }
        }
        "persistentVolumeClaim" => {
            errors.require_text(&source.child("claimName"));
        }
        "projected" => projected::validate(errors, source, options),
        "csi" => csi(errors, source),
        "ephemeral" => {
            let template = source.child("volumeClaimTemplate");
            if template.is_set() {
                persistent_volume_claim::template(errors, &template);
            } else {
                errors.required(&template, "");
            }
        }
        "image" => {
            let reference = source.child("reference");
            // Before 1.37, a template may lack it, because a mutating webhook may add it to its Pods.
            let is_required =
                if errors.release.since(V1_37) { !options.allows_empty_image_volumes } else { options.is_pod };
            if is_required {
                errors.require_text(&reference);
            }
            containers::pull_policy(errors, &source.child("pullPolicy"));
        }
        _ => sources::validate(errors, type_, source),
    }
}

/// `validateSecretVolumeSource` and `validateConfigMapVolumeSource`
fn files(errors: &mut Errors, source: &FieldValue<'_, '_>, name: &str) {
    errors.require_text(&source.child(name));
    sources::file_mode(errors, &source.child("defaultMode"));
    sources::file_owner(errors, &source.child("defaultUser"));
    for item in source.child("items").items() {
        projected::key_to_path(errors, &item);
    }
}

/// `validateCSIVolumeSource`
fn csi(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    sources::csi_driver_name(errors, &source.child("driver"));
    let reference = source.child("nodePublishSecretRef");
    let name = reference.child("name");
    if reference.is_set() && errors.require_text(&name) {
        // The server reports an invalid name at this path.
        let path: FieldPath<'_> = source.path.child("name");
        errors.messages_at(&path, name.text(), names::name_is_subdomain(name.text(), NameForm::Whole));
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    /// `validateImageVolumeSource`
    #[test]
    fn image_volumes_of_templates_need_a_reference_since_1_37() {
        let spec = |image: &str| {
            let container = format!(r#"{{"name":"c","image":"{image}"}}"#);
            format!(r#"{{"containers":[{container}],"volumes":[{{"name":"v","image":{{}}}}]}}"#)
        };
        let template = |image: &str| format!(r#"{{"metadata":{{"name":"t"}},"template":{{"spec":{}}}}}"#, spec(image));
        let pod = format!(r#"{{"metadata":{{"name":"p"}},"spec":{}}}"#, spec("i"));
        let of_template = |release| created("v1", "PodTemplate", &template("i"), release);
        let error = "volumes[0].image.reference: Required value";
        assert_eq!(of_template("1.36"), [""; 0]);
        assert_eq!(of_template("1.37"), [format!("template.spec.{error}")]);
        assert_eq!(created("v1", "Pod", &pod, "1.36"), [format!("spec.{error}")]);
        assert_eq!(updated("v1", "PodTemplate", &template("i"), &template("j"), "1.37"), [""; 0]);
    }
}
