//! One value of a node for each case that its rules distinguish.

use super::fragment::{FieldUses, Uses, field, is_finite};
use crate::examples::generate::{self, ExampleFields};
use crdx_server::pipeline::compiled::{Dialect, SchemaNode};
use crdx_server::pipeline::validate::validate;
use crdx_server::schema::Schema;
use crdx_value::field::ROOT;
use crdx_value::release::Release;
use crdx_value::{Map, Value};
use std::collections::BTreeSet;

/// The longest text or list of a case.
const MAX_SIZE: i64 = 600;

/// The value of a field in one case; `None` if the field is absent.
pub type FieldCase = Option<Value>;

/// The values of one field.
#[derive(Debug)]
pub struct FieldCases {
    /// The names on the path from the node.
    pub path: Vec<String>,
    /// One value for each case.
    pub cases: Vec<FieldCase>,
}

/// Returns the cases of each field; `None` if some case may have no value here.
pub fn cases(node: &Schema, uses: &Uses, release: Release) -> Option<Vec<FieldCases>> {
    let of_field = |(path, uses): (&Vec<String>, &FieldUses)| {
        let schema = field(node, path)?;
        let mut cases: Vec<FieldCase> = values(schema, uses, release)?.into_iter().map(Some).collect();
        if schema.nullable {
            cases.push(Some(Value::Null));
        }
        if !is_present(node, path, schema) {
            cases.push(None);
        }
        Some(FieldCases { path: path.clone(), cases })
    };
    let all: Vec<FieldCases> = uses.iter().map(of_field).collect::<Option<_>>()?;
    // A field and a part of it do not vary independently.
    let is_nested =
        |one: &FieldCases| all.iter().any(|other| other.path != one.path && one.path.starts_with(&other.path));
    (!all.iter().any(is_nested)).then_some(all)
}

/// Returns true if every value of the node has the field.
fn is_present(node: &Schema, path: &[String], schema: &Schema) -> bool {
    let Some((last, parents)) = path.split_last() else { return true };
    let parent = parents.iter().try_fold(node, |node, name| node.property(name));
    schema.default.is_some() || parent.is_some_and(|parent| parent.required.contains(last))
}

/// Returns one valid value for each case. Values that the schema rejects are left out.
fn values(schema: &Schema, uses: &FieldUses, release: Release) -> Option<Vec<Value>> {
    let compiled = SchemaNode::compile(&without_rules(schema), Dialect::Objects, release);
    let is_valid = |value: &Value| validate(value, &compiled, &ROOT, release).is_empty();
    if is_finite(schema) {
        let all =
            if schema.enum_.is_empty() { vec![Value::Bool(true), Value::Bool(false)] } else { schema.enum_.clone() };
        return Some(all.into_iter().filter(is_valid).collect());
    }
    if !uses.is_compared {
        let value = generate::value(schema, ExampleFields::Minimal, 0);
        return is_valid(&value).then(|| vec![value]);
    }
    let has_unions = [&schema.all_of, &schema.any_of, &schema.one_of].iter().any(|parts| !parts.is_empty());
    if !schema.pattern.is_empty() || schema.multiple_of.is_some() || has_unions || schema.not.is_some() {
        return None;
    }
    match schema.type_.as_str() {
        "integer" => Some(integers(schema, uses).into_iter().map(Value::Int).filter(is_valid).collect()),
        "number" => Some(numbers(schema, uses).into_iter().map(Value::Float).filter(is_valid).collect()),
        "string" => Some(texts(schema, uses)?.into_iter().map(Value::from).filter(is_valid).collect()),
        "array" | "object" => collections(schema, uses, is_valid),
        _ => None,
    }
}

fn without_rules(schema: &Schema) -> Schema {
    Schema { x_validations: Vec::new(), ..schema.clone() }
}

#[expect(clippy::cast_possible_truncation, reason = "a bound beyond the range is its end")]
fn integers(schema: &Schema, uses: &FieldUses) -> BTreeSet<i64> {
    let bounds = [schema.minimum, schema.maximum].into_iter().flatten().map(|bound| bound as i64);
    let critical = uses.numbers.iter().copied().chain(bounds);
    let limits = [i64::from(i32::MIN), i64::from(i32::MAX), 0];
    critical.flat_map(|n| [n.saturating_sub(1), n, n.saturating_add(1)]).chain(limits).collect()
}

/// Returns the critical numbers, the middle of each two neighbours, and numbers beyond the ends.
fn numbers(schema: &Schema, uses: &FieldUses) -> Vec<f64> {
    #[expect(clippy::cast_precision_loss, reason = "only numbers that a double represents are constants of rules")]
    let of_rules = uses.numbers.iter().map(|number| *number as f64);
    let mut all: Vec<f64> = of_rules.chain(schema.minimum).chain(schema.maximum).chain([0.0]).collect();
    all.sort_by(f64::total_cmp);
    let middles: Vec<f64> = all.iter().zip(all.iter().skip(1)).map(|(one, next)| one / 2.0 + next / 2.0).collect();
    let ends = [all.first().map(|first| first - 1.0), all.last().map(|last| last + 1.0)];
    all.into_iter().chain(middles).chain(ends.into_iter().flatten()).collect()
}

/// Returns sizes that stand for all others, because the rules and the schema treat those in between alike; `None` if one is too
/// large.
fn sizes(uses: &FieldUses, bounds: [Option<i64>; 2], others: impl Iterator<Item = i64>) -> Option<BTreeSet<i64>> {
    let critical = uses.sizes.iter().copied().chain(bounds.into_iter().flatten()).chain(others);
    let all: BTreeSet<i64> =
        critical.flat_map(|n| [n.saturating_sub(1), n, n.saturating_add(1)]).chain([0, 1]).collect();
    let all: BTreeSet<i64> = all.into_iter().filter(|size| *size >= 0).collect();
    all.iter().all(|size| *size <= MAX_SIZE).then_some(all)
}

fn texts(schema: &Schema, uses: &FieldUses) -> Option<Vec<String>> {
    let length = |text: &String| i64::try_from(text.chars().count()).unwrap_or(i64::MAX);
    let sizes = sizes(uses, [schema.min_length, schema.max_length], uses.texts.iter().map(length))?;
    // A text of each length that no rule names.
    let other = |size: i64| {
        let size = usize::try_from(size).unwrap_or(0);
        let letters = ["q", "x", "z", "7"].into_iter().map(|letter| letter.repeat(size));
        letters.into_iter().find(|text| !uses.texts.contains(text))
    };
    Some(sizes.into_iter().filter_map(other).chain(uses.texts.iter().cloned()).collect())
}

/// Returns a list or a map of each size within the limits; `None` if one cannot be generated.
fn collections(schema: &Schema, uses: &FieldUses, is_valid: impl Fn(&Value) -> bool) -> Option<Vec<Value>> {
    let (least, most) = match schema.type_.as_str() {
        "array" => (schema.min_items, schema.max_items),
        _ if schema.properties.is_empty() => (schema.min_properties, schema.max_properties),
        _ => return None,
    };
    let within = |size: &i64| *size >= least.unwrap_or(0) && most.is_none_or(|most| *size <= most);
    let sizes = sizes(uses, [least, most], std::iter::empty())?;
    let made = sizes.into_iter().filter(within).map(|size| {
        let limits = Schema {
            min_items: Some(size),
            max_items: Some(size),
            min_properties: Some(size),
            max_properties: Some(size),
            default: None,
            ..schema.clone()
        };
        let value = generate::value(&limits, ExampleFields::Minimal, 0);
        let length = value.as_array().map(<[Value]>::len).or_else(|| value.as_object().map(Map::len));
        let is_size = length.and_then(|length| i64::try_from(length).ok()) == Some(size);
        (is_size && is_valid(&value)).then_some(value)
    });
    made.collect()
}

/// Returns the value of the node with this case of each field.
pub fn model(fields: &[FieldCases], choice: &[usize]) -> Value {
    let mut model = Value::Object(Map::new());
    for (field, index) in fields.iter().zip(choice) {
        let value = field.cases.get(*index).cloned().flatten();
        if field.path.is_empty() {
            return value.unwrap_or_default();
        }
        set(&mut model, &field.path, value);
    }
    model
}

fn set(at: &mut Value, path: &[String], value: Option<Value>) {
    let (Value::Object(members), Some((first, rest))) = (at, path.split_first()) else { return };
    if rest.is_empty() {
        members.extend(value.map(|value| (first.clone(), value)));
    } else {
        set(members.entry(first.clone()).or_insert_with(|| Value::Object(Map::new())), rest, value);
    }
}
