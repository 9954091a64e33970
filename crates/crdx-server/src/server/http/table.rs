//! Tables: `customresource/tableconvertor` and `asTable` in `endpoints/handlers/response.go`.
//!
//! A column whose JSONPath cannot be parsed ends the list: this column and all columns after it are missing, including
//! their headers.

use crate::crd;
use crate::server::http::options::IncludeObject;
use crate::server::metadata;
use crdx_value::jsonpath::column::Column;
use crdx_value::release::{Release, V1_37};
use crdx_value::time::Timestamp;
use crdx_value::{Map, Value, object};

/// The columns of one version of a resource.
#[derive(Debug)]
pub(in crate::server) struct Columns {
    headers: Vec<Value>,
    cells: Cells,
}

/// The source of the cells after the name column.
#[derive(Debug)]
enum Cells {
    /// JSONPath columns.
    Paths(Vec<Column>),
    /// Cells computed from a CRD.
    OfDefinition,
    /// The name and the creation time (`rest.NewDefaultTableConvertor`).
    NameAndCreation,
    /// The cells of a built-in kind, with the name column.
    Printed(&'static [PrinterColumn]),
}

/// A column of a built-in kind (`pkg/printers`).
#[derive(Debug)]
pub struct PrinterColumn {
    /// The header.
    pub name: &'static str,
    /// The type, such as `string`.
    pub type_: &'static str,
    /// The format, such as `name`.
    pub format: &'static str,
    /// The description.
    pub description: &'static str,
    /// 0, or 1 for a column that only wide output shows.
    pub priority: i32,
    /// The cell of an object at a time.
    pub cell: fn(&Value, Timestamp) -> Value,
}

/// The description of a column with names.
pub const NAME: &str = "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names";
/// The description of a column with ages.
pub const CREATED: &str = "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

impl Columns {
    /// The columns of a CRD version, or the default column (Age) if it declares none.
    pub fn new(declared: &[crd::Column]) -> Self {
        let age = [crd::Column {
            name: "Age".to_owned(),
            type_: "date".to_owned(),
            description: CREATED.to_owned(),
            json_path: ".metadata.creationTimestamp".to_owned(),
            ..crd::Column::default()
        }];
        Self::exactly(if declared.is_empty() { &age } else { declared })
    }

    pub(crate) fn of_scale() -> Self {
        let column = |name: &str, type_: &str, description: &str, json_path: &str| crd::Column {
            name: name.to_owned(),
            type_: type_.to_owned(),
            description: description.to_owned(),
            json_path: json_path.to_owned(),
            ..crd::Column::default()
        };
        Self::exactly(&[
            column("Desired", "integer", "Number of desired replicas", ".spec.replicas"),
            column("Available", "integer", "Number of actual replicas", ".status.replicas"),
            column("Age", "date", CREATED, ".metadata.creationTimestamp"),
        ])
    }

    /// The columns of a built-in kind.
    pub fn printed(columns: &'static [PrinterColumn]) -> Self {
        let headers = columns.iter().map(|c| header(c.name, c.type_, c.format, c.description, c.priority));
        Self { headers: headers.collect(), cells: Cells::Printed(columns) }
    }

    fn exactly(declared: &[crd::Column]) -> Self {
        let mut headers = vec![header("Name", "string", "name", NAME, 0)];
        let mut columns = Vec::new();
        for column in declared {
            let Some(parsed) = Column::new(&column.json_path, &column.type_) else { break };
            let default = format!("Custom resource definition column (in JSONPath format): {}", column.json_path);
            let description = if column.description.is_empty() { &default } else { &column.description };
            headers.push(header(&column.name, &column.type_, &column.format, description, column.priority));
            columns.push(parsed);
        }
        Self { headers, cells: Cells::Paths(columns) }
    }

    /// The columns of CRDs (`customresourcedefinition/tableconvertor`, since 1.37).
    pub fn of_definitions(release: Release) -> Self {
        if !release.since(V1_37) {
            let headers = vec![header("Name", "string", "name", NAME, 0), header("Created At", "date", "", CREATED, 0)];
            return Self { headers, cells: Cells::NameAndCreation };
        }
        let headers = vec![
            header("Name", "string", "name", NAME, 0),
            header("Scope", "string", "", "Cluster/Namespaced", 0),
            header("Versions", "string", "", "Served versions", 0),
            header("Created At", "date", "", CREATED, 0),
            header("Group", "string", "", "API group", 1),
            header("Kind", "string", "", "CustomResource kind", 1),
            header("ShortNames", "string", "", "Short names", 1),
            header("Established", "boolean", "", "Established status", 1),
        ];
        Self { headers, cells: Cells::OfDefinition }
    }
}

fn header(name: &str, type_: &str, format: &str, description: &str, priority: i32) -> Value {
    object([
        ("name", Value::from(name)),
        ("type", Value::from(type_)),
        ("format", Value::from(format)),
        ("description", Value::from(description)),
        ("priority", Value::Int(i64::from(priority))),
    ])
}

/// Builds the Table of some objects. `list` is the list metadata: resourceVersion, continue, remainingItemCount.
pub(in crate::server) fn table<'a>(
    columns: &Columns,
    objects: impl Iterator<Item = &'a Value>,
    list: Map,
    version: &str,
    include: IncludeObject,
    now: Timestamp,
) -> Value {
    let rows = objects.map(|o| {
        let mut cells = Vec::with_capacity(columns.headers.len());
        let name = || Value::from(metadata::text(o, "name"));
        match &columns.cells {
            Cells::Paths(paths) => cells.extend(std::iter::once(name()).chain(paths.iter().map(|c| c.cell(o, now)))),
            Cells::OfDefinition => cells.extend(std::iter::once(name()).chain(definition_cells(o))),
            Cells::NameAndCreation => cells.extend([name(), creation_time(o)]),
            Cells::Printed(printed) => cells.extend(printed.iter().map(|c| (c.cell)(o, now))),
        }
        let shown = match include {
            IncludeObject::None => Value::Null,
            IncludeObject::Object => o.clone(),
            IncludeObject::Metadata => partial(o, version),
        };
        object([("cells", Value::Array(cells)), ("object", shown)])
    });
    let rows: Vec<Value> = rows.collect();
    // The server starts with a nil list for CRDs, and with an empty one for custom resources.
    let is_nil = rows.is_empty() && matches!(columns.cells, Cells::OfDefinition | Cells::NameAndCreation);
    object([
        ("kind", Value::from("Table")),
        ("apiVersion", Value::from(format!("meta.k8s.io/{version}"))),
        ("metadata", Value::Object(list)),
        ("columnDefinitions", Value::Array(columns.headers.clone())),
        ("rows", if is_nil { Value::Null } else { Value::Array(rows) }),
    ])
}

fn definition_cells(o: &Value) -> [Value; 7] {
    let text = |path: &[&str]| Value::from(o.str_at(path).unwrap_or_default());
    let items = |path: &[&str]| o.at(path).and_then(Value::as_array).unwrap_or_default();
    let is = |v: &Value, key: &str| v.get(key).and_then(Value::as_bool) == Some(true);
    let served = items(&["spec", "versions"]).iter().filter(|v| is(v, "served"));
    let mut versions: Vec<String> = served
        .map(|v| {
            let name = v.str_at(&["name"]).unwrap_or_default();
            if is(v, "storage") { format!("{name}(storage)") } else { name.to_owned() }
        })
        .collect();
    versions.sort();
    let short_names: Vec<&str> = items(&["spec", "names", "shortNames"]).iter().filter_map(Value::as_str).collect();
    let established = items(&["status", "conditions"])
        .iter()
        .any(|c| c.str_at(&["type"]) == Some("Established") && c.str_at(&["status"]) == Some("True"));
    [
        text(&["spec", "scope"]),
        versions.join(",").into(),
        creation_time(o),
        text(&["spec", "group"]),
        text(&["spec", "names", "kind"]),
        short_names.join(",").into(),
        established.into(),
    ]
}

fn creation_time(o: &Value) -> Value {
    // The zero `metav1.Time` in Go.
    o.str_at(&["metadata", "creationTimestamp"]).unwrap_or("0001-01-01T00:00:00Z").into()
}

/// Builds the `PartialObjectMetadata` of an object.
pub(in crate::server) fn partial(o: &Value, version: &str) -> Value {
    object([
        ("kind", Value::from("PartialObjectMetadata")),
        ("apiVersion", Value::from(format!("meta.k8s.io/{version}"))),
        ("metadata", o.get("metadata").cloned().unwrap_or_else(|| Map::new().into())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_table_has_an_age() {
        let columns = Columns::new(&[]);
        let names: Vec<_> = columns.headers.iter().filter_map(|h| h.str_at(&["name"])).collect();
        assert_eq!(names.first(), Some(&"Name"));
        let o = object([("metadata", object([("name", "a")]))]);
        let t = table(&columns, [&o].into_iter(), Map::new(), "v1", IncludeObject::Metadata, Timestamp::default());
        let row = t.get("rows").and_then(Value::as_array).and_then(<[Value]>::first).unwrap();
        assert_eq!(row.get("cells").and_then(Value::as_array).and_then(<[Value]>::first), Some(&Value::from("a")));
        assert_eq!(row.str_at(&["object", "kind"]), Some("PartialObjectMetadata"));
        let rows = |columns: &Columns| {
            let table = table(columns, [].into_iter(), Map::new(), "v1", IncludeObject::None, Timestamp::default());
            table.get("rows").cloned()
        };
        assert_eq!(rows(&columns), Some(Value::Array(Vec::new())));
        assert_eq!(rows(&Columns::of_definitions(Release::NEWEST)), Some(Value::Null));
    }
}
