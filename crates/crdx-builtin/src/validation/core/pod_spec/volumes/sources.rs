//! Volume sources that Pods and persistent volumes share, or that have simple rules.

use crate::validation::field_value::{Errors, FieldValue, range};
use crate::validation::formats;
use crdx_regexp::Regexp;
use crdx_value::field::{FieldError, names};
use crdx_value::release::{Gate, V1_35};

const FILE_MODE: &str = "must be a number between 0 and 0777 (octal), both inclusive";
const HOST_PATH_TYPES: &[&str] =
    &["", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"];
const MANAGED_DISK: &str =
    "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const BLOB_DISK: &str = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/// An error for a mode that is no permission.
pub(crate) fn file_mode(errors: &mut Errors, mode: &FieldValue<'_, '_>) {
    if mode.int().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        errors.invalid(mode, FILE_MODE);
    }
}

/// An error for a user that is no user ID. Without the gate, the server drops the field.
pub(crate) fn file_owner(errors: &mut Errors, user: &FieldValue<'_, '_>) {
    if errors.release.enables(Gate::AtomicWriteVolumeUserFields) {
        formats::user_or_group_id(errors, user);
    }
}

/// Validates a source of one of the other types.
pub fn validate(errors: &mut Errors, type_: &str, source: &FieldValue<'_, '_>) {
    let require = |errors: &mut Errors, names: &[&str]| {
        for name in names {
            errors.require_text(&source.child(name));
        }
    };
    match type_ {
        "hostPath" => host_path(errors, source),
        "gitRepo" => {
            require(errors, &["repository"]);
            formats::relative_path(errors, &source.child("directory"));
        }
        "gcePersistentDisk" => require(errors, &["pdName"]),
        "awsElasticBlockStore" | "portworxVolume" => require(errors, &["volumeID"]),
        "nfs" => {
            require(errors, &["server", "path"]);
            let path = source.child("path");
            if !path.text().starts_with('/') {
                errors.invalid_value(&path.path, path.text(), "must be an absolute path");
            }
        }
        "iscsi" => iscsi(errors, source, "must be valid format starting with iqn, eui, or naa"),
        "glusterfs" => require(errors, &["endpoints", "path"]),
        "flocker" => flocker(errors, source),
        "rbd" => {
            monitors(errors, source);
            require(errors, &["image"]);
        }
        "cinder" => {
            require(errors, &["volumeID"]);
            secret_name(errors, source);
        }
        "cephfs" => monitors(errors, source),
        "quobyte" => quobyte(errors, source),
        "fc" => fibre_channel(errors, source),
        "flexVolume" => flex(errors, source),
        "azureFile" => require(errors, &["secretName", "shareName"]),
        "vsphereVolume" => require(errors, &["volumePath"]),
        "photonPersistentDisk" => require(errors, &["pdID"]),
        "azureDisk" => azure_disk(errors, source),
        "storageos" => {
            let (name, namespace) = (source.child("volumeName"), source.child("volumeNamespace"));
            if errors.require_text(&name) {
                formats::label(errors, &name);
            }
            if !namespace.text().is_empty() {
                formats::label(errors, &namespace);
            }
            secret_name(errors, source);
        }
        "scaleIO" => require(errors, &["gateway", "system", "volumeName"]),
        _ => {}
    }
    if matches!(type_, "gcePersistentDisk" | "awsElasticBlockStore") {
        let partition = source.child("partition");
        if partition.int().is_some_and(|partition| !(0..=255).contains(&partition)) {
            errors.invalid(&partition, range(1, 255));
        }
    }
}

fn monitors(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let monitors = source.child("monitors");
    if monitors.len() == 0 {
        errors.required(&monitors, "");
    }
}

fn secret_name(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let reference = source.child("secretRef");
    if reference.is_set() {
        errors.require_text(&reference.child("name"));
    }
}

/// `validateHostPathVolumeSource`
pub(crate) fn host_path(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let (path, type_) = (source.child("path"), source.child("type"));
    if !errors.require_text(&path) {
        return;
    }
    formats::path_without_backsteps(errors, &path);
    if type_.is_set() {
        errors.supported(&type_, HOST_PATH_TYPES);
    }
}

/// `validateISCSIVolumeSource`; `other_prefix` is the error for a name of another type.
pub(crate) fn iscsi(errors: &mut Errors, source: &FieldValue<'_, '_>, other_prefix: &str) {
    errors.require_text(&source.child("targetPortal"));
    let name = source.child("iqn");
    if errors.require_text(&name) {
        iscsi_name(errors, &name, other_prefix);
    }
    let lun = source.child("lun");
    errors.in_range(&lun, 0, 255);
    let secret = source.child("secretRef");
    let authenticates = source.child("chapAuthDiscovery").bool() || source.child("chapAuthSession").bool();
    if authenticates && !secret.is_set() {
        errors.required(&secret, "");
    }
    let initiator = source.child("initiatorName");
    if initiator.is_set() {
        // The server writes the name of this field in lowercase.
        iscsi_name(errors, &FieldValue { path: source.path.child("initiatorname"), ..initiator }, other_prefix);
    }
}

fn iscsi_name(errors: &mut Errors, field: &FieldValue<'_, '_>, other_prefix: &str) {
    let pattern = match field.text().get(..3) {
        Some("iqn") => r"iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$",
        Some("eui") => r"^eui.[[:alnum:]]{16}$",
        Some("naa") => r"^naa.[[:alnum:]]{32}$",
        _ => return errors.invalid_value(&field.path, field.text(), other_prefix),
    };
    if !Regexp::new(pattern).is_ok_and(|pattern| pattern.is_match(field.text())) {
        errors.invalid_value(&field.path, field.text(), "must be valid format");
    }
}

/// `validateFlockerVolumeSource`
fn flocker(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let (name, uuid) = (source.child("datasetName"), source.child("datasetUUID"));
    match (name.text().is_empty(), uuid.text().is_empty()) {
        (true, true) => errors.required(source, "one of datasetName and datasetUUID is required"),
        (false, false) => {
            let detail = "datasetName and datasetUUID can not be specified simultaneously";
            errors.invalid_value(&source.path, "resource", detail);
        }
        _ => {}
    }
    if name.text().contains('/') {
        errors.invalid(&name, "must not contain '/'");
    }
}

/// `validateQuobyteVolumeSource`
fn quobyte(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    const REGISTRY: &str = "must be a host:port pair or multiple pairs separated by commas";
    let (registry, tenant) = (source.child("registry"), source.child("tenant"));
    if registry.text().is_empty() {
        errors.required(&registry, REGISTRY);
    } else if tenant.text().len() >= 65 {
        errors.required(&tenant, "must be a UUID and may not exceed a length of 64 characters");
    } else {
        for _ in registry.text().split(',').filter(|pair| !is_host_and_port(pair)) {
            errors.invalid(&registry, REGISTRY);
        }
    }
    errors.require_text(&source.child("volume"));
}

/// Returns true if Go's `net.SplitHostPort` accepts the text.
fn is_host_and_port(text: &str) -> bool {
    let Some((host, _)) = text.rsplit_once(':') else { return false };
    let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match inner {
        Some(inner) => !inner.contains(['[', ']']),
        None => !host.contains([':', '[', ']']),
    }
}

/// `validateFCVolumeSource`
pub(crate) fn fibre_channel(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let (names, ids, lun) = (source.child("targetWWNs"), source.child("wwids"), source.child("lun"));
    match (names.len(), ids.len()) {
        (0, 0) => errors.required(&names, "must specify either targetWWNs or wwids, but not both"),
        (0, _) | (_, 0) => {}
        _ => errors.invalid_typed(&names, "[]string", "targetWWNs and wwids can not be specified simultaneously"),
    }
    if names.len() > 0 {
        match lun.int() {
            None => errors.required(&lun, "lun is required if targetWWNs is specified"),
            Some(number) if !(0..=255).contains(&number) => errors.invalid(&lun, range(0, 255)),
            Some(_) => {}
        }
    }
}

/// `validateFlexVolumeSource`
pub fn flex(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    errors.require_text(&source.child("driver"));
    for (key, option) in source.child("options").entries() {
        let namespace = key.split_once('/').map_or(key, |(namespace, _)| namespace);
        let normalized = format!(".{}", namespace.to_lowercase());
        if normalized.ends_with(".kubernetes.io") || normalized.ends_with(".k8s.io") {
            errors.invalid_value(&option.path, key, "kubernetes.io and k8s.io namespaces are reserved");
        }
    }
}

/// `validateAzureDisk`
pub(crate) fn azure_disk(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let (name, uri, caching) = (source.child("diskName"), source.child("diskURI"), source.child("cachingMode"));
    errors.require_text(&name);
    errors.require_text(&uri);
    if caching.is_set() {
        errors.supported(&caching, &["None", "ReadOnly", "ReadWrite"]);
    }
    let kind = source.child("kind");
    if !kind.is_set() {
        return;
    }
    errors.supported(&kind, &["Dedicated", "Managed", "Shared"]);
    let (prefix, supported) =
        if kind.text() == "Managed" { ("/subscriptions/", MANAGED_DISK) } else { ("https://", BLOB_DISK) };
    if !uri.text().starts_with(prefix) {
        errors.list.push(FieldError::not_supported(&uri.path, uri.text(), &[supported]));
    }
}

/// `ValidateCSIDriverName`
pub(crate) fn csi_driver_name(errors: &mut Errors, name: &FieldValue<'_, '_>) {
    if name.text().is_empty() {
        errors.required(name, "");
        // Since 1.35, nothing else is said about an empty name.
        if errors.release.since(V1_35) {
            return;
        }
    }
    if name.text().len() > 63 {
        errors.too_long(name, 63);
    }
    let lowercase = name.text().to_lowercase();
    errors.messages(name, names::dns1123_subdomain(lowercase.as_bytes()));
}
