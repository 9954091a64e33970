//! Converts a CRD of `apiextensions.k8s.io/v1beta1` to v1, and lists what changes for its objects.
//!
//! v1 does not allow `preserveUnknownFields: true` in new CRDs and requires structural schemas. Missing types are
//! filled in where the surrounding schema implies them. The author of the CRD must correct everything else that keeps a
//! schema from being structural.

use crate::schema_steps::{self, SchemaStep, schema_path, steps_below};
use crdx_server::crd::{CustomResourceDefinition, Validation};
use crdx_server::schema::{Items, Schema, SchemaOrBool};
use crdx_value::Value;
use std::sync::Arc;

/// The result of a conversion.
#[derive(Clone, Debug, PartialEq)]
pub struct Converted {
    /// The v1 CRD.
    pub crd: Value,
    /// The changes for objects, one line each.
    pub changes: Vec<String>,
}

/// Converts a CRD that was decoded as v1beta1.
pub fn convert(crd: &CustomResourceDefinition) -> Converted {
    let mut crd = crd.clone();
    let mut changes = Vec::new();
    let preserved_unknown_fields = crd.spec.preserves_unknown_fields();
    crd.spec.preserve_unknown_fields = Some(false);
    let shared = crd.spec.versions.iter().all(|v| v.schema.is_none());
    if shared {
        let schema = crd.spec.validation.as_ref().and_then(|v| v.schema.clone());
        crd.spec.validation = Some(converted(schema, preserved_unknown_fields, "every version", &mut changes));
    } else {
        crd.spec.validation = None;
        for version in &mut crd.spec.versions {
            let version_name = format!("version {}", version.name);
            let schema = version.schema.as_ref().and_then(|v| v.schema.clone());
            version.schema = Some(converted(schema, preserved_unknown_fields, &version_name, &mut changes));
        }
    }
    let mut value = crd.to_value();
    if let Some(members) = value.as_object_mut() {
        members.remove("status");
    }
    Converted { crd: value, changes }
}

fn converted(
    schema: Option<Arc<Schema>>,
    preserved_unknown_fields: bool,
    version_name: &str,
    changes: &mut Vec<String>,
) -> Validation {
    let mut schema = schema.map(Arc::unwrap_or_clone).unwrap_or_default();
    if schema == Schema::default() {
        "object".clone_into(&mut schema.type_);
        schema.x_preserve_unknown_fields = Some(true);
        changes.push(format!("{version_name}: there was no schema; one that preserves unknown fields was added"));
    } else {
        fill_types(&mut schema, true, &mut Vec::new(), version_name, changes);
        if preserved_unknown_fields {
            pruned(&schema, &mut Vec::new(), version_name, changes);
        }
    }
    Validation { schema: Some(Arc::new(schema)) }
}

/// Fills in the types that the schema implies.
fn fill_types(
    schema: &mut Schema,
    root: bool,
    steps: &mut Vec<SchemaStep>,
    version_name: &str,
    changes: &mut Vec<String>,
) {
    if schema.type_.is_empty() && !schema.x_int_or_string && !schema.preserves_unknown_fields() {
        let implied = match &*schema {
            s if root || !s.properties.is_empty() || s.additional_properties.is_some() => "object",
            s if s.items.is_some() => "array",
            s if s.max_length.is_some() || s.min_length.is_some() || !s.pattern.is_empty() => "string",
            s => match s.enum_.first() {
                Some(Value::String(_)) => "string",
                Some(Value::Int(_)) => "integer",
                Some(Value::Bool(_)) => "boolean",
                _ => "",
            },
        };
        if !implied.is_empty() {
            implied.clone_into(&mut schema.type_);
            changes.push(format!("{version_name}: openAPIV3Schema{} gets type: {implied}", schema_path(steps)));
        }
    }
    let mut below: Vec<(SchemaStep, &mut Schema)> =
        schema.properties.iter_mut().map(|(name, node)| (SchemaStep::Property(name.clone()), node.as_mut())).collect();
    if let Some(Items::Schema(items)) = &mut schema.items {
        below.push((SchemaStep::Items, items));
    }
    if let Some(SchemaOrBool::Schema(values)) = &mut schema.additional_properties {
        below.push((SchemaStep::Values, values));
    }
    for (step, node) in below {
        // The server defines the schema of metadata.
        let is_metadata = root && step == SchemaStep::Property("metadata".to_owned());
        steps.push(step);
        if !is_metadata {
            fill_types(node, false, steps, version_name, changes);
        }
        steps.pop();
    }
}

/// Lists the objects whose unknown fields are pruned after the conversion.
fn pruned(schema: &Schema, steps: &mut Vec<SchemaStep>, version_name: &str, changes: &mut Vec<String>) {
    if schema.preserves_unknown_fields() {
        return;
    }
    if schema.type_ == "object" && schema.additional_properties.is_none() {
        let always: &[&str] = if steps.is_empty() { &["apiVersion", "kind", "metadata"] } else { &[] };
        let named = schema.properties.keys().map(String::as_str).filter(|name| !always.contains(name));
        let known: Vec<&str> = always.iter().copied().chain(named).collect();
        let all_but = match known.as_slice() {
            [] => "all fields".to_owned(),
            known => format!("all fields except {}", known.join(", ")),
        };
        changes.push(format!("{version_name}: {} loses {all_but}", schema_steps::value_path(steps)));
    }
    for (step, node) in steps_below(schema) {
        if steps.is_empty() && step == SchemaStep::Property("metadata".to_owned()) {
            continue;
        }
        steps.push(step);
        pruned(node, steps, version_name, changes);
        steps.pop();
    }
}
