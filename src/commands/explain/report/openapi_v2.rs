//! `kubectl explain -o plaintext-openapiv2`, from OpenAPI 2 (`kubectl/pkg/explain`, `kube-openapi/pkg/util/proto`).

use super::wrap::lines;
use super::{Explained, Explanation};
use crdx_engine::kubectl::schema_model::Model;
use crdx_value::GoError;
use crdx_value::group_version::api_version;
use crdx_value::{Map, Value};
use std::fmt::Write as _;

const WIDTH: usize = 80;
const DESCRIPTION_INDENT: usize = 5;
const FIELD_INDENT: usize = 3;

/// Formats the explanation of a field.
pub fn openapi_v2(explained: Explained<'_>) -> Explanation {
    let Explained { document, group, version, kind, fields, .. } = explained;
    let printer = ModelPrinter { explained };
    let failed = |error| Explanation { text: String::new(), error: Some(error) };
    let Some(schema) = explained.schema(document.get("definitions")) else {
        return failed(format!("couldn't find resource for \"{group}/{version}, Kind={kind}\""));
    };
    let schema = match printer.lookup(schema, fields) {
        Ok(schema) => schema,
        Err(error) => return failed(error.into()),
    };
    let mut text = format!("KIND:     {kind}\nVERSION:  {}\n\n", api_version(group, version));
    printer.model(schema, fields.last().map_or("", String::as_str), &mut text);
    Explanation { text, error: None }
}

struct ModelPrinter<'d> {
    explained: Explained<'d>,
}

fn description(schema: &Value) -> &str {
    schema.str_at(&["description"]).unwrap_or_default()
}

impl<'d> ModelPrinter<'d> {
    fn referenced(&self, name: &str) -> Option<&'d Value> {
        self.explained.document.get("definitions")?.get(name)
    }

    /// `LookupSchemaForField`
    fn lookup(&self, mut schema: &'d Value, fields: &[String]) -> Result<&'d Value, GoError> {
        let mut fields = fields.iter();
        let mut next = fields.next();
        while let Some(name) = next {
            match Model::read(schema) {
                Model::Reference(reference) => match self.referenced(reference) {
                    Some(below) => schema = below,
                    None => return Ok(schema),
                },
                Model::Kind(properties) => {
                    schema = properties.get(name).ok_or_else(|| format!("field \"{name}\" does not exist"))?;
                    next = fields.next();
                }
                Model::Array(below) | Model::Map(Some(below)) => schema = below,
                Model::Map(None) | Model::Primitive(_) | Model::Arbitrary => return Ok(schema),
            }
        }
        Ok(schema)
    }

    /// `GetTypeName`
    fn type_name(&self, schema: &'d Value) -> String {
        match Model::read(schema) {
            Model::Reference(reference) => self.referenced(reference).map_or_else(String::new, |s| self.type_name(s)),
            Model::Kind(_) => "Object".to_owned(),
            Model::Map(values) => {
                format!("map[string]{}", values.map_or_else(String::new, |values| self.type_name(values)))
            }
            Model::Array(items) => format!("[]{}", self.type_name(items)),
            Model::Primitive(type_) => type_.to_owned(),
            Model::Arbitrary => String::new(),
        }
    }

    /// `PrintModel`, after the kind and version.
    fn model(&self, schema: &'d Value, name: &str, out: &mut String) {
        let mut descriptions = Vec::new();
        let mut type_ = None;
        let mut at = schema;
        loop {
            let below = match Model::read(at) {
                Model::Reference(reference) => self.referenced(reference),
                Model::Array(below) | Model::Map(Some(below)) => {
                    type_.get_or_insert_with(|| self.type_name(at));
                    Some(below)
                }
                Model::Map(None) => {
                    // kubectl prints the description of such a map twice: for the map and for its values.
                    descriptions.push(description(at));
                    None
                }
                Model::Kind(_) | Model::Primitive(_) | Model::Arbitrary => None,
            };
            descriptions.push(description(at));
            let Some(below) = below else { break };
            at = below;
        }
        let type_name = || type_.clone().unwrap_or_else(|| self.type_name(at));
        match Model::read(at) {
            Model::Kind(properties) => {
                if !name.is_empty() {
                    let _ = writeln!(out, "RESOURCE: {name} <{}>\n", type_name());
                }
                write_descriptions(&descriptions, out);
                out.push_str("\nFIELDS:\n");
                if self.explained.recursive {
                    self.recursive_fields(properties, 1, &mut Vec::new(), out);
                } else {
                    self.fields(at, properties, out);
                }
            }
            Model::Primitive(_) => {
                let _ = writeln!(out, "FIELD:    {name} <{}>\n", type_name());
                write_descriptions(&descriptions, out);
            }
            _ => write_descriptions(&descriptions, out),
        }
    }

    fn fields(&self, schema: &Value, properties: &'d Map, out: &mut String) {
        let required = schema.get("required").and_then(Value::as_array).unwrap_or_default();
        for (name, property) in properties {
            let required = if required.iter().any(|one| one.as_str() == Some(name)) { " -required-" } else { "" };
            let _ = writeln!(out, "{:FIELD_INDENT$}{name}\t<{}>{required}", "", self.type_name(property));
            write_wrapped(description(property), FIELD_INDENT + 2, out);
            out.push('\n');
        }
    }

    fn recursive_fields(&self, properties: &'d Map, level: usize, visited: &mut Vec<&'d str>, out: &mut String) {
        for (name, property) in properties {
            let _ = writeln!(out, "{:1$}{name}\t<{2}>", "", FIELD_INDENT * level, self.type_name(property));
            if self.explained.max_depth == 0 || level < self.explained.max_depth {
                self.fields_below(property, level + 1, visited, out);
            }
        }
    }

    fn fields_below(&self, schema: &'d Value, level: usize, visited: &mut Vec<&'d str>, out: &mut String) {
        match Model::read(schema) {
            Model::Kind(properties) => self.recursive_fields(properties, level, visited, out),
            Model::Array(below) | Model::Map(Some(below)) => self.fields_below(below, level, visited, out),
            Model::Reference(reference) if !visited.contains(&reference) => {
                if let Some(below) = self.referenced(reference) {
                    visited.push(reference);
                    self.fields_below(below, level, visited, out);
                    visited.pop();
                }
            }
            Model::Reference(_) | Model::Map(None) | Model::Primitive(_) | Model::Arbitrary => {}
        }
    }
}

/// `PrintDescription`
fn write_descriptions(descriptions: &[&str], out: &mut String) {
    out.push_str("DESCRIPTION:\n");
    let texts = descriptions.iter().enumerate().filter(|(_, text)| !text.is_empty());
    let mut is_empty = true;
    for (index, text) in texts {
        is_empty = false;
        if index != 0 {
            out.push('\n');
        }
        write_wrapped(text, DESCRIPTION_INDENT, out);
    }
    if is_empty {
        write_wrapped("<empty>", DESCRIPTION_INDENT, out);
    }
}

/// `WriteWrapped`
fn write_wrapped(text: &str, indent: usize, out: &mut String) {
    for line in lines(text, WIDTH - indent) {
        if line.is_empty() {
            out.push('\n');
        } else {
            let _ = writeln!(out, "{:indent$}{line}", "");
        }
    }
}
