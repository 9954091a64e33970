//! Validates the schema of a version: allowed OpenAPI keywords, structure, defaults, list types and rules.

use super::options::{TYPES, ValidationOptions};
use super::rules::{self, Costs};
use super::{defaults, golang, lists, structural};
use crate::crd::Validation;
use crate::schema::{Items, Schema, SchemaOrBool, SchemaOrNames};
use crdx_value::field::{BoundedErrors, FieldError, FieldPath};
use crdx_value::release::Release;

/// Validates the `schema` of a version, or `validation`. `status` is true if the status subresource is enabled,
/// `unchanged` if the old CRD has the same schema.
pub fn validate(
    validation: &Validation,
    status: bool,
    options: &ValidationOptions,
    unchanged: bool,
    path: &FieldPath<'_>,
    errors: &mut BoundedErrors,
) {
    let Some(schema) = validation.schema.as_deref() else { return };
    let before = errors.len();
    if status {
        root_with_status(schema, path, options.release, errors);
    }
    if schema.nullable {
        let detail = "nullable cannot be true at the root";
        errors.push(FieldError::forbidden(&path.child("openAPIV3Schema.nullable"), detail));
    }

    let schema_path = path.child("openAPIV3Schema");
    let unsupported = structural::unsupported(schema, options.release);
    let mut rules_can_run = false;
    if options.structural && unsupported.is_none() {
        let mut found = structural::validate(schema, &options.malformed, options.release, &schema_path);
        if found.is_empty() {
            found = defaults::validate_all(schema, options.pruned_defaults, options.release, &schema_path);
        }
        rules_can_run = found.is_empty();
        errors.extend(found);
    }

    let mut walk = SchemaValidator {
        options,
        supported: unsupported.is_none(),
        errors: BoundedErrors::default(),
        rule_errors: BoundedErrors::default(),
        costs: Costs::new(unchanged),
    };
    let context = NodeContext {
        root: true,
        defaults: Ok(()),
        in_metadata: false,
        uncorrelatable: None,
        rules: rules_can_run.then(|| rules::Scope::root(schema, options.release)),
    };
    walk.node(schema, &context, &schema_path);
    let SchemaValidator { errors: found, rule_errors, costs, .. } = walk;
    errors.extend(found.finish());
    errors.extend(rule_errors.finish());

    if let Some(reason) = unsupported.filter(|_| options.structural && errors.len() == before) {
        errors.push(FieldError::invalid(&schema_path, "", reason));
    }
    if rules_can_run {
        costs.check_total(&schema_path, errors);
    }
}

/// With the status subresource, the root must specify `status` in `properties`, and only few other keywords are
/// allowed.
fn root_with_status(s: &Schema, path: &FieldPath<'_>, release: Release, errors: &mut BoundedErrors) {
    const ALLOWED: &str = "[Description Type Format Title Maximum ExclusiveMaximum Minimum ExclusiveMinimum MaxLength MinLength Pattern MaxItems MinItems UniqueItems MultipleOf Required Items Properties ExternalDocs Example XPreserveUnknownFields XValidations]";
    let before_type = !s.id.is_empty() || !s.schema.is_empty() || s.reference.is_some();
    let after_type = s.nullable
        || s.default.is_some()
        || !s.enum_.is_empty()
        || s.max_properties.is_some()
        || s.min_properties.is_some()
        || !s.all_of.is_empty()
        || !s.one_of.is_empty()
        || !s.any_of.is_empty()
        || s.not.is_some()
        || s.additional_properties.is_some()
        || !s.pattern_properties.is_empty()
        || !s.dependencies.is_empty()
        || s.additional_items.is_some()
        || !s.definitions.is_empty()
        || s.x_embedded_resource
        || s.x_int_or_string
        || !s.x_list_map_keys.is_empty()
        || s.x_list_type.is_some()
        || s.x_map_type.is_some()
        || ["enum", "allOf", "oneOf", "anyOf", "patternProperties", "dependencies", "definitions"]
            .iter()
            .any(|name| s.empty.has(name))
        || s.empty.has("x-kubernetes-list-map-keys");
    // Only the first error in field order is reported.
    if !before_type && !s.type_.is_empty() && s.type_ != "object" {
        let detail =
            r#"only "object" is allowed as the type at the root of the schema if the status subresource is enabled"#;
        errors.push(FieldError::invalid(&path.child("openAPIV3Schema.type"), s.type_.as_str(), detail));
    } else if before_type || after_type {
        let detail =
            format!("only {ALLOWED} fields are allowed at the root of the schema if the status subresource is enabled");
        errors.push(FieldError::invalid(&path.child("openAPIV3Schema"), golang::schema(s, release), detail));
    }
}

struct SchemaValidator<'o> {
    options: &'o ValidationOptions,
    /// True if the root, and thus every node, can be converted to a structural schema.
    supported: bool,
    errors: BoundedErrors,
    rule_errors: BoundedErrors,
    costs: Costs,
}

/// The context of a node that depends on its position in the schema.
#[derive(Clone)]
struct NodeContext<'a> {
    root: bool,
    /// An error if defaults are forbidden, with the reason.
    defaults: Result<(), &'a str>,
    /// True inside metadata, and for apiVersion and kind.
    in_metadata: bool,
    /// The outermost ancestor below which old and new values cannot be correlated.
    uncorrelatable: Option<&'a FieldPath<'a>>,
    /// The scope for compiling rules; `None` if rules are not allowed.
    rules: Option<rules::Scope<'a>>,
}

impl<'a> NodeContext<'a> {
    fn inner(&self) -> Self {
        NodeContext { root: false, ..self.clone() }
    }
    /// The context of nodes under a logical junctor, where rules are not allowed.
    fn without_rules(&self) -> Self {
        NodeContext { root: false, rules: None, ..self.clone() }
    }
    fn forbid_old_self(&mut self, path: &'a FieldPath<'a>) {
        self.uncorrelatable = self.uncorrelatable.or(Some(path));
    }
}

impl SchemaValidator<'_> {
    fn node(&mut self, s: &Schema, context: &NodeContext<'_>, path: &FieldPath<'_>) {
        let before = self.errors.len();
        self.forbidden(s, context, path);
        if s.unique_items {
            let detail = "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
            self.errors.push(FieldError::forbidden(&path.child("uniqueItems"), detail));
        }
        self.additional_properties(s, context, path);
        self.properties(s, context, path);
        self.junctors(s, &context.without_rules(), path);
        self.items(s, context, path);
        if s.x_preserve_unknown_fields == Some(false) {
            let path = path.child("x-kubernetes-preserve-unknown-fields");
            self.errors.push(FieldError::invalid(&path, false, "must be true or undefined"));
        }
        lists::validate(s, self.options, path, &mut self.errors);
        if s.x_validations.is_empty() {
            return;
        }
        rules::texts(s, self.supported, path, self.options.release, &mut self.errors);
        // Rules are not compiled if the schema has an error at this node or below.
        if let Some(scope) = &context.rules
            && self.errors.len() == before
        {
            rules::expressions(
                s,
                scope,
                self.options,
                context.uncorrelatable,
                path,
                &mut self.costs,
                &mut self.rule_errors,
            );
        }
    }

    /// Reports keywords that OpenAPI allows but CRDs do not.
    fn forbidden(&mut self, s: &Schema, context: &NodeContext<'_>, path: &FieldPath<'_>) {
        if self.options.valid_types && !s.type_.is_empty() && !TYPES.contains(&s.type_.as_str()) {
            self.errors.push(FieldError::not_supported(&path.child("type"), s.type_.as_str(), &TYPES));
        }
        let mut forbid = |name: &str, detail: &str, present: bool| {
            if present {
                self.errors.push(FieldError::forbidden(&path.child(name), detail));
            }
        };
        if let Err(reason) = context.defaults {
            forbid("default", &format!("must not be set {reason}"), s.default.is_some());
        }
        forbid("id", "id is not supported", !s.id.is_empty());
        forbid("additionalItems", "additionalItems is not supported", s.additional_items.is_some());
        forbid("patternProperties", "patternProperties is not supported", !s.pattern_properties.is_empty());
        forbid("definitions", "definitions is not supported", !s.definitions.is_empty());
        let dependencies = !s.dependencies.is_empty() || s.empty.has("dependencies");
        forbid("dependencies", "dependencies is not supported", dependencies);
        forbid("$ref", "$ref is not supported", s.reference.is_some());
        forbid("type", "type cannot be set to null, use nullable as an alternative", s.type_ == "null");
        let many_items = matches!(&s.items, Some(Items::Schemas(many)) if !many.is_empty());
        forbid("items", "items must be a schema object and not an array", many_items);
        let embedded = context.in_metadata && s.x_embedded_resource;
        forbid("x-kubernetes-embedded-resource", "must not be used inside of resource meta", embedded);
    }

    fn additional_properties(&mut self, s: &Schema, context: &NodeContext<'_>, path: &FieldPath<'_>) {
        let Some(additional) = &s.additional_properties else { return };
        let path = path.child("additionalProperties");
        if !s.properties.is_empty() && *additional != SchemaOrBool::Bool(true) {
            let detail = "additionalProperties and properties are mutual exclusive";
            self.errors.push(FieldError::forbidden(&path, detail));
        }
        let SchemaOrBool::Schema(schema) = additional else { return };
        let mut inner = context.inner();
        if context.in_metadata {
            inner.defaults = Err("inside additionalProperties applying to object metadata");
        }
        inner.rules = context.rules.as_ref().map(|scope| scope.elements(s, schema));
        self.node(schema, &inner, &path);
    }

    fn properties(&mut self, s: &Schema, context: &NodeContext<'_>, path: &FieldPath<'_>) {
        if s.properties.is_empty() {
            return;
        }
        let properties = path.child("properties");
        let correlatable = s.x_map_type.as_deref().is_none_or(|t| matches!(t, "granular" | "atomic"));
        for (name, property) in &s.properties {
            let mut inner = context.inner();
            if !correlatable {
                inner.forbid_old_self(path);
            }
            let reason;
            if (context.root || s.x_embedded_resource) && matches!(name.as_str(), "metadata" | "kind" | "apiVersion") {
                inner.in_metadata = true;
                if context.root {
                    reason = format!("in top-level {name}");
                    inner.defaults = Err(&reason);
                }
            }
            inner.rules = context.rules.as_ref().map(|scope| scope.property(s, name, property));
            self.node(property, &inner, &properties.key(name));
        }
    }

    fn junctors(&mut self, s: &Schema, context: &NodeContext<'_>, path: &FieldPath<'_>) {
        if let Some(not) = &s.not {
            self.node(not, context, &path.child("not"));
        }
        for (name, branches) in [("allOf", &s.all_of), ("oneOf", &s.one_of), ("anyOf", &s.any_of)] {
            let path = path.child(name);
            for (i, branch) in branches.iter().enumerate() {
                self.node(branch, context, &path.index(i));
            }
        }
        let definitions = path.child("definitions");
        for (name, definition) in &s.definitions {
            self.node(definition, context, &definitions.key(name));
        }
        let dependencies = path.child("dependencies");
        for (name, dependency) in &s.dependencies {
            if let SchemaOrNames::Schema(dependency) = dependency {
                self.node(dependency, context, &dependencies.key(name));
            }
        }
    }

    fn items(&mut self, s: &Schema, context: &NodeContext<'_>, path: &FieldPath<'_>) {
        let Some(items) = &s.items else { return };
        let mut inner = context.inner();
        if s.x_list_type.as_deref() != Some("map") {
            inner.forbid_old_self(path);
        }
        let path = path.child("items");
        match items {
            Items::Schema(items) => {
                inner.rules = context.rules.as_ref().map(|scope| scope.elements(s, items));
                self.node(items, &inner, &path);
            }
            Items::Schemas(many) => {
                inner.rules = None;
                for (i, items) in many.iter().enumerate() {
                    self.node(items, &inner, &path.index(i));
                }
            }
        }
    }
}
