//! The steps from a schema to a node below it, and the paths they make.

use crdx_server::schema::{Items, Schema, SchemaOrBool};

/// A step from a schema node to a child node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SchemaStep {
    /// A property.
    Property(String),
    /// Every item of a list.
    Items,
    /// Every value of a map.
    Values,
}

/// Returns the path of values: `spec.list[*].name`, `spec.map.*`; the root is `self`.
pub fn value_path(steps: &[SchemaStep]) -> String {
    let mut out = String::new();
    for step in steps {
        match step {
            SchemaStep::Property(name) => {
                if !out.is_empty() {
                    out.push('.');
                }
                out.push_str(name);
            }
            SchemaStep::Items => out.push_str("[*]"),
            SchemaStep::Values => out.push_str(".*"),
        }
    }
    if out.is_empty() { "self".to_owned() } else { out }
}

/// Returns the path of a schema node, as the server prints it: `.properties[spec].items`.
pub fn schema_path(steps: &[SchemaStep]) -> String {
    steps
        .iter()
        .map(|step| match step {
            SchemaStep::Property(name) => format!(".properties[{name}]"),
            SchemaStep::Items => ".items".to_owned(),
            SchemaStep::Values => ".additionalProperties".to_owned(),
        })
        .collect()
}

/// Returns the child node of a step.
pub(crate) fn below<'a>(schema: &'a Schema, step: &SchemaStep) -> Option<&'a Schema> {
    match step {
        SchemaStep::Property(name) => schema.property(name),
        SchemaStep::Items => schema.items_schema(),
        SchemaStep::Values => schema.additional_properties_schema(),
    }
}

/// As [`below`], but mutable.
pub(crate) fn below_mut<'a>(schema: &'a mut Schema, step: &SchemaStep) -> Option<&'a mut Schema> {
    match step {
        SchemaStep::Property(name) => schema.properties.get_mut(name).map(Box::as_mut),
        SchemaStep::Items => match &mut schema.items {
            Some(Items::Schema(items)) => Some(items),
            _ => None,
        },
        SchemaStep::Values => match &mut schema.additional_properties {
            Some(SchemaOrBool::Schema(values)) => Some(values),
            _ => None,
        },
    }
}

/// Returns the steps from a node to its children, in order.
pub(crate) fn steps_below(schema: &Schema) -> Vec<(SchemaStep, &Schema)> {
    let properties = schema.properties.iter().map(|(name, node)| (SchemaStep::Property(name.clone()), node.as_ref()));
    let items = schema.items_schema().map(|node| (SchemaStep::Items, node));
    let values = schema.additional_properties_schema().map(|node| (SchemaStep::Values, node));
    properties.chain(items).chain(values).collect()
}

/// Returns true for `apiVersion`, `kind` and `metadata`, which every object has.
pub(crate) fn is_type_or_metadata(step: &SchemaStep) -> bool {
    matches!(step, SchemaStep::Property(name) if matches!(name.as_str(), "apiVersion" | "kind" | "metadata"))
}

/// Returns true if an object may have fields that its schema does not list.
pub(crate) fn takes_unknown(schema: &Schema) -> bool {
    schema.preserves_unknown_fields()
        || schema.x_embedded_resource
        || schema.additional_properties.as_ref().is_some_and(|more| *more != SchemaOrBool::Bool(false))
}
