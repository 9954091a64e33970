//! The fields of a schema that an example does not have.

use crdx_server::schema::Schema;
use crdx_value::Value;

/// Returns the paths of the fields that an object of a CRD does not have, without the fields below them, `status`, and those that every
/// object has.
pub fn left_out(schema: &Schema, object: &Value) -> Vec<String> {
    let mut found = Vec::new();
    for (name, property) in &schema.properties {
        if !matches!(name.as_str(), "apiVersion" | "kind" | "metadata" | "status") {
            member("", name, (property, object), &mut found);
        }
    }
    found
}

fn member(above: &str, name: &str, (schema, parent): (&Schema, &Value), found: &mut Vec<String>) {
    let path = if above.is_empty() { name.to_owned() } else { format!("{above}.{name}") };
    match parent.get(name) {
        Some(value) => fields(&path, schema, value, found),
        None => found.push(path),
    }
}

/// Adds the fields below a value. The recursion ends with the value, whose depth is limited.
fn fields(path: &str, schema: &Schema, value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(_) => {
            for (name, field) in &schema.properties {
                member(path, name, (field, value), found);
            }
        }
        Value::Array(items) => {
            if let Some((schema, first)) = schema.items_schema().zip(items.first()) {
                fields(&format!("{path}[0]"), schema, first, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    #[test]
    fn the_highest_fields_are_named() {
        let schema = "{properties: {kind: {}, status: {}, spec: {properties: {a: {}, b: {properties: {c: {}}}, list: {type: array, items: {properties: {d: {}, e: {}}}}}}}}";
        let schema = Schema::from_value(&yaml::read(schema.as_bytes()).unwrap()).unwrap();
        let missing = |object: &str| left_out(&schema, &yaml::read(object.as_bytes()).unwrap());
        assert_eq!(missing("{}"), ["spec"]);
        let dotted = Schema::from_value(&yaml::read(b"{properties: {x.y: {}}}").unwrap()).unwrap();
        assert!(left_out(&dotted, &yaml::read(b"{x.y: 1}").unwrap()).is_empty());
        assert_eq!(missing("{spec: {a: 1, list: [{d: 1}]}}"), ["spec.b", "spec.list[0].e"]);
        assert!(missing("{spec: {a: 1, b: {c: 1}, list: []}}").is_empty());
    }
}
