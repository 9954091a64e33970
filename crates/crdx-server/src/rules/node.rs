//! Finds a node of an object by its path: its CEL type, its value and old value, and its maximum number of occurrences.

use super::{compile::NodeType, escape::escape, tree::cel_type};
use crate::schema::{Schema, SchemaOrBool, correlate::find_by_keys};
use crdx_value::Value;
use crdx_value::release::Release;

/// A node that has a CEL type.
#[derive(Debug)]
pub struct TypedNode<'v> {
    /// The CEL type.
    pub cel_type: NodeType,
    /// The maximum number of occurrences in an object; `None` if unbounded.
    pub cardinality: Option<u64>,
    /// The value.
    pub value: &'v Value,
    /// The old value, if the two values are correlated.
    pub old: Option<&'v Value>,
    /// True if old and new values of this node can be correlated.
    pub correlatable: bool,
}

/// The maximum number of direct children of a value of this schema; `None` if unbounded.
pub(crate) fn most_children(parent: &Schema) -> Option<u64> {
    let most = match parent.type_.as_str() {
        "object" => match parent.additional_properties {
            Some(SchemaOrBool::Schema(_) | SchemaOrBool::Bool(_)) => parent.max_properties,
            None => Some(1),
        },
        "array" => parent.max_items,
        _ => Some(1),
    };
    most.map(|n| u64::try_from(n).unwrap_or(0))
}

/// The error for a text that is not a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A bracket is not closed.
    #[error("{0:?} is not a path: a ] is missing")]
    NoBracket(String),
    /// A dot is not followed by a name.
    #[error("{0:?} is not a path: a name is missing")]
    NoName(String),
}

/// Splits a path such as `spec.ports[0]` or `spec.labels['a.b']` into names and indices.
///
/// # Errors
/// Returns an error if the text is not a path.
pub fn steps(path: &str) -> Result<Vec<String>, PathError> {
    let no_name = || PathError::NoName(path.to_owned());
    let mut steps = Vec::new();
    let mut rest = path.strip_prefix('.').unwrap_or(path);
    while !rest.is_empty() {
        if let Some(inside) = rest.strip_prefix('[') {
            let quote = inside.chars().next().filter(|c| matches!(c, '\'' | '"'));
            let (step, remaining) = match quote {
                Some(quote) => inside.get(1..).unwrap_or_default().split_once(&format!("{quote}]")),
                None => inside.split_once(']'),
            }
            .ok_or_else(|| PathError::NoBracket(path.to_owned()))?;
            steps.push(step.to_owned());
            rest = remaining;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            let (step, remaining) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if step.is_empty() {
                return Err(no_name());
            }
            steps.push(step.to_owned());
            rest = remaining;
        }
        if let Some(remaining) = rest.strip_prefix('.') {
            if remaining.is_empty() || remaining.starts_with('[') {
                return Err(no_name());
            }
            rest = remaining;
        }
    }
    Ok(steps)
}

/// The child of a value, by name or index.
pub fn step<'v>(value: &'v Value, step: &str) -> Option<&'v Value> {
    match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        other => other.get(step),
    }
}

/// The reason why no rule is evaluated at a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NodeError {
    /// The schema does not have a field.
    #[error("the schema has no {name}{}", if above.is_empty() { String::new() } else { format!(" at {above}") })]
    NotInSchema {
        /// The name of the field.
        name: String,
        /// The path of the object that would have it; empty for the root.
        above: String,
    },
    /// The object has no value at a path, or null.
    #[error("the object has no value at {0}, so no rule is evaluated there")]
    NotInObject(String),
    /// The schema at a path, which is empty for the root, has no type.
    #[error("CEL cannot see {}: its schema has no type", if .0.is_empty() { "the object" } else { .0 })]
    NoType(String),
}

/// Follows `steps` through an object and its schema.
///
/// # Errors
/// Returns the reason why no rule is evaluated at this path.
pub fn find<'v>(
    schema: &Schema,
    steps: &[String],
    value: &'v Value,
    old: Option<&'v Value>,
    release: Release,
) -> Result<TypedNode<'v>, NodeError> {
    let mut schema = Some(schema);
    let mut node = TypedNode {
        cel_type: cel_type(schema.unwrap_or(&Schema::default()), true, release),
        cardinality: Some(1),
        value,
        old,
        correlatable: true,
    };
    let mut shown = String::new();
    for name in steps {
        let child = below(schema, &node.cel_type, name);
        let (cel_type, inner) =
            child.ok_or_else(|| NodeError::NotInSchema { name: name.clone(), above: shown.clone() })?;
        let is_list = matches!(node.value, Value::Array(_));
        show(&mut shown, name, is_list);
        let value = step(node.value, name).filter(|value| !value.is_null());
        let value = value.ok_or_else(|| NodeError::NotInObject(shown.clone()))?;
        let old = node.old.filter(|old| !old.is_null());
        if is_list {
            let keys: &[String] = match schema {
                Some(s) if s.x_list_type.as_deref() == Some("map") => &s.x_list_map_keys,
                _ => &[],
            };
            node.correlatable &= !keys.is_empty();
            node.old = old.and_then(|old| find_by_keys(old.as_array().unwrap_or_default(), keys).get(value));
        } else {
            node.old = old.and_then(|old| old.get(name));
        }
        let each = schema.map_or(Some(1), most_children);
        node.cardinality = node.cardinality.zip(each).map(|(outer, each)| outer.saturating_mul(each));
        (node.cel_type, node.value, schema) = (cel_type, value, inner);
    }
    node.old = node.old.filter(|old| !old.is_null());
    if node.cel_type.decl.is_none() {
        return Err(NodeError::NoType(shown));
    }
    Ok(node)
}

/// The CEL type and, if known, the schema of a child; fields of metadata have a type but no schema.
fn below<'s>(schema: Option<&'s Schema>, parent_type: &NodeType, name: &str) -> Option<(NodeType, Option<&'s Schema>)> {
    let elements = schema.and_then(|s| match s.type_.as_str() {
        "array" => s.items_schema(),
        _ => s.additional_properties_schema(),
    });
    let inner = elements.or_else(|| schema.and_then(|s| s.property(name)));
    let from_above = if elements.is_some() {
        Some(parent_type.elements())
    } else {
        escape(name).and_then(|name| parent_type.property(&name))
    };
    let from_above = from_above.filter(|cel_type| cel_type.decl.is_some());
    let cel_type =
        from_above.or_else(|| inner.map(|inner| cel_type(inner, inner.x_embedded_resource, parent_type.release)))?;
    Some((cel_type, inner))
}

fn show(path: &mut String, step: &str, is_index: bool) {
    let plain = !is_index && !step.contains(['.', '[', ']', '/']);
    if plain && !path.is_empty() {
        path.push('.');
    }
    if plain {
        path.push_str(step);
    } else {
        path.extend(["[", step, "]"]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn paths_are_parsed() {
        assert_eq!(steps("spec.ports[0].name").unwrap(), ["spec", "ports", "0", "name"]);
        assert_eq!(steps(".spec['a.b'][\"c]\"][d.e/f]").unwrap(), ["spec", "a.b", "c]", "d.e/f"]);
        assert_eq!(steps("").unwrap(), [""; 0]);
        for bad in ["a..b", "a[0", "a.", "a.[0]", "['a]"] {
            assert!(steps(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn items_are_correlated_by_key() {
        let schema = read(
            br#"{"type":"object","properties":{"l":{"type":"array","maxItems":4,"x-kubernetes-list-type":"map",
            "x-kubernetes-list-map-keys":["k"],"items":{"type":"object","properties":{"k":{"type":"string"},
            "v":{"type":"integer"}}}},"any":{"x-kubernetes-preserve-unknown-fields":true}}}"#,
        );
        let schema = Schema::from_value(&schema.unwrap()).unwrap();
        let new = read(br#"{"l":[{"k":"a","v":1}],"any":1}"#).unwrap();
        let old = read(br#"{"l":[{"k":"b","v":2},{"k":"a","v":3}]}"#).unwrap();
        let find = |path: &str| find(&schema, &steps(path).unwrap(), &new, Some(&old), Release::NEWEST);
        let node = find("l[0].v").unwrap();
        assert_eq!((node.old, node.cardinality, node.correlatable), (Some(&Value::Int(3)), Some(4), true));
        assert_eq!(find("l[0].x").unwrap_err().to_string(), "the schema has no x at l[0]");
        assert_eq!(find("any").unwrap_err(), NodeError::NoType("any".to_owned()));
        assert_eq!(find("l[1]").unwrap_err(), NodeError::NotInObject("l[1]".to_owned()));
        assert_eq!(find("metadata").unwrap_err(), NodeError::NotInObject("metadata".to_owned()));
    }
}
