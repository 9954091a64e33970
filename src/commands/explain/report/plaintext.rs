//! `kubectl explain`, from OpenAPI 3: a port of kubectl's template `pkg/explain/v2/templates/plaintext.tmpl`, one
//! function for each of its templates.

use super::wrap::{indent, wrap};
use super::{Explained, Explanation};
use crdx_value::{Value, print};
use std::fmt::Write as _;

/// The maximum number of enum values listed beside a field.
const MAX_VALUES: usize = 4;

/// Formats the explanation of a field.
pub fn plaintext(explained: Explained<'_>) -> Explanation {
    let Explained { document, group, version, kind, fields, .. } = explained;
    let mut text = String::new();
    if !group.is_empty() {
        let _ = writeln!(text, "GROUP:      {group}");
    }
    let _ = writeln!(text, "KIND:       {kind}\nVERSION:    {version}\n");
    let Some(schema) = explained.schema(document.at(&["components", "schemas"])) else {
        let error = format!("GVK map[group:{group} kind:{kind} version:{version}] not found in OpenAPI schema");
        return Explanation { text, error: Some(error) };
    };
    let printer = Printer { document, recursive: explained.recursive, max_depth: explained.max_depth };
    let output = printer.output(schema, fields, &[]);
    if output.is_empty() {
        let error = fields.last().map(|name| format!("field \"{name}\" does not exist"));
        return Explanation { text, error };
    }
    text.push_str(&output);
    text.push('\n');
    Explanation { text, error: None }
}

struct Printer<'d> {
    document: &'d Value,
    recursive: bool,
    max_depth: usize,
}

/// Returns a member that is true in Go's templates.
fn member<'v>(schema: &'v Value, key: &str) -> Option<&'v Value> {
    schema.get(key).filter(|value| is_true(value))
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Int(n) => *n != 0,
        Value::Float(x) => *x != 0.0,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

fn values_schema(schema: &Value) -> Option<&Value> {
    member(schema, "additionalProperties").filter(|values| values.as_bool().is_none())
}

fn all_of(schema: &Value) -> &[Value] {
    schema.get("allOf").and_then(Value::as_array).unwrap_or_default()
}

fn reference(schema: &Value) -> &str {
    schema.str_at(&["$ref"]).unwrap_or_default()
}

impl<'d> Printer<'d> {
    fn resolved<'s>(&self, schema: &'s Value) -> &'s Value
    where
        'd: 's,
    {
        self.referenced(reference(schema)).unwrap_or(schema)
    }

    fn referenced(&self, reference: &str) -> Option<&'d Value> {
        let fragment = reference.strip_prefix('#')?;
        let mut parts = fragment.split('/').filter(|part| !part.is_empty());
        parts.try_fold(self.document, |at, part| at.get(part).filter(|next| next.as_object().is_some()))
    }

    /// `output`
    fn output(&self, schema: &Value, fields: &[String], history: &[&str]) -> String {
        let reference = reference(schema);
        let history_below: Vec<&str> = history.iter().copied().chain([reference]).collect();
        let resolved = self.resolved(schema);
        let Some((first, rest)) = fields.split_first() else { return self.model(resolved) };
        let mut out = String::new();
        if !reference.is_empty() && history.contains(&reference) {
            // A cycle of references ends here.
        } else if let Some(below) = resolved.get("properties").and_then(|properties| member(properties, first)) {
            if rest.is_empty() {
                let _ = writeln!(out, "FIELD: {first} <{}>", self.type_guess(below));
                out.push_str(&enumeration(below, true, 0));
                out.push_str("\n\n");
            }
            out.push_str(&self.output(below, rest, &[]));
        } else if let Some(items) = member(resolved, "items") {
            out.push_str(&self.output(items, fields, &history_below));
        } else if let Some(values) = values_schema(resolved) {
            out.push_str(&self.output(values, fields, &history_below));
        } else {
            let parts = all_of(resolved).iter().map(|part| self.output(part, fields, &history_below));
            out.extend(parts.filter(|text| !text.is_empty()).take(1));
        }
        out
    }

    /// `output` for the last field of the path.
    fn model(&self, schema: &Value) -> String {
        let mut description = String::new();
        self.description(schema, &mut description);
        let description = if description.is_empty() { "<empty>" } else { &description };
        let mut out = format!("DESCRIPTION:\n{}\n", indent(4, &wrap(description, 76)));
        if let Some(docs) = member(schema, "externalDocs") {
            out.push_str("\nEXTERNAL DOCS:\n");
            external_docs(docs, 76, 4, &mut out);
        }
        let mut list = String::new();
        self.field_list(schema, 1, &[], &mut list);
        if !list.is_empty() {
            out.push_str("FIELDS:\n");
            out.push_str(&list);
        }
        out
    }

    /// `fieldList`
    fn field_list(&self, schema: &Value, level: usize, history: &[&str], out: &mut String) {
        let reference = reference(schema);
        if !reference.is_empty() && history.contains(&reference) {
            return;
        }
        let history: Vec<&str> = history.iter().copied().chain([reference]).collect();
        let resolved = self.resolved(schema);
        for (name, property) in resolved.get("properties").and_then(Value::as_object).into_iter().flatten() {
            self.field_detail(resolved, name, property, level, out);
            if self.recursive && (self.max_depth == 0 || level < self.max_depth) {
                self.field_list(property, level + 1, &history, out);
            }
        }
        for part in all_of(resolved) {
            self.field_list(part, level, &history, out);
        }
        for below in [member(resolved, "items"), values_schema(resolved)].into_iter().flatten() {
            self.field_list(below, level, &history, out);
        }
    }

    /// `fieldDetail`
    fn field_detail(&self, parent: &Value, name: &str, schema: &Value, level: usize, out: &mut String) {
        let amount = level * 2;
        let required = parent.get("required").and_then(Value::as_array).unwrap_or_default();
        let required = if required.iter().any(|one| one.as_str() == Some(name)) { " -required-" } else { "" };
        let _ = write!(out, "{}\t<{}>{required}", indent(amount, name), self.type_guess(schema));
        out.push_str(&enumeration(schema, false, amount));
        out.push('\n');
        if self.recursive {
            return;
        }
        let description = member(schema, "description").and_then(Value::as_str).unwrap_or("<no description>");
        out.push_str(&indent(amount + 2, &wrap(description, 78_usize.saturating_sub(amount))));
        out.push('\n');
        if let Some(docs) = member(schema, "externalDocs") {
            let _ = write!(out, "\n{}\n", indent(amount + 2, "EXTERNAL DOCS:"));
            external_docs(docs, 76_usize.saturating_sub(amount), amount + 4, out);
        }
        out.push('\n');
    }

    /// `description`
    fn description(&self, schema: &Value, out: &mut String) {
        let resolved = self.resolved(schema);
        if let Some(text) = member(resolved, "description").and_then(Value::as_str) {
            out.push_str(text);
            out.push('\n');
        }
        for part in all_of(resolved) {
            self.description(part, out);
        }
        for below in [member(resolved, "items"), values_schema(resolved)].into_iter().flatten() {
            self.description(below, out);
        }
    }

    /// `typeGuess`
    fn type_guess(&self, schema: &Value) -> String {
        if let Some(items) = member(schema, "items") {
            return format!("[]{}", self.type_guess(items));
        }
        if let Some(values) = values_schema(schema) {
            return format!("map[string]{}", self.type_guess(values));
        }
        if let ([only], None) = (all_of(schema), member(schema, "properties")) {
            return self.type_guess(only);
        }
        let type_of = |schema: &Value| schema.str_at(&["type"]).unwrap_or_default().to_owned();
        let reference = reference(schema);
        let type_ = if reference.is_empty() {
            type_of(schema)
        } else {
            let type_ = self.referenced(reference).map(type_of).unwrap_or_default();
            if matches!(type_.as_str(), "" | "object") {
                reference.rsplit(['/', '.']).next().unwrap_or_default().to_owned()
            } else {
                type_
            }
        };
        if matches!(type_.as_str(), "" | "object") { "Object".to_owned() } else { type_ }
    }
}

/// `externalDocs`
fn external_docs(docs: &Value, width: usize, amount: usize, out: &mut String) {
    if let Some(text) = member(docs, "description").and_then(Value::as_str) {
        let _ = writeln!(out, "{}", indent(amount, &wrap(text, width)));
    }
    if let Some(url) = member(docs, "url").and_then(Value::as_str) {
        let _ = writeln!(out, "{}", indent(amount, &format!("URL: {url}")));
    }
}

/// `extractEnum`
fn enumeration(schema: &Value, is_long: bool, amount: usize) -> String {
    let Some(values) = member(schema, "enum").and_then(Value::as_array) else { return String::new() };
    let mut out = if is_long { "ENUM:".to_owned() } else { format!("\n{}enum: ", " ".repeat(amount)) };
    for (index, value) in values.iter().enumerate() {
        if !is_long && index >= MAX_VALUES {
            out.push_str(", ....");
            break;
        }
        if is_long {
            out.push_str("\n    ");
        } else if index > 0 {
            out.push_str(", ");
        }
        out.push_str(&printed(value));
    }
    out
}

/// Formats a value as Go's templates do; JSON numbers are of Go's type float64.
fn printed(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::Null => "<no value>".to_owned(),
        Value::Int(n) => {
            #[expect(clippy::cast_precision_loss, reason = "as Go reads JSON")]
            let n = *n as f64;
            print::format_v(&Value::Float(n))
        }
        other => print::format_v(other),
    }
}
