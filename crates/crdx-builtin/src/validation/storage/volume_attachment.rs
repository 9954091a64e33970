//! `VolumeAttachment`s.

use crate::validation::core::{persistent_volume, persistent_volume_claim};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{driver_names, formats, immutable};
use crdx_value::Value;
use crdx_value::field::{FieldPath, ROOT};
use crdx_value::release::{V1_35, V1_36, V1_37};

const MAX_METADATA: usize = 256 << 10;
const MAX_MESSAGE: usize = 1024;
const NOT_INLINE: &str = "may not be specified in the context of inline volumes";
const ONE_SOURCE: &str = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";

/// `ValidateVolumeAttachment` and `ValidateVolumeAttachmentUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
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
    persistent_volume_claim::access_modes(errors, &modes);
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
    persistent_volume::source(errors, spec, "");
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

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn attachment(spec: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},"spec":{spec}}}"#)
    }

    fn attach(spec: &str) -> Vec<String> {
        created("storage.k8s.io/v1", "VolumeAttachment", &attachment(spec), "1.37")
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
}
