//! Objects printed whole (`printGeneric` of `get.go`).

use super::{Get, Named, print};
use crate::cli::failure::Failure;
use crate::cluster::Resource;
use crate::output::objects::{Form, Objects};
use crate::output::sort;
use crate::value::Value;
use std::io::Write;

/// Prints all objects of some resources, as one list.
pub fn of_types(
    get: &mut Get<'_>,
    resources: &[Resource],
    form: Form,
    failures: &mut Vec<Failure>,
) -> Result<(), Failure> {
    let mut printer = Objects::new(form, false, get.args.show_managed_fields);
    let places: Vec<Option<String>> = resources.iter().map(|r| get.place(r)).collect();
    let Get { args, source, rows, query, out, .. } = get;
    let mut held = Vec::new();
    for (resource, place) in resources.iter().zip(&places) {
        for page in source.list(resource, place.as_deref(), query) {
            match rows.page(resource, page) {
                Ok(page) if args.order().is_some() => held.extend(page),
                Ok(page) => add(*out, &mut printer, page)?,
                Err(failure) => failures.push(failure),
            }
        }
    }
    if let Some(field) = args.order().filter(|_| !held.is_empty()) {
        sort::sort(&mut held, field).map_err(Failure::message)?;
        add(*out, &mut printer, held)?;
    }
    let rest = printer.finish().map_err(Failure::message)?;
    print(*out, &[&rest])
}

fn add(out: &mut dyn Write, printer: &mut Objects, objects: Vec<Value>) -> Result<(), Failure> {
    for object in objects {
        let text = printer.add(object).map_err(Failure::message)?;
        print(out, &[&text])?;
    }
    Ok(())
}

/// Prints objects by name: one for itself, several as a list.
pub fn of_names(get: &mut Get<'_>, found: Vec<Named>, single: bool, form: Form) -> Result<(), Failure> {
    if found.is_empty() && get.args.ignore_not_found {
        return Ok(());
    }
    let alone = single && found.len() == 1;
    let mut objects: Vec<_> = found.into_iter().map(|named| named.object).collect();
    if let Some(field) = get.args.order().filter(|_| !alone && !objects.is_empty()) {
        sort::sort(&mut objects, field).map_err(Failure::message)?;
    }
    let mut printer = Objects::new(form, alone, get.args.show_managed_fields);
    add(get.out, &mut printer, objects)?;
    let rest = printer.finish().map_err(Failure::message)?;
    print(get.out, &[&rest])
}
