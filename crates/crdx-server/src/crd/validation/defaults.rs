//! Validates the defaults in a schema (`pkg/apiserver/schema/defaulting/{validation,surroundingobject}.go`).
//!
//! Each default is validated as written, before nested defaults are applied. A default in metadata is validated inside
//! an otherwise empty object. Defaults below `additionalProperties` are not validated.

use super::structural;
use crate::crd::aggregate::aggregate;
use crate::pipeline::coerce::coerce;
use crate::pipeline::compiled::{Dialect, SchemaNode};
use crate::pipeline::prune::prune;
use crate::pipeline::prune_defaults::{ResourcePath, changes_any, is_unservable, wrap_at};
use crate::pipeline::unknown::Unknown;
use crate::pipeline::{embedded, validate};
use crate::rules::{OBJECT_BUDGET, Rules};
use crate::schema::{Items, Schema};
use crdx_value::Value;
use crdx_value::field::{BadValue, BoundedErrors, ErrorList, FieldError, FieldPath, ROOT};
use crdx_value::release::Release;
use crdx_value::steps::Steps;
use std::sync::Arc;

/// Validates all defaults of a structural schema.
pub(crate) fn validate_all(root: &Schema, pruned: bool, release: Release, path: &FieldPath<'_>) -> ErrorList {
    if !root.any(&mut |s| s.default.is_some()) {
        return Vec::new();
    }
    let compiled = SchemaNode::compile(root, Dialect::Defaults, release);
    let mut walk = DefaultValidator {
        release,
        pruned,
        budget: OBJECT_BUDGET,
        steps: Steps::of_request(),
        errors: BoundedErrors::default(),
    };
    let context = DefaultContext { resource: &compiled, resource_path: None, in_metadata: false };
    // If the walk stops early, it has recorded an error.
    let _ = walk.node(root, &compiled, &context, true, path);
    walk.errors.finish()
}

/// Drops unknown fields in the metadata of embedded resources in the defaults of a structural schema. On the server,
/// validation modifies the stored defaults in this way. Defaults that cannot be coerced are left to [`validate_all`].
pub fn coerce_all(root: &mut Arc<Schema>, release: Release) {
    let has_default = root.any(&mut |s| s.default.is_some());
    if !has_default || !root.any(&mut |s| s.x_embedded_resource) || !structural::is_structural(root, release) {
        return;
    }
    let compiled = SchemaNode::compile(root, Dialect::Defaults, release);
    coerce_below(Arc::make_mut(root), (&compiled, release), true, false);
}

/// Visits the same nodes as [`DefaultValidator::node`], which does not descend into `additionalProperties` and does not change
/// defaults in metadata.
fn coerce_below(schema: &mut Schema, (node, release): (&SchemaNode, Release), is_root: bool, in_metadata: bool) {
    if !node.has.defaults {
        return;
    }
    let is_resource = is_root || node.embedded;
    let in_metadata = in_metadata && !is_resource;
    if let Some(default) = schema.default.as_mut().filter(|_| !in_metadata) {
        // Validation reports the error.
        let _ = coerce(default, node, is_resource, false, &ROOT, &mut Unknown::new(false), release);
    }
    if let (Some(items), Some(Items::Schema(schema))) = (&node.items, &mut schema.items) {
        coerce_below(schema, (items, release), false, in_metadata);
    }
    for (name, schema) in &mut schema.properties {
        let Some(property) = node.property(name) else { continue };
        let meta = is_resource && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
        coerce_below(schema, (property, release), false, in_metadata || meta);
    }
}

struct DefaultValidator {
    release: Release,
    /// True if defaults must not have unknown fields.
    pruned: bool,
    /// The remaining CEL cost budget.
    budget: i64,
    /// The steps that are left for rules.
    steps: Steps,
    errors: BoundedErrors,
}

/// Stops validation because the cost budget is exhausted.
struct Stop;

#[derive(Clone, Copy)]
struct DefaultContext<'a> {
    /// The enclosing resource: the root, or an embedded resource.
    resource: &'a SchemaNode,
    /// The path from the resource to the value; `None` for the resource itself.
    resource_path: Option<&'a ResourcePath<'a>>,
    /// True inside the metadata of the resource, and for its apiVersion and kind.
    in_metadata: bool,
}

impl DefaultValidator {
    fn node(
        &mut self,
        schema: &Schema,
        node: &SchemaNode,
        context: &DefaultContext<'_>,
        is_root: bool,
        path: &FieldPath<'_>,
    ) -> Result<(), Stop> {
        if !node.has.defaults {
            return Ok(());
        }
        let is_resource = is_root || node.embedded;
        let context = if is_resource {
            &DefaultContext { resource: node, resource_path: None, in_metadata: false }
        } else {
            context
        };
        if let Some(default) = &node.default {
            let path = path.child("default");
            let errors = if context.in_metadata {
                self.in_metadata(default, node, context, &path)
            } else {
                self.elsewhere(default, node, is_resource, &path)
            };
            if !errors.is_empty() {
                self.errors.extend(errors);
            } else if node.has.rules {
                self.rules(schema, default, is_resource, &path)?;
            }
        }
        if let (Some(items), Some(schema)) = (&node.items, schema.items_schema()) {
            let resource_path = ResourcePath { outer: context.resource_path, key: None };
            let context = DefaultContext { resource_path: Some(&resource_path), ..*context };
            self.node(schema, items, &context, false, &path.child("items"))?;
        }
        let properties = path.child("properties");
        for (name, schema) in &schema.properties {
            let Some(property) = node.property(name) else { continue };
            let resource_path = ResourcePath { outer: context.resource_path, key: Some(name) };
            let meta = is_resource && matches!(name.as_str(), "metadata" | "apiVersion" | "kind");
            let context = DefaultContext {
                resource_path: Some(&resource_path),
                in_metadata: context.in_metadata || meta,
                resource: context.resource,
            };
            self.node(schema, property, &context, false, &properties.key(name))?;
        }
        Ok(())
    }

    /// The errors of a default in metadata, or of apiVersion or kind.
    fn in_metadata(
        &self,
        default: &Value,
        node: &SchemaNode,
        context: &DefaultContext<'_>,
        path: &FieldPath<'_>,
    ) -> ErrorList {
        let mut whole = wrap_at(context.resource_path, default.clone());
        if let Value::Object(members) = &mut whole {
            members.entry("kind".to_owned()).or_insert_with(|| Value::from("Validation"));
            members.entry("apiVersion".to_owned()).or_insert_with(|| Value::from("validation/v1"));
        }
        let invalid = |reason: String| {
            let detail = format!("must result in valid metadata: {reason}");
            vec![FieldError::invalid(path, BadValue::new(default, self.release), detail)]
        };
        if let Err(e) = coerce(&mut whole, context.resource, true, false, &ROOT, &mut Unknown::new(false), self.release)
        {
            return invalid(e.to_string());
        }
        let errors = embedded::validate(&whole, context.resource, true, &ROOT, self.release);
        if !errors.is_empty() {
            return invalid(aggregate(errors.iter().map(ToString::to_string)));
        }
        validate::validate(default, node, path, self.release)
    }

    /// The errors of any other default. Unknown fields are reported, and rules are evaluated nevertheless.
    fn elsewhere(&mut self, default: &Value, node: &SchemaNode, is_resource: bool, path: &FieldPath<'_>) -> ErrorList {
        if self.pruned {
            let mut rest = default.clone();
            prune(&mut rest, Some(node), is_resource, &mut Unknown::new(false));
            if rest != *default {
                self.errors.push(FieldError::invalid(
                    path,
                    BadValue::new(default, self.release),
                    "must not have unknown fields",
                ));
            }
        }
        let mut coerced = default.clone();
        if let Err(e) = coerce(&mut coerced, node, is_resource, false, path, &mut Unknown::new(false), self.release) {
            return vec![e];
        }
        let errors = embedded::validate(&coerced, node, is_resource, path, self.release);
        if errors.is_empty() { validate::validate(&coerced, node, path, self.release) } else { errors }
    }

    fn rules(&mut self, schema: &Schema, default: &Value, is_resource: bool, path: &FieldPath<'_>) -> Result<(), Stop> {
        let Some(rules) = Rules::of_node(schema, is_resource, self.release) else { return Ok(()) };
        let (errors, left) = rules.evaluate_default(default, path, self.budget, &self.steps);
        self.errors.extend(errors);
        self.budget = left;
        if left < 0 { Err(Stop) } else { Ok(()) }
    }
}

/// Returns true if any default of a structural schema has unknown fields; false if a default cannot be checked.
pub(crate) fn has_unpruned(root: &Schema, release: Release) -> bool {
    let has_default = root.any(&mut |s| s.default.is_some());
    has_default
        && structural::is_structural(root, release)
        && !is_unservable(root)
        && changes_any(&SchemaNode::compile(root, Dialect::Defaults, release), release)
}
