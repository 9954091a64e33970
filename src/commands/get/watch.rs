//! `-w`: prints the existing objects, then every change.

use super::tables;
use super::{Get, Output};
use crate::commands::error::Error;
use crate::commands::selection::Selection;
use crate::commands::source::{ObjectSource, problem};
use crdx_cluster::{JSON, Query, Resource};
use crdx_output::objects::{self, Form, Objects};
use crdx_output::printable::complain;
use crdx_output::sort;
use crdx_output::table::TableText;
use crdx_value::Value;
use std::io::Write;

/// Prints events until the server ends the watch.
pub fn run(get: &mut Get<'_>, selection: &Selection, output: Output) -> Result<(), Error> {
    if matches!(get.source, ObjectSource::Files(_)) {
        return Err(problem("files do not change under a watch", "leave out -w").into());
    }
    match get.args.order() {
        Some(_) if get.args.watch => {
            complain!("warning: --watch requested, --sort-by will be ignored for watch events received");
        }
        Some(_) => complain!("warning: --watch-only requested, --sort-by will be ignored"),
        None => {}
    }
    let (word, name) = match selection {
        Selection::Types(types) => match types.as_slice() {
            [only] => (only, None),
            _ => return Err(Error::usage("you may only specify a single resource type")),
        },
        Selection::Names(names) => {
            let [(word, name)] = names.as_slice() else {
                let help = "name one object, or none and a selector";
                return Err(problem("one object or one type can be watched", help).into());
            };
            (word, Some(name.as_str()))
        }
    };
    let resource = get.resource(word)?;
    let namespace = get.namespace_of(&resource);
    let (now, revision) = match start(get, &resource, name) {
        Err(failure) if get.args.ignore_not_found && failure.is_not_found() => return Ok(()),
        started => started?,
    };
    let mut printer = match output {
        Output::Table { wide } => {
            let view = tables::view(get.args, wide);
            WatchPrinter::Table(TableText::new(view))
        }
        Output::Whole(form) => WatchPrinter::Whole { form, printed: 0 },
    };
    if !get.args.watch_only {
        let now = match get.args.order() {
            Some(field) if name.is_none() => {
                let mut now = now;
                sort::sort(&mut now, field).map_err(Error::usage)?;
                now
            }
            _ => now,
        };
        printer.print(get, &resource, now)?;
    }
    let mut query = get.query.clone();
    if let Some(name) = name {
        query = Query { fields: Some(format!("metadata.name={name}")), ..Query::default() };
    }
    let Get { args, source, rows, out, .. } = get;
    let ObjectSource::Live(connection) = &*source else { return Ok(()) };
    let events = connection.watch(&resource.path(namespace.as_deref()), &query, &revision, JSON)?;
    for event in events {
        let mut event = event?;
        let kind = event.str_at(&["type"]).unwrap_or_default().to_owned();
        let object = event.get_mut("object").map(std::mem::take).unwrap_or_default();
        match kind.as_str() {
            "ERROR" => {
                return Err(Error::refused(&object));
            }
            "BOOKMARK" => {}
            _ => {
                let objects = vec![rows.read(&resource, object)?];
                let event = args.output_watch_events.then_some(kind.as_str());
                let text = printer
                    .text(objects, event, args.show_managed_fields, |objects| rows.table(source, &resource, objects))?;
                out.write_all(text.as_bytes())
                    .and_then(|()| out.flush())
                    .map_err(|error| Error::Output(error.kind().into()))?;
            }
        }
    }
    Ok(())
}

/// Returns the existing objects, and the resourceVersion at which the watch starts.
fn start(get: &Get<'_>, resource: &Resource, name: Option<&str>) -> Result<(Vec<Value>, String), Error> {
    if let Some(name) = name {
        let object = get.one(resource, name)?;
        let revision = object.str_at(&["metadata", "resourceVersion"]).unwrap_or_default().to_owned();
        return Ok((vec![object], revision));
    }
    let namespace = get.namespace_of(resource);
    let mut list = get.source.list(resource, namespace.as_deref(), &get.query);
    let mut now = Vec::new();
    for page in &mut list {
        now.extend(get.rows.page(resource, page)?);
    }
    Ok((now, list.revision()))
}

enum WatchPrinter {
    Table(TableText),
    Whole { form: Form, printed: usize },
}

impl WatchPrinter {
    fn print(&mut self, get: &mut Get<'_>, resource: &Resource, objects: Vec<Value>) -> Result<(), Error> {
        let Get { args, source, rows, .. } = get;
        // Existing objects are like new ones.
        let event = args.output_watch_events.then_some("ADDED");
        let text =
            self.text(objects, event, args.show_managed_fields, |objects| rows.table(source, resource, objects))?;
        super::print(get.out, &[&text])?;
        get.out.flush().map_err(|error| Error::Output(error.kind().into()))
    }

    fn text(
        &mut self,
        objects: Vec<Value>,
        event: Option<&str>,
        managed_fields: bool,
        rows: impl FnOnce(&[Value]) -> Result<Value, Error>,
    ) -> Result<String, Error> {
        match self {
            Self::Table(_) if objects.is_empty() => Ok(String::new()),
            Self::Table(table) => {
                if let Some(kind) = event {
                    table.set_event(kind);
                }
                table.add(&rows(&objects)?, &[], &[]);
                Ok(table.flush())
            }
            Self::Whole { form, printed } => {
                let mut text = String::new();
                for object in objects {
                    if matches!(form, Form::Yaml) && *printed > 0 {
                        text.push_str("---\n");
                    }
                    if let (Form::Columns(columns), true) = (&mut *form, *printed > 0) {
                        columns.no_titles();
                    }
                    *printed += 1;
                    if let Some(kind) = event {
                        text.push_str(&objects::event(form, kind, object).map_err(Error::usage)?);
                        continue;
                    }
                    let mut one = Objects::new(form.clone(), true, managed_fields);
                    text.push_str(&one.add(object).map_err(Error::usage)?);
                    text.push_str(&one.finish().map_err(Error::usage)?);
                }
                Ok(text)
            }
        }
    }
}
