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

pub mod coerce;
pub mod compiled;
mod decode;
pub mod default;
pub mod embedded;
mod finalizers;
pub mod list_types;
pub mod metadata;
mod nulls;
pub mod object_meta;
mod prepare;
pub mod prune;
mod rules;
mod scale;
pub mod unknown;
pub mod validate;

pub use decode::{decode, parse_group_version};
pub use prepare::{prepare_create, prepare_status_update, prepare_update};

use crate::field::{ErrorList, FieldError, FieldPath, ROOT};
use crate::schema::Schema;
use crate::schema::correlate::Correlation;
use crate::value::Value;
use compiled::{Dialect, Node};
use metadata::{Metadata, NameRule};
use std::sync::Arc;

/// What the stages need to know of one version of a CRD. Built once by [`ResourceVersion::compile`], shared by `Arc`.
#[derive(Debug)]
pub struct ResourceVersion {
    /// What it was compiled from.
    pub facts: Facts,
    /// The compiled schema.
    root: Option<Node>,
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
        let root = facts.schema.as_deref().map(|s| Node::compile(s, Dialect::Objects));
        Self { facts, root }
    }
    fn matches_kind(&self, object: &Value) -> bool {
        let (group, _) =
            decode::parse_group_version(object.str_at(&["apiVersion"]).unwrap_or_default()).unwrap_or_default();
        group == self.facts.group && object.str_at(&["kind"]) == Some(&self.facts.kind)
    }
    /// The compiled schema of objects whose apiVersion is `object`'s.
    fn root_of(&self, object: &Value) -> Option<&Node> {
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        let (_, version) = decode::parse_group_version(api_version).unwrap_or_default();
        self.root.as_ref().filter(|_| version == self.facts.version)
    }
}

/// Sets defaults and tells which. Nothing is set when the object's group, kind or version is not that of `rv`.
pub fn default(rv: &ResourceVersion, object: &mut Value) -> Vec<Defaulted> {
    let mut told = Vec::new();
    if rv.matches_kind(object)
        && let Some(root) = rv.root_of(object)
    {
        default::set_defaults(object, root, Some(&mut told));
    }
    told
}

/// `strategy.Validate`, then the generic metadata validation if there was no error.
pub fn validate_create(rv: &ResourceVersion, object: &Value) -> Verdict {
    let mut errors = type_meta(rv, object);
    if errors.is_empty() {
        errors.extend(match metadata::read(object) {
            Ok(m) => metadata::validate(m, rv.facts.namespaced, NameRule::Subdomain, &METADATA),
            Err(e) => vec![e],
        });
        if let Some(root) = &rv.root {
            errors.extend(validate::validate(object, root, &ROOT));
        }
        if let Some(paths) = &rv.facts.scale {
            scale::validate_spec(object, paths, &mut errors);
            scale::validate_status(object, paths, &mut errors);
        }
    }
    if let Some(root) = &rv.root {
        errors.extend(embedded::validate(object, root, false, &ROOT));
        errors.extend(list_types::validate(object, root, &ROOT));
    }
    let mut verdict = with_rules(rv, object, errors);
    let m = Metadata::of(object);
    if verdict.errors.is_empty() {
        verdict.errors = metadata::validate(m, rv.facts.namespaced, NameRule::PathSegment, &METADATA);
    }
    verdict.warnings_if_accepted = finalizers::warnings(m, None);
    verdict
}

/// The generic metadata validation, then `strategy.ValidateUpdate`. The caller has brought uid, times and generation over
/// from the old object, as `rest.BeforeUpdate` does.
pub fn validate_update(rv: &ResourceVersion, object: &Value, old: &Value) -> Verdict {
    let mut errors = common_metadata(rv, object, old);
    let complaints = type_meta(rv, object);
    if complaints.is_empty() {
        errors.extend(changed_metadata(object, old));
        if let (Some(root), Some(schema)) = (&rv.root, &rv.facts.schema) {
            let (mut correlation, pair) = Correlation::new(object, old, schema);
            errors.extend(validate::validate_changed(object, root, &ROOT, &mut correlation, Some(pair)));
        }
        if let Some(paths) = &rv.facts.scale {
            scale::validate_spec(object, paths, &mut errors);
            scale::validate_status(object, paths, &mut errors);
        }
    }
    errors.extend(complaints);
    if let Some(root) = &rv.root {
        errors.extend(embedded::validate(object, root, false, &ROOT));
        errors.extend(changed_lists(root, object, old));
    }
    let mut verdict = with_rules(rv, object, errors);
    verdict.warnings_if_accepted = finalizers::warnings(Metadata::of(object), Some(Metadata::of(old)));
    verdict
}

/// The generic metadata validation, then `ValidateUpdate` of `/status`: of the schema, only that of `status` counts.
pub fn validate_status_update(rv: &ResourceVersion, object: &Value, old: &Value) -> Verdict {
    let mut errors = common_metadata(rv, object, old);
    let complaints = type_meta(rv, object);
    if complaints.is_empty() {
        errors.extend(changed_metadata(object, old));
        let status_node = rv.root.as_ref().and_then(|root| root.property("status"));
        if let (Some(status), Some(node), Some(schema)) = (object.get("status"), status_node, &rv.facts.schema) {
            let (mut correlation, pair) = Correlation::new(object, old, schema);
            let pair = correlation.key(pair, "status");
            errors.extend(validate::validate_changed(status, node, &STATUS, &mut correlation, pair));
        }
        if let Some(paths) = &rv.facts.scale {
            scale::validate_status(object, paths, &mut errors);
        }
    }
    errors.extend(complaints);
    if let Some(root) = &rv.root {
        errors.extend(changed_lists(root, object, old));
    }
    with_rules(rv, object, errors)
}

const METADATA: FieldPath<'static> = FieldPath::new("metadata");
const STATUS: FieldPath<'static> = FieldPath::new("status");

/// `ValidateTypeMeta`
fn type_meta(rv: &ResourceVersion, object: &Value) -> ErrorList {
    let facts = &rv.facts;
    let mut errors = ErrorList::new();
    let mut check = |key: &str, expected: &str| {
        let found = object.str_at(&[key]).unwrap_or_default();
        if found != expected {
            errors.push(FieldError::invalid(&FieldPath::new(key), found, format!("must be {expected}")));
        }
    };
    check("kind", &facts.kind);
    check("apiVersion", &format!("{}/{}", facts.group, facts.version));
    errors
}

/// `rest.validateCommonFields`
fn common_metadata(rv: &ResourceVersion, object: &Value, old: &Value) -> ErrorList {
    let m = Metadata::of(object);
    let mut errors = metadata::validate(m, rv.facts.namespaced, NameRule::PathSegment, &METADATA);
    errors.extend(metadata::validate_update(m, Metadata::of(old), &METADATA));
    errors
}

/// `validateObjectMetaUpdateDeclaratively`
fn changed_metadata(object: &Value, old: &Value) -> ErrorList {
    match metadata::read(object).and_then(|new| Ok((new, metadata::read(old)?))) {
        Ok((new, old)) => metadata::validate_update(new, old, &METADATA),
        Err(e) => vec![e],
    }
}

/// List types are looked at only if the old object had no error of them.
fn changed_lists(root: &Node, object: &Value, old: &Value) -> ErrorList {
    let errors = list_types::validate(object, root, &ROOT);
    if errors.is_empty() || list_types::validate(old, root, &ROOT).is_empty() { errors } else { ErrorList::new() }
}

fn with_rules(rv: &ResourceVersion, object: &Value, mut errors: ErrorList) -> Verdict {
    let mut rules_not_evaluated = 0;
    if let Some(root) = rv.root.as_ref().filter(|root| root.has.rules) {
        match rules::blocked(&errors) {
            Some(e) => errors.push(e),
            None => rules_not_evaluated = rules::count(object, root),
        }
    }
    Verdict { errors, rules_not_evaluated, ..Verdict::default() }
}
