//! Random changes to JSON values.

use serde_json::{Map, Value, json};

/// A deterministic random number generator (`SplitMix64`).
pub struct Rng(u64);

impl Rng {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }
    pub fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A random value of any type, often an edge case.
pub fn any_value(rng: &mut Rng) -> Value {
    match rng.below(26) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(false),
        3 => json!(0),
        4 => json!(-1),
        5 => json!(1),
        6 => json!(65535),
        7 => json!(65536),
        8 => json!(2_147_483_648_i64),
        9 => json!(9_223_372_036_854_775_807_i64),
        10 => serde_json::from_str("1e19").unwrap(),
        11 => serde_json::from_str("1.0").unwrap(),
        12 => json!(1.5),
        13 => json!(""),
        14 => json!("a"),
        15 => json!("a-b.c/d"),
        16 => json!("UPPER case"),
        17 => json!("5%"),
        18 => json!("x".repeat(64)),
        19 => json!("y".repeat(300)),
        20 => json!("é😀\n<&>"),
        21 => json!([]),
        22 => json!(["a", "a", 1]),
        23 => json!([null]),
        24 => json!({}),
        _ => json!({"a": 1, "b": {"c": [1, "x", null]}}),
    }
}

/// The paths of all nodes below the root, as keys and indexes.
pub fn paths(value: &Value) -> Vec<Vec<Value>> {
    fn walk(value: &Value, at: &mut Vec<Value>, out: &mut Vec<Vec<Value>>) {
        if !at.is_empty() {
            out.push(at.clone());
        }
        match value {
            Value::Object(members) => {
                for (key, child) in members {
                    at.push(json!(key));
                    walk(child, at, out);
                    at.pop();
                }
            }
            Value::Array(items) => {
                for (index, child) in items.iter().enumerate() {
                    at.push(json!(index));
                    walk(child, at, out);
                    at.pop();
                }
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(value, &mut Vec::new(), &mut out);
    out
}

/// The node at a path.
pub fn at<'a>(value: &'a mut Value, path: &[Value]) -> &'a mut Value {
    path.iter().fold(value, |node, step| match step {
        Value::String(key) => &mut node[key.as_str()],
        index => &mut node[index.as_u64().unwrap() as usize],
    })
}

/// Changes one random node that `touch` accepts: replaces, removes or duplicates it, or adds a member.
pub fn mutate(value: &mut Value, rng: &mut Rng, touch: impl Fn(&[Value]) -> bool, other: impl Fn(&mut Rng) -> Value) {
    let candidates: Vec<_> = paths(value).into_iter().filter(|p| touch(p)).collect();
    if candidates.is_empty() {
        return;
    }
    let path = candidates[rng.below(candidates.len())].clone();
    let (last, parent) = path.split_last().unwrap();
    match rng.below(8) {
        0..=3 => *at(value, &path) = other(rng),
        4 => match at(value, parent) {
            Value::Object(members) => {
                members.remove(last.as_str().unwrap());
            }
            Value::Array(items) => {
                items.remove(last.as_u64().unwrap() as usize);
            }
            _ => {}
        },
        5 => match at(value, &path) {
            Value::Object(members) => {
                members.insert((*rng.pick(&["unknown", "name", "type", "a.b"])).to_owned(), other(rng));
            }
            Value::Array(items) => {
                let again = items.first().cloned().unwrap_or_else(|| other(rng));
                items.push(again);
            }
            scalar => *scalar = json!([scalar.clone()]),
        },
        6 => match at(value, &path) {
            Value::Array(items) => items.reverse(),
            Value::Object(members) => *members = Map::new(),
            Value::String(text) => text.push_str(["x", " ", "A", ".", "\u{301}"][rng.below(5)]),
            Value::Number(_) => *at(value, &path) = json!(rng.below(100_000)),
            _ => {}
        },
        _ => *at(value, &path) = Value::Null,
    }
}
