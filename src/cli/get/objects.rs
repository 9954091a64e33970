//! Objects printed whole (`printGeneric` of `get.go`).

use super::{Get, Named};
use crate::cli::failure::Failure;
use crate::cluster::Resource;
use crate::output::objects::{Form, Objects};
use crate::output::sort;

/// Prints all objects of some resources, as one list.
pub fn of_types(
    get: &mut Get<'_>,
    resources: &[Resource],
    form: Form,
    failures: &mut Vec<Failure>,
) -> Result<(), Failure> {
    let mut printer = Objects::new(form, false, get.args.show_managed_fields);
    let mut held = Vec::new();
    for resource in resources {
        let place = get.place(resource);
        let Get { args, source, rows, query, out, .. } = get;
        let listed = source.list(resource, place.as_deref(), query, |page| {
            let page = rows.read(resource, page)?;
            if args.sort_by.is_some() {
                held.extend(page);
                return Ok(());
            }
            for object in page {
                let text = printer.add(object).map_err(Failure::message)?;
                out.write_all(text.as_bytes()).map_err(|_| Failure::Output)?;
            }
            Ok(())
        });
        failures.extend(listed.err());
    }
    if let Some(field) = &get.args.sort_by
        && !held.is_empty()
    {
        sort::sort(&mut held, field).map_err(Failure::message)?;
        for object in held {
            let text = printer.add(object).map_err(Failure::message)?;
            get.print(&text)?;
        }
    }
    let rest = printer.finish().map_err(Failure::message)?;
    get.print(&rest)
}

/// Prints objects by name: one for itself, several as a list.
pub fn of_names(get: &mut Get<'_>, found: Vec<Named>, single: bool, form: Form) -> Result<(), Failure> {
    if found.is_empty() && get.args.ignore_not_found {
        return Ok(());
    }
    let alone = single && found.len() == 1;
    let mut objects: Vec<_> = found.into_iter().map(|named| named.object).collect();
    if let Some(field) = get.args.sort_by.as_ref().filter(|_| !alone && !objects.is_empty()) {
        sort::sort(&mut objects, field).map_err(Failure::message)?;
    }
    let mut printer = Objects::new(form, alone, get.args.show_managed_fields);
    for object in objects {
        let text = printer.add(object).map_err(Failure::message)?;
        get.print(&text)?;
    }
    let rest = printer.finish().map_err(Failure::message)?;
    get.print(&rest)
}
