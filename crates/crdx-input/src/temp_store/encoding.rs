//! Encodes values as bytes that are quick to write and to read: one byte for the type, then the content, with the number
//! of bytes, items or members before it. Only this program reads them.

use crate::varint;
use crdx_value::{Map, Value, number};
use std::iter;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INT: u8 = 3;
const FLOAT: u8 = 4;
const STRING: u8 = 5;
const ARRAY: u8 = 6;
const OBJECT: u8 = 7;

/// Appends a value. The recursion is bounded by the depth of the value, which decoders limit to 10,000.
pub fn write(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(false) => out.push(FALSE),
        Value::Bool(true) => out.push(TRUE),
        Value::Int(i) => {
            out.push(INT);
            out.extend_from_slice(&i.to_le_bytes());
        }
        Value::Float(x) => {
            out.push(FLOAT);
            out.extend_from_slice(&x.to_le_bytes());
        }
        Value::String(text) => {
            out.push(STRING);
            write_text(out, text);
        }
        Value::Array(items) => {
            out.push(ARRAY);
            write_count(out, items.len());
            for item in items {
                write(out, item);
            }
        }
        Value::Object(members) => {
            out.push(OBJECT);
            write_count(out, members.len());
            for (key, value) in members {
                write_text(out, key);
                write(out, value);
            }
        }
    }
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    write_count(out, text.len());
    out.extend_from_slice(text.as_bytes());
}

fn write_count(out: &mut Vec<u8>, count: usize) {
    varint::write(out, count as u64);
}

/// Decodes the value at the start of `bytes`, and removes its bytes. Numbers are those that JSON would give: a float
/// without fraction is an integer. Returns `None` for other bytes than [`write`] writes.
pub fn read(bytes: &mut &[u8]) -> Option<Value> {
    Some(match byte(bytes)? {
        NULL => Value::Null,
        FALSE => Value::Bool(false),
        TRUE => Value::Bool(true),
        INT => Value::Int(i64::from_le_bytes(eight(bytes)?)),
        FLOAT => number::to_value(f64::from_le_bytes(eight(bytes)?)),
        STRING => Value::String(text(bytes)?),
        ARRAY => {
            let count = count(bytes)?;
            Value::Array((0..count).map(|_| read(bytes)).collect::<Option<_>>()?)
        }
        OBJECT => {
            let count = count(bytes)?;
            Value::Object((0..count).map(|_| Some((text(bytes)?, read(bytes)?))).collect::<Option<Map>>()?)
        }
        _ => return None,
    })
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn eight(bytes: &mut &[u8]) -> Option<[u8; 8]> {
    let (eight, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*eight)
}

fn count(bytes: &mut &[u8]) -> Option<usize> {
    usize::try_from(varint::read(iter::from_fn(|| byte(bytes)))?).ok()
}

fn text(bytes: &mut &[u8]) -> Option<String> {
    let length = count(bytes)?;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text as text;
    use crdx_value::json;
    use proptest::prelude::*;

    fn values() -> impl Strategy<Value = Value> {
        let numbers = prop_oneof![
            any::<i64>().prop_map(Value::Int),
            prop::num::f64::NORMAL.prop_map(Value::Float),
            any::<i32>().prop_map(|i| Value::Float(f64::from(i))),
            prop::sample::select(vec![-0.0, 0.5, 1e18, 9_223_372_036_854_775_808.0, 1e21]).prop_map(Value::Float),
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            numbers,
            ".{0,200}".prop_map(Value::String),
        ];
        leaf.prop_recursive(4, 300, 200, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..200).prop_map(Value::Array),
                prop::collection::btree_map(".{0,9}", inner, 0..9)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn the_value_is_that_of_json(value in values()) {
            let mut bytes = Vec::new();
            write(&mut bytes, &value);
            let mut rest = &*bytes;
            let read = read(&mut rest);
            prop_assert!(rest.is_empty());
            prop_assert_eq!(read, text::json::read(json::to_string(&value).as_bytes()).ok());
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(0..9u8, 0..50)) {
            let _ = read(&mut &*bytes);
        }
    }
}
