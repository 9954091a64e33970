//! Objects in tables, one table for each resource.

use super::{Get, Named};
use crate::cli::failure::Failure;
use crate::cluster::Resource;
use crate::output::sort;
use crate::output::table::{TableText, View};
use crate::value::Value;

/// Prints all objects of some resources.
pub fn of_types(
    get: &mut Get<'_>,
    resources: &[Resource],
    wide: bool,
    failures: &mut Vec<Failure>,
) -> Result<(), Failure> {
    let mut tables = Tables::new(resources.len() > 1, wide);
    for resource in resources {
        let mut table = TableText::new(tables.view(get, resource));
        let place = get.place(resource);
        // A page becomes text before the next one is read.
        let Get { args, source, rows, query, .. } = get;
        let listed = source.list(resource, place.as_deref(), query, |page| {
            let page = sorted(rows.read(resource, page)?, args.sort_by.as_deref())?;
            if !page.is_empty() {
                table.add(&rows.table(source, resource, &page)?, &[], &[]);
            }
            Ok(())
        });
        failures.extend(listed.err());
        tables.print(get, table)?;
    }
    tables.nothing_found(get, resources.iter().all(|r| r.namespaced), failures);
    Ok(())
}

/// Prints objects by name.
pub fn of_names(get: &mut Get<'_>, found: &[Named], wide: bool, failures: &[Failure]) -> Result<(), Failure> {
    let first = found.first().map(|named| named.resource.clone());
    let several = found.iter().any(|named| Some(&named.resource) != first.as_ref());
    let namespaced = found.iter().all(|named| named.resource.namespaced);
    let mut tables = Tables::new(several, wide);
    for group in found.chunk_by(|a, b| a.resource == b.resource) {
        let Some(Named { resource, .. }) = group.first() else { continue };
        let mut table = TableText::new(tables.view(get, resource));
        let objects = group.iter().map(|named| named.object.clone()).collect();
        let objects = sorted(objects, get.args.sort_by.as_deref())?;
        table.add(&get.rows.table(&get.source, resource, &objects)?, &[], &[]);
        tables.print(get, table)?;
    }
    tables.nothing_found(get, namespaced, failures);
    Ok(())
}

/// In the order of a field; kubectl asks nothing of a table of one row.
fn sorted(mut objects: Vec<Value>, field: Option<&str>) -> Result<Vec<Value>, Failure> {
    if let Some(field) = field.filter(|_| objects.len() > 1) {
        sort::sort(&mut objects, field).map_err(Failure::message)?;
    }
    Ok(objects)
}

/// Tables one below the other.
struct Tables {
    /// Whether names have their kind before them.
    kinds: bool,
    wide: bool,
    printed: bool,
}

impl Tables {
    fn new(kinds: bool, wide: bool) -> Self {
        Self { kinds, wide, printed: false }
    }

    fn view(&self, get: &Get<'_>, resource: &Resource) -> View {
        let kind = (self.kinds || get.args.show_kind).then(|| kind(resource));
        View { kind, ..view(get, resource, self.wide) }
    }

    fn print(&mut self, get: &mut Get<'_>, table: TableText) -> Result<(), Failure> {
        let text = table.finish();
        if text.is_empty() {
            return Ok(());
        }
        if self.printed && !get.args.no_headers {
            get.print("\n")?;
        }
        self.printed = true;
        get.print(&text)
    }

    fn nothing_found(&self, get: &Get<'_>, namespaced: bool, failures: &[Failure]) {
        if self.printed || get.args.ignore_not_found || !failures.is_empty() {
            return;
        }
        if namespaced && !get.args.all_namespaces {
            eprintln!("No resources found in {} namespace.", get.namespace);
        } else {
            eprintln!("No resources found");
        }
    }
}

/// How a resource's table is shown.
pub fn view(get: &Get<'_>, resource: &Resource, wide: bool) -> View {
    View {
        wide,
        namespace: get.args.all_namespaces && resource.namespaced,
        kind: None,
        no_headers: get.args.no_headers,
        labels: get.args.label_columns.clone(),
        all_labels: get.args.show_labels,
    }
}

/// `kind.group`, as kubectl writes it before names.
fn kind(resource: &Resource) -> String {
    let kind = resource.kind.to_lowercase();
    if resource.group.is_empty() { kind } else { format!("{kind}.{}", resource.group) }
}
