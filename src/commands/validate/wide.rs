//! The tables of `-o wide`: one per kind and version, in order of appearance, in the format of `kubectl get`.

use crdx_engine::report::{Identity, ObjectReport, Verdict};
use crdx_output::table::{TableText, View};
use crdx_value::{self as value, Value};
use std::collections::HashMap;

/// The tables, by kind.
#[derive(Default)]
pub struct WideTables {
    groups: Vec<Group>,
    group_indices: HashMap<(String, String), usize>,
}

struct Group {
    kind: String,
    namespaced: bool,
    /// Tables of one object, each with the cells after its columns.
    rows: Vec<(Value, [String; 2])>,
}

impl WideTables {
    /// Adds the row of an item.
    pub fn add(&mut self, item: &ObjectReport) {
        let (Verdict::Accepted, Some(table)) = (item.verdict, &item.table) else { return };
        let Identity { api_version, kind, .. } = &item.identity;
        let at = *self.group_indices.entry((api_version.clone(), kind.clone())).or_insert_with(|| {
            let kind = item.identity.short().split('/').next().unwrap_or_default().to_owned();
            self.groups.push(Group { kind, namespaced: item.identity.namespace.is_some(), rows: Vec::new() });
            self.groups.len() - 1
        });
        let Some(group) = self.groups.get_mut(at) else { return };
        let status = item.object.as_ref().and_then(|o| o.get("status"));
        let none = || "<none>".to_owned();
        let more = [item.scale.as_ref().map_or_else(none, scale), status.map_or_else(none, value::json::to_string)];
        group.rows.push((table.clone(), more));
    }

    /// Formats the tables.
    pub fn text(self) -> String {
        let several = self.groups.len() > 1;
        let tables = self.groups.into_iter().map(|group| {
            let kind = Some(group.kind).filter(|_| several);
            let mut text = TableText::new(View { wide: true, namespace: group.namespaced, kind, ..View::default() });
            for (table, more) in &group.rows {
                text.add(table, &["SCALE", "STATUS"], more);
            }
            text.finish()
        });
        tables.collect::<Vec<_>>().join("\n")
    }
}

/// Formats a Scale: `3 (now 2)`, followed by the selector if there is one.
fn scale(scale: &Value) -> String {
    let number = |path: &[&str]| scale.at(path).and_then(Value::as_int).unwrap_or(0);
    let replicas = format!("{} (now {})", number(&["spec", "replicas"]), number(&["status", "replicas"]));
    match scale.str_at(&["status", "selector"]) {
        Some(selector) if !selector.is_empty() => format!("{replicas} {selector}"),
        _ => replicas,
    }
}
