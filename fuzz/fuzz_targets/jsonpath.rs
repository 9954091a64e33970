//! Any template evaluated on an object gives a result or an error.
#![no_main]

use crdx::jsonpath::{JsonPath, column::Column, selectable::SelectableField};
use crdx::value::{Value, object, time::Timestamp};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|template: &str| {
    let item = object([("name", Value::from("a")), ("n", Value::Int(1)), ("z", Value::Null)]);
    let data = object([("items", Value::from(vec![item, Value::Null, Value::from("é")])), ("f", Value::Float(0.5))]);
    if let Ok(path) = JsonPath::parse(template) {
        let _ = path.execute(&data);
        let _ = path.allow_missing_keys(true).execute(&data);
    }
    if let Some(column) = Column::new(template, "string") {
        column.cell(&data, Timestamp::default());
    }
    let _ = SelectableField::new(template).text(&data);
});
