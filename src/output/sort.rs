//! `--sort-by`: objects in the order of a field, as kubectl sorts them (`kubectl/pkg/cmd/get/sorter.go`).
//!
//! What surprises: texts that are both quantities (`100m`, `1Gi`) compare as such; objects without the field come first, and
//! several of these in reverse; the field must be there at least once.

mod go;

use crate::cel::value::Quantity;
use crate::jsonpath::{self, Item, JsonPath};
use crate::value::Value;
use std::cmp::Ordering;

/// Sorts `objects` by the field at `path`, which may be written `.a.b`, `a.b` or `{.a.b}`. `Err` is in kubectl's words,
/// and so is the order of objects that are equal.
pub fn sort(objects: &mut Vec<Value>, path: &str) -> Result<(), String> {
    let field = jsonpath::relaxed(path).unwrap_or_else(|_| path.to_owned());
    let parsed = JsonPath::parse(&field).map_err(|e| format!("sorting error: {e}"))?.allow_missing_keys(true);
    let mut keyed = Vec::with_capacity(objects.len());
    for object in objects.iter() {
        let found = parsed.find(object)?;
        let first = found.first().and_then(|items| items.first());
        keyed.push(
            first
                .map(key)
                .transpose()
                .map_err(|kind| format!("Field {field} in *unstructured.Unstructured is an unsortable type: {kind}"))?,
        );
    }
    if !objects.is_empty() && keyed.iter().all(Option::is_none) {
        let field = crate::value::quote::go_quote(&field);
        return Err(format!("couldn't find any field with path {field} in the list of objects"));
    }
    let mut order: Vec<usize> = (0..objects.len()).collect();
    go::sort(&mut order, &mut |a, b| match (keyed.get(a), keyed.get(b)) {
        (Some(Some(a)), Some(Some(b))) => less(a, b),
        (Some(a), _) => a.is_none(),
        _ => false,
    });
    let mut taken: Vec<Option<Value>> = std::mem::take(objects).into_iter().map(Some).collect();
    objects.extend(order.into_iter().filter_map(|i| taken.get_mut(i)?.take()));
    Ok(())
}

enum Key {
    Nothing,
    Int(i64),
    Float(f64),
    Text(String, Option<Quantity>),
}

fn key(item: &Item<'_>) -> Result<Key, &'static str> {
    match item {
        Item::Missing | Item::Value(Value::Null) => Ok(Key::Nothing),
        Item::Value(Value::Int(i)) | Item::Int(i) => Ok(Key::Int(*i)),
        Item::Byte(byte) => Ok(Key::Int(i64::from(*byte))),
        Item::Value(Value::Float(x)) => Ok(Key::Float(*x)),
        Item::Value(Value::String(text)) => Ok(Key::Text(text.clone(), Quantity::parse(text).ok())),
        Item::Value(Value::Bool(_)) => Err("bool"),
        Item::Value(Value::Array(_)) => Err("slice"),
        Item::Value(Value::Object(_)) => Err("map"),
    }
}

fn less(a: &Key, b: &Key) -> bool {
    match (a, b) {
        (Key::Nothing, b) => !matches!(b, Key::Nothing),
        (Key::Int(a), Key::Int(b)) => a < b,
        (Key::Float(a), Key::Float(b)) => a < b,
        (Key::Text(_, Some(a)), Key::Text(_, Some(b))) => a.compare(b) == Ordering::Less,
        (Key::Text(a, _), Key::Text(b, _)) => a < b,
        // kubectl ends here with a message of its log; an order is of more use.
        (Key::Int(a), Key::Float(b)) => (*a as f64) < *b,
        (Key::Float(a), Key::Int(b)) => *a < (*b as f64),
        (Key::Int(_) | Key::Float(_), Key::Text(..)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

    fn sorted(values: &[Option<Value>], path: &str) -> Result<String, String> {
        let one = |(i, value): (usize, &Option<Value>)| {
            let spec = value.clone().map(|v| object([("x", v)]));
            object([("i", Value::Int(i as i64)), ("spec", spec.unwrap_or(Value::Null))])
        };
        let mut objects: Vec<Value> = values.iter().enumerate().map(one).collect();
        sort(&mut objects, path)?;
        Ok(objects.iter().filter_map(|o| o.get("i")?.as_int()).map(|i| i.to_string()).collect())
    }

    #[test]
    fn fields_are_compared_as_kubectl_compares_them() {
        let texts = |texts: &[&str]| texts.iter().map(|t| Some(Value::from(*t))).collect::<Vec<_>>();
        assert_eq!(sorted(&texts(&["b", "a", "c"]), ".spec.x").as_deref(), Ok("102"));
        assert_eq!(sorted(&texts(&["1Gi", "100m", "5M"]), "{.spec.x}").as_deref(), Ok("120"));
        assert_eq!(sorted(&[Some(Value::Int(10)), Some(Value::Int(9))], "spec.x").as_deref(), Ok("10"));
        assert_eq!(sorted(&[Some(Value::Int(1)), None, None], ".spec.x").as_deref(), Ok("210"));
    }

    #[test]
    fn what_cannot_be_sorted_is_told() {
        assert_eq!(
            sorted(&[None, None], ".spec.x").unwrap_err(),
            "couldn't find any field with path \"{.spec.x}\" in the list of objects"
        );
        assert!(sorted(&[Some(Value::Bool(true))], ".spec.x").unwrap_err().contains("unsortable type: bool"));
    }
}
