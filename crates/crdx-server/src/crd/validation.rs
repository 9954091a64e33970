//! Validation of CRDs (`apis/apiextensions/validation/validation.go`). The functions take CRDs in the internal form
//! that [`super::strategy`] has prepared.
//!
//! ```text
//! validation: metadata · spec · status · storedVersions · api approval · preserveUnknownFields
//! spec: group, scope, versions, names, columns, subresources, selectable fields · conversion (ca_bundle)
//! schema: structural · defaults · lists · rules
//! options, update_options: relaxations for updates
//! golang: Go structs in error messages · malformed: strings that are not UTF-8 in error messages
//! ```

mod ca_bundle;
mod conversion;
mod defaults;
mod enum_text;
mod golang;
mod lists;
mod malformed;
mod options;
pub mod rules;
mod schema;
mod spec;
pub mod structural;
mod update_options;

use super::approval::{Approval, approval, is_protected};
use super::{API_APPROVED_ANNOTATION, CustomResourceDefinition};
use crate::pipeline::metadata::{self, Metadata, MetadataValidation, NameRule};
pub use conversion::{client_config, has_invalid_ca_bundle};
use crdx_value::field::{BadValue, BoundedErrors, ErrorList, FieldError, FieldPath};
use crdx_value::release::{Release, V1_33};
pub use defaults::coerce_all;
pub use options::{TYPES, schemas};

use options::ValidationOptions;
use std::collections::BTreeSet;

const METADATA: FieldPath<'static> = FieldPath::new("metadata");

/// Validates a new CRD.
pub fn validate_create(crd: &CustomResourceDefinition, release: Release) -> ErrorList {
    let m = Metadata::new(&crd.metadata);
    let mut errors = BoundedErrors::default();
    errors.extend(metadata::validate(
        m,
        false,
        NameRule::Subdomain,
        &METADATA,
        release,
        MetadataValidation::declared(release),
    ));
    for key in ["generateName", "name"] {
        let name = m.text(key);
        if !name.is_empty() && name != format!("{}.{}", crd.spec.names.plural, crd.spec.group) {
            let detail = r#"must be spec.names.plural+"."+spec.group"#;
            errors.push(FieldError::invalid(&METADATA.child(key), name, detail));
        }
    }
    let options = ValidationOptions { malformed: crd.malformed.clone(), ..ValidationOptions::create(release) };
    spec::validate(&crd.spec, &options, &FieldPath::new("spec"), &mut errors);
    rest(crd, None, release, &mut errors);
    let mut errors = errors.finish();
    if errors.is_empty() {
        errors =
            metadata::validate(m, false, NameRule::PathSegment, &METADATA, release, MetadataValidation::Handwritten);
    }
    malformed::show(&crd.malformed, &mut errors, release);
    errors
}

/// Validates an update.
pub fn validate_update(new: &CustomResourceDefinition, old: &CustomResourceDefinition, release: Release) -> ErrorList {
    let options = ValidationOptions::update(new, old, release);
    let mut errors = BoundedErrors::default();
    errors.extend(changed_metadata(new, old, release));
    let path = FieldPath::new("spec");
    spec::validate(&new.spec, &options, &path, &mut errors);
    let names = path.child("names");
    // The scope has a string type of its own in Go.
    if options.immutable_names && new.spec.scope != old.spec.scope {
        let shown = golang::text(&new.spec.scope, release);
        errors.push(FieldError::invalid(&path.child("scope"), shown, "field is immutable"));
    }
    let mut immutable = |path: &FieldPath<'_>, new: &str, old: &str| {
        if new != old {
            errors.push(FieldError::invalid(path, new, "field is immutable"));
        }
    };
    if options.immutable_names {
        immutable(&names.child("kind"), &new.spec.names.kind, &old.spec.names.kind);
    }
    immutable(&path.child("group"), &new.spec.group, &old.spec.group);
    immutable(&names.child("plural"), &new.spec.names.plural, &old.spec.names.plural);
    rest(new, Some(old), release, &mut errors);
    let mut errors = errors.finish();
    malformed::show(&new.malformed, &mut errors, release);
    errors
}

/// The errors that prevent even an unchanged CRD from being updated, because no relaxation for existing CRDs covers
/// them. For CRDs of `apiextensions.k8s.io/v1beta1`, which can only have been stored before that version was removed.
pub fn validate_existing(crd: &CustomResourceDefinition, release: Release) -> ErrorList {
    let mut errors = BoundedErrors::default();
    spec::validate(&crd.spec, &ValidationOptions::update(crd, crd, release), &FieldPath::new("spec"), &mut errors);
    rest(crd, Some(crd), release, &mut errors);
    errors.finish()
}

/// Validates an update of `/status`.
pub fn validate_status_update(
    new: &CustomResourceDefinition,
    old: &CustomResourceDefinition,
    release: Release,
) -> ErrorList {
    let mut errors = BoundedErrors::default();
    errors.extend(changed_metadata(new, old, release));
    status(new, &mut errors);
    let mut errors = errors.finish();
    malformed::show(&new.malformed, &mut errors, release);
    errors
}

/// Validates the metadata of an update twice, because both the generic registry and the strategy of CRDs validate it.
fn changed_metadata(new: &CustomResourceDefinition, old: &CustomResourceDefinition, release: Release) -> ErrorList {
    let (new, old) = (Metadata::new(&new.metadata), Metadata::new(&old.metadata));
    let mut errors =
        metadata::validate(new, false, NameRule::PathSegment, &METADATA, release, MetadataValidation::Handwritten);
    errors.extend(metadata::validate_update(new, old, &METADATA, release));
    errors.extend(metadata::validate_update_declaratively(new, old, &METADATA, release));
    errors
}

fn status(crd: &CustomResourceDefinition, errors: &mut BoundedErrors) {
    spec::names(&crd.status.accepted_names, &FieldPath::new("status").child("acceptedNames"), errors);
}

/// Validates everything after the spec.
fn rest(
    crd: &CustomResourceDefinition,
    old: Option<&CustomResourceDefinition>,
    release: Release,
    errors: &mut BoundedErrors,
) {
    status(crd, errors);
    stored_versions(crd, release, errors);
    api_approval(crd, old, errors);
    if crd.spec.preserves_unknown_fields() && !old.is_some_and(|o| o.spec.preserves_unknown_fields()) {
        let detail =
            "cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead";
        let path = FieldPath::new("spec");
        errors.push(FieldError::invalid(&path.child("preserveUnknownFields"), true, detail));
    }
}

fn stored_versions(crd: &CustomResourceDefinition, release: Release, errors: &mut BoundedErrors) {
    let path = FieldPath::new("status");
    let path = path.child("storedVersions");
    let stored = &crd.status.stored_versions;
    let shown = || BadValue::strings(stored.iter().map(String::as_str), release);
    if stored.is_empty() {
        errors.push(FieldError::invalid(&path, shown(), "must have at least one stored version"));
        return;
    }
    let mut missing: BTreeSet<&str> = stored.iter().map(String::as_str).collect();
    for v in &crd.spec.versions {
        // Names are removed as they are found, so a second storage version with the same name is reported here, too.
        if missing.remove(v.name.as_str()) || !v.storage {
            continue;
        }
        let detail = format!("must have the storage version {}", v.name);
        errors.push(FieldError::invalid(&path, shown(), detail));
    }
    for (i, v) in stored.iter().enumerate() {
        // For a version that occurs more than once, the last index is reported.
        let last = stored.iter().rposition(|s| s == v) == Some(i);
        if last && missing.contains(v.as_str()) {
            let detail = if release.since(V1_33) {
                format!(
                    "missing from spec.versions; {v} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in {v} and removes {v} from status.storedVersions"
                )
            } else {
                "must appear in spec.versions".to_owned()
            };
            errors.push(FieldError::invalid(&path.index(i), v.as_str(), detail));
        }
    }
}

fn api_approval(crd: &CustomResourceDefinition, old: Option<&CustomResourceDefinition>, errors: &mut BoundedErrors) {
    if !is_protected(&crd.spec.group) {
        return;
    }
    let (state, reason) = approval(crd);
    if old.is_some_and(|old| approval(old).0 == state) {
        return;
    }
    let path = FieldPath::new("metadata");
    let path = path.child("annotations");
    let path = path.key(API_APPROVED_ANNOTATION);
    match state {
        Approval::Invalid => {
            let annotation = crd.annotation(API_APPROVED_ANNOTATION).unwrap_or_default();
            errors.push(FieldError::invalid(&path, annotation, reason));
        }
        Approval::Missing => errors.push(FieldError::required(&path, reason)),
        Approval::Approved | Approval::Bypassed => {}
    }
}

#[cfg(test)]
mod tests;
