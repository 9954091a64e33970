//! `VolumeAttachment`s and `CSINode`s (`pkg/apis/storage/validation`).

use super::field_value::{Errors, FieldValue};
use super::{claims, driver_names, formats, immutable, persistent_volumes};
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath, ROOT, names};
use crdx_value::release::{V1_33, V1_35, V1_36, V1_37};
use std::collections::HashSet;

const MAX_METADATA: usize = 256 << 10;
const MAX_MESSAGE: usize = 1024;
const MAX_NODE_ID: usize = 256;
const NOT_INLINE: &str = "may not be specified in the context of inline volumes";
const ONE_SOURCE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/// `ValidateVolumeAttachment` and `ValidateVolumeAttachmentUpdate`
pub(crate) fn volume_attachment(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    // Before 1.35, the strategy and `ValidateVolumeAttachmentUpdate` both validated the new object of an update.
    let times = if old.is_some() && !errors.release.since(V1_35) { 2 } else { 1 };
    for _ in 0..times {
        attachment(errors, object, old.is_some());
    }
    let spec = object.child("spec");
    let Some(old) = old else {
        if !errors.release.since(V1_36) {
            new_attachment(errors, &spec);
        }
        return;
    };
    let old = FieldValue::new(old.get("spec"), ROOT);
    immutable::declared(errors, &spec, &old, "storage.VolumeAttachmentSpec");
}

/// `ValidateVolumeAttachment`
fn attachment(errors: &mut Errors, object: &FieldValue<'_, '_>, is_update: bool) {
    let spec = object.child("spec");
    let attacher = spec.child("attacher");
    if !errors.release.since(V1_36) {
        errors.require_text(&attacher);
    } else if is_update {
        // The rule that the specification is immutable precedes those that the type declares.
        driver_names::validate(errors, &attacher);
    } else {
        driver_names::declared(errors, &attacher);
    }
    source(errors, &spec.child("source"));
    formats::object_name(errors, &spec.child("nodeName"));
    status(errors, &object.child("status"));
    if errors.release.since(V1_36) {
        volume_name(errors, &spec);
    }
}

/// `ValidateVolumeAttachmentV1`, the rules of new objects before 1.36
fn new_attachment(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let attacher = FieldValue::new(spec.value.get("attacher"), FieldPath::new("spec.attacher"));
    driver_names::validate(errors, &attacher);
    volume_name(errors, spec);
}

fn volume_name(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    let name = spec.value.at(&["source", "persistentVolumeName"]);
    let name = FieldValue::new(name, FieldPath::new("spec.source.persistentVolumeName"));
    if name.is_set() {
        formats::object_name(errors, &name);
    }
}

/// `validateVolumeAttachmentSource`
fn source(errors: &mut Errors, source: &FieldValue<'_, '_>) {
    let (inline, name) = (source.child("inlineVolumeSpec"), source.child("persistentVolumeName"));
    match (inline.is_set(), name.is_set()) {
        (false, false) => errors.required(source, ONE_SOURCE),
        (true, true) => errors.forbidden(source, ONE_SOURCE),
        (false, true) if name.text().is_empty() => {
            errors.required(&name, "must specify non empty persistentVolumeName");
        }
        (true, false) => inline_volume(errors, &inline),
        _ => {}
    }
}

/// `ValidatePersistentVolumeSpec`, for a volume without object
fn inline_volume(errors: &mut Errors, spec: &FieldValue<'_, '_>) {
    for name in ["claimRef", "nodeAffinity"] {
        errors.forbid_if_set(&spec.child(name), NOT_INLINE);
    }
    let (capacity, class) = (spec.child("capacity"), spec.child("storageClassName"));
    if capacity.len() > 0 {
        errors.forbidden(&capacity, NOT_INLINE);
    }
    if !class.text().is_empty() {
        errors.forbidden(&class, NOT_INLINE);
    }
    let modes = spec.child("accessModes");
    if modes.len() == 0 {
        errors.required(&modes, "");
    }
    claims::access_modes(errors, &modes);
    let (policy, mode) = (spec.child("persistentVolumeReclaimPolicy"), spec.child("volumeMode"));
    if !matches!(policy.text(), "" | "Retain") {
        errors.forbidden(&policy, "may only be Retain in the context of inline volumes");
    }
    if !matches!(mode.text(), "" | "Filesystem") {
        errors.forbidden(&mode, "may not specify volumeMode other than Filesystem in the context of inline volumes");
    }
    if !spec.child("csi").is_set() {
        errors.required(&spec.child("csi"), "has to be specified in the context of inline volumes");
    }
    persistent_volumes::source(errors, spec, "");
}

/// `validateVolumeAttachmentStatus`
fn status(errors: &mut Errors, status: &FieldValue<'_, '_>) {
    let metadata = status.child("attachmentMetadata");
    let size: usize = metadata.entries().map(|(key, value)| key.len() + value.text().len()).sum();
    if size > MAX_METADATA {
        errors.too_long(&metadata, MAX_METADATA as i64);
    }
    for error in ["attachError", "detachError"].map(|name| status.child(name)) {
        volume_error(errors, &error);
    }
}

/// `validateVolumeError`
fn volume_error(errors: &mut Errors, error: &FieldValue<'_, '_>) {
    let (message, code) = (error.child("message"), error.child("errorCode"));
    if message.text().len() > MAX_MESSAGE {
        // Before 1.37, the error named the limit of another field.
        let shown = if errors.release.since(V1_37) { MAX_MESSAGE } else { MAX_METADATA };
        errors.too_long(&message, shown as i64);
    }
    if code.is_set() {
        errors.in_range(&code, 0, i32::MAX.into());
    }
}

/// `ValidateCSINode` and `ValidateCSINodeUpdate`
pub(crate) fn csi_node(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let drivers = spec.child("drivers");
    let mut seen = HashSet::new();
    for driver in drivers.items() {
        node_driver(errors, &driver);
        let name = driver.child("name");
        if !seen.insert(name.text()) {
            errors.duplicate(&name);
        }
    }
    let old = FieldValue::new(old.and_then(|old| old.at(&["spec", "drivers"])), ROOT);
    for before in old.items() {
        let name = before.child("name").text();
        for driver in drivers.items().filter(|driver| driver.child("name").text() == name) {
            let is_mutable = |field: &str| field == "allocatable" && errors.release.since(V1_35);
            let without = |driver: &Value| {
                let members = driver.as_object().into_iter().flatten();
                let members = members.filter(|(field, _)| !is_mutable(field));
                Value::Object(members.map(|(field, value)| (field.clone(), value.clone())).collect())
            };
            let (new, before) = (without(driver.value), without(before.value));
            if !immutable::is_equal(&new, &before) {
                driver_is_fixed(errors, &drivers, &new);
            }
        }
    }
}

fn driver_is_fixed(errors: &mut Errors, drivers: &FieldValue<'_, '_>, driver: &Value) {
    let shown = errors.typed(&FieldValue::new(Some(driver), drivers.path), "storage.CSINodeDriver");
    if errors.release.since(V1_33) {
        errors.invalid_value(&drivers.path, shown, immutable::IMMUTABLE);
    } else {
        errors.invalid_value(&FieldPath::new("CSINodeDriver"), shown, immutable::IMMUTABLE);
    }
}

/// `validateCSINodeDriver`
fn node_driver(errors: &mut Errors, driver: &FieldValue<'_, '_>) {
    driver_names::validate(errors, &driver.child("name"));
    let id = driver.child("nodeID");
    errors.require_text(&id);
    if id.text().len() > MAX_NODE_ID {
        errors.invalid(&id, format!("must be {MAX_NODE_ID} characters or less"));
    }
    let allocatable = driver.child("allocatable");
    errors.nonnegative(&allocatable.child("count"));
    let mut seen = HashSet::new();
    for key in driver.child("topologyKeys").texts() {
        if key.is_empty() {
            errors.required(driver, "");
        }
        if !seen.insert(key) {
            errors.list.push(FieldError::duplicate(&driver.path, key));
        }
        errors.messages_at(&driver.path, key, names::qualified_name(key, errors.release));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{created, updated};

    fn attachment(spec: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},"spec":{spec}}}"#)
    }

    fn attach(spec: &str) -> Vec<String> {
        created("storage.k8s.io/v1", "VolumeAttachment", &attachment(spec), "1.37")
    }

    fn node(drivers: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},"spec":{{"drivers":{drivers}}}}}"#)
    }

    #[test]
    fn an_attachment_has_one_source() {
        let rest = r#""attacher":"a.b","nodeName":"n""#;
        assert_eq!(attach(&format!(r#"{{{rest},"source":{{"persistentVolumeName":"v"}}}}"#)), [""; 0]);
        assert_eq!(
            attach(&format!(r#"{{{rest},"source":{{}}}}"#)),
            ["spec.source: Required value: must specify exactly one of inlineVolumeSpec and persistentVolumeName"]
        );
        assert_eq!(
            attach(&format!(r#"{{{rest},"source":{{"persistentVolumeName":"v","inlineVolumeSpec":{{}}}}}}"#)),
            ["spec.source: Forbidden: must specify exactly one of inlineVolumeSpec and persistentVolumeName"]
        );
    }

    #[test]
    fn names_of_drivers_and_nodes_are_validated() {
        let source = r#""source":{"persistentVolumeName":"v"}"#;
        let found = attach(&format!(r#"{{"attacher":"","nodeName":"N",{source}}}"#));
        assert_eq!(found[0], "spec.attacher: Required value");
        assert!(found[1].starts_with(r#"spec.nodeName: Invalid value: "N": a lowercase RFC 1123 subdomain"#));
        let long = "a".repeat(64);
        assert_eq!(
            attach(&format!(r#"{{"attacher":"{long}","nodeName":"n",{source}}}"#)),
            ["spec.attacher: Too long: may not be more than 63 characters"]
        );
    }

    #[test]
    fn the_specification_of_an_attachment_is_immutable() {
        let spec = |node: &str| {
            attachment(&format!(r#"{{"attacher":"a","nodeName":"{node}","source":{{"persistentVolumeName":"v"}}}}"#))
        };
        let update = |release| updated("storage.k8s.io/v1", "VolumeAttachment", &spec("a"), &spec("b"), release);
        assert_eq!(update("1.37"), ["spec: Invalid value: null: field is immutable"]);
        assert!(update("1.36")[0].ends_with(": field is immutable"));
    }

    #[test]
    fn before_1_36_the_format_of_names_was_a_rule_of_new_attachments() {
        let object = |attacher: &str, volume: &str| {
            let source = format!(r#"{{"persistentVolumeName":"{volume}"}}"#);
            attachment(&format!(r#"{{"attacher":"{attacher}","nodeName":"n","source":{source}}}"#))
        };
        let (kind, given, old) = (("storage.k8s.io/v1", "VolumeAttachment"), object("a_b", "V"), object("a", "v"));
        for (release, count) in [("1.31", 2), ("1.35", 2), ("1.36", 2)] {
            assert_eq!(created(kind.0, kind.1, &given, release).len(), count, "{release}");
        }
        for (release, count) in [("1.31", 1), ("1.35", 1), ("1.36", 3)] {
            assert_eq!(updated(kind.0, kind.1, &old, &given, release).len(), count, "{release}");
        }
    }

    #[test]
    fn errors_of_an_attacher_are_those_of_the_release() {
        let (given, old) = (attachment(r#"{"attacher":""}"#), attachment(r#"{"attacher":"a"}"#));
        let of_attacher = |found: Vec<String>| found.into_iter().filter(|e| e.starts_with("spec.attacher")).count();
        for (release, new, changed) in [("1.31", 3, 2), ("1.34", 3, 2), ("1.35", 2, 1), ("1.36", 1, 1)] {
            let found = created("storage.k8s.io/v1", "VolumeAttachment", &given, release);
            assert_eq!(of_attacher(found), new, "{release}");
            let found = updated("storage.k8s.io/v1", "VolumeAttachment", &old, &given, release);
            assert_eq!(of_attacher(found), changed, "{release}");
        }
    }

    #[test]
    fn drivers_of_a_node_are_unique_and_complete() {
        let create = |drivers: &str| created("storage.k8s.io/v1", "CSINode", &node(drivers), "1.37");
        assert_eq!(create(r#"[{"name":"a","nodeID":"1","topologyKeys":["a/b"],"allocatable":{"count":0}}]"#), [""; 0]);
        let found = create(
            r#"[{"name":"a","nodeID":"","topologyKeys":["a","a","-"],"allocatable":{"count":-1}},{"name":"a","nodeID":"1"}]"#,
        );
        assert_eq!(found[0], "spec.drivers[0].nodeID: Required value");
        assert!(found[1].starts_with("spec.drivers[0].allocatable.count: Invalid value: -1: must be greater than"));
        assert_eq!(found[2], r#"spec.drivers[0]: Duplicate value: "a""#);
        assert!(found[3].starts_with(r#"spec.drivers[0]: Invalid value: "-": name part must consist"#));
        assert_eq!(found[4], r#"spec.drivers[1].name: Duplicate value: "a""#);
    }

    #[test]
    fn drivers_of_a_node_are_immutable_except_for_their_limits_since_1_35() {
        let driver = |id: &str, count: i64| {
            node(&format!(r#"[{{"name":"a","nodeID":"{id}","topologyKeys":null,"allocatable":{{"count":{count}}}}}]"#))
        };
        let update = |old: &str, new: &str, release: &str| updated("storage.k8s.io/v1", "CSINode", old, new, release);
        assert_eq!(update(&driver("1", 1), &driver("1", 2), "1.35"), [""; 0]);
        assert_eq!(update(&driver("1", 1), &driver("1", 2), "1.34").len(), 1);
        let found = update(&driver("1", 1), &driver("2", 1), "1.37");
        assert!(found[0].starts_with("spec.drivers: Invalid value: ") && found[0].ends_with(": field is immutable"));
    }
}
