//! Rows of tables, as `kubectl get` prints them.

use super::manifest::MAX_DEPTH;
use super::{Error, Status};
use crdx_server::server::{Response as Answer, ResponseBody};
use crdx_value::Value;
use std::fmt;
use std::sync::Arc;

/// A row of a table (`meta.k8s.io/v1`, kind `Table`): the columns that `kubectl get` prints for an object.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Row {
    /// The cells, from left to right. The first is the name.
    pub cells: Vec<Cell>,
}

/// A cell of a [`Row`].
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Cell {
    /// The name of the column.
    pub column: String,
    /// The priority of the column; `kubectl get` prints columns with a priority above 0 only with `-o wide`.
    pub priority: i64,
    /// The value.
    pub value: Value,
}

impl Row {
    /// The value in a column.
    pub fn get(&self, column: &str) -> Option<&Value> {
        self.cells.iter().find(|cell| cell.column == column).map(|cell| &cell.value)
    }

    /// The object of an answer, with its row if the answer is a Table.
    pub(super) fn of_answer(mut body: Value) -> (Value, Option<Self>) {
        if !is_table(&body) {
            return (body, None);
        }
        match rows(&mut body).pop() {
            Some((row, object)) => (object, Some(row)),
            None => (Value::Null, None),
        }
    }
}

/// The cells that `kubectl get` prints, separated by two spaces.
impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells = self.cells.iter().filter(|cell| cell.priority == 0);
        for (index, cell) in cells.enumerate() {
            f.write_str(if index > 0 { "  " } else { "" })?;
            match &cell.value {
                Value::Null => f.write_str("<none>")?,
                Value::String(text) => f.write_str(text)?,
                value => f.write_str(&crdx_value::json::to_string(value))?,
            }
        }
        Ok(())
    }
}

fn is_table(body: &Value) -> bool {
    body.str_at(&["kind"]) == Some("Table") && body.str_at(&["apiVersion"]) == Some("meta.k8s.io/v1")
}

/// Takes the rows of a Table with their objects.
fn rows(table: &mut Value) -> Vec<(Row, Value)> {
    let take = |value: Option<&mut Value>| match value.map(std::mem::take) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    let columns = take(table.get_mut("columnDefinitions"));
    let cell = |(column, value): (&Value, Value)| Cell {
        column: column.str_at(&["name"]).unwrap_or_default().to_owned(),
        priority: column.get("priority").and_then(Value::as_int).unwrap_or_default(),
        value,
    };
    let row = |mut row: Value| {
        let cells = columns.iter().zip(take(row.get_mut("cells"))).map(cell).collect();
        (Row { cells }, row.get_mut("object").map(std::mem::take).unwrap_or_default())
    };
    take(table.get_mut("rows")).into_iter().map(row).collect()
}

/// The answer to [`ApiServer::list`](super::ApiServer::list).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct List {
    /// The objects, in the order of their namespaces and names.
    pub items: Vec<Value>,
    /// The rows, in the same order.
    pub rows: Vec<Row>,
    /// `metadata.resourceVersion`, from which a watch can start.
    pub resource_version: String,
    /// The texts of `Warning` headers.
    pub warnings: Vec<String>,
}

impl List {
    pub(super) fn from_answer(answer: Answer) -> Result<Self, Error> {
        let Answer { code: 200, body: ResponseBody::Json(body), warnings, .. } = answer else {
            return Err(Box::new(Status::from_answer(answer, None)).into());
        };
        let mut body = Arc::unwrap_or_clone(body);
        let resource_version = body.str_at(&["metadata", "resourceVersion"]).unwrap_or_default().to_owned();
        let (rows, items): (Vec<_>, Vec<_>) = rows(&mut body).into_iter().unzip();
        if items.iter().any(|item| item.is_deeper_than(MAX_DEPTH)) {
            return Err(Error::CannotTell(format!("a stored object nests more than {MAX_DEPTH} levels")));
        }
        Ok(Self { items, rows, resource_version, warnings })
    }
}
