//! Prints objects in tables, one table for each resource.

use super::args;
use super::order::Ordered;
use super::{Get, Named, SelectedObjects};
use crate::commands::error::Error;
use crdx_cluster::Resource;
use crdx_output::printable::complain;
use crdx_output::table::{TableText, View};
use crdx_value::Value;
use std::io::Write;

/// The number of sorted objects that are converted to rows at a time.
const PAGE: usize = 500;

/// Prints all objects of some resources.
pub fn of_types(get: &mut Get<'_>, resources: &[Resource], wide: bool, failures: &mut Vec<Error>) -> Result<(), Error> {
    let namespaces: Vec<Option<String>> = resources.iter().map(|r| get.namespace_of(r)).collect();
    let Get { args, source, rows, query, progress, out, .. } = get;
    let lists = resources
        .iter()
        .zip(&namespaces)
        .map(|(resource, namespace)| source.list(resource, namespace.as_deref(), query));
    let mut lists: Vec<_> = lists.map(Iterator::peekable).collect();
    // Names have their kind as a prefix in lists of several kinds, but not if objects are selected by name.
    // Without the server's tables, kubectl does not see the kind of an empty list.
    let shows = |page: &Vec<Value>| args.server_print || !page.is_empty();
    let answered = lists.iter_mut().filter_map(|list| list.peek()?.as_ref().ok().filter(|page| shows(page))).count();
    let mut tables = Tables::new(answered > 1, wide);
    for (resource, mut list) in resources.iter().zip(lists) {
        if matches!(list.peek(), Some(Err(_))) {
            failures.extend(list.filter_map(Result::err).map(Error::from));
            continue;
        }
        let mut table = TableText::new(tables.view(args, resource));
        let done = if let Some(field) = args.order() {
            let mut ordered = Ordered::new(field, 2);
            let mut pages = list.map(|page| rows.page(resource, page));
            let read = pages.try_for_each(|page| {
                let page = page?;
                progress.add_many(page.len());
                page.iter().try_for_each(|object| ordered.add(object))
            });
            failures.extend(read.err());
            let mut add = |page: Vec<Value>| {
                table.add(&rows.table(source, resource, &page)?, &[], &[]);
                Ok(())
            };
            in_pages(ordered.finish(), &mut add)
        } else {
            // A page is formatted before the next one is read.
            list.into_iter().try_for_each(|page| {
                let page = rows.page(resource, page)?;
                progress.add_many(page.len());
                if !page.is_empty() {
                    table.add(&rows.table(source, resource, &page)?, &[], &[]);
                }
                Ok(())
            })
        };
        failures.extend(done.err());
        progress.suspend(|| tables.print(out, args, table))?;
    }
    tables.nothing_found(get, resources.iter().all(|r| r.namespaced), failures);
    Ok(())
}

/// Prints objects by name.
pub fn of_names(get: &mut Get<'_>, found: SelectedObjects, wide: bool, failures: &[Error]) -> Result<(), Error> {
    let first = found.resources().next();
    let several = found.resources().any(|resource| Some(resource) != first);
    let namespaced = found.resources().all(|resource| resource.namespaced);
    let mut tables = Tables::new(several, wide);
    let Get { args, source, rows, progress, out, .. } = get;
    let mut objects = found.read(source, args.subresource()).peekable();
    // Consecutive objects of the same resource share a table.
    while let Some(named) = objects.next() {
        let Named { resource, object } = named?;
        let mut table = TableText::new(tables.view(args, &resource));
        let rest =
            std::iter::from_fn(|| objects.next_if(|next| next.as_ref().map_or(true, |next| next.resource == resource)));
        let objects = std::iter::once(Ok(object)).chain(rest.map(|named| named.map(|named| named.object)));
        let objects = progress.count(objects);
        // Each object is converted to a separate Table.
        let mut add = |object| {
            table.add(&rows.table(source, &resource, &[object])?, &[], &[]);
            Ok::<_, Error>(())
        };
        if let Some(field) = args.order() {
            let mut ordered = Ordered::new(field, 2);
            for object in objects {
                ordered.add(&object?)?;
            }
            ordered.finish()?.try_for_each(|object| add(object?))?;
        } else {
            for object in objects {
                add(object?)?;
            }
        }
        progress.suspend(|| tables.print(out, args, table))?;
    }
    drop(objects);
    tables.nothing_found(get, namespaced, failures);
    Ok(())
}

/// Collects objects into pages.
fn in_pages(
    objects: Result<impl Iterator<Item = Result<Value, Error>>, Error>,
    add: &mut impl FnMut(Vec<Value>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut objects = objects?;
    loop {
        let page = objects.by_ref().take(PAGE).collect::<Result<Vec<_>, _>>()?;
        if page.is_empty() {
            return Ok(());
        }
        add(page)?;
    }
}

/// Prints a sequence of tables.
struct Tables {
    /// True if names have their kind as a prefix.
    kinds: bool,
    wide: bool,
    /// True if there is a namespace column; kubectl then keeps it for all subsequent tables.
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

    fn print(&mut self, out: &mut dyn Write, args: &args::Get, table: TableText) -> Result<(), Error> {
        let text = table.finish();
        if text.is_empty() {
            return Ok(());
        }
        let gap = if self.printed && !args.no_headers { "\n" } else { "" };
        self.printed = true;
        super::print(out, &[gap, &text])
    }

    fn nothing_found(&self, get: &Get<'_>, namespaced: bool, failures: &[Error]) {
        if self.printed || get.args.ignore_not_found || !failures.is_empty() {
            return;
        }
        if namespaced && !get.args.all_namespaces {
            complain!("No resources found in {} namespace.", get.namespace);
        } else {
            complain!("No resources found");
        }
    }
}

/// Returns the options of a table.
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

/// Returns `kind.group`, the prefix of names in kubectl.
fn kind(resource: &Resource) -> String {
    let kind = resource.kind.to_lowercase();
    if resource.group.is_empty() { kind } else { format!("{kind}.{}", resource.group) }
}
