//! Compares the printer columns of two CRDs, and their cells. Several columns may have the same name; the first of a name is compared
//! with the first one, the second with the second.

use crdx_value::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// A column that changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnChange {
    /// The version it belongs to.
    pub version: String,
    /// Its name.
    pub name: String,
    /// The old type and path; `None` for a new column.
    pub before: Option<String>,
    /// The new type and path; `None` for a removed column.
    pub after: Option<String>,
}

/// The columns that differ between the CRDs `old` and `new`, in versions that both have.
pub fn changes(old: &Value, new: &Value) -> Vec<ColumnChange> {
    let (old, new) = (versions(old), versions(new));
    let mut changes = Vec::new();
    for (version, columns) in &new {
        let Some(before) = old.get(version) else { continue };
        let change = |name: &str, before: Option<String>, after: Option<String>| ColumnChange {
            version: (*version).to_owned(),
            name: name.to_owned(),
            before,
            after,
        };
        for (name, was) in before {
            let is = columns.iter().find(|(other, _)| other == name).map(|(_, is)| is.clone());
            if is.as_ref() != Some(was) {
                changes.push(change(name.0, Some(was.clone()), is));
            }
        }
        let added = columns.iter().filter(|(name, _)| !before.iter().any(|(other, _)| other == name));
        changes.extend(added.map(|(name, is)| change(name.0, None, Some(is.clone()))));
    }
    changes
}

/// The name of a column, and the number of columns before it with the same name.
type ColumnName<'a> = (&'a str, usize);

type Columns<'a> = Vec<(ColumnName<'a>, String)>;

/// Numbers the columns of each name.
fn numbered<'a, T>(columns: impl Iterator<Item = (&'a str, T)>) -> Vec<(ColumnName<'a>, T)> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let number = |(name, column)| {
        let number = seen.entry(name).or_default();
        *number += 1;
        ((name, *number - 1), column)
    };
    columns.map(number).collect()
}

/// The cells of the first rows of two tables that differ: column, before, after.
pub fn changed_cells(before: &Value, after: &Value) -> Vec<(String, String, String)> {
    let (before, after) = (row(before), row(after));
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => crdx_value::json::to_string(other),
    };
    let changed = before.iter().filter_map(|(name, was)| {
        let (_, is) = after.iter().find(|(other, _)| other == name)?;
        (was != is).then(|| (name.0.to_owned(), text(was), text(is)))
    });
    changed.collect()
}

fn row(table: &Value) -> Vec<(ColumnName<'_>, &Value)> {
    let names = table.get("columnDefinitions").and_then(Value::as_array).unwrap_or_default();
    let cells = table.get("rows").and_then(Value::as_array).and_then(<[Value]>::first);
    let cells = cells.and_then(|row| row.get("cells")).and_then(Value::as_array).unwrap_or_default();
    numbered(names.iter().filter_map(|name| name.str_at(&["name"])).zip(cells))
}

fn versions(crd: &Value) -> BTreeMap<&str, Columns<'_>> {
    let versions = crd.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
    let named = versions.iter().filter_map(|v| Some((v.str_at(&["name"])?, columns(v))));
    named.collect()
}

fn columns(version: &Value) -> Columns<'_> {
    let columns = version.get("additionalPrinterColumns").and_then(Value::as_array).unwrap_or_default();
    let text = |column: &Value, key: &str| column.str_at(&[key]).unwrap_or_default().to_owned();
    let described = columns.iter().filter_map(|column| {
        let mut what = format!("{} {}", text(column, "type"), text(column, "jsonPath"));
        if let Some(priority) = column.get("priority").and_then(Value::as_int).filter(|p| *p != 0) {
            // Writing to a String cannot fail.
            let _ = write!(what, " priority {priority}");
        }
        Some((column.str_at(&["name"])?, what))
    });
    numbered(described)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::yaml;

    #[test]
    fn columns_of_one_name_are_compared_in_order() {
        let crd = |last: &str| {
            let columns = format!(
                "[{{name: Ready, type: string, jsonPath: .a}}, {{name: Ready, type: integer, jsonPath: {last}}}]"
            );
            let text = format!("{{spec: {{versions: [{{name: v1, additionalPrinterColumns: {columns}}}]}}}}");
            yaml::read(text.as_bytes()).unwrap()
        };
        assert_eq!(changes(&crd(".b"), &crd(".b")), []);
        let changed = changes(&crd(".b"), &crd(".c"));
        assert_eq!(changed.len(), 1);
        assert_eq!(changed[0].before.as_deref(), Some("integer .b"));
    }

    #[test]
    fn cells_of_one_name_are_compared_in_order() {
        let table = |last: i64| {
            let text = format!("{{columnDefinitions: [{{name: A}}, {{name: A}}], rows: [{{cells: [x, {last}]}}]}}");
            yaml::read(text.as_bytes()).unwrap()
        };
        assert_eq!(changed_cells(&table(1), &table(1)), []);
        assert_eq!(changed_cells(&table(1), &table(2)), [("A".to_owned(), "1".to_owned(), "2".to_owned())]);
    }
}
