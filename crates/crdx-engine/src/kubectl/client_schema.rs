//! kubectl's own validation of lists against the schemas that the server publishes with OpenAPI v2
//! (`kube-openapi/pkg/util/proto/validation`). kubectl uses it where the server cannot validate fields, which is the case for lists.

use super::schema_model::Model;
use crdx_value::quote::go_quote;
use crdx_value::{Map, Value};
use std::fmt;

/// An error of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The path of the value in the object, such as `spec.ports[0]`; empty for the object.
    pub field: String,
    /// kubectl's message.
    pub message: String,
    /// True if the schema does not have the field.
    pub is_unknown: bool,
}

/// The bytes of messages that are still kept. A message has the path of the value, so thousands of errors in a value with a
/// long key would need much memory.
#[derive(Debug)]
pub struct Budget {
    bytes: usize,
    /// True if errors were dropped.
    pub is_spent: bool,
}

impl Default for Budget {
    fn default() -> Self {
        Self { bytes: 4 << 20, is_spent: false }
    }
}

/// Validates an object of a kind against a model of `definitions` (`validation.ValidateModel`). At least the first error
/// is returned.
pub fn validate(definitions: &Map, model: &str, object: &Value, kind: &str, budget: &mut Budget) -> Vec<SchemaError> {
    let mut validation = Validation { definitions, errors: Vec::new(), budget };
    let place = Place { parent: None, step: ModelStep::Root(kind) };
    validation.model(model, object, &place);
    validation.errors
}

struct Validation<'a, 'b> {
    definitions: &'a Map,
    errors: Vec<SchemaError>,
    budget: &'b mut Budget,
}

/// A path, as a list from the last step to the first.
#[derive(Clone, Copy)]
struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: ModelStep<'a>,
}

#[derive(Clone, Copy)]
enum ModelStep<'a> {
    /// The kind of an object, or the name of a model.
    Root(&'a str),
    Field(&'a str),
    Item(usize),
}

impl<'a> Place<'a> {
    fn then(&'a self, step: ModelStep<'a>) -> Place<'a> {
        Place { parent: Some(self), step }
    }

    /// The path behind the root, without a dot at the beginning.
    fn field(&self) -> String {
        let text = self.to_string();
        let root = self.root().len();
        let field = text.get(root..).unwrap_or_default();
        field.strip_prefix('.').unwrap_or(field).to_owned()
    }

    fn root(&self) -> &'a str {
        let mut place = self;
        while let Some(parent) = place.parent {
            place = parent;
        }
        if let ModelStep::Root(name) = place.step { name } else { "" }
    }
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            parent.fmt(f)?;
        }
        match self.step {
            ModelStep::Root(name) => f.write_str(name),
            ModelStep::Field(name) => write!(f, ".{name}"),
            ModelStep::Item(index) => write!(f, "[{index}]"),
        }
    }
}

/// The name of a schema's type in messages.
fn expected(model: Model<'_>) -> &str {
    match model {
        Model::Kind(_) | Model::Map(_) => "map",
        Model::Array(_) => "array",
        Model::Primitive(name) => name,
        Model::Reference(_) | Model::Arbitrary => "",
    }
}

/// The name of a value's type in messages; `None` for null.
fn type_name(value: &Value) -> Option<&'static str> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(_) => "boolean",
        Value::Int(_) => "integer",
        Value::Float(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "map",
    })
}

impl<'a> Validation<'a, '_> {
    fn push(&mut self, place: &Place<'_>, is_unknown: bool, message: fmt::Arguments<'_>) {
        if self.budget.bytes == 0 {
            self.budget.is_spent = true;
            return;
        }
        let message = message.to_string();
        self.budget.bytes = self.budget.bytes.saturating_sub(message.len());
        self.errors.push(SchemaError { field: place.field(), message, is_unknown });
    }

    fn validation_error(&mut self, place: &Place<'_>, message: fmt::Arguments<'_>) {
        self.push(place, false, format_args!("ValidationError({place}): {message}"));
    }

    /// The error of a null in a map or list.
    fn null(&mut self, place: &Place<'_>) {
        self.push(place, false, format_args!("{}", UnknownType(place)));
    }

    fn model(&mut self, name: &'a str, value: &Value, place: &Place<'_>) {
        // kubectl skips models that it does not know.
        if let Some(schema) = self.definitions.get(name) {
            self.visit(schema, &Place { parent: None, step: ModelStep::Root(name) }, value, place);
        }
    }

    /// Validates a value that is not null.
    fn visit(&mut self, schema: &'a Value, path: &Place<'_>, value: &Value, place: &Place<'_>) {
        let model = Model::read(schema);
        match (model, value) {
            (Model::Reference(name), _) => self.model(name, value, place),
            (Model::Kind(fields), Value::Object(members)) => self.kind(schema, fields, path, members, place),
            (Model::Map(of), Value::Object(members)) => {
                for (key, member) in members {
                    self.entry(of, path, member, &place.then(ModelStep::Field(key)));
                }
            }
            (Model::Array(of), Value::Array(items)) => {
                for (index, item) in items.iter().enumerate() {
                    let at = place.then(ModelStep::Item(index));
                    if item.is_null() {
                        self.validation_error(place, format_args!("{}", UnknownType(&at)));
                    } else {
                        self.visit(of, path, item, &at);
                    }
                }
            }
            (Model::Arbitrary, _)
            | (Model::Primitive("integer" | "number"), Value::Int(_) | Value::Float(_))
            | (Model::Primitive("boolean"), Value::Bool(_))
            | (Model::Primitive("string"), Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::String(_)) => {}
            _ => {
                let (got, expected) = (type_name(value).unwrap_or_default(), expected(model));
                self.validation_error(
                    place,
                    format_args!("invalid type for {path}: got {got:?}, expected {expected:?}"),
                );
            }
        }
    }

    /// Validates a value of a map.
    fn entry(&mut self, schema: Option<&'a Value>, path: &Place<'_>, value: &Value, place: &Place<'_>) {
        if value.is_null() {
            self.null(place);
        } else if let Some(schema) = schema {
            self.visit(schema, path, value, place);
        }
    }

    fn kind(&mut self, schema: &'a Value, fields: &'a Map, path: &Place<'_>, members: &Map, place: &Place<'_>) {
        for (key, member) in members.iter().filter(|(_, member)| !member.is_null()) {
            if let Some(field) = fields.get(key) {
                self.visit(field, &path.then(ModelStep::Field(key)), member, &place.then(ModelStep::Field(key)));
            } else {
                let name = go_quote(key);
                let message = format_args!("ValidationError({place}): unknown field {name} in {path}");
                self.push(&place.then(ModelStep::Field(key)), true, message);
            }
        }
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        for name in required.iter().filter_map(Value::as_str) {
            if members.get(name).is_none_or(Value::is_null) {
                self.validation_error(place, format_args!("missing required field {} in {path}", go_quote(name)));
            }
        }
    }
}

struct UnknownType<'a>(&'a Place<'a>);

impl fmt::Display for UnknownType<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown object type \"nil\" in {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    const DEFINITIONS: &str = "
a.Kite:
  type: object
  required: [spec]
  properties:
    spec: {$ref: '#/definitions/a.Spec'}
    map: {type: object, additionalProperties: {type: integer}}
    any: {}
    names: {type: array, items: {type: string}}
a.Spec:
  type: object
  properties: {size: {type: integer}, port: {type: string}, lit: {type: boolean}}
a.Open: {type: object}
";

    fn errors(model: &str, object: &str) -> Vec<String> {
        let definitions = yaml::read(DEFINITIONS.as_bytes()).unwrap();
        let object = yaml::read(object.as_bytes()).unwrap();
        let errors = validate(definitions.as_object().unwrap(), model, &object, "Kite", &mut Budget::default());
        errors.into_iter().map(|error| format!("{} | {}", error.field, error.message)).collect()
    }

    #[test]
    fn errors_with_long_paths_need_little_memory() {
        let definitions = yaml::read(b"{a: {type: object, additionalProperties: {type: object}}}").unwrap();
        let nulls: Map = (0..10_000).map(|i| (format!("n{i}"), Value::Null)).collect();
        let object = Value::Object(Map::from([("k".repeat(1 << 20), Value::Object(nulls))]));
        let mut budget = Budget::default();
        let errors = validate(definitions.as_object().unwrap(), "a", &object, "Kite", &mut budget);
        assert!(budget.is_spent && (1..10).contains(&errors.len()), "{}", errors.len());
    }

    /// kubectl's answers for whole lists are in `tests/facts/kubectl-list-schemas.jsonl`.
    #[test]
    fn objects_are_validated_as_by_kubectl() {
        assert_eq!(errors("a.Kite", "{spec: {size: 1.5, port: 80, lit: true}, any: [null], map: {a: 1}}"), [""; 0]);
        assert_eq!(errors("a.Unknown", "{spec: 1}"), [""; 0]);
        assert_eq!(errors("a.Open", "{a: {b: null}}"), [""; 0]);
        assert_eq!(errors("a.Open", "{a: null}"), ["a | unknown object type \"nil\" in Kite.a"]);
        assert_eq!(
            errors("a.Kite", "{spec: null, map: {a: null, b: x}, names: [a, null], foo: 1}"),
            [
                "foo | ValidationError(Kite): unknown field \"foo\" in a.Kite",
                "map.a | unknown object type \"nil\" in Kite.map.a",
                "map.b | ValidationError(Kite.map.b): invalid type for a.Kite.map: got \"string\", expected \"integer\"",
                "names | ValidationError(Kite.names): unknown object type \"nil\" in Kite.names[1]",
                " | ValidationError(Kite): missing required field \"spec\" in a.Kite",
            ]
        );
        assert_eq!(
            errors("a.Kite", "{spec: [], names: {a: b}}"),
            [
                "names | ValidationError(Kite.names): invalid type for a.Kite.names: got \"map\", expected \"array\"",
                "spec | ValidationError(Kite.spec): invalid type for a.Spec: got \"array\", expected \"map\"",
            ]
        );
    }
}
