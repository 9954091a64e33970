//! What the server does with one custom resource, as a list of stages in the server's order:
//!
//! 1. [`decode`]: type meta and metadata are set aside, unknown fields pruned, nulls dropped, embedded metadata coerced
//! 2. [`default`]
//! 3. [`prepare_create`], [`prepare_update`], [`prepare_status_update`]: status and generation
//! 4. [`validate_create`], [`validate_update`], [`validate_status_update`]: metadata, schema (with ratcheting), scale
//!    paths, embedded metadata, list types, rules
//!
//! Each stage is pure; what is known of the CRD's version is compiled once into a [`ResourceVersion`]. Verdicts are data.
//!
//! Recursion goes along the value and its schema, which readers keep below 10,000 levels: callers bring a large stack.

use crate::field::ErrorList;
use crate::schema::Schema;
use crate::value::Value;
use std::sync::Arc;

/// What the stages need to know of one version of a CRD. Built once by [`ResourceVersion::compile`], shared by `Arc`.
#[derive(Debug)]
pub struct ResourceVersion {
    /// What it was compiled from.
    pub facts: Facts,
}

/// The parts of a CRD that concern objects of one version.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// `spec.group`
    pub group: String,
    /// The version's name.
    pub version: String,
    /// `spec.names.kind`
    pub kind: String,
    /// `spec.names.plural`
    pub resource: String,
    /// Whether `spec.scope` is `Namespaced`.
    pub namespaced: bool,
    /// `spec.preserveUnknownFields`, which only CRDs written as v1beta1 can have: nothing is pruned.
    pub preserve_unknown_fields: bool,
    /// Whether the status subresource is enabled.
    pub status_subresource: bool,
    /// The scale subresource's paths.
    pub scale: Option<ScalePaths>,
    /// `schema.openAPIV3Schema`
    pub schema: Option<Arc<Schema>>,
}

/// `subresources.scale`
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ScalePaths {
    /// `specReplicasPath`
    pub spec_replicas: String,
    /// `statusReplicasPath`
    pub status_replicas: String,
    /// `labelSelectorPath`
    pub label_selector: Option<String>,
}

/// Where the object that is decoded comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A request: malformed metadata is an error.
    Request,
    /// The storage: malformed metadata fields are dropped, generation 0 becomes 1.
    Storage,
    /// A conversion between versions: malformed metadata is an error, unknown fields are not of interest.
    Conversion,
}

/// A decoded object.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The object.
    pub object: Value,
    /// Paths of dropped fields, in the order of the server's `unknown field "…"`.
    pub unknown: Vec<String>,
}

/// Why an object could not be decoded: Go's error text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError(pub String);

/// A field that defaulting set.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaulted {
    /// Its path (`spec.ports[0].protocol`).
    pub path: String,
    /// The default.
    pub value: Value,
}

/// What validation found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The errors; none means accepted.
    pub errors: ErrorList,
    /// Warnings of ratcheted rules, given with a refusal too, in the server's order.
    pub warnings: Vec<String>,
    /// Warnings about finalizers, given only when the object is accepted.
    pub warnings_if_accepted: Vec<String>,
    /// `x-kubernetes-validations` that were not evaluated here though the server would evaluate them.
    pub rules_not_evaluated: usize,
}

impl ResourceVersion {
    /// Compiles a version.
    pub fn compile(facts: Facts) -> Self {
        Self { facts }
    }
}

/// Reads an object. The schema applies when the object's group, kind and version are those of `rv`; of another version
/// of the same group and kind everything is pruned, as the server does when it does not know the version.
pub fn decode(_rv: &ResourceVersion, object: Value, _source: Source) -> Result<Decoded, DecodeError> {
    Ok(Decoded { object, unknown: Vec::new() })
}

/// Sets defaults and tells which. Nothing is set when the object's kind is not that of `rv`.
pub fn default(_rv: &ResourceVersion, _object: &mut Value) -> Vec<Defaulted> {
    Vec::new()
}

/// `PrepareForCreate`: drops the status if it has its own subresource; the generation is 1.
pub fn prepare_create(_rv: &ResourceVersion, _object: &mut Value) {}

/// `PrepareForUpdate`: the status stays the old one if it has its own subresource; the generation (the caller has set it
/// to the old one, as `rest.BeforeUpdate` does) rises when anything but metadata changes.
pub fn prepare_update(_rv: &ResourceVersion, _object: &mut Value, _old: &Value) {}

/// `PrepareForUpdate` of `/status`: the old object with the status and managedFields of the new one.
pub fn prepare_status_update(_rv: &ResourceVersion, _object: &mut Value, _old: &Value) {}

/// `Validate`, then the generic metadata validation if there was no error.
pub fn validate_create(_rv: &ResourceVersion, _object: &Value) -> Verdict {
    Verdict::default()
}

/// The generic metadata validation, then `ValidateUpdate`.
pub fn validate_update(_rv: &ResourceVersion, _object: &Value, _old: &Value) -> Verdict {
    Verdict::default()
}

/// The generic metadata validation, then `ValidateUpdate` of `/status`.
pub fn validate_status_update(_rv: &ResourceVersion, _object: &Value, _old: &Value) -> Verdict {
    Verdict::default()
}
