//! Any template evaluated on an object gives a result or an error.
use crdx_value::jsonpath::{JsonPath, column::Column, selectable::SelectableField};
use crdx_value::{Value, object, time::Timestamp};

pub fn check(input: &[u8]) {
    let Ok(template) = std::str::from_utf8(input) else { return };
    // The time of nested ranges is the product of their lengths, as in kubectl.
    if template.matches("range").count() > 6 {
        return;
    }
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
}
