//! Specifications of `PersistentVolumeClaim`s (`ValidatePersistentVolumeClaimSpec`).

use super::field_value::{Errors, FieldValue};
use super::{annotations, formats, resources, selectors};
use crdx_value::field::{FieldError, names};
use crdx_value::release::V1_34;

/// `supportedAccessModes`
pub(crate) const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// `supportedVolumeModes`
pub(crate) const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];

/// What the existing claim of an update already contains.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClaimOptions {
    /// `AllowInvalidLabelValueInSelector`
    pub allows_invalid_selector: bool,
    /// `AllowInvalidAPIGroupInDataSourceOrRef`
    pub allows_invalid_group: bool,
}

/// `ValidatePersistentVolumeClaimTemplate`
pub fn template(errors: &mut Errors, template: &FieldValue<'_, '_>) {
    // The server reports fields of the metadata that are not allowed at `metadata`.
    annotations::template_metadata(errors, &template.child("metadata"));
    specification(errors, &template.child("spec"), ClaimOptions::default());
}

/// Validates a specification.
pub fn specification(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: ClaimOptions) {
    let modes = spec.child("accessModes");
    if modes.len() == 0 {
        errors.required(&modes, "at least 1 access mode is required");
    }
    selectors::label_selector(errors, &spec.child("selector"), options.allows_invalid_selector);
    access_modes(errors, &modes);
    let requirements = spec.child("resources");
    let storage = requirements.child("requests").value.get("storage");
    let storage = FieldValue::new(storage, requirements.path.key("storage"));
    if storage.is_set() {
        let before = errors.list.len();
        resources::positive_quantity(errors, &storage);
        if errors.list.len() == before {
            resources::quantity_of(errors, &storage, "storage");
        }
    } else {
        errors.required(&storage, "");
    }
    let class = spec.child("storageClassName");
    if !class.text().is_empty() {
        formats::object_name(errors, &class);
    }
    let mode = spec.child("volumeMode");
    if mode.is_set() {
        errors.supported(&mode, VOLUME_MODES);
    }
    data_sources(errors, spec, options);
    let attributes = spec.child("volumeAttributesClassName");
    if !attributes.text().is_empty() && errors.release.since(V1_34) {
        formats::object_name(errors, &attributes);
    }
}

/// The access modes of a claim or volume. The server reports these errors at the list.
pub fn access_modes(errors: &mut Errors, modes: &FieldValue<'_, '_>) {
    for mode in modes.texts().filter(|mode| !ACCESS_MODES.contains(mode)) {
        errors.list.push(FieldError::not_supported(&modes.path, mode, ACCESS_MODES));
    }
    let is_single = |mode: &str| mode == "ReadWriteOncePod";
    let others = modes.texts().any(|mode| !is_single(mode) && ACCESS_MODES.contains(&mode));
    if modes.texts().any(is_single) && others {
        errors.forbidden(modes, "may not use ReadWriteOncePod with other access modes");
    }
}

fn data_sources(errors: &mut Errors, spec: &FieldValue<'_, '_>, options: ClaimOptions) {
    let (source, reference) = (spec.child("dataSource"), spec.child("dataSourceRef"));
    for source in [&source, &reference] {
        if source.is_set() {
            data_source(errors, source, options);
        }
    }
    let namespace = reference.child("namespace");
    let conflict = |errors: &mut Errors, detail: &str| {
        let shown = source.path.to_string();
        // The server shows the path as a struct without public fields.
        let bad = crdx_value::field::BadValue::Raw(if errors.release.since(V1_34) { "{}".to_owned() } else { shown });
        errors.invalid_value(&spec.path, bad, detail);
    };
    if !namespace.text().is_empty() {
        errors.messages(&namespace, names::name_is_label(namespace.text(), false));
        if source.is_set() {
            conflict(errors, "may not be specified when dataSourceRef.namespace is specified");
        }
    } else if source.is_set() && reference.is_set() {
        let differs =
            ["apiGroup", "kind", "name"].iter().any(|name| source.value.get(name) != reference.value.get(name));
        if differs {
            conflict(errors, "must match dataSourceRef");
        }
    }
}

/// `validateDataSource`
fn data_source(errors: &mut Errors, source: &FieldValue<'_, '_>, options: ClaimOptions) {
    let (kind, group) = (source.child("kind"), source.child("apiGroup"));
    errors.require_text(&source.child("name"));
    errors.require_text(&kind);
    if group.text().is_empty() {
        if kind.text() != "PersistentVolumeClaim" {
            let detail = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            errors.invalid_value(&source.path, kind.text(), detail);
        }
    } else if !options.allows_invalid_group {
        formats::subdomain(errors, &group);
    }
}
