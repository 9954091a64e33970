//! The constraints of a schema, in a tree with the structure of the schema.

use super::{Constraint, ConstraintKind};
use crdx_server::pipeline::compiled::{Dialect, SchemaNode as Compiled};
use crdx_server::pipeline::validate::validate;
use crdx_server::rules::cel_type;
use crdx_server::rules::compile::NodeType;
use crdx_server::rules::escape::escape;
use crdx_server::schema::Schema;
use crdx_value::field::ROOT;
use crdx_value::release::Release;
use crdx_value::{Value, json, print};
use std::collections::{BTreeMap, HashMap};

/// A node of a schema with constraints in it or below it.
#[derive(Debug, Default)]
pub struct ConstraintNode {
    /// The indices of the node's constraints, each with a schema that contains only this constraint.
    checks: Vec<(usize, Compiled)>,
    properties: BTreeMap<String, ConstraintNode>,
    items: Option<Box<ConstraintNode>>,
    additional: Option<Box<ConstraintNode>>,
}

/// The constraints collected so far.
struct TreeBuilder<'b> {
    release: Release,
    constraints: &'b mut Vec<Constraint>,
    rules: &'b mut HashMap<(String, usize), usize>,
}

/// Builds the tree of a schema; fills `constraints`, and `rules` with the indices of rules.
pub fn build(
    schema: &Schema,
    release: Release,
    constraints: &mut Vec<Constraint>,
    rules: &mut HashMap<(String, usize), usize>,
) -> ConstraintNode {
    TreeBuilder { release, constraints, rules }.node(schema, Some(&cel_type(schema, true, release)), "", "")
}

impl TreeBuilder<'_> {
    fn node(&mut self, schema: &Schema, node_type: Option<&NodeType>, path: &str, keyword: &str) -> ConstraintNode {
        let mut node = ConstraintNode::default();
        self.rules(schema, node_type, path, keyword);
        for (kind, name, text, only) in constraints(schema) {
            let index = self.add(kind, path, &join(keyword, name), text);
            node.checks.push((index, Compiled::compile(&only, Dialect::Objects, self.release)));
        }
        for (name, child) in &schema.properties {
            let below = node_type.and_then(|node_type| node_type.property(&escape(name)?));
            let keyword = join(keyword, &format!("properties.{name}"));
            let child = self.node(child, below.as_ref(), &join(path, name), &keyword);
            node.properties.insert(name.clone(), child);
        }
        let elements = node_type.map(NodeType::elements);
        let path = format!("{path}[*]");
        if let Some(child) = schema.items_schema() {
            node.items = Some(Box::new(self.node(child, elements.as_ref(), &path, &join(keyword, "items"))));
        }
        if let Some(child) = schema.additional_properties_schema() {
            let keyword = join(keyword, "additionalProperties");
            node.additional = Some(Box::new(self.node(child, elements.as_ref(), &path, &keyword)));
        }
        node
    }

    fn rules(&mut self, schema: &Schema, node_type: Option<&NodeType>, path: &str, keyword: &str) {
        for (index, rule) in schema.x_validations.iter().enumerate() {
            let text = if rule.message.trim().is_empty() { &rule.rule } else { &rule.message };
            let keyword_path = join(keyword, &format!("x-kubernetes-validations[{index}]"));
            let constraint = self.add(ConstraintKind::Rule, path, &keyword_path, text.trim().to_owned());
            if let Some(node_type) = node_type {
                self.rules.insert((node_type.path.clone(), index), constraint);
            }
        }
    }

    fn add(&mut self, kind: ConstraintKind, path: &str, keyword_path: &str, text: String) -> usize {
        let (path, keyword_path) = (path.to_owned(), keyword_path.to_owned());
        self.constraints.push(Constraint { path, keyword_path, kind, text, passed: 0, failed: 0 });
        self.constraints.len() - 1
    }
}

fn join(above: &str, name: &str) -> String {
    if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") }
}

/// The field of a size limit.
type Limit = fn(&mut Schema) -> &mut Option<i64>;

/// Returns the constraints of a node except rules: each with its keyword, a text, and a schema that contains only this
/// constraint.
fn constraints(schema: &Schema) -> Vec<(ConstraintKind, &'static str, String, Schema)> {
    let mut all = Vec::new();
    let mut add = |kind, keyword: &'static str, text: String, change: &dyn Fn(&mut Schema)| {
        let mut only = Schema::default();
        change(&mut only);
        all.push((kind, keyword, format!("{keyword}{}{text}", if text.is_empty() { "" } else { " " }), only));
    };
    if !schema.enum_.is_empty() {
        let values: Vec<String> = schema.enum_.iter().map(print::format_v).collect();
        add(ConstraintKind::Enum, "enum", values.join(", "), &|only| only.enum_.clone_from(&schema.enum_));
    }
    if !schema.pattern.is_empty() {
        add(ConstraintKind::Pattern, "pattern", schema.pattern.clone(), &|only| {
            only.pattern.clone_from(&schema.pattern);
        });
    }
    let number = |x: f64| json::to_string(&Value::Float(x));
    if let Some(minimum) = schema.minimum {
        let text = if schema.exclusive_minimum { format!("{} (exclusive)", number(minimum)) } else { number(minimum) };
        add(ConstraintKind::Bound, "minimum", text, &|only| {
            only.minimum = Some(minimum);
            only.exclusive_minimum = schema.exclusive_minimum;
        });
    }
    if let Some(maximum) = schema.maximum {
        let text = if schema.exclusive_maximum { format!("{} (exclusive)", number(maximum)) } else { number(maximum) };
        add(ConstraintKind::Bound, "maximum", text, &|only| {
            only.maximum = Some(maximum);
            only.exclusive_maximum = schema.exclusive_maximum;
        });
    }
    if let Some(of) = schema.multiple_of {
        add(ConstraintKind::Bound, "multipleOf", number(of), &|only| only.multiple_of = Some(of));
    }
    // In the order of `Schema::sizes`.
    let fields: [Limit; 6] = [
        |s| &mut s.min_length,
        |s| &mut s.max_length,
        |s| &mut s.min_items,
        |s| &mut s.max_items,
        |s| &mut s.min_properties,
        |s| &mut s.max_properties,
    ];
    for ((keyword, limit), field) in schema.sizes().into_iter().zip(fields) {
        // A minimum of zero cannot be violated.
        if let Some(limit) = limit.filter(|limit| *limit > 0 || !keyword.starts_with("min")) {
            add(ConstraintKind::Bound, keyword, limit.to_string(), &|only| *field(only) = Some(limit));
        }
    }
    for name in &schema.required {
        add(ConstraintKind::Required, "required", name.clone(), &|only| only.required = vec![name.clone()]);
    }
    if !schema.one_of.is_empty() {
        add(ConstraintKind::Union, "oneOf", String::new(), &|only| only.one_of.clone_from(&schema.one_of));
    }
    // The server adds the union of int-or-string; it is not a constraint of the author.
    if !schema.any_of.is_empty() && !schema.x_int_or_string {
        add(ConstraintKind::Union, "anyOf", String::new(), &|only| only.any_of.clone_from(&schema.any_of));
    }
    if !schema.all_of.is_empty() && !schema.x_int_or_string {
        add(ConstraintKind::Union, "allOf", String::new(), &|only| only.all_of.clone_from(&schema.all_of));
    }
    if schema.not.is_some() {
        add(ConstraintKind::Union, "not", String::new(), &|only| only.not.clone_from(&schema.not));
    }
    all
}

impl ConstraintNode {
    /// Evaluates the constraints that apply to `value` or to values inside it; a constraint holds if it holds
    /// everywhere.
    pub fn check(&self, value: &Value, release: Release, results: &mut HashMap<usize, bool>) {
        for (index, only) in &self.checks {
            if !value.is_null() {
                *results.entry(*index).or_insert(true) &= validate(value, only, &ROOT, release).is_empty();
            }
        }
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    if let Some(child) = self.properties.get(name).or(self.additional.as_deref()) {
                        child.check(value, release, results);
                    }
                }
            }
            Value::Array(items) => {
                if let Some(child) = &self.items {
                    for item in items {
                        child.check(item, release, results);
                    }
                }
            }
            _ => {}
        }
    }
}
