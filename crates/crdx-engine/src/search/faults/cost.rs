//! Rules that cost more than the limit of one evaluation, for an object that the schema allows.
//!
//! The server estimates the cost of a rule for the largest values that the schema allows, and accepts up to ten times the limit of one
//! evaluation. A rule in between may reject objects only because they are large.

use super::objects::Subject;
use super::samples::Samples;
use super::{Evidence, Fault, FaultKind, FaultNode};
use crate::examples::generate::{self, ExampleFields};
use crdx_server::schema::Schema;
use crdx_value::{Map, Value, json};

/// The largest object that is tried, in bytes: etcd stores no object of more than 1.5 MiB.
const MAX_BYTES: usize = 1 << 20;
/// The bytes that count for each value, beside those of its text.
const VALUE: usize = 16;
/// The most items of a list without a limit, and the most characters of such a text.
const UNLIMITED: usize = 10_000;
/// The number of sizes that are tried: a value has a part of the size that its schema allows.
const SIZES: usize = 16;
/// The longest object that is printed; of others, only the sizes are.
const MAX_PRINTED: usize = 2000;

impl Subject<'_> {
    /// A rule that the server cannot evaluate for an object.
    pub fn cost(&self, node: &FaultNode<'_>, index: usize) -> Option<Fault> {
        let rule = node.schema.x_validations.get(index)?;
        let rules = self.only(node, vec![rule.clone()])?;
        let exceeds = |object: &Value| rules.evaluations(object, None).iter().any(|one| one.exceeds_limit);
        let tried = |size: usize, is_distinct: bool| {
            let value = Largest { size, is_distinct, left: MAX_BYTES, samples: &self.samples }.value(node.schema, 0);
            let object = if node.steps.is_empty() { Some(self.root(&value)?) } else { self.with(node, Some(&value)) };
            object.filter(|object| exceeds(object)).map(|object| (value, object))
        };
        let largest = |is_distinct: bool| tried(SIZES, is_distinct).map(|found| (is_distinct, found));
        let (is_distinct, (mut value, mut object)) = [true, false].into_iter().find_map(largest)?;
        // Larger values cost more.
        let (mut least, mut most) = (1, SIZES);
        while least < most {
            let size = usize::midpoint(least, most);
            match tried(size, is_distinct) {
                Some(smaller) => ((value, object), most) = (smaller, size),
                None => least = size + 1,
            }
        }
        self.create(&object)?.err()?;
        let keyword = format!("x-kubernetes-validations[{index}].rule");
        let (what, evidence) = if json::is_longer_than(&object, MAX_PRINTED) {
            (format!("an object with {}", sizes(&node.path(), &value)), Evidence::LongObject(object))
        } else {
            ("an object".to_owned(), Evidence::Objects(vec![object]))
        };
        let message = format!(
            "{}: the server rejects {what}, although the schema allows it, because the rule {:?} costs more than the limit of \
             one evaluation; lower the limits of the schema",
            node.path(),
            rule.rule.trim()
        );
        Some(node.fault(FaultKind::ExcessiveCost, &keyword, message, evidence))
    }

    /// Returns the accepted object with other fields than those of every object.
    fn root(&self, value: &Value) -> Option<Value> {
        let mut object = value.clone();
        let members = object.as_object_mut()?;
        for name in ["apiVersion", "kind", "metadata"] {
            members.extend(self.base().get(name).map(|value| (name.to_owned(), value.clone())));
        }
        Some(object)
    }
}

/// Generates values with a part of the size that a schema allows.
struct Largest<'s> {
    /// The part, of [`SIZES`].
    size: usize,
    /// True if the items of a list differ.
    is_distinct: bool,
    /// The number of bytes that are left.
    left: usize,
    samples: &'s Samples,
}

impl Largest<'_> {
    fn value(&mut self, schema: &Schema, number: usize) -> Value {
        let number = if self.is_distinct { number } else { 0 };
        // Numbers and empty values need memory, too.
        self.left = self.left.saturating_sub(VALUE);
        if schema.enum_.is_empty() && self.left > 0 {
            let is_map = schema.properties.is_empty();
            match (schema.type_.as_str(), schema.items_schema(), schema.additional_properties_schema()) {
                ("array", Some(item), _) => return self.items(schema, item),
                ("object", _, Some(values)) if is_map => return self.map(schema, values),
                ("object", ..) if !is_map => return self.members(schema, number),
                ("string", ..) if schema.format.is_empty() => return self.text(schema, number).into(),
                _ if schema.x_int_or_string && !schema.pattern.is_empty() => {
                    return self.samples.short(schema, number).into();
                }
                _ => {}
            }
        }
        generate::value(schema, ExampleFields::Full, number)
    }

    /// Returns a part of a limit, at least one.
    fn part(&self, limit: Option<i64>) -> usize {
        let limit = limit.map_or(UNLIMITED, |limit| usize::try_from(limit).unwrap_or(0).min(MAX_BYTES));
        (limit * self.size / SIZES).max(limit.min(1))
    }

    fn text(&mut self, schema: &Schema, number: usize) -> String {
        let length = self.part(schema.max_length).min(self.left);
        let made = if schema.pattern.is_empty() {
            let mut text = if self.is_distinct { number.to_string() } else { String::new() };
            text.truncate(length);
            text.push_str(&"a".repeat(length - text.len()));
            text
        } else {
            self.samples.text(schema, length, number)
        };
        self.left = self.left.saturating_sub(made.len());
        made
    }

    fn items(&mut self, schema: &Schema, item: &Schema) -> Value {
        let mut items = Vec::new();
        for number in 0..self.part(schema.max_items) {
            if self.left == 0 {
                break;
            }
            items.push(self.value(item, number));
        }
        items.into()
    }

    fn map(&mut self, schema: &Schema, values: &Schema) -> Value {
        let mut members = Map::new();
        for number in 0..self.part(schema.max_properties) {
            if self.left == 0 {
                break;
            }
            members.insert(format!("key{number}"), self.value(values, number));
        }
        members.into()
    }

    fn members(&mut self, schema: &Schema, number: usize) -> Value {
        let mut members = generate::embedded(schema);
        let chosen = generate::Chosen::of(schema);
        let names = schema.properties.iter().filter(|(name, _)| chosen.has_when_full(name));
        for (name, property) in names {
            let value = self.value(property, number);
            members.insert(name.clone(), value);
        }
        members.into()
    }
}

/// Returns the numbers of items, members and characters of the largest parts of a value, by their path.
fn sizes(path: &str, value: &Value) -> String {
    let mut found: Vec<(String, usize, &'static str)> = Vec::new();
    collect(path, value, &mut found);
    found.sort_by_key(|(_, size, _)| std::cmp::Reverse(*size));
    let texts = found.iter().take(3).map(|(path, size, unit)| format!("{size} {unit} in {path}"));
    texts.collect::<Vec<_>>().join(", ")
}

fn collect(path: &str, value: &Value, found: &mut Vec<(String, usize, &'static str)>) {
    let mut add = |size: usize, unit| {
        if !found.iter().any(|(known, ..)| known == path) {
            found.push((path.to_owned(), size, unit));
        }
    };
    let below = |name: &str| if path == "self" { name.to_owned() } else { format!("{path}.{name}") };
    match value {
        Value::String(text) => add(text.chars().count(), "characters"),
        Value::Array(items) => {
            add(items.len(), "items");
            if let Some(item) = items.first() {
                collect(&format!("{path}[*]"), item, found);
            }
        }
        Value::Object(members) => {
            for (name, value) in members.iter().take(64) {
                collect(&below(name), value, found);
            }
        }
        _ => {}
    }
}
