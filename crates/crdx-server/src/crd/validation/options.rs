//! Options that relax validation.

use crate::crd::Spec;
use crate::schema::Schema;
use crdx_text::malformed::MalformedStrings;
use crdx_value::release::Release;
use std::collections::BTreeSet;

/// The types that a schema may have.
pub const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];
/// The maximum number of selectable fields.
pub(crate) const MAX_SELECTABLE_FIELDS: usize = 8;

/// Options that relax validation for existing CRDs (`validationOptions`).
#[derive(Clone, Debug)]
pub struct ValidationOptions {
    /// The simulated release.
    pub release: Release,
    /// The strings of the new CRD that are not UTF-8.
    pub malformed: MalformedStrings,
    /// True if conversion webhooks must accept a `ConversionReview` version that the server supports.
    pub recognized_review_version: bool,
    /// True if scope and kind are immutable.
    pub immutable_names: bool,
    /// True if every version must have a schema.
    pub schema: bool,
    /// True if types must be OpenAPI types.
    pub valid_types: bool,
    /// True if schemas must be structural.
    pub structural: bool,
    /// True if defaults must not have unknown fields.
    pub pruned_defaults: bool,
    /// True if items of sets must be atomic.
    pub atomic_sets: bool,
    /// True if items of maps and sets must not be nullable, and map keys must be required or have a default.
    pub list_map_keys: bool,
    /// True if the webhook's CA bundle may be invalid.
    pub invalid_ca_bundle: bool,
    /// The expressions of the old CRD.
    pub preexisting: PreexistingExpressions,
    /// The names of versions whose schema did not change.
    pub unchanged_versions: BTreeSet<String>,
    /// The versions that may exceed the maximum number of selectable fields; `""` stands for the spec.
    pub many_selectable_fields: BTreeSet<String>,
}

/// The expressions of the old CRD, which may use features that new expressions may not use yet.
#[derive(Clone, Debug, Default)]
pub struct PreexistingExpressions {
    pub rules: BTreeSet<String>,
    /// `messageExpression`
    pub message_expressions: BTreeSet<String>,
}

impl ValidationOptions {
    /// The options for a new CRD.
    pub fn create(release: Release) -> Self {
        Self {
            release,
            malformed: MalformedStrings::default(),
            recognized_review_version: true,
            immutable_names: false,
            schema: true,
            valid_types: true,
            structural: true,
            pruned_defaults: true,
            atomic_sets: true,
            list_map_keys: true,
            invalid_ca_bundle: true,
            preexisting: PreexistingExpressions::default(),
            unchanged_versions: BTreeSet::new(),
            many_selectable_fields: BTreeSet::new(),
        }
    }
}

/// All schemas of a spec: the shared schema and those of the versions.
pub fn schemas(spec: &Spec) -> impl Iterator<Item = &Schema> {
    let versions = spec.versions.iter().filter_map(|v| v.schema.as_ref());
    spec.validation.iter().chain(versions).filter_map(|v| v.schema.as_deref())
}
