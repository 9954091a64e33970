//! Printer columns: the cells of a server-side Table, as the table convertor of custom resources computes them.

use super::{Item, JsonPath, duration, print};
use crate::time::{self, Timestamp};
use crate::{Value, number};

/// A column whose path is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    path: JsonPath,
    /// The keys of a plain path. Evaluating these directly is faster, and it cannot fail.
    keys: Option<Vec<String>>,
    kind: ColumnType,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnType {
    Integer,
    Number,
    Boolean,
    Text,
    Date,
    Other,
}

impl Column {
    /// Parses `jsonPath`; `None` if it is invalid (the Table then lacks this column and all columns after it).
    pub fn new(json_path: &str, type_: &str) -> Option<Self> {
        let path = JsonPath::parse(&format!("{{{json_path}}}")).ok()?.allow_missing_keys(true);
        let keys = path.plain_path().map(|keys| keys.into_iter().map(str::to_owned).collect());
        let kind = match type_ {
            "integer" => ColumnType::Integer,
            "number" => ColumnType::Number,
            "boolean" => ColumnType::Boolean,
            "string" => ColumnType::Text,
            "date" => ColumnType::Date,
            _ => ColumnType::Other,
        };
        Some(Self { path, keys, kind })
    }

    /// The cell for `object`: the first result of the first expression; `Value::Null` if there is none, or none of the
    /// column's type.
    pub fn cell(&self, object: &Value, now: Timestamp) -> Value {
        if let Some(keys) = &self.keys {
            return keys
                .iter()
                .try_fold(object, |value, key| value.get(key))
                .map_or(Value::Null, |value| self.show(Item::Value(value), now));
        }
        let Ok(results) = self.path.find(object) else { return Value::Null };
        results.first().and_then(|items| items.first()).map_or(Value::Null, |item| self.show(*item, now))
    }

    fn show(&self, item: Item<'_>, now: Timestamp) -> Value {
        match (self.kind, item) {
            // The printer receives an untyped nil.
            (ColumnType::Text, Item::Value(Value::Null)) => Value::String(print(&[Item::Missing])),
            (ColumnType::Text, item) => Value::String(print(&[item])),
            (ColumnType::Integer, Item::Value(Value::Int(i))) => Value::Int(*i),
            (ColumnType::Integer, Item::Value(Value::Float(x))) => Value::Int(number::to_int64(*x)),
            (ColumnType::Number, Item::Value(Value::Int(i))) => Value::Float(*i as f64),
            (ColumnType::Number, Item::Value(Value::Float(x))) => Value::Float(*x),
            (ColumnType::Boolean, Item::Value(Value::Bool(b))) => Value::Bool(*b),
            (ColumnType::Date, Item::Value(Value::String(text))) => Value::String(date(text, now)),
            _ => Value::Null,
        }
    }
}

/// Formats the age of a timestamp; an empty string or `null` is not a timestamp.
fn date(text: &str, now: Timestamp) -> String {
    if text.is_empty() || text == "null" {
        return duration::age(None, now);
    }
    match time::parse(text) {
        Ok(since) => duration::age(Some(since), now),
        Err(_) => "<invalid>".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    #[test]
    fn cells_equal_the_servers() {
        let spec = object([
            ("text", Value::from("x")),
            ("int", Value::Int(3)),
            ("float", Value::Float(2.7)),
            ("huge", Value::Float(1e30)),
            ("list", Value::from(vec![Value::Int(1), Value::Int(2)])),
            ("on", Value::Bool(true)),
            ("null", Value::Null),
            ("day", Value::from("2020-01-01T00:00:00Z")),
            ("early", Value::from("")),
        ]);
        let object = object([("spec", spec)]);
        let now = time::parse("2020-01-03T01:00:00Z").unwrap();
        for (path, type_, cell) in [
            (".spec.text", "string", Value::from("x")),
            (".spec.list", "string", Value::from("[1,2]")),
            (".spec.float", "string", Value::from("2.7")),
            (".spec.null", "string", Value::from("<no value>")),
            (".spec.null", "integer", Value::Null),
            (".spec.int", "integer", Value::Int(3)),
            (".spec.float", "integer", Value::Int(2)),
            (".spec.huge", "integer", Value::Int(i64::MIN)),
            (".spec.int", "number", Value::Float(3.0)),
            (".spec.text", "integer", Value::Null),
            (".spec.on", "boolean", Value::Bool(true)),
            (".spec.on", "string", Value::from("true")),
            (".spec.day", "date", Value::from("2d1h")),
            (".spec.text", "date", Value::from("<invalid>")),
            (".spec.early", "date", Value::from("<unknown>")),
            (".spec.nope.nope", "string", Value::Null),
            (".spec.list[1]", "integer", Value::Int(2)),
            (".spec.list[7]", "integer", Value::Null),
            (".spec.list[*]", "string", Value::from("1")),
            (".spec.text}-{.spec.int", "string", Value::from("x")),
            (".", "string", Value::Null),
        ] {
            assert_eq!(Column::new(path, type_).unwrap().cell(&object, now), cell, "{path} {type_}");
        }
        assert_eq!(Column::new(".spec[", "string"), None);
    }
}
