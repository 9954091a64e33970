//! Contradictions in one node of a schema.

use super::{Fault, FaultKind, FaultNode};
use crate::schema_steps::takes_unknown;
use crdx_server::pipeline::compiled::{Dialect, SchemaNode};
use crdx_server::pipeline::validate::validate;
use crdx_server::schema::Schema;
use crdx_value::field::ROOT;
use crdx_value::release::Release;
use crdx_value::{Value, json};

/// Returns the faults of a node, apart from those of its rules.
pub fn faults(node: &FaultNode<'_>, release: Release) -> Vec<Fault> {
    let mut found = bounds(node);
    found.extend(values(node, release));
    found.extend(branches(node));
    found
}

/// A lower limit that is above the upper limit.
fn bounds(node: &FaultNode<'_>) -> Vec<Fault> {
    let schema = node.schema;
    let [(_, min_length), (_, max_length), (_, min_items), (_, max_items), (_, min_properties), (_, max_properties)] =
        schema.sizes();
    let sizes = [
        ("minLength", "maxLength", min_length, max_length),
        ("minItems", "maxItems", min_items, max_items),
        ("minProperties", "maxProperties", min_properties, max_properties),
    ];
    let contradiction = |least: &str, most: &str, numbers: String| {
        let message = format!("{}: no value is valid: {least} and {most} are {numbers}", node.path());
        node.proved(FaultKind::Unsatisfiable, least, message)
    };
    let mut found: Vec<Fault> = sizes
        .into_iter()
        .filter_map(|(least, most, min, max)| Some((least, most, min?, max?)))
        .filter(|(_, _, min, max)| min > max)
        .map(|(least, most, min, max)| contradiction(least, most, format!("{min} and {max}")))
        .collect();
    if let (Some(min), Some(max)) = (schema.minimum, schema.maximum)
        && (min > max || (schema.exclusive_minimum || schema.exclusive_maximum) && min >= max)
    {
        found.push(contradiction("minimum", "maximum", format!("{min} and {max}")));
    }
    found
}

/// Values of an enum that the other keywords reject, and null where an enum rejects it.
fn values(node: &FaultNode<'_>, release: Release) -> Vec<Fault> {
    let schema = node.schema;
    if schema.enum_.is_empty() {
        return Vec::new();
    }
    let own = Schema { x_validations: Vec::new(), ..schema.clone() };
    let compiled = SchemaNode::compile(&own, Dialect::Objects, release);
    let is_valid = |value: &Value| value.is_null() || validate(value, &compiled, &ROOT, release).is_empty();
    let invalid: Vec<&Value> = schema.enum_.iter().filter(|value| !is_valid(value)).collect();
    if invalid.len() == schema.enum_.len() {
        let message = format!("{}: no value is valid: the schema rejects each value of the enum", node.path());
        return vec![node.proved(FaultKind::Unsatisfiable, "enum", message)];
    }
    let fault = |value: &Value| {
        let message = format!("{}: the schema rejects the value {} of its enum", node.path(), json::to_string(value));
        node.proved(FaultKind::ImpossibleValue, "enum", message)
    };
    invalid.into_iter().map(fault).collect()
}

/// Branches of unions that nothing satisfies.
fn branches(node: &FaultNode<'_>) -> Vec<Fault> {
    let schema = node.schema;
    if schema.x_int_or_string {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (keyword, union) in [("oneOf", &schema.one_of), ("anyOf", &schema.any_of)] {
        for (index, branch) in union.iter().enumerate() {
            let reason = unknown_field(schema, branch).or_else(|| other_values(schema, branch));
            let twin = || {
                let is_twin = |other: &usize| *other != index && union.get(*other) == Some(branch);
                let twin = (0..union.len()).find(is_twin).filter(|_| keyword == "oneOf")?;
                Some(format!("it is equal to oneOf[{twin}], and both together are not one"))
            };
            if let Some(reason) = reason.or_else(twin) {
                let message = format!("{}: no object satisfies {keyword}[{index}]: {reason}", node.path());
                found.push(node.proved(FaultKind::ImpossibleBranch, &format!("{keyword}[{index}]"), message));
            }
        }
    }
    found
}

/// A branch requires a field that is always pruned.
fn unknown_field(schema: &Schema, branch: &Schema) -> Option<String> {
    let is_open = takes_unknown(schema);
    let is_known = |name: &String| schema.properties.contains_key(name);
    let name = branch.required.iter().find(|name| schema.type_ == "object" && !is_open && !is_known(name))?;
    Some(format!("it requires {name}, which the schema does not have"))
}

/// A branch allows only values of a required field that the field does not allow.
fn other_values(schema: &Schema, branch: &Schema) -> Option<String> {
    let is_required = |name: &String| branch.required.contains(name) || schema.required.contains(name);
    branch.properties.iter().filter(|(name, _)| is_required(name)).find_map(|(name, narrow)| {
        let field = schema.property(name)?;
        let is_disjoint = !field.enum_.is_empty()
            && !narrow.enum_.is_empty()
            && !narrow.enum_.iter().any(|value| field.enum_.contains(value));
        is_disjoint.then(|| format!("{name} has none of the values that it allows"))
    })
}
