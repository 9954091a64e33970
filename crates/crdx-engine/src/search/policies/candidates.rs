//! Changes of a valid object where the expressions of policies read it.

use crate::examples::changes::{Changes, first_of_error};
use crate::examples::vocabulary::Vocabulary;
use crate::schema_steps::{SchemaStep, below_mut, steps_below};
use crdx_server::schema::{Schema, ValidationRule};
use crdx_value::Value;
use std::collections::BTreeSet;

/// The maximum depth of a node that expressions read.
const MAX_DEPTH: usize = 12;
/// The maximum number of nodes of an object that are changed.
const MAX_NODES: usize = 64;
/// The maximum number of changes at each of them.
const MAX_CHANGES: usize = 400;

/// The schema of a kind, with the expressions of the policies as rules of each node that they may read.
pub struct Candidates {
    schema: Schema,
    names: BTreeSet<String>,
}

impl Candidates {
    pub fn new<'e>(schema: &Schema, expressions: impl IntoIterator<Item = &'e String>) -> Self {
        let rule = |rule: &String| ValidationRule { rule: rule.clone(), ..ValidationRule::default() };
        let rules: Vec<ValidationRule> = expressions.into_iter().map(rule).collect();
        let mut schema = schema.clone();
        schema.x_validations.clone_from(&rules);
        let names = Vocabulary::from_schema(&schema).names;
        add_rules(&mut schema, &names, &rules, MAX_DEPTH);
        Self { schema, names }
    }

    /// Returns changes of values that the expressions may read, at the root and at each object below it.
    pub fn at_each<'o>(&'o self, object: &'o Value) -> impl Iterator<Item = Vec<Changes>> + 'o {
        self.paths(object).into_iter().map(|path| self.at(object, &path))
    }

    /// Returns the paths of the objects that the expressions may read; the root comes first.
    pub fn paths(&self, object: &Value) -> Vec<Vec<String>> {
        let mut paths = vec![Vec::new()];
        self.nodes(object, &mut Vec::new(), &mut paths);
        paths
    }

    /// Returns changes of values that the expressions may read, at a path and above it.
    pub fn at(&self, object: &Value, path: &[String]) -> Vec<Changes> {
        first_of_error(&self.schema, object, path, MAX_CHANGES)
    }

    fn nodes(&self, value: &Value, path: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
        if paths.len() >= MAX_NODES {
            return;
        }
        let mut inner = |name: String, value: &Value| {
            path.push(name);
            if value.as_object().is_some() {
                paths.push(path.clone());
            }
            self.nodes(value, path, paths);
            path.pop();
        };
        match value {
            Value::Object(members) => {
                for (name, value) in members.iter().filter(|(name, _)| self.names.contains(*name)) {
                    inner(name.clone(), value);
                }
            }
            Value::Array(items) => {
                for (index, value) in items.iter().enumerate().take(2) {
                    inner(index.to_string(), value);
                }
            }
            _ => {}
        }
    }
}

/// Adds the rules to the nodes below that are reached by names of the expressions, and by items and values.
fn add_rules(schema: &mut Schema, names: &BTreeSet<String>, rules: &[ValidationRule], depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return };
    let is_read = |step: &SchemaStep| !matches!(step, SchemaStep::Property(name) if !names.contains(name));
    let steps: Vec<SchemaStep> = steps_below(schema).into_iter().map(|(step, _)| step).filter(is_read).collect();
    for step in steps {
        if let Some(node) = below_mut(schema, &step) {
            node.x_validations = rules.to_vec();
            add_rules(node, names, rules, depth);
        }
    }
}
