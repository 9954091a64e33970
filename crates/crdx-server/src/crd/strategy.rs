//! Prepares a CRD for validation (`registry/customresourcedefinition/strategy.go`): status, generation and stored
//! versions. Also computes the warnings for an accepted CRD.

use super::validation::{coerce_all, schemas};
use super::{CustomResourceDefinition, Spec, Status, default};
use crate::schema::{Schema, format};
use crdx_value::Value;
use crdx_value::release::{Gate, Release, V1_34, V1_36, V1_37};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Prepares a new CRD: its status is reset.
pub fn prepare_create(crd: &mut CustomResourceDefinition, release: Release) {
    drop_disabled_fields(crd, None, release);
    crd.status = Status::default();
    crd.metadata.insert("generation".to_owned(), Value::Int(1));
    store_version(crd);
    coerce_defaults(&mut crd.spec, release);
}

/// Prepares an update: the status is kept, and the generation, which the caller has set to the old one, is incremented
/// if the spec changes.
pub fn prepare_update(crd: &mut CustomResourceDefinition, old: &CustomResourceDefinition, release: Release) {
    crd.status.clone_from(&old.status);
    if crd.spec != old.spec {
        crd.metadata.insert("generation".to_owned(), Value::Int(old.generation() + 1));
    }
    store_version(crd);
    // Disabled fields count as a change of the spec.
    drop_disabled_fields(crd, Some(old), release);
    coerce_defaults(&mut crd.spec, release);
}

/// Prepares an update of `/status`: the spec is kept. Metadata is taken from the request, although the server's code
/// intends to keep it.
pub fn prepare_status_update(crd: &mut CustomResourceDefinition, old: &CustomResourceDefinition) {
    crd.spec.clone_from(&old.spec);
    // The server reads the CRD after writing it, which sets the defaults of the restored spec.
    default::v1(crd);
}

/// Drops unknown fields in the metadata of embedded resources in defaults.
fn coerce_defaults(spec: &mut Spec, release: Release) {
    let versions = spec.versions.iter_mut().filter_map(|v| v.schema.as_mut());
    for schema in spec.validation.iter_mut().chain(versions).filter_map(|v| v.schema.as_mut()) {
        coerce_all(schema, release);
    }
}

/// Clears the fields whose feature gate is disabled, unless the old CRD uses them.
fn drop_disabled_fields(crd: &mut CustomResourceDefinition, old: Option<&CustomResourceDefinition>, release: Release) {
    let uses = |found: fn(&Spec) -> bool| old.is_some_and(|old| found(&old.spec));
    if !release.enables(Gate::CRDValidationRatcheting) && !uses(has_optional_old_self) {
        let spec = &mut crd.spec;
        let versions = spec.versions.iter_mut().filter_map(|v| v.schema.as_mut());
        for schema in spec.validation.iter_mut().chain(versions).filter_map(|v| v.schema.as_mut()) {
            Arc::make_mut(schema).for_each_mut(&mut |s| {
                s.x_validations.iter_mut().for_each(|rule| rule.optional_old_self = None);
            });
        }
    }
    if !release.enables(Gate::CustomResourceFieldSelectors) && !uses(has_selectable_fields) {
        crd.spec.selectable_fields.clear();
        crd.spec.versions.iter_mut().for_each(|v| v.selectable_fields.clear());
    }
}

fn has_optional_old_self(spec: &Spec) -> bool {
    let sets = |s: &Schema| s.x_validations.iter().any(|rule| rule.optional_old_self.is_some());
    schemas(spec).any(|schema| schema.any(&mut |s| sets(s)))
}

fn has_selectable_fields(spec: &Spec) -> bool {
    !spec.selectable_fields.is_empty() || spec.versions.iter().any(|v| !v.selectable_fields.is_empty())
}

fn store_version(crd: &mut CustomResourceDefinition) {
    if let Some(version) = crd.storage_version().map(str::to_owned)
        && !crd.status.stored_versions.contains(&version)
    {
        crd.status.stored_versions.push(version);
    }
}

/// The warnings for an accepted CRD; for an update, only new warnings. Warnings about formats exist since 1.34, those
/// about sets since 1.37.
pub fn warnings(
    crd: &CustomResourceDefinition,
    old: Option<&CustomResourceDefinition>,
    release: Release,
) -> Vec<String> {
    if !release.since(V1_34) {
        return Vec::new();
    }
    let old_values = old.map(|old| (unknown_formats(&old.spec, release), compound_sets(&old.spec))).unwrap_or_default();
    let formats = unknown_formats(&crd.spec, release);
    let formats = formats.difference(&old_values.0).map(|f| format!("unrecognized format {}", crd.malformed.quote(f)));
    let sets = if release.since(V1_37) { compound_sets(&crd.spec) } else { BTreeSet::new() };
    let sets = sets.difference(&old_values.1).map(|t| {
        format!("x-kubernetes-list-type: set for items of type \"{t}\" is not supported by server-side apply or CEL validation rules")
    });
    formats.chain(sets).collect()
}

fn unknown_formats(spec: &Spec, release: Release) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for schema in schemas(spec) {
        schema.any(&mut |s| {
            if !s.format.is_empty() && !is_known(s, release) {
                found.insert(s.format.clone());
            }
            false
        });
    }
    found
}

/// Returns true if the format is enforced for the type. Before 1.36 only formats of strings were checked.
fn is_known(s: &Schema, release: Release) -> bool {
    match s.type_.as_str() {
        "string" => format::known(&s.format, release.compatibility()),
        _ if !release.since(V1_36) => true,
        "" => format::known(&s.format, release.compatibility()),
        "integer" => matches!(s.format.as_str(), "int32" | "int64"),
        "number" => matches!(s.format.as_str(), "float" | "double"),
        _ => false,
    }
}

/// The item types `object` and `array` that occur in list-type sets.
fn compound_sets(spec: &Spec) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for schema in schemas(spec) {
        schema.any(&mut |s| {
            if s.x_list_type.as_deref() == Some("set")
                && let Some(items) = s.items_schema().filter(|i| matches!(i.type_.as_str(), "object" | "array"))
            {
                found.insert(items.type_.clone());
            }
            false
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crd;
    use crdx_text::json;

    /// Recorded from a 1.37 server: the stored `spec` after a create.
    #[test]
    fn unknown_metadata_of_an_embedded_default_is_dropped() {
        let crd = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "hosts.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "hosts", "kind": "Host"},
              "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema":
                {"type": "object", "properties": {"guest": {"type": "object",
                  "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
                  "default": {"apiVersion": "v1", "kind": "Guest", "metadata": {"name": "a", "unknown": 1}, "extra": 2}
                }}}}}]}}"#;
        let mut crd = crd::decode(&json::read(crd.as_bytes()).unwrap()).unwrap().crd;
        prepare_create(&mut crd, Release::NEWEST);
        let schema = crd.spec.validation.as_ref().unwrap().schema.as_ref().unwrap();
        let default = schema.properties["guest"].default.as_ref().unwrap();
        let stored = r#"{"apiVersion": "v1", "kind": "Guest", "metadata": {"name": "a"}, "extra": 2}"#;
        assert_eq!(*default, json::read(stored.as_bytes()).unwrap());
    }

    /// Found by `differential_surface` on 1.30: `dropDisabledFields` runs after the specs are compared.
    #[test]
    fn a_disabled_field_counts_as_a_change() {
        let crd = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "hosts.example.com"},
            "spec": {"group": "example.com", "scope": "Namespaced", "names": {"plural": "hosts", "kind": "Host"},
              "versions": [{"name": "v1", "served": true, "storage": true, "selectableFields": [{"jsonPath": ".spec.a"}],
                "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;
        let new = crd::decode(&json::read(crd.as_bytes()).unwrap()).unwrap().crd;
        for (release, generation) in [("1.30", 2), ("1.31", 1)] {
            let release: Release = release.parse().unwrap();
            let mut old = new.clone();
            prepare_create(&mut old, release);
            let mut updated = new.clone();
            updated.metadata.insert("generation".to_owned(), Value::Int(1));
            prepare_update(&mut updated, &old, release);
            assert_eq!((updated.generation(), &updated.spec), (generation, &old.spec));
        }
    }
}
