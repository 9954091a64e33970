//! Generates an object from a schema, with required or all fields; defaults, enums, formats, patterns and bounds are
//! respected.

use super::strings;
use crate::schema::{Schema, SchemaOrBool};
use crate::value::{Map, Value, object as json_object};

/// The maximum number of values of one object; beyond it, only required fields are generated.
const MAX_VALUES: usize = 20_000;
/// The maximum number of items or members of one list or map.
const MAX_ITEMS: usize = 64;
/// The maximum depth of generated values.
const MAX_DEPTH: usize = 200;

/// The fields that an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleFields {
    /// Required fields only.
    Minimal,
    /// All fields.
    Full,
}

/// Generates an object of a version's schema, without apiVersion, kind and metadata.
pub fn object(schema: &Schema, fields: ExampleFields) -> Value {
    let mut made = value(schema, fields, 0);
    if made.as_object().is_none() {
        made = Value::Object(Map::new());
    }
    if let Some(members) = made.as_object_mut() {
        for name in ["apiVersion", "kind", "metadata"] {
            members.remove(name);
        }
        // Controllers write the status.
        if !schema.required.iter().any(|name| name == "status") {
            members.remove("status");
        }
        if let Some(spec) = schema.property("spec") {
            members.entry("spec".to_owned()).or_insert_with(|| value(spec, fields, 0));
        }
    }
    made
}

/// Generates the `number`th value (from 0) of a schema; different numbers give different values where the schema allows
/// it.
pub fn value(schema: &Schema, fields: ExampleFields, number: usize) -> Value {
    Generator { fields, left: MAX_VALUES }.value(schema, 0, number)
}

struct Generator {
    fields: ExampleFields,
    left: usize,
}

impl Generator {
    /// Returns true if optional fields are generated.
    fn is_full(&self) -> bool {
        self.fields == ExampleFields::Full && self.left > 0
    }

    fn value(&mut self, schema: &Schema, depth: usize, number: usize) -> Value {
        self.left = self.left.saturating_sub(1);
        if let Some(default) = schema.default.as_ref().filter(|_| number == 0) {
            let made = if self.is_full() && default.as_object().is_some() && !schema.properties.is_empty() {
                self.members(schema, depth, number)
            } else {
                return default.clone();
            };
            return overlaid(made, default);
        }
        if let Some(one) = schema.enum_.iter().filter(|one| one.as_str() != Some("")).cycle().nth(number % 1000) {
            return one.clone();
        }
        if schema.x_int_or_string {
            let is_text = !schema.pattern.is_empty() || schema.max_length.is_some() || schema.min_length.is_some();
            let count = i64::try_from(number).unwrap_or(0).saturating_add(1);
            return if is_text { strings::text(schema, number).into() } else { Value::Int(count) };
        }
        match schema.type_.as_str() {
            "object" => self.members(schema, depth, number),
            "array" => self.items(schema, depth),
            "string" => strings::text(schema, number).into(),
            "integer" | "number" => numeric(schema, number),
            "boolean" => Value::Bool(number.is_multiple_of(2)),
            _ if !schema.properties.is_empty() => self.members(schema, depth, number),
            _ => match typed_branch(schema).filter(|_| depth < MAX_DEPTH) {
                Some(branch) => self.value(branch, depth + 1, number),
                None => Value::Object(Map::new()),
            },
        }
    }

    fn items(&mut self, schema: &Schema, depth: usize) -> Value {
        let least = size(schema.min_items, 0);
        let wanted = if self.is_full() { least.max(1) } else { least };
        let Some(item) = schema.items_schema().filter(|_| depth < MAX_DEPTH) else { return Vec::new().into() };
        let count = wanted.min(size(schema.max_items, MAX_ITEMS)).min(MAX_ITEMS);
        (0..count).map(|number| self.value(item, depth + 1, number)).collect::<Vec<_>>().into()
    }

    fn members(&mut self, schema: &Schema, depth: usize, number: usize) -> Value {
        let mut members = Map::new();
        if depth >= MAX_DEPTH {
            return members.into();
        }
        if schema.x_embedded_resource {
            let name = json_object([("name", Value::from("example"))]);
            members.extend([
                ("apiVersion".to_owned(), Value::from("v1")),
                ("kind".to_owned(), "ConfigMap".into()),
                ("metadata".to_owned(), name),
            ]);
        }
        let mut required: Vec<&String> = schema.required.iter().collect();
        let mut excluded: Vec<&String> = Vec::new();
        let all_of = schema.all_of.iter().flat_map(|part| [&part.one_of, &part.any_of]);
        for union in [&schema.one_of, &schema.any_of].into_iter().chain(all_of) {
            let Some((first, others)) = union.split_first() else { continue };
            required.extend(&first.required);
            let named = others.iter().flat_map(|other| &other.required);
            excluded.extend(named.filter(|name| !first.required.contains(name)));
        }
        for (name, property) in &schema.properties {
            let wanted = self.is_full() && !excluded.contains(&name);
            if (wanted || required.contains(&name)) && !members.contains_key(name) {
                let made = self.value(property, depth + 1, number);
                members.insert(name.clone(), made);
            }
        }
        let least = size(schema.min_properties, 0).min(MAX_ITEMS);
        for (name, property) in &schema.properties {
            if members.len() < least && !members.contains_key(name) {
                let made = self.value(property, depth + 1, number);
                members.insert(name.clone(), made);
            }
        }
        if let Some(SchemaOrBool::Schema(values)) = &schema.additional_properties {
            let wanted = if self.is_full() { least.max(1) } else { least };
            for i in members.len()..wanted {
                let made = self.value(values, depth + 1, i);
                members.insert(strings::numbered("example", i), made);
            }
            for name in required {
                if !members.contains_key(name) {
                    let made = self.value(values, depth + 1, 0);
                    members.insert(name.clone(), made);
                }
            }
        }
        members.into()
    }
}

/// Returns `made` with the members of `default` added or replaced.
fn overlaid(mut made: Value, default: &Value) -> Value {
    if let (Value::Object(members), Value::Object(defaults)) = (&mut made, default) {
        for (name, value) in defaults {
            members.insert(name.clone(), value.clone());
        }
    }
    made
}

/// Returns the first branch with a type, for a union whose schema has none.
fn typed_branch(schema: &Schema) -> Option<&Schema> {
    schema.any_of.iter().chain(&schema.one_of).chain(&schema.all_of).find(|branch| !branch.type_.is_empty())
}

fn size(limit: Option<i64>, none: usize) -> usize {
    limit.map_or(none, |limit| usize::try_from(limit).unwrap_or(0))
}

/// Returns true if a number is within the bounds of a schema.
pub fn is_within(schema: &Schema, x: f64) -> bool {
    schema.minimum.is_none_or(|least| if schema.exclusive_minimum { x > least } else { x >= least })
        && schema.maximum.is_none_or(|most| if schema.exclusive_maximum { x < most } else { x <= most })
        && schema.multiple_of.is_none_or(|of| x % of == 0.0)
}

fn numeric(schema: &Schema, number: usize) -> Value {
    let of = schema.multiple_of.filter(|of| *of >= 1.0).unwrap_or(1.0);
    let least = schema.minimum.map(f64::ceil);
    let most = schema.maximum.map(f64::floor);
    let starts = [Some(1.0), least, most.map(|most| most - 100.0), most, Some(0.0)].into_iter().flatten();
    let near = |start: f64| (0..1000).map(move |i| (start / of).floor() * of + of * f64::from(i));
    let mut starts = starts;
    let fits = starts.find_map(|start| near(start).filter(|x| is_within(schema, *x)).nth(number));
    if let Some(whole) = fits.filter(|x| x.abs() < 9e15) {
        #[expect(clippy::cast_possible_truncation, reason = "whole and small")]
        return Value::Int(whole as i64);
    }
    let (least, most) = (schema.minimum.unwrap_or(0.0), schema.maximum.unwrap_or(1.0));
    if schema.type_ == "number" { Value::Float(least / 2.0 + most / 2.0) } else { Value::Int(1) }
}
