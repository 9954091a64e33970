//! Objects in tables, one table for each resource.

use super::{Get, Named};
use crate::cli::args;
use crate::cli::failure::Failure;
use crate::cluster::Resource;
use crate::output::sort;
use crate::output::table::{TableText, View};
use crate::value::Value;
use std::io::Write;

/// Prints all objects of some resources.
pub fn of_types(
    get: &mut Get<'_>,
    resources: &[Resource],
    wide: bool,
    failures: &mut Vec<Failure>,
) -> Result<(), Failure> {
    let places: Vec<Option<String>> = resources.iter().map(|r| get.place(r)).collect();
    let Get { args, source, rows, query, out, .. } = get;
    let list = |(resource, place): (_, &Option<String>)| source.list(resource, place.as_deref(), query).peekable();
    let mut lists: Vec<_> = resources.iter().zip(&places).map(list).collect();
    // Names have their kind before them when there are lists of several kinds, not when they are asked for.
    let answered = lists.iter_mut().filter_map(|list| list.peek()?.as_ref().ok()).count();
    let mut tables = Tables::new(answered > 1, wide);
    for (resource, mut list) in resources.iter().zip(lists) {
        if matches!(list.peek(), Some(Err(_))) {
            failures.extend(list.filter_map(Result::err).map(Failure::from));
            continue;
        }
        let mut table = TableText::new(tables.view(args, resource));
        // A page becomes text before the next one is read.
        let mut add = |page| {
            let page = sorted(rows.page(resource, page)?, args.order())?;
            if !page.is_empty() {
                table.add(&rows.table(source, resource, &page)?, &[], &[]);
            }
            Ok(())
        };
        failures.extend(list.into_iter().try_for_each(&mut add).err());
        tables.print(out, args, table)?;
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
    let Get { args, source, rows, out, .. } = get;
    for group in found.chunk_by(|a, b| a.resource == b.resource) {
        let Some(Named { resource, .. }) = group.first() else { continue };
        let mut table = TableText::new(tables.view(args, resource));
        let objects = group.iter().map(|named| named.object.clone()).collect();
        // Each comes in a Table of its own.
        for object in sorted(objects, args.order())? {
            table.add(&rows.table(source, resource, &[object])?, &[], &[]);
        }
        tables.print(out, args, table)?;
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
    /// Whether there is a column with the namespace; kubectl never takes it away again, whatever comes after.
    namespaces: bool,
    printed: bool,
}

impl Tables {
    fn new(kinds: bool, wide: bool) -> Self {
        Self { kinds, wide, namespaces: false, printed: false }
    }

    fn view(&mut self, args: &args::Get, resource: &Resource) -> View {
        self.namespaces |= args.all_namespaces && resource.namespaced;
        let kind = (self.kinds || args.show_kind).then(|| kind(resource));
        View { kind, namespace: self.namespaces, ..view(args, self.wide) }
    }

    fn print(&mut self, out: &mut dyn Write, args: &args::Get, table: TableText) -> Result<(), Failure> {
        let text = table.finish();
        if text.is_empty() {
            return Ok(());
        }
        let gap = if self.printed && !args.no_headers { "\n" } else { "" };
        self.printed = true;
        super::print(out, &[gap, &text])
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

/// How a table is shown.
pub fn view(args: &args::Get, wide: bool) -> View {
    View {
        wide,
        namespace: args.all_namespaces,
        kind: None,
        no_headers: args.no_headers,
        labels: args.label_columns.clone(),
        all_labels: args.show_labels,
    }
}

/// `kind.group`, as kubectl writes it before names.
fn kind(resource: &Resource) -> String {
    let kind = resource.kind.to_lowercase();
    if resource.group.is_empty() { kind } else { format!("{kind}.{}", resource.group) }
}
