//! Prints a `meta.k8s.io/v1` Table as `kubectl get` does (`cli-runtime/pkg/printers/tableprinter.go`).

use super::tabs::{Tabs, pad};
use crdx_value::{Value, json, number};

/// The number of rows after which columns are aligned; subsequent rows may be wider.
const FLUSH: usize = 100;

/// The options of a table.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// True to show columns of every priority, not only of priority 0.
    pub wide: bool,
    /// True to add a namespace column at the start.
    pub namespace: bool,
    /// `kind.group`, prefixed to each name with a `/`.
    pub kind: Option<String>,
    /// True to omit the header.
    pub no_headers: bool,
    /// Labels shown as columns.
    pub labels: Vec<String>,
    /// True to add a column with all labels at the end.
    pub all_labels: bool,
}

/// Prints the Tables of one resource under one header.
#[derive(Debug)]
pub struct TableText {
    view: View,
    event: Option<String>,
    tabs: Tabs,
    headed: bool,
}

impl TableText {
    /// Creates a table without rows.
    pub fn new(view: View) -> Self {
        Self { view, event: None, tabs: Tabs::default(), headed: false }
    }

    /// Sets the event of a watch that the next rows show in their first column.
    pub fn set_event(&mut self, kind: &str) {
        // kubectl pads the names of events.
        self.event = Some(format!("{kind:8}"));
    }

    /// Adds the rows of a Table, each followed by the cells `more` with the titles `more_titles`.
    ///
    /// Note kubectl's behaviour: columns are padded to the length in bytes of the longest cell before [`one_line`]
    /// shortens it, so a column may be wider than its visible text.
    pub fn add(&mut self, table: &Value, more_titles: &[&str], more: &[String]) {
        let columns = table.get("columnDefinitions").and_then(Value::as_array).unwrap_or_default();
        let rows = table.get("rows").and_then(Value::as_array).unwrap_or_default();
        if rows.is_empty() {
            return;
        }
        let shown: Vec<usize> = (0..columns.len())
            .filter(|i| {
                let priority = columns.get(*i).and_then(|c| c.get("priority")).and_then(Value::as_int).unwrap_or(0);
                self.view.wide || priority == 0
            })
            .collect();
        let rows: Vec<Vec<String>> = rows.iter().map(|row| self.cells(row, &shown, more)).collect();
        let mut widths = longest(&rows);
        if !self.headed && !self.view.no_headers {
            let names = shown.iter().filter_map(|i| columns.get(*i)?.str_at(&["name"]));
            let titles = self.titles(names, more_titles);
            self.write(&titles, &std::mem::take(&mut widths));
        }
        self.headed = true;
        for (i, cells) in rows.iter().enumerate() {
            self.write(cells, &std::mem::take(&mut widths));
            if (i + 1) % FLUSH == 0 {
                self.tabs.align();
            }
        }
    }

    fn titles<'a>(&'a self, names: impl Iterator<Item = &'a str>, more: &[&'a str]) -> Vec<String> {
        let mut titles: Vec<&str> = Vec::new();
        titles.extend(self.event.is_some().then_some("Event"));
        titles.extend(self.view.namespace.then_some("Namespace"));
        titles.extend(names);
        titles.extend(self.view.labels.iter().map(|label| label.rsplit('/').next().unwrap_or_default()));
        titles.extend(self.view.all_labels.then_some("Labels"));
        titles.extend(more);
        titles.into_iter().map(upper).collect()
    }

    /// Returns the cells of a row before they are shortened.
    fn cells(&self, row: &Value, shown: &[usize], more: &[String]) -> Vec<String> {
        let mut cells: Vec<String> = self.event.iter().cloned().collect();
        if self.view.namespace {
            cells.push(row.str_at(&["object", "metadata", "namespace"]).unwrap_or_default().to_owned());
        }
        let values = row.get("cells").and_then(Value::as_array).unwrap_or_default();
        for i in shown {
            let text = values.get(*i).map(cell).unwrap_or_default();
            // The first cell of a Table is always the name.
            cells.push(match &self.view.kind {
                Some(kind) if *i == 0 => format!("{kind}/{text}"),
                _ => text,
            });
        }
        let labels = row.at(&["object", "metadata", "labels"]);
        let label = |key: &String| labels.and_then(|l| l.str_at(&[key])).unwrap_or_default().to_owned();
        cells.extend(self.view.labels.iter().map(label));
        cells.extend(self.view.all_labels.then(|| all_labels(labels)));
        cells.extend_from_slice(more);
        cells
    }

    /// Writes a line of cells, each padded to its width if it has one.
    fn write(&mut self, cells: &[String], widths: &[usize]) {
        let mut widths = widths.iter();
        let filled = |text: &String| {
            let mut cell = one_line(text);
            pad(&mut cell, text.len(), widths.next().copied().unwrap_or_default());
            cell
        };
        let line: Vec<String> = cells.iter().map(filled).collect();
        self.tabs.write(&(line.join("\t") + "\n"));
    }

    /// Returns the aligned text so far; subsequent rows have at least these widths.
    pub fn flush(&mut self) -> String {
        self.tabs.flush()
    }

    /// Returns the aligned text.
    pub fn finish(mut self) -> String {
        self.flush()
    }
}

/// Returns the length in bytes of the longest cell of each column; the last column is not padded.
fn longest(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.first().map_or(0, Vec::len).saturating_sub(1);
    let of = |column: usize| rows.iter().filter_map(|row| Some(row.get(column)?.len())).max().unwrap_or(0);
    (0..columns).map(of).collect()
}

/// `labels.FormatLabels`
fn all_labels(labels: Option<&Value>) -> String {
    let labels = labels.and_then(Value::as_object).into_iter().flatten();
    let pairs: Vec<String> =
        labels.map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default())).collect();
    if pairs.is_empty() { "<none>".to_owned() } else { pairs.join(",") }
}

/// Go's `strings.ToUpper` maps single characters and therefore does not change `ß`.
fn upper(text: &str) -> String {
    let one = |c: char| {
        let mut upper = c.to_uppercase();
        match (upper.next(), upper.next()) {
            (Some(only), None) => only,
            _ => c,
        }
    };
    text.chars().map(one).collect()
}

/// Formats a cell that kubectl reads from JSON: `fmt.Sprint`, with whole numbers as integers; an absent cell is empty.
fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Float(x) => {
            let text = json::to_string(value);
            if text.parse::<i64>().is_ok() { text } else { number::format_v(*x) }
        }
        other => json::to_string(other),
    }
}

/// Returns the visible part of a text: up to its first line break, without escape sequences.
fn one_line(text: &str) -> String {
    let (head, cut) = match text.split_once(['\n', '\r', '\x0c']) {
        Some((head, _)) => (head, "..."),
        None => (text, ""),
    };
    head.replace('\x1b', "^[") + cut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    fn column(name: &str, priority: i64) -> Value {
        object([("name", Value::from(name)), ("priority", Value::Int(priority))])
    }

    fn sample() -> Value {
        let labels = object([("a.b/tier", "x"), ("app", "y")]);
        let metadata = object([("namespace", Value::from("ns")), ("name", "a".into()), ("labels", labels)]);
        let row = object([
            ("cells", Value::Array(vec!["a".into(), Value::Null, Value::Int(3), Value::Float(1e6)])),
            ("object", object([("metadata", metadata)])),
        ]);
        let columns = vec![column("Name", 0), column("Spec", 0), column("Replicas", 0), column("Ratio", 1)];
        object([("columnDefinitions", Value::Array(columns)), ("rows", Value::Array(vec![row]))])
    }

    fn print(view: View, more_titles: &[&str], more: &[String]) -> String {
        let mut text = TableText::new(view);
        text.add(&sample(), more_titles, more);
        text.finish()
    }

    #[test]
    fn columns_of_priority_one_are_for_wide() {
        assert_eq!(print(View::default(), &[], &[]), "NAME   SPEC   REPLICAS\na             3\n");
        let view = View { wide: true, namespace: true, ..View::default() };
        assert_eq!(
            print(view, &["SCALE"], &["2".to_owned()]),
            "NAMESPACE   NAME   SPEC   REPLICAS   RATIO     SCALE\nns          a             3          1000000   2\n"
        );
    }

    #[test]
    fn labels_and_kinds_are_shown_on_demand() {
        let view = View {
            kind: Some("foo.x.y".to_owned()),
            labels: vec!["a.b/tier".to_owned(), "none".to_owned()],
            all_labels: true,
            no_headers: true,
            ..View::default()
        };
        assert_eq!(print(view, &[], &[]), "foo.x.y/a         3     x           a.b/tier=x,app=y\n");
    }

    #[test]
    fn the_first_line_is_as_wide_as_the_longest_cells() {
        let row = |a: &str, b: &str| object([("cells", Value::Array(vec![a.into(), b.into()]))]);
        let table = |rows: Vec<Value>| {
            let columns = vec![column("Name", 0), column("Text", 0)];
            object([("columnDefinitions", Value::Array(columns)), ("rows", Value::Array(rows))])
        };
        let print = |view: View, tables: &[Value]| {
            let mut text = TableText::new(view);
            for table in tables {
                text.add(table, &[], &[]);
            }
            text.finish()
        };
        // Widths count bytes, include text that is cut, and are not applied to the last column; recorded from kubectl
        // 1.37.
        let odd = [table(vec![row("ü\nmore", "b"), row("aaaa", "a long text")])];
        assert_eq!(print(View::default(), &odd), "NAME      TEXT\nü...      b\naaaa      a long text\n");
        let bare = View { no_headers: true, ..View::default() };
        assert_eq!(print(bare, &odd), "ü...   b\naaaa   a long text\n");
        // Subsequent rows count, too.
        let many = table((0..101).map(|i| row(&"x".repeat(3 + i / 100 * 9), "b")).collect());
        assert!(print(View::default(), &[many]).starts_with("NAME           TEXT\nxxx            b\n"));
        let pages = [table(vec![row("xxx", "b")]), table(vec![row("xxxxxxxxxxxx", "b")])];
        assert!(print(View::default(), &pages).starts_with("NAME           TEXT\nxxx            b\n"));
    }

    #[test]
    fn no_cell_breaks_its_line() {
        assert_eq!(one_line("a\x1b[2Jb"), "a^[[2Jb");
        assert_eq!(one_line("first\nsecond"), "first...");
        assert_eq!(upper("straße é"), "STRAßE É");
    }
}
