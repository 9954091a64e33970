//! Validates `x-kubernetes-validations` in a CRD: the texts of rules, their compilation and their estimated cost.

use super::golang;
use super::options::ValidationOptions;
use super::structural;
use crate::rules::compile::{NO_TYPE, NodeType, compile};
use crate::rules::escape::escape;
use crate::rules::node::most_children;
use crate::rules::{cel_type, field_path};
use crate::schema::Schema;
use crdx_cel::env::BaseEnv;
use crdx_value::field::{BoundedErrors, FieldError, FieldPath};
use crdx_value::release::{Release, V1_34};
use std::cell::OnceCell;

/// The maximum estimated cost of one expression.
pub const EXPRESSION_COST_LIMIT: u64 = 10_000_000;
/// The maximum estimated cost of all expressions of a schema.
pub const SCHEMA_COST_LIMIT: u64 = 100_000_000;

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// Validates the rules of one node as far as possible without compilation. `supported` is true if the schema can be
/// converted to a structural schema.
pub fn texts(s: &Schema, supported: bool, path: &FieldPath<'_>, release: Release, errors: &mut BoundedErrors) {
    // Before 1.34 these messages contained the name of the field.
    let named =
        |field: &str, text: &str| if release.since(V1_34) { text.to_owned() } else { format!("{field} {text}") };
    let path = path.child("x-kubernetes-validations");
    for (i, rule) in s.x_validations.iter().enumerate() {
        let path = path.index(i);
        let message = rule.message.trim();
        let has_newline = |text: &str| text.contains(['\n', '\r']);
        if rule.rule.trim().is_empty() {
            errors.push(FieldError::required(&path.child("rule"), "rule is not specified"));
        } else if !rule.message.is_empty() && message.is_empty() {
            let detail = named("message", "must be non-empty if specified");
            errors.push(FieldError::invalid(&path.child("message"), rule.message.as_str(), detail));
        } else if has_newline(message) {
            let detail = named("message", "must not contain line breaks");
            errors.push(FieldError::invalid(&path.child("message"), rule.message.as_str(), detail));
        } else if has_newline(rule.rule.trim()) && message.is_empty() {
            let detail = "message must be specified if rule contains line breaks";
            errors.push(FieldError::required(&path.child("message"), detail));
        }
        if !rule.message_expression.is_empty() && rule.message_expression.trim().is_empty() {
            let detail = "messageExpression must be non-empty if specified";
            errors.push(FieldError::required(&path.child("messageExpression"), detail));
        }
        if let Some(reason) = rule.reason.as_deref().filter(|r| !REASONS.contains(r)) {
            let shown = golang::text(reason, release);
            errors.push(FieldError::not_supported(&path.child("reason"), shown, &REASONS));
        }
        if rule.field_path.is_empty() {
            continue;
        }
        let path = path.child("fieldPath");
        let mut invalid = |detail: &str| {
            errors.push(FieldError::invalid(&path, rule.field_path.as_str(), named("fieldPath", detail)));
        };
        if rule.field_path.trim().is_empty() {
            invalid("must be non-empty if specified");
        }
        if has_newline(&rule.field_path) {
            invalid("must not contain line breaks");
        }
        let checked = supported || structural::unsupported(s, release).is_none();
        if checked && field_path::follow(&rule.field_path, s, true).is_err() {
            invalid("must be a valid path");
        }
    }
}

/// A schema node in which rules can be compiled.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    release: Release,
    parent: Option<&'a Scope<'a>>,
    /// The step from the parent node.
    step: ScopeStep<'a>,
    schema: &'a Schema,
    /// The maximum number of occurrences of the node in an object; `None` if unbounded.
    cardinality: Option<u64>,
    /// True if this node or an ancestor has rules.
    within: bool,
    /// The CEL type of the node, computed on first use.
    cel_type: OnceCell<Option<NodeType>>,
}

#[derive(Clone, Copy, Debug)]
enum ScopeStep<'a> {
    Root,
    Property(&'a str),
    Elements,
}

impl<'a> Scope<'a> {
    /// The scope of the root of a schema.
    pub fn root(schema: &'a Schema, release: Release) -> Self {
        let within = !schema.x_validations.is_empty();
        Scope {
            release,
            parent: None,
            step: ScopeStep::Root,
            schema,
            cardinality: Some(1),
            within,
            cel_type: OnceCell::new(),
        }
    }
    /// The scope of a property.
    pub fn property(&'a self, parent: &Schema, name: &'a str, schema: &'a Schema) -> Self {
        self.child(parent, ScopeStep::Property(name), schema)
    }
    /// The scope of the items of a list or the values of a map.
    pub fn elements(&'a self, parent: &Schema, schema: &'a Schema) -> Self {
        self.child(parent, ScopeStep::Elements, schema)
    }
    fn child(&'a self, parent: &Schema, step: ScopeStep<'a>, schema: &'a Schema) -> Self {
        let children = most_children(parent);
        let cardinality = self.cardinality.zip(children).map(|(outer, children)| outer.saturating_mul(children));
        let within = self.within || !schema.x_validations.is_empty();
        Scope {
            release: self.release,
            parent: Some(self),
            step,
            schema,
            cardinality,
            within,
            cel_type: OnceCell::new(),
        }
    }

    /// The maximum number of occurrences of the node in an object; `None` if unbounded.
    pub fn cardinality(&self) -> Option<u64> {
        self.cardinality
    }

    /// The CEL type of the node: derived from the parent's type if an ancestor has rules, otherwise declared
    /// independently. `None` if the node has no type.
    pub fn cel_type(&self) -> Option<&NodeType> {
        let find = || {
            let from_parent = match self.parent.filter(|parent| parent.within) {
                Some(parent) => {
                    let above = parent.cel_type()?;
                    match self.step {
                        ScopeStep::Root => None,
                        ScopeStep::Property(name) => escape(name).and_then(|name| above.property(&name)),
                        ScopeStep::Elements => Some(above.elements()),
                    }
                }
                None => None,
            };
            from_parent.or_else(|| {
                let resource = self.parent.is_none() || self.schema.x_embedded_resource;
                Some(cel_type(self.schema, resource, self.release)).filter(|cel_type| cel_type.decl.is_some())
            })
        };
        self.cel_type.get_or_init(find).as_ref()
    }
}

/// The accumulated costs of a schema's expressions.
#[derive(Debug)]
pub struct Costs {
    /// True if the old CRD has the same schema; individual expressions may then exceed the limit.
    unchanged: bool,
    total: u64,
    most_expensive: Vec<(u64, String)>,
}

impl Costs {
    /// Starts without costs.
    pub fn new(unchanged: bool) -> Self {
        Self { unchanged, total: 0, most_expensive: Vec::new() }
    }

    /// Adds the cost of an expression, and reports it if it exceeds the limit.
    pub fn add(&mut self, what: &str, cost: u64, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
        if !self.unchanged && cost > EXPRESSION_COST_LIMIT {
            errors.push(FieldError::forbidden(path, too_expensive(what, cost, EXPRESSION_COST_LIMIT)));
        }
        self.total = self.total.saturating_add(cost);
        if cost >= SCHEMA_COST_LIMIT / 100 {
            self.most_expensive.push((cost, path.to_string()));
            self.most_expensive.sort_by_key(|(cost, _)| std::cmp::Reverse(*cost));
            self.most_expensive.truncate(4);
        }
    }

    /// Reports the total cost of all expressions if it exceeds the limit.
    pub(crate) fn check_total(&self, path: &FieldPath<'_>, errors: &mut BoundedErrors) {
        if self.total <= SCHEMA_COST_LIMIT {
            return;
        }
        for (_, field) in &self.most_expensive {
            let detail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
            let mut error = FieldError::forbidden(path, detail);
            error.field.clone_from(field);
            errors.push(error);
        }
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        errors.push(FieldError::forbidden(path, too_expensive(what, self.total, SCHEMA_COST_LIMIT)));
    }
}

fn too_expensive(what: &str, cost: u64, limit: u64) -> String {
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

/// Compiles and validates the rules of one node.
pub fn expressions(
    s: &Schema,
    scope: &Scope<'_>,
    options: &ValidationOptions,
    uncorrelatable: Option<&FieldPath<'_>>,
    path: &FieldPath<'_>,
    costs: &mut Costs,
    errors: &mut BoundedErrors,
) {
    let path = path.child("x-kubernetes-validations");
    let Some(cel_type) = scope.cel_type() else {
        let detail = "internal error: failed to construct type information for x-kubernetes-validations rules: \
                      unable to convert structural schema to CEL declarations";
        errors.push(FieldError::internal(&path, detail));
        return;
    };
    if cel_type.decl.is_none() {
        errors.push(FieldError::internal(&path, NO_TYPE));
        return;
    }
    // Expressions of the old CRD may use every library, new expressions only those of the compatibility version, which
    // is one minor version earlier.
    let (preexisting, release) = (&options.preexisting, options.release);
    let base = |known: bool| if known { BaseEnv::for_stored(release) } else { BaseEnv::for_new(release) };
    for (i, rule) in s.x_validations.iter().enumerate() {
        let rule_base = base(preexisting.rules.contains(&rule.rule));
        let message_base = base(preexisting.message_expressions.contains(&rule.message_expression));
        let compiled = compile(rule, s, cel_type, (&rule_base, &message_base));
        let path = path.index(i);
        let rule_path = path.child("rule");
        let cardinality = scope.cardinality.unwrap_or(compiled.max_cardinality);
        costs.add("estimated rule cost", compiled.max_cost.saturating_mul(cardinality), &rule_path, errors);
        if let Some(error) = &compiled.error {
            errors.push(FieldError::invalid(&rule_path, golang::rule(rule, release), error.as_str()));
        }
        let message_path = path.child("messageExpression");
        if let Some(error) = &compiled.message_error {
            errors.push(FieldError::invalid(&message_path, golang::rule(rule, release), error.as_str()));
        } else if compiled.message.is_some() {
            costs.add("estimated messageExpression cost", compiled.message_max_cost, &message_path, errors);
        }
        if compiled.uses_old_self {
            if let Some(within) = uncorrelatable {
                let detail =
                    format!("oldSelf cannot be used on the uncorrelatable portion of the schema within {within}");
                errors.push(FieldError::invalid(&rule_path, rule.rule.as_str(), detail));
            }
        } else if let Some(set) = rule.optional_old_self {
            let detail = "may not be set if oldSelf is not used in rule";
            errors.push(FieldError::invalid(&path.child("optionalOldSelf"), set, detail));
        }
    }
}
