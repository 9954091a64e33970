//! Checks that a schema is structural (`pkg/apiserver/schema/{convert,validation,complete}.go`).
//!
//! A structural schema specifies fields and types outside `allOf`, `anyOf`, `oneOf` and `not`, which may only restrict
//! values. As on the server, errors are sorted by text.
//!
//! Up to 1.30, `additionalProperties: false` under these is an error like every other value; since 1.31 the conversion
//! drops it. Up to 1.35 the conversion drops `example` and `externalDocs`.

use crate::schema::{Items, Schema, SchemaOrBool};
use crdx_regexp::{Error as PatternError, Regexp};
use crdx_text::malformed::MalformedStrings;
use crdx_value::field::{BoundedErrors, ErrorList, FieldError, FieldPath};
use crdx_value::release::{Release, V1_31, V1_36};

/// The first reason, in the server's order, why `s` cannot be converted to a structural schema (`NewStructural`).
pub fn unsupported(s: &Schema, release: Release) -> Option<String> {
    let name = if !s.id.is_empty() {
        "id"
    } else if !s.schema.is_empty() {
        "schema"
    } else if s.reference.as_ref().is_some_and(|r| !r.is_empty()) {
        "$ref"
    } else if !s.pattern_properties.is_empty() {
        "patternProperties"
    } else if !s.dependencies.is_empty() {
        "dependencies"
    } else if s.additional_items.is_some() {
        "additionalItems"
    } else if !s.definitions.is_empty() {
        "definitions"
    } else {
        ""
    };
    if !name.is_empty() {
        return Some(format!("OpenAPIV3Schema '{name}' is not supported"));
    }
    let junctors = s.not.as_deref().into_iter().chain(&s.all_of).chain(&s.any_of).chain(&s.one_of);
    // Up to 1.30, the schema in `additionalProperties` is converted before the other children.
    let (before, after) = if release.since(V1_31) {
        (None, s.additional_properties_schema())
    } else {
        (s.additional_properties_schema(), None)
    };
    if let Some(reason) = junctors.chain(before).find_map(|s| unsupported(s, release)) {
        return Some(reason);
    }
    if s.x_preserve_unknown_fields == Some(false) {
        return Some("internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined".to_owned());
    }
    if matches!(&s.items, Some(Items::Schemas(many)) if !many.is_empty()) {
        return Some("OpenAPIV3Schema 'items' must be a schema, but is an array".to_owned());
    }
    let children = s.items_schema().into_iter().chain(s.properties.values().map(Box::as_ref)).chain(after);
    children.into_iter().find_map(|s| unsupported(s, release))
}

/// Returns true if `s` is structural.
pub fn is_structural(s: &Schema, release: Release) -> bool {
    unsupported(s, release).is_none()
        && validate(s, &MalformedStrings::default(), release, &FieldPath::new("")).is_empty()
}

/// The reasons why `s`, the root schema of a resource, is not structural. Requires that [`unsupported`] returns `None`.
/// `malformed` are the strings of the schema that are not UTF-8.
pub fn validate(s: &Schema, malformed: &MalformedStrings, release: Release, path: &FieldPath<'_>) -> ErrorList {
    let mut found = Found { malformed, release, errors: BoundedErrors::default() };
    invariants(s, Level::Root, path, &mut found);
    completeness(s, s, path, path, &mut found);
    let mut errors = found.errors.finish();
    errors.sort_by_cached_key(ToString::to_string);
    errors
}

/// The errors found so far.
struct Found<'m> {
    malformed: &'m MalformedStrings,
    release: Release,
    errors: BoundedErrors,
}

impl Found<'_> {
    fn push(&mut self, error: FieldError) {
        self.errors.push(error);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Level {
    Root,
    Item,
    Field,
}

fn invariants(s: &Schema, level: Level, path: &FieldPath<'_>, errors: &mut Found<'_>) {
    if s.type_ == "array" && s.items_schema().is_none() {
        errors.push(FieldError::required(&path.child("items"), "must be specified"));
    }
    if let Some(items) = s.items_schema() {
        invariants(items, Level::Item, &path.child("items"), errors);
    }
    if !s.properties.is_empty() {
        let properties = path.child("properties");
        for (name, property) in &s.properties {
            invariants(property, Level::Field, &properties.key(name), errors);
        }
    }
    if let Some(additional) = &s.additional_properties {
        let path = path.child("additionalProperties");
        if level == Level::Root {
            errors.push(FieldError::forbidden(&path, "must not be used at the root"));
        }
        if let SchemaOrBool::Schema(additional) = additional {
            invariants(additional, Level::Field, &path, errors);
        }
    }

    let int_or_string = "must be false if x-kubernetes-int-or-string is true";
    if s.x_int_or_string && s.preserves_unknown_fields() {
        let path = path.child("x-kubernetes-preserve-unknown-fields");
        errors.push(FieldError::invalid(&path, true, int_or_string));
    }
    if s.x_int_or_string && s.x_embedded_resource {
        let path = path.child("x-kubernetes-embedded-resource");
        errors.push(FieldError::invalid(&path, true, int_or_string));
    }

    let release = errors.release;
    let skip_first = s.all_of.first().is_some_and(|first| is_int_or_string_any_of(first, release));
    values(s, is_int_or_string_any_of(s, release), skip_first, path, errors);

    if s.x_embedded_resource && s.type_ != "object" {
        let detail = "must be object if x-kubernetes-embedded-resource is true";
        let path = path.child("type");
        errors.push(if s.type_.is_empty() {
            FieldError::required(&path, detail)
        } else {
            FieldError::invalid(&path, s.type_.as_str(), detail)
        });
    } else if s.type_.is_empty() && !s.x_int_or_string && !s.preserves_unknown_fields() {
        let detail = match level {
            Level::Root => "must not be empty at the root",
            Level::Item => "must not be empty for specified array items",
            Level::Field => "must not be empty for specified object fields",
        };
        errors.push(FieldError::required(&path.child("type"), detail));
    }
    if s.x_embedded_resource && s.additional_properties.is_some() {
        let detail = "must not be used if x-kubernetes-embedded-resource is set";
        errors.push(FieldError::forbidden(&path.child("additionalProperties"), detail));
    }
    if level == Level::Root && !s.type_.is_empty() && s.type_ != "object" {
        errors.push(FieldError::invalid(&path.child("type"), s.type_.as_str(), "must be object at the root"));
    }
    meta_properties(s, level, path, errors);
    if s.x_embedded_resource && !s.preserves_unknown_fields() && s.properties.is_empty() {
        let detail =
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        errors.push(FieldError::required(&path.child("properties"), detail));
    }
}

/// Validates `apiVersion`, `kind` and `metadata` of the root or an embedded resource.
fn meta_properties(s: &Schema, level: Level, path: &FieldPath<'_>, errors: &mut Found<'_>) {
    let resource = level == Level::Root || s.x_embedded_resource;
    let properties = path.child("properties");
    if resource {
        for name in ["kind", "apiVersion"] {
            if let Some(property) = s.properties.get(name).filter(|p| p.type_ != "string") {
                let path = properties.key(name);
                errors.push(FieldError::invalid(&path.child("type"), property.type_.as_str(), "must be string"));
            }
        }
    }
    let Some(metadata) = s.properties.get("metadata") else { return };
    let path = properties.key("metadata");
    if resource && metadata.type_ != "object" {
        errors.push(FieldError::invalid(&path.child("type"), metadata.type_.as_str(), "must be object"));
    }
    if level == Level::Root && !only_names(metadata, errors.release) {
        let detail = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        errors.push(FieldError::forbidden(&path, detail));
    }
}

/// Returns true if a schema of `metadata` specifies nothing except a type, a default, `name` and `generateName`.
fn only_names(metadata: &Schema, release: Release) -> bool {
    let names = metadata.properties.keys().all(|name| name == "name" || name == "generateName");
    let Schema { properties, type_, default, reference, .. } = Schema::default();
    // Checks that nothing is left after removing the allowed parts, without copying the properties.
    names
        && is_empty_but(metadata, release, |rest| {
            rest.properties = properties;
            rest.type_ = type_;
            rest.default = default;
            rest.reference = reference;
        })
}

/// Returns true if a schema is empty after `clear` has cleared parts of it.
fn is_empty_but(s: &Schema, release: Release, clear: impl FnOnce(&mut Schema)) -> bool {
    // The server does not treat an empty list as absent here.
    if ["required", "x-kubernetes-list-map-keys", "x-kubernetes-validations"].iter().any(|name| s.empty.has(name)) {
        return false;
    }
    // Avoids the copy below for schemas with nested schemas other than properties, which cannot be empty.
    if !(s.all_of.is_empty() && s.any_of.is_empty() && s.one_of.is_empty())
        || s.not.is_some()
        || s.items_schema().is_some()
        || s.additional_properties_schema().is_some()
    {
        return false;
    }
    let mut rest = s.clone();
    clear(&mut rest);
    rest.items = None;
    if !release.since(V1_36) {
        (rest.example, rest.external_docs) = (None, None);
    }
    rest == Schema::default()
}

/// Returns true if `anyOf` is `[{type: integer}, {type: string}]`, which is allowed for an int-or-string.
pub(crate) fn is_int_or_string_any_of(s: &Schema, release: Release) -> bool {
    let is_only = |s: &Schema, type_: &str| {
        s.type_ == type_
            && s.properties.is_empty()
            && !s.empty.has("properties")
            && is_empty_but(s, release, |rest| {
                rest.type_ = String::new();
                rest.reference = None;
                rest.additional_properties =
                    rest.additional_properties.take_if(|additional| !is_dropped(additional, release));
            })
    };
    matches!(s.any_of.as_slice(), [a, b] if is_only(a, "integer") && is_only(b, "string"))
}

/// Returns true if the conversion of a junctor's branch drops its `additionalProperties`.
fn is_dropped(additional: &SchemaOrBool, release: Release) -> bool {
    *additional == SchemaOrBool::Bool(false) && release.since(V1_31)
}

/// Validates the junctors and the pattern of one node.
fn values(s: &Schema, skip_any_of: bool, skip_first_all_of: bool, path: &FieldPath<'_>, errors: &mut Found<'_>) {
    if !skip_any_of && !s.any_of.is_empty() {
        let path = path.child("anyOf");
        for (i, branch) in s.any_of.iter().enumerate() {
            nested(branch, false, &path.index(i), errors);
        }
    }
    if !s.all_of.is_empty() {
        let path = path.child("allOf");
        for (i, branch) in s.all_of.iter().enumerate() {
            nested(branch, skip_first_all_of && i == 0, &path.index(i), errors);
        }
    }
    if !s.one_of.is_empty() {
        let path = path.child("oneOf");
        for (i, branch) in s.one_of.iter().enumerate() {
            nested(branch, false, &path.index(i), errors);
        }
    }
    if let Some(not) = &s.not {
        nested(not, false, &path.child("not"), errors);
    }
    if !s.pattern.is_empty()
        && let Err(e) = check_pattern(&s.pattern, errors.malformed)
    {
        let path = path.child("pattern");
        errors.push(match e {
            PatternError::Unfinished => FieldError::unfinished(&path),
            PatternError::Syntax { .. } => {
                let detail = format!("must be a valid regular expression, but isn't: {e}");
                FieldError::invalid(&path, s.pattern.as_str(), detail)
            }
        });
    }
}

fn check_pattern(pattern: &str, malformed: &MalformedStrings) -> Result<(), PatternError> {
    match malformed.get(pattern) {
        Some(bytes) => Regexp::check_malformed(pattern, bytes),
        None => Regexp::new(pattern).map(drop),
    }
}

/// Schemas under `allOf`, `anyOf`, `oneOf` and `not` may only restrict values.
fn nested(s: &Schema, skip_any_of: bool, path: &FieldPath<'_>, errors: &mut Found<'_>) {
    values(s, skip_any_of, false, path, errors);
    if let Some(items) = s.items_schema() {
        nested(items, false, &path.child("items"), errors);
    }
    if !s.properties.is_empty() {
        let properties = path.child("properties");
        for (name, property) in &s.properties {
            nested(property, false, &properties.key(name), errors);
        }
        if s.properties.contains_key("metadata") {
            let path = properties.key("metadata");
            errors.push(FieldError::forbidden(&path, "must not be specified in a nested context"));
        }
    }
    let release = errors.release;
    let mut forbid = |name: &str, is: &str, present: bool| {
        if present {
            errors.push(FieldError::forbidden(&path.child(name), format!("must be {is} to be structural")));
        }
    };
    let additional = s.additional_properties.as_ref().is_some_and(|a| !is_dropped(a, release));
    forbid("type", "empty", !s.type_.is_empty());
    forbid("additionalProperties", "undefined", additional);
    forbid("default", "undefined", s.default.is_some());
    forbid("title", "empty", !s.title.is_empty());
    forbid("description", "empty", !s.description.is_empty());
    forbid("nullable", "false", s.nullable);
    forbid("x-kubernetes-preserve-unknown-fields", "false", s.preserves_unknown_fields());
    forbid("x-kubernetes-embedded-resource", "false", s.x_embedded_resource);
    forbid("x-kubernetes-int-or-string", "false", s.x_int_or_string);
    forbid("x-kubernetes-list-map-keys", "empty", !s.x_list_map_keys.is_empty());
    forbid("x-kubernetes-list-type", "undefined", s.x_list_type.is_some());
    forbid("x-kubernetes-map-type", "undefined", s.x_map_type.is_some());
    forbid("x-kubernetes-validations", "empty", !s.x_validations.is_empty());
}

/// Every field and item mentioned in a junctor of the root must also be specified outside junctors. Junctors of deeper
/// nodes are not checked.
fn completeness(
    branch: &Schema,
    s: &Schema,
    path: &FieldPath<'_>,
    branch_path: &FieldPath<'_>,
    errors: &mut Found<'_>,
) {
    if let Some(not) = &branch.not {
        nested_completeness(not, Some(s), path, &branch_path.child("not"), errors);
    }
    for (name, branches) in [("allOf", &branch.all_of), ("anyOf", &branch.any_of), ("oneOf", &branch.one_of)] {
        let branch_path = branch_path.child(name);
        for (i, branch) in branches.iter().enumerate() {
            nested_completeness(branch, Some(s), path, &branch_path.index(i), errors);
        }
    }
}

fn nested_completeness(
    branch: &Schema,
    s: Option<&Schema>,
    path: &FieldPath<'_>,
    branch_path: &FieldPath<'_>,
    errors: &mut Found<'_>,
) {
    let Some(s) = s else {
        errors.push(FieldError::required(path, format!("because it is defined in {branch_path}")));
        return;
    };
    completeness(branch, s, path, branch_path, errors);
    if let Some(items) = branch.items_schema() {
        nested_completeness(items, s.items_schema(), &path.child("items"), &branch_path.child("items"), errors);
    }
    if branch.properties.is_empty() {
        return;
    }
    let path = path.child("properties");
    let branch_path = branch_path.child("properties");
    for (name, property) in &branch.properties {
        nested_completeness(property, s.property(name), &path.key(name), &branch_path.key(name), errors);
    }
}
