//! The nodes at which two schemas differ.

use crate::schema_steps::{SchemaStep, below, steps_below};
use crdx_server::schema::Schema;

/// The maximum number of nodes.
const MAX_NODES: usize = 400;

/// A node that differs.
#[derive(Clone, Debug)]
pub struct DifferingNode<'s> {
    /// The steps from the root.
    pub steps: Vec<SchemaStep>,
    /// The node in the old schema, if it exists there.
    pub old: Option<&'s Schema>,
    /// The node in the new schema, if it exists there.
    pub new: Option<&'s Schema>,
}

/// Returns the nodes that differ, apart from the differences in nodes below them.
pub fn nodes<'s>(old: &'s Schema, new: &'s Schema) -> Vec<DifferingNode<'s>> {
    let mut found = Vec::new();
    walk(old, new, &mut Vec::new(), &mut found);
    found
}

fn walk<'s>(old: &'s Schema, new: &'s Schema, steps: &mut Vec<SchemaStep>, found: &mut Vec<DifferingNode<'s>>) {
    if old == new || found.len() >= MAX_NODES {
        return;
    }
    if without_children(old) != without_children(new) {
        found.push(DifferingNode { steps: steps.clone(), old: Some(old), new: Some(new) });
    }
    for (step, node) in steps_below(old) {
        let after = below(new, &step);
        steps.push(step);
        match after {
            Some(after) => walk(node, after, steps, found),
            None => found.push(DifferingNode { steps: steps.clone(), old: Some(node), new: None }),
        }
        steps.pop();
    }
    for (step, node) in steps_below(new) {
        if below(old, &step).is_none() {
            steps.push(step);
            found.push(DifferingNode { steps: steps.clone(), old: None, new: Some(node) });
            steps.pop();
        }
    }
}

/// Returns a node without the nodes below it and without documentation.
pub fn without_children(node: &Schema) -> Schema {
    let mut own = Schema { properties: std::collections::BTreeMap::new(), items: None, ..shallow(node) };
    if own.additional_properties.is_some() && node.additional_properties_schema().is_some() {
        own.additional_properties = None;
    }
    own
}

/// Copies a node; its children are copied only where a keyword other than `properties` and `items` has them.
fn shallow(node: &Schema) -> Schema {
    let mut copy = node.clone();
    for text in [&mut copy.id, &mut copy.schema, &mut copy.description, &mut copy.title] {
        text.clear();
    }
    copy.external_docs = None;
    copy.example = None;
    copy
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema_steps::value_path;
    use crdx_text::yaml;

    fn paths(old: &str, new: &str) -> Vec<String> {
        let read = |text: &str| Schema::from_value(&yaml::read(text.as_bytes()).unwrap()).unwrap();
        nodes(&read(old), &read(new)).iter().map(|node| value_path(&node.steps)).collect()
    }

    #[test]
    fn only_the_node_itself_differs() {
        let old =
            "{type: object, properties: {a: {type: array, items: {type: string, maxLength: 3}}, b: {type: string}}}";
        let new =
            "{type: object, properties: {a: {type: array, items: {type: string, maxLength: 2}}, c: {type: string}}}";
        assert_eq!(paths(old, new), ["a[*]", "b", "c"]);
    }

    #[test]
    fn documentation_is_no_difference() {
        assert_eq!(paths("{type: object, description: a}", "{type: object, description: b, title: c}"), [""; 0]);
    }
}
