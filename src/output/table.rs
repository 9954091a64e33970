//! A `meta.k8s.io/v1` Table as `kubectl get` prints it (`cli-runtime/pkg/printers/tableprinter.go`).

use super::{Aligned, Cell, Paint};
use crate::value::{Value, json, number};

/// Which columns are shown and what stands in front of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct View {
    /// Columns of every priority, not only of 0.
    pub wide: bool,
    /// A first column with the namespace.
    pub namespace: bool,
    /// Whether cells may be coloured.
    pub color: bool,
}

/// Tables of one resource, one behind the other under one header.
#[derive(Debug)]
pub struct TableText {
    view: View,
    aligned: Aligned,
    headed: bool,
}

impl TableText {
    /// Nothing printed yet.
    pub fn new(view: View) -> Self {
        Self { view, aligned: Aligned::new(view.color), headed: false }
    }

    /// Adds the rows of a Table, each followed by `more` cells under the titles `more_titles`.
    pub fn add(&mut self, table: &Value, more_titles: &[&str], more: &[String]) {
        let columns = table.get("columnDefinitions").and_then(Value::as_array).unwrap_or_default();
        let shown = |i: usize| {
            let column = columns.get(i);
            column.is_some_and(|c| self.view.wide || c.get("priority").and_then(Value::as_int).unwrap_or(0) == 0)
        };
        let rows = table.get("rows").and_then(Value::as_array).unwrap_or_default();
        if rows.is_empty() {
            return;
        }
        if !self.headed {
            self.headed = true;
            let mut titles = Vec::new();
            if self.view.namespace {
                titles.push("NAMESPACE".to_owned());
            }
            let names = columns.iter().enumerate().filter(|(i, _)| shown(*i)).map(|(_, c)| c.str_at(&["name"]));
            titles.extend(names.map(|name| name.unwrap_or_default().to_uppercase()));
            titles.extend(more_titles.iter().map(|t| (*t).to_owned()));
            self.aligned.push(titles.iter().map(|t| Cell::painted(t, Paint::Bold)).collect());
        }
        for row in rows {
            let mut cells = Vec::new();
            if self.view.namespace {
                cells.push(Cell::from(row.str_at(&["object", "metadata", "namespace"]).unwrap_or_default()));
            }
            let values = row.get("cells").and_then(Value::as_array).unwrap_or_default();
            let values = values.iter().enumerate().filter(|(i, _)| shown(*i));
            cells.extend(values.map(|(_, value)| Cell::from(cell(value))));
            cells.extend(more.iter().map(Cell::from));
            self.aligned.push(cells);
        }
    }

    /// Puts the kind and a `/` before each name, as where several kinds are printed.
    pub fn prefix_names(&mut self, kind: &str) {
        self.aligned.prefix_column(usize::from(self.view.namespace), kind);
    }

    /// The text, aligned.
    pub fn finish(mut self) -> String {
        self.aligned.flush()
    }
}

/// A cell as Go's `fmt.Sprint` prints it; an absent one is empty.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Float(x) => number::format_v(*x),
        other => json::to_string(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

    fn column(name: &str, priority: i64) -> Value {
        object([("name", Value::from(name)), ("priority", Value::Int(priority))])
    }

    fn sample() -> Value {
        let metadata = object([("metadata", object([("namespace", "ns"), ("name", "a")]))]);
        let row = object([
            ("cells", Value::Array(vec!["a".into(), Value::Null, Value::Int(3), Value::Float(1e6)])),
            ("object", metadata),
        ]);
        let columns = vec![column("Name", 0), column("Spec", 0), column("Replicas", 0), column("Ratio", 1)];
        object([("columnDefinitions", Value::Array(columns)), ("rows", Value::Array(vec![row]))])
    }

    #[test]
    fn columns_of_priority_one_are_for_wide() {
        let mut text = TableText::new(View::default());
        text.add(&sample(), &[], &[]);
        assert_eq!(text.finish(), "NAME   SPEC   REPLICAS\na             3\n");
        let mut text = TableText::new(View { wide: true, namespace: true, ..View::default() });
        text.add(&sample(), &["SCALE"], &["2".to_owned()]);
        assert_eq!(
            text.finish(),
            "NAMESPACE   NAME   SPEC   REPLICAS   RATIO   SCALE\nns          a             3          1e+06   2\n"
        );
    }
}
