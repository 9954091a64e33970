//! Values at the boundaries of a schema node: one that satisfies it, changed so that it may violate the enum, the pattern or
//! a bound.

use super::generate::{self, ExampleFields};
use super::strings;
use crdx_regexp::Regexp;
use crdx_server::schema::Schema;
use crdx_value::Value;

/// The maximum length of a text.
const MAX_LENGTH: usize = 4097;
/// The maximum number of items or members.
const MAX_ITEMS: usize = 130;

/// Returns values that may violate the enum, pattern and bounds of a node.
pub(crate) fn beyond(schema: &Schema, value: &Value) -> Vec<Value> {
    let mut all: Vec<Value> = Vec::new();
    if !schema.enum_.is_empty() {
        let text = "none of these";
        all.push(if value.as_str().is_some() { text.into() } else { Value::Int(987_654_321) });
    }
    match value {
        Value::String(text) => all.extend(texts(schema, text).into_iter().map(Value::from)),
        Value::Int(_) | Value::Float(_) => all.extend(numbers(schema)),
        Value::Array(items) => all.extend(lists(schema, items)),
        Value::Object(members) => {
            if let Some(least) = size(schema.min_properties) {
                all.push(Value::Object(members.iter().take(least.saturating_sub(1)).map(owned).collect()));
            }
            if let (Some(most), Some(values)) = (size(schema.max_properties), schema.additional_properties_schema())
                && most < MAX_ITEMS
            {
                let more = (0..=most)
                    .map(|i| (strings::numbered("more", i), generate::value(values, ExampleFields::Minimal, i)));
                all.push(Value::Object(members.iter().map(owned).chain(more).take(most + 1).collect()));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
    all
}

fn owned((name, value): (&String, &Value)) -> (String, Value) {
    (name.clone(), value.clone())
}

fn size(limit: Option<i64>) -> Option<usize> {
    usize::try_from(limit?).ok()
}

fn texts(schema: &Schema, now: &str) -> Vec<String> {
    let mut all = Vec::new();
    let pattern = Regexp::new(&schema.pattern).ok();
    if let Some(most) = size(schema.max_length).filter(|most| *most < MAX_LENGTH) {
        let sample = pattern.as_ref().and_then(|pattern| pattern.sample(most + 1, 0));
        let end = now.chars().last().unwrap_or('a').to_string();
        all.push(format!("{now}{}", end.repeat((most + 1).saturating_sub(now.chars().count()))));
        all.extend(sample.map(|text| text.chars().take((most + 1).max(text.chars().count())).collect()));
        all.push("a".repeat(most + 1));
    }
    if let Some(least) = size(schema.min_length).filter(|least| *least > 0) {
        all.push(now.chars().take(least - 1).collect());
        all.push("a".repeat(least - 1));
    }
    if !schema.pattern.is_empty() {
        let odd = ["!", "", "-", "A", "a b", "_", "1", "/", "example", "!!!!!!!!", "\u{e9}"].map(str::to_owned);
        all.extend(odd);
        all.extend([format!("{now}!"), format!("!{now}"), format!("{now}-"), format!("{now} "), format!("-{now}")]);
    }
    all
}

fn numbers(schema: &Schema) -> Vec<Value> {
    #[expect(clippy::cast_possible_truncation, reason = "a bound beyond the range has no near miss")]
    let near = |bound: f64, by: i64| Value::Int((bound.floor() as i64).saturating_add(by));
    let bounds = [(schema.minimum, -1), (schema.maximum, 1)];
    let mut all = Vec::new();
    for (bound, by) in bounds {
        // The bound itself is a near miss if the bound is exclusive.
        all.extend(bound.into_iter().flat_map(|bound| [near(bound, 0), near(bound, by)]));
    }
    if let Some(of) = schema.multiple_of {
        all.extend([near(of, 1), near(of * 2.0, 1), Value::Float(of * 1.5)]);
    }
    all
}

fn lists(schema: &Schema, items: &[Value]) -> Vec<Value> {
    let mut all = Vec::new();
    if let Some(least) = size(schema.min_items).filter(|least| *least > 0) {
        all.push(items.iter().take(least - 1).cloned().collect::<Vec<_>>().into());
    }
    if let (Some(most), Some(item)) = (size(schema.max_items).filter(|most| *most < MAX_ITEMS), schema.items_schema()) {
        for start in [items, &[]] {
            let more = (start.len()..=most).map(|number| generate::value(item, ExampleFields::Minimal, number));
            all.push(start.iter().cloned().chain(more).collect::<Vec<_>>().into());
        }
    }
    all
}
