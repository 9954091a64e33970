//! The strictness of validation.

use crate::crd::Spec;
use crate::release::Release;
use crate::schema::Schema;
use std::collections::BTreeSet;

/// The types a schema may name.
pub const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// More selectable fields than this are refused.
pub const MAX_SELECTABLE_FIELDS: usize = 8;

/// The strictness of validation (`validationOptions`).
#[derive(Clone, Debug)]
pub struct Options {
    /// The server's release.
    pub release: Release,
    /// Conversion webhooks must take a `ConversionReview` version that the server knows.
    pub recognized_review_version: bool,
    /// Scope and kind may not change.
    pub immutable_names: bool,
    /// Every version needs a schema.
    pub schema: bool,
    /// Types must be those of OpenAPI.
    pub valid_types: bool,
    /// Schemas must be structural.
    pub structural: bool,
    /// Defaults must not have unknown fields.
    pub pruned_defaults: bool,
    /// Items of sets must be atomic.
    pub atomic_sets: bool,
    /// Items of maps and sets must not be nullable, and their keys required or defaulted.
    pub list_map_keys: bool,
    /// The webhook's CA bundle may be unreadable.
    pub invalid_ca_bundle: bool,
    /// The rules and message expressions of the old CRD.
    pub preexisting: Preexisting,
    /// The versions whose schema did not change.
    pub unchanged_versions: BTreeSet<String>,
    /// The versions (`""` for all) that may keep too many selectable fields.
    pub many_selectable_fields: BTreeSet<String>,
}

/// The expressions of the old CRD: they may use what is not yet allowed in new ones.
#[derive(Clone, Debug, Default)]
pub struct Preexisting {
    /// `rule`
    pub rules: BTreeSet<String>,
    /// `messageExpression`
    pub message_expressions: BTreeSet<String>,
}

impl Options {
    /// For a new CRD.
    pub fn create(release: Release) -> Self {
        Self {
            release,
            recognized_review_version: true,
            immutable_names: false,
            schema: true,
            valid_types: true,
            structural: true,
            pruned_defaults: true,
            atomic_sets: true,
            list_map_keys: true,
            invalid_ca_bundle: true,
            preexisting: Preexisting::default(),
            unchanged_versions: BTreeSet::new(),
            many_selectable_fields: BTreeSet::new(),
        }
    }
}

/// Every schema of a spec, shared or of a version.
pub fn schemas(spec: &Spec) -> impl Iterator<Item = &Schema> {
    let versions = spec.versions.iter().filter_map(|v| v.schema.as_ref());
    spec.validation.iter().chain(versions).filter_map(|v| v.schema.as_deref())
}
