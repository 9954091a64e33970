//! `PersistentVolumeClaim`s, and templates of them in other kinds.

use crate::validation::core::{persistent_volume_claim, resources};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    annotations, difference, formats, immutable, internal,
    selectors::{self, LabelValues},
};
use crate::volume_resize::CLASS_ANNOTATION;
use crdx_value::Value;
use crdx_value::field::{
    FieldError, FieldPath, ROOT,
    names::{self, NameForm},
};
use crdx_value::release::{Gate, V1_31, V1_34};
use std::cmp::Ordering;

/// `ValidatePersistentVolumeClaim` and `ValidatePersistentVolumeClaimUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let normalized = with_both_data_sources(spec.value);
    let spec = FieldValue { value: normalized.as_ref().unwrap_or(spec.value), ..spec };
    let Some(old) = old else {
        return persistent_volume_claim::specification(errors, &spec, persistent_volume_claim::ClaimOptions::default());
    };
    let old_spec = FieldValue::new(old.get("spec"), ROOT);
    let mut found = Errors::new(errors.release);
    selectors::label_selector(&mut found, &old_spec.child("selector"), LabelValues::Validate);
    let has_group = |name| old_spec.value.at(&[name, "apiGroup"]).is_some_and(|group| !group.is_null());
    let options = persistent_volume_claim::ClaimOptions {
        allows_invalid_selector: !found.list.is_empty(),
        allows_invalid_group: has_group("dataSource") || has_group("dataSourceRef"),
    };
    persistent_volume_claim::specification(errors, &spec, options);
    claim_update(errors, object, old, &spec, &old_spec);
}

/// `NormalizeDataSources`: the specification with the other one of `dataSource` and `dataSourceRef`.
fn with_both_data_sources(spec: &Value) -> Option<Value> {
    let given = |name: &str| spec.get(name).filter(|source| !source.is_null());
    let (from, to) = match (given("dataSource"), given("dataSourceRef")) {
        (Some(source), None) => (source, "dataSourceRef"),
        (None, Some(source)) if source.str_at(&["namespace"]).unwrap_or_default().is_empty() => (source, "dataSource"),
        _ => return None,
    };
    let mut source = from.as_object()?.clone();
    source.remove("namespace");
    let mut members = spec.as_object()?.clone();
    members.insert(to.to_owned(), Value::Object(source));
    Some(Value::Object(members))
}

fn claim_update(
    errors: &mut Errors,
    object: &FieldValue<'_, '_>,
    old: &Value,
    spec: &FieldValue<'_, '_>,
    old_spec: &FieldValue<'_, '_>,
) {
    let is_bound = object.value.str_at(&["status", "phase"]) == Some("Bound");
    let (mut merged, mut existing) = (spec.value.clone(), old_spec.value.clone());
    if old_spec.child("volumeName").text().is_empty() {
        // The name of the volume may be set once.
        immutable::copy(spec.value, &mut existing, &["volumeName"]);
    }
    let mut keep = |path: &[&str]| immutable::copy(old_spec.value, &mut merged, path);
    if is_bound {
        let resources = spec.child("resources");
        let requests = resources.child("requests");
        if requests.is_set() || requests.is_given_empty() {
            keep(&["resources", "requests", "storage"]);
        }
        keep(&["volumeAttributesClassName"]);
    }
    keep_class(errors, object, old, &mut merged, old_spec);
    if !internal::is_equal("core.PersistentVolumeClaimSpec", &merged, &existing, errors.release) {
        let attributes = if errors.release.since(V1_31) { " and volumeAttributesClassName" } else { "" };
        let merged = FieldValue::with_empties(Some(&merged), ROOT, spec.empties);
        let difference = difference::of(
            "core.PersistentVolumeClaimSpec",
            &FieldValue::new(Some(&existing), ROOT),
            &merged,
            errors.release,
        );
        let detail = format!(
            "spec is immutable after creation except resources.requests{attributes} for bound claims\n{difference}"
        );
        errors.forbidden(spec, &detail);
    }
    size(errors, spec, old, old_spec);
    let mode = FieldValue { path: FieldPath::new("volumeMode"), ..spec.child("volumeMode") };
    immutable::typed(errors, &mode, &old_spec.child("volumeMode"), "*string");
}

/// A claim without class may get one, that of its annotation if it has one (`validateStorageClassUpgradeFromAnnotation`,
/// `validateStorageClassUpgradeFromNil`). Otherwise the annotation is immutable.
fn keep_class(
    errors: &mut Errors,
    object: &FieldValue<'_, '_>,
    old: &Value,
    merged: &mut Value,
    old_spec: &FieldValue<'_, '_>,
) {
    let annotation = |object: &Value| object.str_at(&["metadata", "annotations", CLASS_ANNOTATION]).map(str::to_owned);
    let (new_class, old_class) = (annotation(object.value), annotation(old));
    let class = merged.str_at(&["storageClassName"]).map(str::to_owned);
    let had_none = !old_spec.child("storageClassName").is_set();
    let is_that_of_annotation = had_none && old_class.is_some() && class == old_class;
    if !(is_that_of_annotation && (new_class.is_none() || new_class == old_class))
        && new_class.as_deref().unwrap_or_default() != old_class.as_deref().unwrap_or_default()
    {
        let metadata = FieldPath::new("metadata");
        let annotations = metadata.child("annotations");
        let shown = new_class.unwrap_or_default();
        errors.invalid_value(&annotations.child(CLASS_ANNOTATION), shown, immutable::IMMUTABLE);
    }
    if is_that_of_annotation || (had_none && old_class.is_none() && class.is_some()) {
        immutable::copy(old_spec.value, merged, &["storageClassName"]);
    }
}

fn size(errors: &mut Errors, spec: &FieldValue<'_, '_>, old: &Value, old_spec: &FieldValue<'_, '_>) {
    let path = ["resources", "requests", "storage"];
    let field = |value: Option<&Value>| FieldValue::new(value, ROOT).quantity(errors.release);
    let zero = || crdx_cel::value::Quantity::from_int(0);
    let (new, before) = (field(spec.value.at(&path)), field(old_spec.value.at(&path)));
    let (new, before) = (new.unwrap_or_else(zero), before.unwrap_or_else(zero));
    if new.compare(&before) != Ordering::Less {
        return;
    }
    let capacity = field(old.at(&["status", "capacity", "storage"])).unwrap_or_else(zero);
    let recovers = errors.release.enables(Gate::RecoverVolumeExpansionFailure);
    let detail = if !recovers {
        "field can not be less than previous value"
    } else if new.compare(&capacity) != Ordering::Greater {
        "field can not be less than status.capacity"
    } else {
        return;
    };
    let requests = spec.path.child("resources");
    let requests = requests.child("requests");
    errors.list.push(FieldError::forbidden(&requests.child("storage"), detail));
}

/// `supportedAccessModes`
pub(crate) const ACCESS_MODES: &[&str] = &["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];
/// `supportedVolumeModes`
pub(crate) const VOLUME_MODES: &[&str] = &["Block", "Filesystem"];

/// The parts that the existing claim of an update already contains.
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
    selectors::label_selector(
        errors,
        &spec.child("selector"),
        LabelValues::allow_invalid_if(options.allows_invalid_selector),
    );
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
    if !attributes.text().is_empty() && errors.release.enables(Gate::VolumeAttributesClass) {
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
        errors.messages(&namespace, names::name_is_label(namespace.text(), NameForm::Whole));
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

#[cfg(test)]
mod tests {
    use crate::validation::tests::updated;

    fn claim(spec: &str) -> String {
        format!(
            r#"{{"spec":{{"accessModes":["ReadWriteOnce"],"resources":{{"requests":{{"storage":"1Gi"}}}}{spec}}}}}"#
        )
    }

    #[test]
    fn both_data_sources_are_set_by_either_of_them() {
        let source = |name: &str| claim(&format!(r#","{name}":{{"kind":"PersistentVolumeClaim","name":"a"}}"#));
        let update = |new: &str| updated("v1", "PersistentVolumeClaim", &claim(""), new, "1.37");
        let (old_way, new_way) = (update(&source("dataSource")), update(&source("dataSourceRef")));
        assert_eq!(old_way, new_way);
        assert!(old_way[0].contains("+ \"DataSourceRef\": {\n+  \"APIGroup\": null,"), "{old_way:?}");
    }

    #[test]
    fn the_name_of_the_volume_is_not_part_of_the_difference() {
        let update = |new: &str| updated("v1", "PersistentVolumeClaim", &claim(""), new, "1.37");
        assert_eq!(update(&claim(r#","volumeName":"v""#)), Vec::<String>::new());
        let errors =
            update(&claim(r#","volumeName":"v","storageClassName":"s""#).replace("ReadWriteOnce", "ReadOnlyMany"));
        assert!(errors[0].contains("\n-  \"ReadWriteOnce\"\n+  \"ReadOnlyMany\"\n"), "{errors:?}");
        assert!(!errors[0].contains("VolumeName\": \"\""), "{errors:?}");
    }

    #[test]
    fn the_annotation_with_the_class_is_immutable() {
        let annotated = |class: &str, spec: &str| {
            let metadata =
                format!(r#"{{"metadata":{{"annotations":{{"volume.beta.kubernetes.io/storage-class":"{class}"}}}},"#);
            claim(spec).replacen('{', &metadata, 1)
        };
        let update = |new: &str| updated("v1", "PersistentVolumeClaim", &annotated("a", ""), new, "1.37");
        let text = |value: &str| {
            format!(
                "metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: \"{value}\": field is immutable"
            )
        };
        assert_eq!(update(&annotated("b", "")), [text("b")]);
        assert_eq!(update(&claim("")), [text("")]);
        // The field may replace the annotation.
        assert_eq!(update(&claim(r#","storageClassName":"a""#)), Vec::<String>::new());
        assert_eq!(update(&annotated("a", r#","storageClassName":"a""#)), Vec::<String>::new());
    }
}
