//! Compares the printer columns of two CRDs.

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
        let find = |columns: &[(&str, String)], name: &str| {
            columns.iter().find(|(n, _)| *n == name).map(|(_, what)| what.clone())
        };
        for (name, was) in before {
            let is = find(columns, name);
            if is.as_ref() != Some(was) {
                changes.push(change(name, Some(was.clone()), is));
            }
        }
        let added = columns.iter().filter(|(name, _)| find(before, name).is_none());
        changes.extend(added.map(|(name, is)| change(name, None, Some(is.clone()))));
    }
    changes
}

type Columns<'a> = Vec<(&'a str, String)>;

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
    described.collect()
}
