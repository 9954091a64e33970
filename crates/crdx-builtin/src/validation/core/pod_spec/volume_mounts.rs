//! Volume mounts and volume devices of a container (`ValidateVolumeMounts` and `ValidateVolumeDevices`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::Value;
use crdx_value::release::Gate;
use std::collections::{HashMap, HashSet};

/// Validates both lists; `volumes` has the valid volumes of the Pod.
pub fn validate(errors: &mut Errors, container: &FieldValue<'_, '_>, volumes: &HashMap<&str, &Value>) {
    mounts(errors, container, volumes);
    devices(errors, container, volumes);
}

fn mounts(errors: &mut Errors, container: &FieldValue<'_, '_>, volumes: &HashMap<&str, &Value>) {
    let (list, devices) = (container.child("volumeMounts"), container.child("volumeDevices"));
    let device_names: HashSet<&str> = devices.items().map(|device| device.child("name").text()).collect();
    let device_paths: HashSet<&str> = devices.items().map(|device| device.child("devicePath").text()).collect();
    let is_privileged = container.value.at(&["securityContext", "privileged"]) == Some(&Value::Bool(true));
    let mut seen = HashSet::new();
    for mount in list.items() {
        let (name, path) = (mount.child("name"), mount.child("mountPath"));
        errors.require_text(&name);
        if !volumes.contains_key(name.text()) {
            errors.not_found(&name);
        }
        errors.require_text(&path);
        if !seen.insert(path.text()) {
            errors.invalid_value(&path.path, path.text(), "must be unique");
        }
        if device_names.contains(name.text()) {
            errors.invalid_value(&name.path, name.text(), "must not already exist in volumeDevices");
        }
        if device_paths.contains(path.text()) {
            errors.invalid_value(&path.path, path.text(), "must not already exist as a path in volumeDevices");
        }
        let (sub_path, expression) = (mount.child("subPath"), mount.child("subPathExpr"));
        if !sub_path.text().is_empty() {
            // The server reports this error and the next ones at the list.
            formats::relative_path(errors, &FieldValue { path: list.path.child("subPath"), ..sub_path });
        }
        if !expression.text().is_empty() {
            if !sub_path.text().is_empty() {
                errors.invalid(&expression, "subPathExpr and subPath are mutually exclusive");
            }
            formats::relative_path(errors, &FieldValue { path: list.path.child("subPathExpr"), ..expression });
        }
        propagation(errors, &list, mount.child("mountPropagation").value, is_privileged);
        // Without the gate, the server drops the field.
        if errors.release.enables(Gate::RecursiveReadOnlyMounts) {
            recursive_read_only(errors, &list, &mount);
        }
        if errors.release.enables(Gate::VolumeBindMountOptions) {
            let is_image =
                volumes.get(name.text()).and_then(|volume| volume.get("image")).is_some_and(|i| !i.is_null());
            bind_options(errors, &mount.child("bindMountOptions"), is_image);
        }
    }
}

/// `validateBindMountOptions`
fn bind_options(errors: &mut Errors, options: &FieldValue<'_, '_>, is_image: bool) {
    let mut seen = HashSet::new();
    for option in options.items() {
        errors.supported(&option, &["nodev", "noexec", "nosuid"]);
        if !seen.insert(option.text()) {
            errors.duplicate(&option);
        }
    }
    if options.len() > 0 && is_image {
        errors.invalid(options, "bindMountOptions may not be used with image volumes");
    }
}

/// `validateMountPropagation`
fn propagation(errors: &mut Errors, list: &FieldValue<'_, '_>, mode: &Value, is_privileged: bool) {
    let field = FieldValue::new(Some(mode), list.path.child("mountPropagation"));
    if !field.is_set() {
        return;
    }
    errors.supported(&field, &["Bidirectional", "HostToContainer", "None"]);
    if field.text() == "Bidirectional" && !is_privileged {
        errors.forbidden(&field, "Bidirectional mount propagation is available only to privileged containers");
    }
}

/// `validateMountRecursiveReadOnly`
fn recursive_read_only(errors: &mut Errors, list: &FieldValue<'_, '_>, mount: &FieldValue<'_, '_>) {
    let field = FieldValue { path: list.path.child("recursiveReadOnly"), ..mount.child("recursiveReadOnly") };
    match field.text() {
        _ if !field.is_set() => {}
        "Disabled" => {}
        "Enabled" | "IfPossible" => {
            if !mount.child("readOnly").bool() {
                errors.forbidden(&field, "may only be specified when readOnly is true");
            }
            let propagation = mount.child("mountPropagation");
            if propagation.is_set() && propagation.text() != "None" {
                errors.forbidden(&field, "may only be specified when mountPropagation is None or not specified");
            }
        }
        _ => errors.not_supported(&field, &["Disabled", "Enabled", "IfPossible"]),
    }
}

fn devices(errors: &mut Errors, container: &FieldValue<'_, '_>, volumes: &HashMap<&str, &Value>) {
    let (list, mounts) = (container.child("volumeDevices"), container.child("volumeMounts"));
    let mount_names: HashSet<&str> = mounts.items().map(|mount| mount.child("name").text()).collect();
    let mount_paths: HashSet<&str> = mounts.items().map(|mount| mount.child("mountPath").text()).collect();
    let (mut names, mut paths) = (HashSet::new(), HashSet::new());
    for device in list.items() {
        let (name, path) = (device.child("name"), device.child("devicePath"));
        let invalid = |errors: &mut Errors, field: &FieldValue<'_, '_>, detail: &str| {
            errors.invalid_value(&field.path, field.text(), detail);
        };
        errors.require_text(&name);
        if names.contains(name.text()) {
            invalid(errors, &name, "must be unique");
        }
        match volumes.get(name.text()) {
            None => errors.not_found(&name),
            Some(volume) if volume.get("persistentVolumeClaim").or_else(|| volume.get("ephemeral")).is_none() => {
                let detail = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode";
                invalid(errors, &name, detail);
            }
            Some(_) => {}
        }
        errors.require_text(&path);
        if paths.contains(path.text()) {
            invalid(errors, &path, "must be unique");
        }
        if formats::has_backsteps(path.text()) {
            invalid(errors, &path, "can not contain backsteps ('..')");
        } else {
            paths.insert(path.text());
        }
        if mount_names.contains(name.text()) {
            invalid(errors, &name, "must not already exist in volumeMounts");
        }
        if mount_paths.contains(path.text()) {
            invalid(errors, &path, "must not already exist as a path in volumeMounts");
        }
        if !name.text().is_empty() {
            names.insert(name.text());
        }
    }
}
