//! The tree of schema nodes that have rules, and of their ancestors.

use super::{
    compile::{Compiled, NodeType, compile},
    decl::{Declarations, ROOT},
    escape::escape,
};
use crate::schema::{Schema, ValidationRule};
use crdx_cel::env::BaseEnv;
use crdx_value::release::Release;
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
};

#[derive(Debug)]
pub(super) struct RuleTreeNode {
    pub type_: String,
    /// The rules of the node.
    pub rules: Vec<ValidationRule>,
    /// The CEL type of the node.
    pub cel_type: NodeType,
    /// True if the members of old and new objects are correlated.
    pub correlatable: bool,
    /// The keys that correlate items; empty if items are not correlated.
    pub map_keys: Vec<String>,
    pub items: Option<Box<RuleTreeNode>>,
    pub additional: Option<Box<RuleTreeNode>>,
    pub properties: BTreeMap<String, RuleTreeNode>,
    /// The schema, for resolving field paths.
    schema: Option<Box<Schema>>,
    compiled: OnceLock<Vec<Compiled>>,
}

/// The tree of a schema; `None` if the schema has no rules.
pub(super) fn tree(schema: &Schema, resource: bool, release: Release) -> Option<RuleTreeNode> {
    if !has_rules(schema) {
        return None;
    }
    node(schema, &cel_type(schema, resource, release))
}

/// The CEL type of a schema, declared independently.
pub fn cel_type(schema: &Schema, resource: bool, release: Release) -> NodeType {
    let mut declarations = Declarations::new(release);
    let decl = declarations.declare(schema, resource, ROOT);
    NodeType { release, decl, objects: Arc::new(declarations.objects), path: ROOT.to_owned() }
}

fn node(schema: &Schema, node_type: &NodeType) -> Option<RuleTreeNode> {
    let elements = |child: &Schema| node(child, &node_type.elements()).map(Box::new);
    let items = schema.items_schema().filter(|child| has_rules(child)).and_then(elements);
    let additional = schema.additional_properties_schema().filter(|child| has_rules(child)).and_then(elements);
    let mut properties = BTreeMap::new();
    for (name, child) in schema.properties.iter().filter(|(_, child)| has_rules(child)) {
        let child_type = match escape(name) {
            // Rules of nodes without a CEL type are not evaluated.
            Some(escaped) => node_type.property(&escaped),
            None => Some(cel_type(child, child.x_embedded_resource, node_type.release))
                .filter(|cel_type| cel_type.decl.is_some()),
        };
        if let Some(child) = child_type.and_then(|cel_type| node(child, &cel_type)) {
            properties.insert(name.clone(), child);
        }
    }
    if schema.x_validations.is_empty() && items.is_none() && additional.is_none() && properties.is_empty() {
        return None;
    }
    let is_map_list = schema.type_ == "array" && schema.x_list_type.as_deref() == Some("map");
    let has_field_path = schema.x_validations.iter().any(|rule| !rule.field_path.is_empty());
    Some(RuleTreeNode {
        type_: schema.type_.clone(),
        rules: schema.x_validations.clone(),
        cel_type: node_type.clone(),
        correlatable: matches!(schema.x_map_type.as_deref(), None | Some("granular" | "atomic")),
        map_keys: if is_map_list { schema.x_list_map_keys.clone() } else { Vec::new() },
        items,
        additional,
        properties,
        schema: has_field_path.then(|| Box::new(schema.clone())),
        compiled: OnceLock::new(),
    })
}

impl RuleTreeNode {
    /// The rules, compiled on first use with the environment for stored expressions, which has all libraries.
    pub fn compiled(&self, release: Release) -> &[Compiled] {
        self.compiled.get_or_init(|| {
            let base = BaseEnv::for_stored(release);
            let empty = Schema::default();
            let schema = self.schema.as_deref().unwrap_or(&empty);
            self.rules.iter().map(|rule| compile(rule, schema, &self.cel_type, (&base, &base))).collect()
        })
    }
}

/// Returns true if a node or its descendants have rules that the server evaluates.
fn has_rules(schema: &Schema) -> bool {
    !schema.x_validations.is_empty()
        || schema.items_schema().is_some_and(has_rules)
        || schema.additional_properties_schema().is_some_and(has_rules)
        || schema.properties.values().any(|s| has_rules(s))
}
