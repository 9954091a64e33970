//! Sets a value at a schema node of an object, creates what is missing above it, and makes room for it where the number of members is
//! limited.

use crate::examples::generate::{self, ExampleFields};
use crate::schema_steps::{SchemaStep, below};
use crdx_server::schema::Schema;
use crdx_value::{Map, Value};

/// Returns the object with `value` at the first value of the node, or without that value. Objects and lists on the way are
/// generated if they are missing. `None` if the object cannot have the node.
pub fn placed(root: &Schema, object: &Value, steps: &[SchemaStep], value: Option<&Value>) -> Option<Value> {
    let mut object = object.clone();
    set(root, &mut object, steps, value)?;
    Some(object)
}

fn set(schema: &Schema, at: &mut Value, steps: &[SchemaStep], value: Option<&Value>) -> Option<()> {
    let (step, rest) = steps.split_first()?;
    let node = below(schema, step);
    match step {
        SchemaStep::Property(name) => {
            member(at, name, (node, rest), value)?;
            make_room(schema, at, name);
            Some(())
        }
        SchemaStep::Values => {
            let name = at.as_object()?.keys().next().cloned().unwrap_or_else(|| "example".to_owned());
            member(at, &name, (node, rest), value)
        }
        SchemaStep::Items => {
            let Value::Array(items) = at else { return None };
            match (rest, value) {
                ([], None) if items.is_empty() => return None,
                ([], None) => {
                    items.remove(0);
                }
                ([], Some(value)) => match items.first_mut() {
                    Some(first) => *first = value.clone(),
                    None => items.push(value.clone()),
                },
                _ => {
                    if items.is_empty() {
                        items.push(generate::value(node?, ExampleFields::Minimal, 0));
                    }
                    set(node?, items.first_mut()?, rest, value)?;
                }
            }
            Some(())
        }
    }
}

fn member(
    at: &mut Value,
    name: &str,
    (node, rest): (Option<&Schema>, &[SchemaStep]),
    value: Option<&Value>,
) -> Option<()> {
    let Value::Object(members) = at else { return None };
    match (rest, value) {
        ([], None) => {
            members.remove(name)?;
        }
        ([], Some(value)) => {
            members.insert(name.to_owned(), value.clone());
        }
        _ => {
            let inner = members.entry(name.to_owned()).or_insert(Value::Null);
            if !matches!((&*inner, rest.first()), (Value::Object(_), _) | (Value::Array(_), Some(SchemaStep::Items))) {
                *inner = container(node?, rest.first());
            }
            set(node?, inner, rest, value)?;
        }
    }
    Some(())
}

/// Removes optional members, apart from one, until there are no more than `maxProperties`.
fn make_room(schema: &Schema, at: &mut Value, kept: &str) {
    let (Some(most), Value::Object(members)) = (schema.max_properties, at) else { return };
    while usize::try_from(most).is_ok_and(|most| members.len() > most) {
        let is_type = |name: &str| matches!(name, "apiVersion" | "kind" | "metadata");
        let is_optional = |name: &&String| *name != kept && !is_type(name) && !schema.required.contains(name);
        let Some(name) = members.keys().find(is_optional).cloned() else { return };
        members.remove(&name);
    }
}

/// Returns a value that can have the next step below it.
fn container(node: &Schema, next: Option<&SchemaStep>) -> Value {
    let made = generate::value(node, ExampleFields::Minimal, 0);
    match (next, &made) {
        (Some(SchemaStep::Items), Value::Array(_))
        | (Some(SchemaStep::Property(_) | SchemaStep::Values), Value::Object(_)) => made,
        (Some(SchemaStep::Items), _) => Vec::new().into(),
        _ => Map::new().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;
    use crdx_value::json;

    #[test]
    fn another_member_makes_room() {
        let schema = "{type: object, maxProperties: 1, properties: {a: {type: string}, b: {type: object, properties: {c: {type: string}}}}}";
        let schema = Schema::from_value(&yaml::read(schema.as_bytes()).unwrap()).unwrap();
        let steps = ["b", "c"].map(|name| SchemaStep::Property(name.to_owned()));
        let made = placed(&schema, &yaml::read(b"a: x").unwrap(), &steps, Some(&"y".into())).unwrap();
        assert_eq!(json::to_string(&made), r#"{"b":{"c":"y"}}"#);
    }

    #[test]
    fn missing_parents_are_generated() {
        let schema = "{type: object, properties: {list: {type: array, items: {type: object, required: [name], properties: {name: {type: string}, size: {type: integer}}}}}}";
        let schema = Schema::from_value(&yaml::read(schema.as_bytes()).unwrap()).unwrap();
        let steps =
            [SchemaStep::Property("list".to_owned()), SchemaStep::Items, SchemaStep::Property("size".to_owned())];
        let made = placed(&schema, &Map::new().into(), &steps, Some(&Value::Int(7))).unwrap();
        assert_eq!(json::to_string(&made), r#"{"list":[{"name":"example","size":7}]}"#);
        let removed = placed(&schema, &made, &steps, None).unwrap();
        assert_eq!(json::to_string(&removed), r#"{"list":[{"name":"example"}]}"#);
        assert_eq!(placed(&schema, &removed, &steps, None), None);
    }
}
