//! Generates an object from a schema, with required or all fields; defaults, enums, formats, patterns and bounds are
//! respected.

use super::strings::{self, Samples};
use crdx_server::schema::{Schema, SchemaOrBool};
use crdx_value::steps::{Steps, memory};
use crdx_value::{Map, Value, object as json_object};
use std::collections::BTreeSet;

/// The maximum number of values of one object; beyond it, only required fields are generated.
const MAX_VALUES: usize = 20_000;
/// The maximum number of items or members of one list or map.
const MAX_ITEMS: usize = 64;
/// The maximum depth of generated values.
const MAX_DEPTH: usize = 200;

/// The most memory of an example, in bytes. etcd stores no object of more than 1.5 MiB.
const OBJECT: usize = 4 << 20;
/// The most memory of one value that is tried as a change, in bytes; many are tried.
const CHANGE: usize = 32 << 10;

/// The error for a schema that requires an object that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "an example would need more than 4 MiB, and a server stores at most 1.5 MiB: see minItems, minProperties, minLength \
     and required in the schema"
)]
pub struct TooLarge;

/// The fields that an object has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleFields {
    /// Required fields only.
    Minimal,
    /// All fields.
    Full,
}

/// Generates an object of a version's schema, without apiVersion, kind and metadata.
///
/// # Errors
/// Returns an error if the object would be too large.
pub fn object(schema: &Schema, fields: ExampleFields) -> Result<Value, TooLarge> {
    let mut generator = Generator::new(fields, OBJECT);
    let mut made = generator.value(schema, 0, 0);
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
            members.entry("spec".to_owned()).or_insert_with(|| generator.value(spec, 0, 0));
        }
    }
    if generator.memory.are_spent() { Err(TooLarge) } else { Ok(made) }
}

/// Generates the `number`th value (from 0) of a schema; different numbers give different values where the schema allows
/// it. A value that would be too large is incomplete.
pub fn value(schema: &Schema, fields: ExampleFields, number: usize) -> Value {
    let samples = Samples::of_change();
    Generator { samples, ..Generator::new(fields, CHANGE) }.value(schema, 0, number)
}

struct Generator {
    fields: ExampleFields,
    left: usize,
    /// The memory that is left, a step per byte.
    memory: Steps,
    samples: Samples,
}

impl Generator {
    fn new(fields: ExampleFields, memory: usize) -> Self {
        Self { fields, left: MAX_VALUES, memory: Steps::new(memory as u64), samples: Samples::default() }
    }

    /// Counts a value that does not contain others that were counted. Once too much was generated, nothing more is.
    fn counted(&self, made: Value) -> Value {
        if self.memory.take(memory(&made) as u64).is_err() { Value::Null } else { made }
    }

    /// Returns true if optional fields are generated.
    fn is_full(&self) -> bool {
        self.fields == ExampleFields::Full && self.left > 0
    }

    fn value(&mut self, schema: &Schema, depth: usize, number: usize) -> Value {
        if self.memory.take(1).is_err() {
            return Value::Null;
        }
        self.left = self.left.saturating_sub(1);
        if let Some(default) = schema.default.as_ref().filter(|_| number == 0) {
            let made = if self.is_full() && default.as_object().is_some() && !schema.properties.is_empty() {
                self.members(schema, depth, number)
            } else {
                return self.counted(default.clone());
            };
            return overlaid(made, &self.counted(default.clone()));
        }
        if let Some(one) = schema.enum_.iter().filter(|one| one.as_str() != Some("")).cycle().nth(number % 1000) {
            return self.counted(one.clone());
        }
        if schema.x_int_or_string {
            let is_text = !schema.pattern.is_empty() || schema.max_length.is_some() || schema.min_length.is_some();
            let count = i64::try_from(number).unwrap_or(0).saturating_add(1);
            let made = if is_text { self.text(schema, number) } else { Value::Int(count) };
            return self.counted(made);
        }
        match schema.type_.as_str() {
            "object" => self.members(schema, depth, number),
            "array" => self.items(schema, depth),
            "string" => {
                let text = self.text(schema, number);
                self.counted(text)
            }
            "integer" | "number" => self.counted(numeric(schema, number)),
            "boolean" => self.counted(Value::Bool(number.is_multiple_of(2))),
            _ if !schema.properties.is_empty() => self.members(schema, depth, number),
            _ => match typed_branch(schema).filter(|_| depth < MAX_DEPTH) {
                Some(branch) => self.value(branch, depth + 1, number),
                None => Value::Object(Map::new()),
            },
        }
    }

    /// Generates a text. If no more texts can be tried, nothing more is generated: thousands of texts that do not match would
    /// have to be mended.
    fn text(&mut self, schema: &Schema, number: usize) -> Value {
        let text = self.samples.text(schema, number);
        if self.samples.are_spent() {
            self.memory.take_all();
        }
        text.into()
    }

    fn items(&mut self, schema: &Schema, depth: usize) -> Value {
        let least = size(schema.min_items, 0);
        let wanted = if self.is_full() { least.max(1) } else { least };
        let Some(item) = schema.items_schema().filter(|_| depth < MAX_DEPTH) else { return Vec::new().into() };
        // More items than usual only if the schema requires them.
        let count = wanted.min(size(schema.max_items, MAX_ITEMS)).min(least.max(MAX_ITEMS));
        let mut items = Vec::new();
        for number in 0..count {
            items.push(self.value(item, depth + 1, number));
            if self.memory.are_spent() {
                break;
            }
        }
        items.into()
    }

    fn members(&mut self, schema: &Schema, depth: usize, number: usize) -> Value {
        let keys = schema.properties.keys().map(String::len).sum::<usize>();
        // Looking at all properties takes time, even if few of them are generated.
        let _ = self.memory.take(64 + (keys / 8) as u64);
        if depth >= MAX_DEPTH {
            return Map::new().into();
        }
        let mut members = embedded(schema);
        let chosen = Chosen::of(schema);
        for (name, property) in &schema.properties {
            let wanted = if self.is_full() { chosen.has_when_full(name) } else { chosen.requires(name) };
            if wanted && !members.contains_key(name) {
                let made = self.value(property, depth + 1, number);
                members.insert(name.clone(), made);
            }
        }
        let least = size(schema.min_properties, 0);
        for (name, property) in &schema.properties {
            if members.len() < least && !members.contains_key(name) {
                let made = self.value(property, depth + 1, number);
                members.insert(name.clone(), made);
            }
        }
        if let Some(SchemaOrBool::Schema(values)) = &schema.additional_properties {
            let wanted = if self.is_full() { least.max(1) } else { least };
            for i in members.len()..wanted {
                if self.memory.are_spent() {
                    break;
                }
                let made = self.value(values, depth + 1, i);
                members.insert(strings::numbered("example", i), made);
            }
            for name in chosen.in_order {
                if !members.contains_key(name) {
                    let made = self.value(values, depth + 1, 0);
                    members.insert(name.clone(), made);
                }
            }
        }
        members.into()
    }
}

/// Returns the members that every embedded object has; none if the schema is that of another object.
pub fn embedded(schema: &Schema) -> Map {
    if !schema.x_embedded_resource {
        return Map::new();
    }
    let name = json_object([("name", Value::from("example"))]);
    Map::from_iter([
        ("apiVersion".to_owned(), Value::from("v1")),
        ("kind".to_owned(), "ConfigMap".into()),
        ("metadata".to_owned(), name),
    ])
}

/// The fields of an object that `required` and the first branch of each union ask for.
pub struct Chosen<'s> {
    in_order: Vec<&'s String>,
    required: BTreeSet<&'s String>,
    /// The fields of the other branches.
    excluded: BTreeSet<&'s String>,
}

impl<'s> Chosen<'s> {
    /// Returns the choice for a schema.
    pub fn of(schema: &'s Schema) -> Self {
        let mut in_order: Vec<&String> = schema.required.iter().collect();
        let mut excluded = BTreeSet::new();
        let all_of = schema.all_of.iter().flat_map(|part| [&part.one_of, &part.any_of]);
        for union in [&schema.one_of, &schema.any_of].into_iter().chain(all_of) {
            let Some((first, others)) = union.split_first() else { continue };
            in_order.extend(&first.required);
            let named = others.iter().flat_map(|other| &other.required);
            excluded.extend(named.filter(|name| !first.required.contains(name)));
        }
        let required = in_order.iter().copied().collect();
        Self { in_order, required, excluded }
    }

    /// Returns true if every object needs the field.
    fn requires(&self, name: &String) -> bool {
        self.required.contains(name)
    }

    /// Returns true if an object with as many fields as possible has the field.
    pub fn has_when_full(&self, name: &String) -> bool {
        !self.excluded.contains(name) || self.requires(name)
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
pub(crate) fn is_within(schema: &Schema, x: f64) -> bool {
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

/// Generates `spec` with the fields that its schema requires.
#[cfg(test)]
pub fn value_of(spec: &str) -> Result<Value, TooLarge> {
    let schema = format!("{{type: object, required: [spec], properties: {{spec: {spec}}}}}");
    let schema = crdx_text::yaml::read(schema.as_bytes()).unwrap_or_default();
    object(&Schema::from_value(&schema).unwrap_or_default(), ExampleFields::Minimal)
}
