//! Preparation of a CRD before validation (`registry/customresourcedefinition/strategy.go`): status, generation,
//! stored versions, and the warnings of an accepted one.

use super::validation::{coerce_all, schemas};
use super::{CustomResourceDefinition, Spec, Status};
use crate::schema::{Schema, format};
use crate::value::{Value, quote};
use crate::version::Version;
use std::collections::BTreeSet;

/// A new CRD: nothing of its status is taken.
pub fn prepare_create(crd: &mut CustomResourceDefinition) {
    crd.status = Status::default();
    crd.metadata.insert("generation".to_owned(), Value::Int(1));
    store_version(crd);
    coerce_defaults(&mut crd.spec);
}

/// An update: the status stays; the generation (the caller has set it to the old one) rises when the spec changes.
pub fn prepare_update(crd: &mut CustomResourceDefinition, old: &CustomResourceDefinition) {
    crd.status.clone_from(&old.status);
    if crd.spec != old.spec {
        crd.metadata.insert("generation".to_owned(), Value::Int(old.generation() + 1));
    }
    store_version(crd);
    coerce_defaults(&mut crd.spec);
}

/// An update of `/status`: the spec stays. Metadata is taken from the request, although it is not meant to be.
pub fn prepare_status_update(crd: &mut CustomResourceDefinition, old: &CustomResourceDefinition) {
    crd.spec.clone_from(&old.spec);
}

/// Drops unknown fields from the metadata of embedded resources in defaults.
fn coerce_defaults(spec: &mut Spec) {
    let versions = spec.versions.iter_mut().filter_map(|v| v.schema.as_mut());
    for schema in spec.validation.iter_mut().chain(versions).filter_map(|v| v.schema.as_mut()) {
        coerce_all(schema);
    }
}

fn store_version(crd: &mut CustomResourceDefinition) {
    if let Some(version) = crd.storage_version().map(str::to_owned)
        && !crd.status.stored_versions.contains(&version)
    {
        crd.status.stored_versions.push(version);
    }
}

/// The warnings of a CRD that was accepted; on an update only what is new.
pub fn warnings(
    crd: &CustomResourceDefinition,
    old: Option<&CustomResourceDefinition>,
    version: Version,
) -> Vec<String> {
    let known = version.compatibility();
    let had = old.map(|old| (unknown_formats(&old.spec, known), compound_sets(&old.spec))).unwrap_or_default();
    let formats = unknown_formats(&crd.spec, known);
    let formats = formats.difference(&had.0).map(|f| format!("unrecognized format {}", quote::go_quote(f)));
    let sets = compound_sets(&crd.spec);
    let sets = sets.difference(&had.1).map(|t| {
        format!("x-kubernetes-list-type: set for items of type \"{t}\" is not supported by server-side apply or CEL validation rules")
    });
    formats.chain(sets).collect()
}

fn unknown_formats(spec: &Spec, at: Version) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for schema in schemas(spec) {
        schema.any(&mut |s| {
            if !s.format.is_empty() && !is_known(s, at) {
                found.insert(s.format.clone());
            }
            false
        });
    }
    found
}

fn is_known(s: &Schema, at: Version) -> bool {
    match s.type_.as_str() {
        "" | "string" => format::known(&s.format, at),
        "integer" => matches!(s.format.as_str(), "int32" | "int64"),
        "number" => matches!(s.format.as_str(), "float" | "double"),
        _ => false,
    }
}

/// The types of items, objects and arrays only, that sets have.
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
