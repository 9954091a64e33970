//! Prints whole objects (`printGeneric` of `get.go`).

use super::order::Ordered;
use super::{Get, SelectedObjects, print};
use crate::commands::error::Error;
use crdx_cluster::Resource;
use crdx_output::objects::{Form, Objects};
use crdx_value::Value;
use std::io::Write;

/// Prints all objects of some resources as one list.
pub fn of_types(get: &mut Get<'_>, resources: &[Resource], form: Form, failures: &mut Vec<Error>) -> Result<(), Error> {
    let mut printer = Objects::new(form, false, get.args.show_managed_fields);
    let namespaces: Vec<Option<String>> = resources.iter().map(|r| get.namespace_of(r)).collect();
    let Get { args, source, rows, query, progress, out, .. } = get;
    let mut ordered = args.order().map(|field| Ordered::new(field, 1));
    for (resource, namespace) in resources.iter().zip(&namespaces) {
        for page in source.list(resource, namespace.as_deref(), query) {
            match rows.page(resource, page) {
                Ok(page) => {
                    progress.add_many(page.len());
                    match &mut ordered {
                        Some(ordered) => page.iter().try_for_each(|object| ordered.add(object))?,
                        None => add(*out, &mut printer, page.into_iter().map(Ok))?,
                    }
                }
                Err(failure) => failures.push(failure),
            }
        }
    }
    if let Some(ordered) = ordered {
        add(*out, &mut printer, ordered.finish()?)?;
    }
    let rest = printer.finish().map_err(Error::usage)?;
    print(*out, &[&rest])
}

fn add(
    out: &mut dyn Write,
    printer: &mut Objects,
    objects: impl Iterator<Item = Result<Value, Error>>,
) -> Result<(), Error> {
    for object in objects {
        let text = printer.add(object?).map_err(Error::usage)?;
        print(out, &[&text])?;
    }
    Ok(())
}

/// Prints objects by name: a single object alone, several objects as a list.
pub fn of_names(get: &mut Get<'_>, found: SelectedObjects, single: bool, form: Form) -> Result<(), Error> {
    if found.is_empty() && get.args.ignore_not_found {
        return Ok(());
    }
    let alone = single && found.len() == 1;
    let mut printer = Objects::new(form, alone, get.args.show_managed_fields);
    let order = get.args.order().filter(|_| !alone && !found.is_empty());
    let objects = found.read(&get.source, get.args.subresource()).map(|named| named.map(|named| named.object));
    let objects = get.progress.count(objects);
    if let Some(field) = order {
        let mut ordered = Ordered::new(field, 1);
        for object in objects {
            ordered.add(&object?)?;
        }
        add(get.out, &mut printer, ordered.finish()?)?;
    } else {
        add(get.out, &mut printer, objects)?;
    }
    let rest = printer.finish().map_err(Error::usage)?;
    print(get.out, &[&rest])
}
