//! Correlates the nodes of a new value with those of the old value, so that errors in unchanged nodes can be tolerated
//! (`k8s.io/apiserver/pkg/cel/common/{equality,maplist}.go`).
//!
//! Members that exist in both values and whose schema is known are correlated, as are items of map lists with equal
//! keys. An object with an unknown member is therefore not equal to anything, not even to itself. Items of other lists
//! are not correlated, and these lists are compared as a whole. Map lists are compared regardless of order.
//!
//! Pairs are created on demand and cache whether they are equal, so comparing at every level costs no more than
//! comparing once.

use super::Schema;
use crdx_value::Value;
use std::collections::HashMap;
use std::fmt::Write as _;

/// A pair of correlated nodes in a [`Correlation`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pair(u32);

/// The correlated nodes of two values, created on demand.
#[derive(Debug)]
pub struct Correlation<'a> {
    nodes: Vec<CorrelatedNode<'a>>,
    children: HashMap<(Pair, CorrelationStep<'a>), Pair>,
}

#[derive(Debug)]
struct CorrelatedNode<'a> {
    new: &'a Value,
    old: &'a Value,
    schema: &'a Schema,
    equal: Option<bool>,
    /// For a map list, its old items by key; built when an item is first looked up.
    old_by_key: Option<ByKeys<'a, 'a>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum CorrelationStep<'a> {
    Member(&'a str),
    Item(usize),
}

/// A composite key. An integer and a float are never the same key.
#[derive(Debug, PartialEq, Eq, Hash)]
enum MapKeyValue {
    Bool(bool),
    Int(i64),
    Float(u64),
    Text(String),
}

impl<'a> Correlation<'a> {
    /// Correlates two values at their roots.
    pub fn new(new: &'a Value, old: &'a Value, schema: &'a Schema) -> (Self, Pair) {
        let root = CorrelatedNode { new, old, schema, equal: None, old_by_key: None };
        (Self { nodes: vec![root], children: HashMap::new() }, Pair(0))
    }
    fn node(&self, pair: Pair) -> Option<&CorrelatedNode<'a>> {
        self.nodes.get(pair.0 as usize)
    }
    /// The old value of a pair.
    pub fn old(&self, pair: Pair) -> Option<&'a Value> {
        self.node(pair).map(|n| n.old)
    }
    /// The pair of a member, if both objects have it and its schema is known.
    pub fn key(&mut self, pair: Pair, name: &'a str) -> Option<Pair> {
        if let Some(known) = self.children.get(&(pair, CorrelationStep::Member(name))) {
            return Some(*known);
        }
        let child = self.node(pair).and_then(|n| {
            let schema = n.schema.property(name).or_else(|| n.schema.additional_properties_schema())?;
            Some((n.new.get(name)?, n.old.get(name)?, schema))
        });
        Some(self.add(pair, CorrelationStep::Member(name), child?))
    }
    /// The pair of an item of a map list, if the old list has an item with the same keys.
    pub fn index(&mut self, pair: Pair, index: usize) -> Option<Pair> {
        if let Some(known) = self.children.get(&(pair, CorrelationStep::Item(index))) {
            return Some(*known);
        }
        let node = self.nodes.get_mut(pair.0 as usize)?;
        let (Value::Array(new), Value::Array(old)) = (node.new, node.old) else { return None };
        if node.schema.x_list_type.as_deref() != Some("map") {
            return None;
        }
        let item = new.get(index)?;
        let schema = node.schema.items_schema()?;
        let keys = &node.schema.x_list_map_keys;
        let usable = if node.schema.type_ == "array" { keys.as_slice() } else { &[] };
        let old = node.old_by_key.get_or_insert_with(|| find_by_keys(old, usable)).get(item)?;
        Some(self.add(pair, CorrelationStep::Item(index), (item, old, schema)))
    }
    fn add(
        &mut self,
        parent: Pair,
        step: CorrelationStep<'a>,
        (new, old, schema): (&'a Value, &'a Value, &'a Schema),
    ) -> Pair {
        let pair = Pair(self.nodes.len() as u32);
        self.nodes.push(CorrelatedNode { new, old, schema, equal: None, old_by_key: None });
        self.children.insert((parent, step), pair);
        pair
    }
    /// Returns true if the new and old values are equal.
    pub fn is_equal(&mut self, pair: Pair) -> bool {
        let Some(node) = self.node(pair) else { return false };
        if let Some(known) = node.equal {
            return known;
        }
        let (new, old, schema) = (node.new, node.old, node.schema);
        let equal = self.compare(pair, new, old, schema);
        if let Some(node) = self.nodes.get_mut(pair.0 as usize) {
            node.equal = Some(equal);
        }
        equal
    }
    fn compare(&mut self, pair: Pair, new: &'a Value, old: &'a Value, schema: &'a Schema) -> bool {
        match (new, old) {
            (Value::Array(new), Value::Array(old)) => {
                if new.len() != old.len() {
                    return false;
                }
                if schema.x_list_type.as_deref() != Some("map") {
                    return new == old;
                }
                (0..new.len()).all(|i| match self.index(pair, i) {
                    Some(item) => self.is_equal(item),
                    None => false,
                })
            }
            (Value::Object(new), Value::Object(old)) => {
                new.len() == old.len()
                    && new.keys().all(|name| match self.key(pair, name) {
                        Some(member) => self.is_equal(member),
                        None => false,
                    })
            }
            _ => new == old,
        }
    }
}

/// Indexes the items of a map list by their keys. Without keys, the index is empty. Of items with the same keys, the
/// first is used.
pub(crate) fn find_by_keys<'a, 'k>(items: &'a [Value], keys: &'k [String]) -> ByKeys<'a, 'k> {
    let mut found = HashMap::new();
    for item in items.iter().filter(|_| !keys.is_empty()) {
        if let Some(key) = composite_key(item, keys) {
            found.entry(key).or_insert(item);
        }
    }
    ByKeys { keys, items: found }
}

/// List items indexed by their keys.
#[derive(Debug)]
pub(crate) struct ByKeys<'a, 'k> {
    keys: &'k [String],
    items: HashMap<MapKeyValue, &'a Value>,
}

impl<'a> ByKeys<'a, '_> {
    /// The item with the same keys as `item`.
    pub fn get(&self, item: &Value) -> Option<&'a Value> {
        if self.items.is_empty() {
            return None;
        }
        composite_key(item, self.keys).and_then(|key| self.items.get(&key).copied())
    }
}

/// The values of `keys` in an item; `None` if a key is missing or not a scalar.
fn composite_key(item: &Value, keys: &[String]) -> Option<MapKeyValue> {
    let members = item.as_object()?;
    if let [key] = keys {
        return match members.get(key)? {
            Value::Bool(b) => Some(MapKeyValue::Bool(*b)),
            Value::Int(i) => Some(MapKeyValue::Int(*i)),
            // +0 and -0 are the same key.
            Value::Float(x) => Some(MapKeyValue::Float(if *x == 0.0 { 0 } else { x.to_bits() })),
            Value::String(s) => Some(MapKeyValue::Text(s.clone())),
            _ => None,
        };
    }
    let mut text = String::new();
    for key in keys {
        text.push('\0');
        match members.get(key)? {
            Value::Bool(b) => text.push_str(if *b { "true" } else { "false" }),
            Value::Int(i) => text.push_str(&i.to_string()),
            // The server formats floats with six digits, so floats that are closer are the same key.
            Value::Float(x) => {
                let _ = write!(text, "{x:.6}");
            }
            Value::String(s) => text.push_str(&crdx_value::quote::go_quote(s)),
            _ => return None,
        }
    }
    Some(MapKeyValue::Text(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::object;

    fn schema(text: &str) -> Schema {
        Schema::from_value(&json::read(text.as_bytes()).unwrap()).unwrap()
    }

    #[test]
    fn list_maps_correlate_by_key_and_ignore_order() {
        let s = schema(
            r#"{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
                "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"integer"}}}}"#,
        );
        let item = |k: &str, v| object([("k", Value::from(k)), ("v", Value::Int(v))]);
        let old = Value::Array(vec![item("a", 1), item("b", 2)]);
        let same = Value::Array(vec![item("b", 2), item("a", 1)]);
        let other = Value::Array(vec![item("b", 3), item("a", 1)]);
        let (mut c, root) = Correlation::new(&same, &old, &s);
        assert!(c.is_equal(root));
        let (mut c, root) = Correlation::new(&other, &old, &s);
        assert!(!c.is_equal(root));
        let a = c.index(root, 1).unwrap();
        assert!(c.is_equal(a));
        assert_eq!(c.old(a), Some(&item("a", 1)));
    }

    #[test]
    fn unknown_members_are_never_equal() {
        let s = schema(r#"{"type":"object","properties":{"a":{"type":"string"}}}"#);
        let v = object([("a", "x"), ("zz", "y")]);
        let (mut c, root) = Correlation::new(&v, &v, &s);
        assert!(!c.is_equal(root));
        let a = c.key(root, "a").unwrap();
        assert!(c.is_equal(a));
        assert_eq!(c.key(root, "zz"), None);
    }
}
