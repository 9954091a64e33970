//! The processing of one custom resource, as stages in the server's order:
//!
//! 1. [`decode`]: prunes unknown fields, drops nulls, and normalizes metadata, including that of embedded resources
//! 2. [`mod@default`]: sets defaults
//! 3. [`prepare_create`], [`prepare_update`], [`prepare_status_update`]: set status and generation
//! 4. [`validate_create`], [`validate_update`], [`validate_status_update`]: validate metadata, schema (with ratcheting),
//!    scale paths, embedded metadata, list types and rules
//!
//! Each stage is pure. A version of a CRD is compiled once into a [`ResourceVersion`]. Errors are returned as a
//! [`Verdict`].
//!
//! An object read from storage passes through [`decode`] and [`mod@default`] with its stored version, then through
//! [`decode`] with [`ObjectOrigin::Conversion`] for every other version. The response to a write is computed in the same way, so
//! a default in `status` appears in the response to a create even though [`prepare_create`] has dropped the status.
//!
//! A single schema node, such as that of a default in a CRD, passes through the same stages:
//! [`compiled::SchemaNode::compile`] with [`compiled::Dialect::Defaults`], [`prune::prune`], [`coerce::coerce`],
//! [`embedded::validate`] and [`validate::validate`].
//!
//! The recursion depth is that of the value and its schema, which decoders limit to 10,000 levels, so callers need a
//! large stack.

pub(crate) mod coerce;
pub mod compiled;
mod decode;
pub mod default;
pub mod embedded;
mod finalizers;
pub mod list_types;
pub mod metadata;
mod nulls;
pub(crate) mod object_meta;
mod prepare;
pub mod prune;
pub(crate) mod prune_defaults;
pub mod rules;
mod scale;
pub mod unknown;
pub mod validate;

pub use decode::{decode, parse_group_version};
pub use prepare::{prepare_create, prepare_status_update, prepare_update, restore};

use crate::cluster_state::Wanted;
use crate::rules::Rules;
use crate::schema::Schema;
use crate::schema::correlate::Correlation;
use compiled::{Dialect, SchemaNode};
use crdx_value::Value;
use crdx_value::field::{ErrorList, FieldError, FieldPath, ROOT};
use crdx_value::group_version::api_version;
use crdx_value::release::{Gate, Release, V1_31, V1_33};
use crdx_value::steps::Spent;
use metadata::{Metadata, MetadataValidation, NameRule};
use std::sync::{Arc, OnceLock};

/// A version of a CRD, compiled for the pipeline stages when an object first needs it: a folder of CRDs has many more
/// versions than its objects use. Shared by `Arc`.
#[derive(Debug)]
pub struct ResourceVersion {
    /// The parts of the CRD from which the version was compiled.
    pub facts: Facts,
    /// The simulated release.
    pub release: Release,
    /// `group/version`
    api_version: String,
    /// The compiled schema, if there is a schema; compiled when it is first needed.
    root: OnceLock<Option<SchemaNode>>,
    /// The rules, collected when they are first needed.
    rules: OnceLock<Option<Rules>>,
}

/// The parts of a CRD that concern the objects of one version.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// `spec.group`
    pub group: String,
    /// The name of the version.
    pub version: String,
    /// `spec.names.kind`
    pub kind: String,
    /// `spec.names.plural`
    pub resource: String,
    /// True if `spec.scope` is `Namespaced`.
    pub namespaced: bool,
    /// `spec.preserveUnknownFields`, which only CRDs created as v1beta1 can have: nothing is pruned.
    pub preserve_unknown_fields: bool,
    /// True if the status subresource is enabled.
    pub status_subresource: bool,
    /// The paths of the scale subresource, if it is enabled.
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

/// The source of an object to decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectOrigin {
    /// A request. Malformed metadata is an error.
    Request,
    /// The storage. Malformed metadata fields are dropped, and generation 0 becomes 1.
    Storage,
    /// A conversion between versions. Malformed metadata is an error, and unknown fields are not collected.
    Conversion,
    /// Like [`Self::Conversion`], and unknown fields are collected.
    ReportedConversion,
}

/// A decoded object.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The decoded object.
    pub object: Value,
    /// The paths of dropped fields, in the order of the server's `unknown field "…"` messages.
    pub unknown: Vec<String>,
}

/// The error for an object that cannot be decoded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DecodeError {
    /// Go's message.
    pub message: String,
    /// The path of the field that cannot be decoded, if the error is about a field.
    pub field: Option<String>,
}

/// A field that was set by defaulting.
#[derive(Clone, Debug, PartialEq)]
pub struct Defaulted {
    /// The path of the field (`spec.ports[0].protocol`).
    pub path: String,
    /// The default value.
    pub value: Value,
}

/// The result of validation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// The errors; empty if the object is accepted.
    pub errors: ErrorList,
    /// Warnings about ratcheted rules, in the server's order. They are sent even if the object is rejected.
    pub warnings: Vec<String>,
    /// Warnings about finalizers, which are sent only if the object is accepted.
    pub warnings_if_accepted: Vec<String>,
    /// The cost of the rules, with the steps that it does not include.
    pub cost: u64,
    /// Unknown objects of the cluster that decide whether the object is accepted.
    pub unknown: Vec<Wanted>,
}

impl ResourceVersion {
    /// The simulated release.
    pub fn release(&self) -> Release {
        self.release
    }

    /// Creates a version of a CRD.
    pub fn new(facts: Facts, release: Release) -> Self {
        let api_version = api_version(&facts.group, &facts.version);
        Self { facts, release, api_version, root: OnceLock::new(), rules: OnceLock::new() }
    }
    /// The compiled schema, if there is a schema.
    fn root(&self) -> Option<&SchemaNode> {
        let compile = |schema| {
            let mut root = SchemaNode::compile(schema, Dialect::Objects, self.release);
            if !self.facts.preserve_unknown_fields {
                prune_defaults::prune_defaults(&mut root, self.release);
            }
            root
        };
        self.root.get_or_init(|| self.facts.schema.as_deref().map(compile)).as_ref()
    }
    /// Returns true if [`prepare_create`] or [`prepare_update`] may drop a defaulted field: the status.
    pub(crate) fn drops_defaults(&self) -> bool {
        let has_default = |root: &SchemaNode| root.property("status").is_some_and(|status| status.default.is_some());
        self.facts.status_subresource && self.root().is_some_and(has_default)
    }
    /// The rules of the schema, if it has any.
    fn rules(&self) -> Option<&Rules> {
        self.root().filter(|root| root.has.rules)?;
        self.rules
            .get_or_init(|| self.facts.schema.as_deref().and_then(|schema| Rules::new(schema, self.release)))
            .as_ref()
    }
    fn matches_kind(&self, object: &Value) -> bool {
        let (group, _) =
            decode::parse_group_version(object.str_at(&["apiVersion"]).unwrap_or_default()).unwrap_or_default();
        group == self.facts.group && object.str_at(&["kind"]) == Some(&self.facts.kind)
    }
    /// The compiled schema, if the apiVersion of `object` is that of this version.
    fn root_of(&self, object: &Value) -> Option<&SchemaNode> {
        let api_version = object.str_at(&["apiVersion"]).unwrap_or_default();
        let (_, version) = decode::parse_group_version(api_version).unwrap_or_default();
        if version == self.facts.version { self.root() } else { None }
    }
}

/// Sets defaults and returns them. Does nothing if the object's group, kind or version is not that of `rv`.
///
/// # Errors
/// Returns an error if the defaults need more memory than an object that can be stored.
pub fn default(rv: &ResourceVersion, object: &mut Value) -> Result<Vec<Defaulted>, Spent> {
    let mut defaulted = Vec::new();
    if rv.matches_kind(object)
        && let Some(root) = rv.root_of(object)
    {
        default::set_defaults(object, root, Some(&mut defaulted))?;
    }
    Ok(defaulted)
}

/// Validates a new object (`strategy.Validate`). Without an error, the server then validates the metadata once more with a
/// weaker rule for names, which cannot fail.
pub fn validate_create(rv: &ResourceVersion, object: &Value) -> Verdict {
    validate_named_create(rv, object, NameRule::Subdomain)
}

/// Like [`validate_create`], with the rule for names of a built-in kind.
pub(crate) fn validate_named_create(rv: &ResourceVersion, object: &Value, rule: NameRule) -> Verdict {
    let mut errors = type_meta(rv, object);
    if errors.is_empty() {
        errors.extend(match metadata::read(object, rv.release) {
            Ok(m) => metadata::without_duplicates(
                metadata::validate(
                    m,
                    rv.facts.namespaced,
                    rule,
                    &METADATA,
                    rv.release,
                    MetadataValidation::declared(rv.release),
                ),
                rv.release,
            ),
            Err(e) => vec![e],
        });
        if let Some(root) = rv.root() {
            errors.extend(validate::validate(object, root, &ROOT, rv.release));
        }
        if let Some(paths) = &rv.facts.scale {
            scale::validate_spec(object, paths, &mut errors);
            scale::validate_status(object, paths, &mut errors);
        }
    }
    if let Some(root) = rv.root() {
        errors.extend(embedded::validate(object, root, false, &ROOT, rv.release));
        errors.extend(list_types::validate(object, root, &ROOT, rv.release));
    }
    let mut verdict = with_rules(rv, object, None, errors);
    verdict.warnings_if_accepted = finalizers::warnings(Metadata::from_object(object), None, rv.release);
    verdict
}

/// Validates an update: the generic metadata validation, then `strategy.ValidateUpdate`. The caller has copied uid,
/// timestamps and generation from the old object, like `rest.BeforeUpdate`.
pub fn validate_update(rv: &ResourceVersion, object: &Value, old: &Value) -> Verdict {
    let mut errors = common_metadata(rv, object, old);
    let type_errors = type_meta(rv, object);
    if type_errors.is_empty() {
        errors.extend(changed_metadata(rv, object, old));
        if let (Some(root), Some(schema)) = (rv.root(), &rv.facts.schema) {
            errors.extend(if rv.release.enables(Gate::CrdValidationRatcheting) {
                let (mut correlation, pair) = Correlation::new(object, old, schema);
                validate::validate_changed(object, root, (&ROOT, rv.release), &mut correlation, Some(pair))
            } else {
                validate::validate(object, root, &ROOT, rv.release)
            });
        }
        if let Some(paths) = &rv.facts.scale {
            scale::validate_spec(object, paths, &mut errors);
            scale::validate_status(object, paths, &mut errors);
        }
    }
    errors.extend(type_errors);
    if let Some(root) = rv.root() {
        errors.extend(embedded::validate(object, root, false, &ROOT, rv.release));
        errors.extend(changed_lists(rv, root, object, old));
    }
    let ratchets = rv.release.enables(Gate::CrdValidationRatcheting);
    let mut verdict = with_rules(rv, object, Some((old, ratchets)), errors);
    verdict.warnings_if_accepted =
        finalizers::warnings(Metadata::from_object(object), Some(Metadata::from_object(old)), rv.release);
    verdict
}

/// Validates an update of `/status`: the generic metadata validation, then `ValidateUpdate`, which applies only the
/// schema of `status`.
pub fn validate_status_update(rv: &ResourceVersion, object: &Value, old: &Value) -> Verdict {
    let mut errors = common_metadata(rv, object, old);
    let type_errors = type_meta(rv, object);
    if type_errors.is_empty() {
        errors.extend(changed_metadata(rv, object, old));
        let status_node = rv.root().and_then(|root| root.property("status"));
        // An absent status and a null status correlate.
        let is_unchanged = |status: &Value| status.is_null() && old.get("status").is_none();
        let status = object.get("status").filter(|status| !ratchets_status(rv.release) || !is_unchanged(status));
        if let (Some(status), Some(node), Some(schema)) = (status, status_node, &rv.facts.schema) {
            errors.extend(if !rv.release.since(V1_31) {
                // The server validates without path prefix here.
                validate::validate(status, node, &ROOT, rv.release)
            } else if ratchets_status(rv.release) {
                let (mut correlation, pair) = Correlation::new(object, old, schema);
                let pair = correlation.key(pair, "status");
                validate::validate_changed(status, node, (&STATUS, rv.release), &mut correlation, pair)
            } else {
                validate::validate(status, node, &STATUS, rv.release)
            });
        }
        if let Some(paths) = &rv.facts.scale {
            scale::validate_status(object, paths, &mut errors);
        }
    }
    errors.extend(type_errors);
    if let Some(root) = rv.root() {
        errors.extend(changed_lists(rv, root, object, old));
    }
    with_rules(rv, object, Some((old, ratchets_status(rv.release))), errors)
}

/// Returns true if errors in unchanged parts of an object are tolerated in writes of its status.
fn ratchets_status(release: Release) -> bool {
    release.enables(Gate::CrdValidationRatcheting) && release.since(V1_33)
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
    check("apiVersion", &rv.api_version);
    errors
}

/// `rest.validateCommonFields`
fn common_metadata(rv: &ResourceVersion, object: &Value, old: &Value) -> ErrorList {
    let m = Metadata::from_object(object);
    let mut errors = metadata::validate(
        m,
        rv.facts.namespaced,
        NameRule::PathSegment,
        &METADATA,
        rv.release,
        MetadataValidation::Handwritten,
    );
    errors.extend(metadata::validate_update(m, Metadata::from_object(old), &METADATA, rv.release));
    errors
}

/// `validateObjectMetaUpdateDeclaratively`
fn changed_metadata(rv: &ResourceVersion, object: &Value, old: &Value) -> ErrorList {
    match metadata::read(object, rv.release).and_then(|new| Ok((new, metadata::read(old, rv.release)?))) {
        Ok((new, old)) => metadata::validate_update_declaratively(new, old, &METADATA, rv.release),
        Err(e) => vec![e],
    }
}

/// Errors of list types are reported only if the old object has none.
fn changed_lists(rv: &ResourceVersion, root: &SchemaNode, object: &Value, old: &Value) -> ErrorList {
    let errors = list_types::validate(object, root, &ROOT, rv.release);
    if errors.is_empty() || list_types::validate(old, root, &ROOT, rv.release).is_empty() {
        errors
    } else {
        ErrorList::new()
    }
}

/// Evaluates the rules, unless earlier errors prevent that. `old` is the existing object, and whether errors in
/// unchanged parts of it are tolerated.
fn with_rules(rv: &ResourceVersion, object: &Value, old: Option<(&Value, bool)>, mut errors: ErrorList) -> Verdict {
    let (Some(rules), Some(schema)) = (rv.rules(), &rv.facts.schema) else {
        return Verdict { errors, ..Verdict::default() };
    };
    if let Some(e) = rules::blocked(&errors, rv.release) {
        errors.push(e);
        return Verdict { errors, ..Verdict::default() };
    }
    let findings = match old {
        Some((old, ratchets)) => {
            let (mut correlation, pair) = Correlation::new(object, old, schema);
            rules.evaluate(object, Some((old, ratchets.then_some((&mut correlation, pair)))))
        }
        None => rules.evaluate(object, None),
    };
    errors.extend(findings.errors);
    Verdict { errors, warnings: findings.warnings, cost: findings.cost, ..Verdict::default() }
}

/// Helpers for tests of the pipeline stages.
#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Parses JSON.
    pub fn json(text: &str) -> Value {
        crdx_text::json::read(text.as_bytes()).unwrap()
    }
    /// Compiles a schema.
    pub fn node(schema: &str) -> SchemaNode {
        SchemaNode::compile(&Schema::from_value(&json(schema)).unwrap(), Dialect::Objects, Release::NEWEST)
    }
    /// Compiles a version of the kind `Foo` in group `example.com` whose spec has this schema.
    pub fn version(spec: &str) -> ResourceVersion {
        let text = format!(
            r#"{{"type":"object","properties":{{"spec":{spec},"status":{{"type":"object",
            "x-kubernetes-preserve-unknown-fields":true}}}}}}"#
        );
        ResourceVersion::new(
            Facts {
                group: "example.com".to_owned(),
                version: "v1".to_owned(),
                kind: "Foo".to_owned(),
                resource: "foos".to_owned(),
                namespaced: true,
                schema: Some(Arc::new(Schema::from_value(&json(&text)).unwrap())),
                ..Facts::default()
            },
            Release::NEWEST,
        )
    }
    /// A stored `Foo` with this spec.
    pub fn foo(spec: &str) -> Value {
        json(&format!(
            r#"{{"apiVersion":"example.com/v1","kind":"Foo","metadata":{{"name":"a","namespace":"default","generation":1,
                "uid":"u","resourceVersion":"1","creationTimestamp":"2024-01-01T00:00:00Z"}},"spec":{spec}}}"#
        ))
    }
    /// The errors as texts of the server's message.
    pub fn texts(errors: &ErrorList) -> Vec<String> {
        errors.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::testing::*;
    use super::*;

    #[test]
    fn a_wrong_kind_ends_the_validation_of_a_create() {
        let rv = version(r#"{"type":"integer"}"#);
        let mut object = foo("{}");
        object.as_object_mut().unwrap().insert("kind".to_owned(), Value::from("Bar"));
        let verdict = validate_create(&rv, &object);
        assert_eq!(texts(&verdict.errors), [r#"kind: Invalid value: "Bar": must be Foo"#]);
    }

    #[test]
    fn a_bad_label_is_reported_three_times_on_update() {
        let rv = version(r#"{"type":"object"}"#);
        let old = foo("{}");
        let mut object = old.clone();
        object.get_mut("metadata").unwrap().as_object_mut().unwrap().insert("labels".to_owned(), json(r#"{"a":"-"}"#));
        assert_eq!(validate_create(&rv, &object).errors.len(), 1);
        let errors = validate_update(&rv, &object, &old).errors;
        assert_eq!(errors.len(), 3);
        assert!(errors.iter().all(|e| e.field == "metadata.labels"));
    }

    #[test]
    fn earlier_errors_block_rules() {
        let rv = version(
            r#"{"type":"object","required":["a"],"x-kubernetes-validations":[{"rule":"true"}],
            "properties":{"a":{"type":"integer","maximum":3,"x-kubernetes-validations":[{"rule":"self % 2 == 1","message":"odd"}]}}}"#,
        );
        let verdict = validate_create(&rv, &foo("{}"));
        assert_eq!(
            texts(&verdict.errors),
            [
                "spec.a: Required value",
                "<nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"
            ]
        );
        // A value out of range does not prevent the evaluation of rules.
        let verdict = validate_create(&rv, &foo(r#"{"a":4}"#));
        assert_eq!(
            texts(&verdict.errors),
            [
                "spec.a: Invalid value: 4: spec.a in body should be less than or equal to 3",
                "spec.a: Invalid value: 4: odd"
            ]
        );
    }

    #[test]
    fn errors_in_unchanged_values_are_tolerated() {
        let rv = version(
            r#"{"type":"object","maxProperties":2,"properties":{
                "a":{"type":"string","maxLength":1},
                "l":{"type":"array","items":{"type":"integer","maximum":1}},
                "m":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
                    "items":{"type":"object","properties":{"k":{"type":"string"},"n":{"type":"integer","maximum":1}}}},
                "p":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"n":{"type":"integer"}},
                    "required":["r"]}}}"#,
        );
        let errors = |old: &str, new: &str| texts(&validate_update(&rv, &foo(new), &foo(old)).errors);
        assert_eq!(errors(r#"{"a":"xx"}"#, r#"{"a":"xx","l":[]}"#), [""; 0]);
        assert_eq!(errors(r#"{"a":"xx"}"#, r#"{"a":"yy"}"#), ["spec.a: Too long: may not be more than 1 byte"]);
        // The items of an atomic list are not correlated individually.
        assert_eq!(
            errors(r#"{"l":[2]}"#, r#"{"l":[2,0]}"#),
            ["spec.l[0]: Invalid value: 2: spec.l[0] in body should be less than or equal to 1"]
        );
        assert_eq!(errors(r#"{"m":[{"k":"a","n":2}]}"#, r#"{"m":[{"k":"b"},{"k":"a","n":2}]}"#), [""; 0]);
        // An object with preserved unknown fields is not equal to itself.
        assert_eq!(errors(r#"{"p":{"n":1}}"#, r#"{"p":{"n":1}}"#), [""; 0]);
        assert_eq!(errors(r#"{"p":{"z":1}}"#, r#"{"p":{"z":1}}"#), ["spec.p.r: Required value"]);
    }

    #[test]
    fn status_is_validated_by_its_schema_with_an_empty_path() {
        let rv = ResourceVersion::new(
            Facts {
                schema: Some(Arc::new(
                    Schema::from_value(&json(
                        r#"{"type":"object","properties":{"spec":{"type":"string"},
                        "status":{"type":"object","properties":{"n":{"type":"integer"}}}}}"#,
                    ))
                    .unwrap(),
                )),
                status_subresource: true,
                ..version("{}").facts
            },
            Release::NEWEST,
        );
        let old = foo("{}");
        let with = |status: &str| {
            let mut object = old.clone();
            object.as_object_mut().unwrap().insert("status".to_owned(), json(status));
            texts(&validate_status_update(&rv, &object, &old).errors)
        };
        assert_eq!(
            with(r#"{"n":"x"}"#),
            [r#"status.n: Invalid value: "string": n in body must be of type integer: "string""#]
        );
        assert_eq!(with("1"), [r#"status: Invalid value: "integer":  in body must be of type object: "integer""#]);
    }

    #[test]
    fn set_defaults_are_returned() {
        let rv = version(r#"{"type":"object","default":{},"properties":{"a":{"type":"string","default":"x"}}}"#);
        let mut object = json(r#"{"apiVersion":"example.com/v1","kind":"Foo"}"#);
        let defaulted: Vec<String> = default(&rv, &mut object).unwrap().into_iter().map(|d| d.path).collect();
        assert_eq!(defaulted, ["spec", "spec.a"]);
        let mut other = json(r#"{"apiVersion":"example.com/v2","kind":"Foo"}"#);
        assert_eq!(default(&rv, &mut other), Ok(Vec::new()));
    }
}
