//! Makes an object as small as possible.

use crdx_value::Value;
use crdx_value::steps::{Steps, memory};

/// The most objects that are tried.
const BUDGET: usize = 400;
/// The most memory of all objects that are tried, in bytes.
const MEMORY: u64 = 32 << 20;

/// A step in an object.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Member(String),
    Item(usize),
}

/// Removes and shortens values of `object` as long as `holds` is true for the result.
pub fn shrunk(object: Value, mut holds: impl FnMut(&Value) -> bool) -> Value {
    let mut best = object;
    let mut left = BUDGET;
    let memory_left = Steps::new(MEMORY);
    loop {
        let mut has_changed = false;
        let mut paths = Vec::new();
        collect(&best, &mut Vec::new(), &mut paths);
        for path in paths {
            for smaller in variants(&best, &path) {
                if left == 0 || memory_left.take(memory(&smaller) as u64).is_err() {
                    return best;
                }
                left -= 1;
                if holds(&smaller) {
                    best = smaller;
                    has_changed = true;
                    break;
                }
            }
        }
        if !has_changed {
            return best;
        }
    }
}

/// Collects the paths of all values, those of later items before those of earlier ones.
fn collect(value: &Value, path: &mut Vec<Part>, all: &mut Vec<Vec<Part>>) {
    if !path.is_empty() {
        all.push(path.clone());
    }
    let is_root = path.is_empty();
    let mut inner = |part: Part, value: &Value| {
        path.push(part);
        collect(value, path, all);
        path.pop();
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if !(is_root && matches!(name.as_str(), "apiVersion" | "kind" | "metadata")) {
                    inner(Part::Member(name.clone()), value);
                }
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate().rev() {
                inner(Part::Item(index), value);
            }
        }
        _ => {}
    }
}

/// Returns the object with the value at `path` removed, or replaced by smaller ones.
fn variants(object: &Value, path: &[Part]) -> Vec<Value> {
    let Some(value) = path.iter().try_fold(object, |value, part| step(value, part)) else { return Vec::new() };
    let mut all = vec![None];
    match value {
        Value::String(text) => {
            let length = text.chars().count();
            let lengths = [0, 1, length / 2, length.saturating_sub(1)];
            let lengths = lengths.into_iter().filter(|shorter| *shorter < length);
            all.extend(lengths.map(|shorter| Some(Value::from(text.chars().take(shorter).collect::<String>()))));
        }
        Value::Int(number) if *number > 1 => all.extend([Some(Value::Int(0)), Some(Value::Int(1))]),
        _ => {}
    }
    all.into_iter().filter_map(|value| replaced(object, path, value)).collect()
}

fn step<'v>(value: &'v Value, part: &Part) -> Option<&'v Value> {
    match part {
        Part::Member(name) => value.get(name),
        Part::Item(index) => value.as_array()?.get(*index),
    }
}

fn replaced(object: &Value, path: &[Part], value: Option<Value>) -> Option<Value> {
    let mut object = object.clone();
    let (last, above) = path.split_last()?;
    let mut at = &mut object;
    for part in above {
        at = match (at, part) {
            (Value::Object(members), Part::Member(name)) => members.get_mut(name)?,
            (Value::Array(items), Part::Item(index)) => items.get_mut(*index)?,
            _ => return None,
        };
    }
    match (at, last, value) {
        (Value::Object(members), Part::Member(name), None) => {
            members.remove(name)?;
        }
        (Value::Object(members), Part::Member(name), Some(value)) => *members.get_mut(name)? = value,
        (Value::Array(items), Part::Item(index), None) if *index < items.len() => {
            items.remove(*index);
        }
        (Value::Array(items), Part::Item(index), Some(value)) => *items.get_mut(*index)? = value,
        _ => return None,
    }
    Some(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;
    use crdx_value::json;

    #[test]
    fn only_what_is_needed_is_left() {
        let object = yaml::read(b"{kind: K, spec: {a: [1, 2, 3, 4], b: {c: long text, d: 7}, e: true}}").unwrap();
        let needed = |object: &Value| {
            let items = object.at(&["spec", "a"]).and_then(Value::as_array).map_or(0, <[Value]>::len);
            items >= 2 && object.str_at(&["spec", "b", "c"]).is_some_and(|text| text.len() >= 3)
        };
        let small = shrunk(object, needed);
        assert_eq!(json::to_string(&small), r#"{"kind":"K","spec":{"a":[1,0],"b":{"c":"lon"}}}"#);
    }
}
