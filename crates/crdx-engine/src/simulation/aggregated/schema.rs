//! Checks an object against the OpenAPI v3 document of its group and version.

use crdx_value::Value;
use crdx_value::quote::go_quote;

/// The maximum depth of values that are checked, and of references in the document that lead to a schema.
const MAX_DEPTH: usize = 500;
const MAX_REFERENCES: usize = 32;
const PREFIX: &str = "#/components/schemas/";

/// A difference between an object and the published schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The path of the field.
    pub path: String,
    /// The kind of difference.
    pub fault: Fault,
}

/// A difference between a field and its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The schema does not have it; one of these names is similar.
    Unknown { similar: Option<String> },
    /// It has another type than the schema.
    Type { expected: String, found: &'static str },
    /// It is required and missing.
    Missing,
    /// Its value is not one of these.
    NotInEnum { value: String, allowed: Vec<String> },
}

/// Returns the differences between an object and a schema of the document, in the order of the object's fields.
pub fn check(document: &Value, schema: &Value, object: &Value) -> Vec<Violation> {
    let mut found = Vec::new();
    Checker { document, found: &mut found }.value(schema, object, String::new(), 0);
    found
}

struct Checker<'d, 'f> {
    document: &'d Value,
    found: &'f mut Vec<Violation>,
}

impl Checker<'_, '_> {
    fn value(&mut self, schema: &Value, value: &Value, path: String, depth: usize) {
        // Go decodes null as if the field were absent.
        if value.is_null() || depth > MAX_DEPTH {
            return;
        }
        let schema = resolve(self.document, schema);
        if let Some((expected, found)) = wrong_type(schema, value) {
            return self.add(path, Fault::Type { expected, found });
        }
        match value {
            Value::Object(_) => self.object(schema, value, &path, depth),
            Value::Array(items) => {
                let Some(of) = schema.get("items") else { return };
                for (index, item) in items.iter().enumerate() {
                    self.value(of, item, format!("{path}[{index}]"), depth + 1);
                }
            }
            Value::String(text) => {
                let allowed = schema.get("enum").and_then(Value::as_array).unwrap_or_default();
                let allowed: Vec<String> = allowed.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect();
                if !allowed.is_empty() && !text.is_empty() && !allowed.contains(text) {
                    self.add(path, Fault::NotInEnum { value: text.clone(), allowed });
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, schema: &Value, object: &Value, path: &str, depth: usize) {
        let child = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let properties = schema.get("properties");
        let others = schema.get("additionalProperties").filter(|others| others.as_object().is_some());
        // A struct without fields is published as an object of any fields.
        let is_open = properties.is_none()
            || schema.get("additionalProperties") == Some(&Value::Bool(true))
            || schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(true));
        for (name, value) in object.as_object().into_iter().flatten() {
            match properties.and_then(|properties| properties.get(name)).or(others) {
                Some(of) => self.value(of, value, child(name), depth + 1),
                None if is_open => {}
                None => {
                    let names =
                        properties.and_then(Value::as_object).into_iter().flatten().map(|(name, _)| name.as_str());
                    let similar = crdx_value::suggest::closest(name, names).map(str::to_owned);
                    self.add(child(name), Fault::Unknown { similar });
                }
            }
        }
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            if object.get(name).is_none_or(Value::is_null) {
                self.add(child(name), Fault::Missing);
            }
        }
    }

    fn add(&mut self, path: String, fault: Fault) {
        self.found.push(Violation { path, fault });
    }
}

/// Follows references to other schemas.
fn resolve<'d>(document: &'d Value, mut schema: &'d Value) -> &'d Value {
    for _ in 0..MAX_REFERENCES {
        let single = schema.get("allOf").and_then(Value::as_array).and_then(|all| match all {
            [one] => Some(one),
            _ => None,
        });
        let target = schema.str_at(&["$ref"]).and_then(|reference| reference.strip_prefix(PREFIX));
        let named = target.and_then(|name| document.at(&["components", "schemas", name]));
        match named.or(single) {
            Some(next) => schema = next,
            None => break,
        }
    }
    schema
}

/// Returns the expected type and that of the value, if they differ.
fn wrong_type(schema: &Value, value: &Value) -> Option<(String, &'static str)> {
    let alternatives = ["oneOf", "anyOf"].into_iter().find_map(|key| schema.get(key).and_then(Value::as_array));
    let of = |schema: &Value| schema.str_at(&["type"]).map(str::to_owned);
    let mut allowed: Vec<String> = of(schema).into_iter().collect();
    if allowed.is_empty() {
        // A schema without a type allows everything.
        allowed = alternatives?.iter().map(of).collect::<Option<_>>()?;
    }
    if schema.str_at(&["format"]) == Some("int-or-string") {
        allowed = vec!["integer".to_owned(), "string".to_owned()];
    }
    let found = match value {
        Value::Object(_) => "object",
        Value::Array(_) => "array",
        Value::String(_) => "string",
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(number) if number.fract() == 0.0 => "integer",
        Value::Float(_) => "number",
        Value::Null => return None,
    };
    let fits = |allowed: &String| allowed == found || allowed == "number" && found == "integer";
    (!allowed.is_empty() && !allowed.iter().any(fits)).then(|| (allowed.join(" or "), found))
}

impl Violation {
    /// The text of the violation, without its consequence.
    pub fn message(&self) -> String {
        match &self.fault {
            Fault::Unknown { .. } => format!("unknown field {}", go_quote(&self.path)),
            Fault::Type { expected, found } => format!("{}: the type is {found}, and must be {expected}", self.path),
            Fault::Missing => format!("{}: Required value", self.path),
            Fault::NotInEnum { value, allowed } => {
                let allowed: Vec<String> = allowed.iter().map(|one| go_quote(one)).collect();
                let (path, value, allowed) = (&self.path, go_quote(value), allowed.join(", "));
                format!("{path}: Unsupported value: {value}: supported values: {allowed}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    const DOCUMENT: &str = r##"{"components":{"schemas":{
        "Route":{"type":"object","required":["spec"],"x-kubernetes-group-version-kind":[{"group":"r.example.com","version":"v1","kind":"Route"}],
            "properties":{"spec":{"allOf":[{"$ref":"#/components/schemas/RouteSpec"}],"default":{}},"loop":{"$ref":"#/components/schemas/Loop"}}},
        "RouteSpec":{"type":"object","required":["to"],"properties":{"host":{"type":"string"},"to":{"type":"string"},
            "port":{"oneOf":[{"type":"string"},{"type":"integer"}]},"weights":{"type":"array","items":{"type":"integer"}},
            "labels":{"type":"object","additionalProperties":{"type":"string"}},"raw":{"type":"object"},
            "policy":{"type":"string","enum":["Allow","Redirect"]}}},
        "Loop":{"$ref":"#/components/schemas/Loop"}}}}"##;

    fn violations(object: &str) -> Vec<String> {
        let document = read(DOCUMENT.as_bytes()).unwrap();
        let schema = document.at(&["components", "schemas", "Route"]).unwrap();
        let object = read(object.as_bytes()).unwrap();
        check(&document, schema, &object).iter().map(Violation::message).collect()
    }

    #[test]
    fn an_object_that_conforms_has_no_violations() {
        let object = r#"{"spec":{"to":"a","host":null,"port":"x","weights":[1,2.0],"labels":{"a":"b"},"raw":{"any":{}},"policy":""},"loop":1}"#;
        assert_eq!(violations(object), [""; 0]);
    }

    #[test]
    fn unknown_fields_types_enums_and_missing_fields_are_violations() {
        let object = r#"{"spec":{"hots":"a","port":true,"weights":[1.5],"labels":{"a":1},"policy":"Deny"}}"#;
        assert_eq!(
            violations(object),
            [
                "unknown field \"spec.hots\"",
                "spec.labels.a: the type is integer, and must be string",
                "spec.policy: Unsupported value: \"Deny\": supported values: \"Allow\", \"Redirect\"",
                "spec.port: the type is boolean, and must be string or integer",
                "spec.weights[0]: the type is number, and must be integer",
                "spec.to: Required value"
            ]
        );
    }
}
