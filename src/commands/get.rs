//! `get`: prints objects with their printer columns, as `kubectl get` does (`kubectl/pkg/cmd/get`). The rows are
//! computed by the simulated server.

pub mod args;
mod objects;
mod order;
mod raw;
mod rows;
mod tables;
mod watch;

use super::error::{self, Error, summarize};
use super::progress::Progress;
use super::selection::{self, Selection};
use super::source::{self, FileArguments, ObjectSource, problem};
use super::terminal;
use crate::commands::exit::Exit;
use crdx_cluster::{Query, Resource};
use crdx_files::open::read_any;
use crdx_output::objects::{Form, FormFlags, form};
use crdx_output::printable::{complain, complain_all};
use crdx_value::GoError;
use crdx_value::Value;
use rows::Rows;
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &args::Get) -> Result<Exit, Error> {
    let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout());
    let mut failures = Vec::new();
    let done = get(args, &mut out, &mut failures);
    failures.extend(done.err());
    error::output(&failures)?;
    out.flush()?;
    let (text, exit) = summarize(&failures);
    complain_all(&text);
    Ok(exit)
}

/// The kind of output.
enum Output {
    /// Tables; `wide` is true to show all columns.
    Table { wide: bool },
    /// Whole objects.
    Whole(Form),
}

/// One run of the command.
struct Get<'a> {
    args: &'a args::Get,
    source: ObjectSource,
    rows: Rows,
    namespace: String,
    query: Query,
    /// Counts the objects that were read.
    progress: Progress,
    out: &'a mut dyn Write,
}

/// An object and its resource.
struct Named {
    resource: Resource,
    object: Value,
}

enum SelectedObjects {
    /// Objects in memory.
    Objects(Vec<Named>),
    /// Names of objects in files. There may be many, so each object is read when it is printed.
    Files(Vec<source::Named>),
}

impl SelectedObjects {
    fn is_empty(&self) -> bool {
        self.resources().next().is_none()
    }

    fn len(&self) -> usize {
        match self {
            Self::Objects(found) => found.len(),
            Self::Files(names) => names.len(),
        }
    }

    /// Returns the resource of each object.
    fn resources(&self) -> Box<dyn Iterator<Item = &Resource> + '_> {
        match self {
            Self::Objects(found) => Box::new(found.iter().map(|named| &named.resource)),
            Self::Files(names) => Box::new(names.iter().map(|named| &*named.resource)),
        }
    }

    /// Returns the objects with their resources, in order.
    fn read<'a>(
        self,
        source: &'a ObjectSource,
        subresource: Option<&'a str>,
    ) -> Box<dyn Iterator<Item = Result<Named, Error>> + 'a> {
        match self {
            Self::Objects(found) => Box::new(found.into_iter().map(Ok)),
            Self::Files(names) => Box::new(names.into_iter().map(move |name| {
                let object = source.get(&name.resource, Some(&name.namespace), &name.name, subresource)?;
                Ok(Named { resource: (*name.resource).clone(), object })
            })),
        }
    }
}

fn get(args: &args::Get, out: &mut dyn Write, failures: &mut Vec<Error>) -> Result<(), Error> {
    if let Some(uri) = &args.raw {
        return raw::print(args, uri, out);
    }
    let output = output(args)?;
    if args.output_watch_events && !(args.watch || args.watch_only) {
        let message = "--output-watch-events option can only be used with --watch or --watch-only";
        return Err(Error::usage(message));
    }
    let namespace = source::namespace(&args.cluster);
    let source = ObjectSource::open(
        FileArguments::new(&args.files, &args.reading.options()),
        args.kubernetes,
        &args.cluster,
        failures,
    )?;
    let text = |text: &Option<String>| text.as_ref().map(|t| t.trim().to_owned()).filter(|t| !t.is_empty());
    let query = Query { labels: text(&args.selector), fields: text(&args.field_selector), limit: Some(args.page()) };
    let rows = Rows::new(args, &source, terminal::now)?;
    // A table is written after all its objects were read.
    let progress = Progress::new(matches!(output, Output::Table { .. }));
    let mut get = Get { args, source, rows, namespace, query, progress, out };
    if args.words.is_empty() {
        return get.print_files(output, failures);
    }
    let selection = get.selection()?;
    if args.watch || args.watch_only {
        return watch::run(&mut get, &selection, output);
    }
    match &selection {
        Selection::Types(_) if args.subresource().is_some() => {
            let help = "name the objects: TYPE/NAME, or TYPE NAME…";
            Err(problem("subresource cannot be used when bulk resources are specified", help).into())
        }
        Selection::Types(types) => {
            let resources = get.resources(types)?;
            match output {
                Output::Table { wide } => tables::of_types(&mut get, &resources, wide, failures),
                Output::Whole(form) => objects::of_types(&mut get, &resources, form, failures),
            }
        }
        Selection::Names(names) => {
            let found = SelectedObjects::Objects(get.named(names, failures)?);
            get.print_found(found, names.len() == 1, output, failures)
        }
    }
}

/// Parses `-o` and its related flags.
fn output(args: &args::Get) -> Result<Output, Error> {
    let word = args.output.as_deref().filter(|word| !word.eq_ignore_ascii_case("table")).unwrap_or_default();
    let template = args.template.as_deref().filter(|template| !template.is_empty());
    let word = if word.is_empty() && template.is_some() { "go-template" } else { word };
    if args.show_labels && !matches!(word, "" | "wide") {
        return Err(Error::usage(format!("--show-labels option cannot be used with {word} printer")));
    }
    if !args.label_columns.is_empty() && word.starts_with("custom-columns") {
        return Err(Error::usage(format!("--label-columns option cannot be used with {word} printer")));
    }
    if matches!(word, "" | "wide") {
        return Ok(Output::Table { wide: !word.is_empty() });
    }
    let read = |path: &str| match read_any(path.as_ref()) {
        Ok(bytes) => String::from_utf8(bytes).map_err(|_| GoError::from("it is not UTF-8")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(format!("open {path}: no such file or directory").into())
        }
        Err(error) => Err(format!("open {path}: {error}").into()),
    };
    let allow_missing = args.allow_missing_template_keys;
    match form(FormFlags { output: word, template, no_headers: args.no_headers, allow_missing }, read) {
        Ok(Some(form)) => Ok(Output::Whole(form)),
        Ok(None) => Err(Error::usage(format!(
            "unable to match a printer suitable for the output format {word:?}, allowed formats are: custom-columns,\
             custom-columns-file,go-template,go-template-file,json,jsonpath,jsonpath-as-json,jsonpath-file,kyaml,name,\
             template,templatefile,wide,yaml"
        ))),
        Err(message) => Err(Error::usage(message)),
    }
}

impl Get<'_> {
    /// Returns the selection on the command line, with categories expanded.
    fn selection(&self) -> Result<Selection, Error> {
        let resources = self.source.resources()?;
        let category = |word: &str| selection::category(&resources, word);
        selection::read(&self.args.words, self.selects(), category).map_err(Error::usage)
    }

    fn selects(&self) -> bool {
        self.query.labels.is_some() || self.query.fields.is_some()
    }

    /// Prints all objects of the files, in the order of the files.
    fn print_files(&mut self, output: Output, failures: &[Error]) -> Result<(), Error> {
        if self.selects() || self.args.watch || self.args.watch_only {
            let help = "name one: kubectl crdx get TYPE -f …";
            return Err(problem("selectors and watches are of the objects of a type", help).into());
        }
        let ObjectSource::Files(files) = &self.source else { return Ok(()) };
        let names = files.objects().to_vec();
        if let not_stored @ 1.. = files.not_stored() {
            let (objects, are) = if not_stored == 1 { ("object", "is") } else { ("objects", "are") };
            complain!("note: {not_stored} {objects} of kinds that API servers do not store {are} left out");
        }
        let single = self.args.files.filenames.len() + self.args.files.kustomize.len() == 1;
        self.print_found(SelectedObjects::Files(names), single, output, failures)
    }

    /// Prints objects by name. `single` is true if exactly one object was requested.
    fn print_found(
        &mut self,
        found: SelectedObjects,
        single: bool,
        output: Output,
        failures: &[Error],
    ) -> Result<(), Error> {
        match output {
            Output::Table { wide } => tables::of_names(self, found, wide, failures),
            // kubectl does not print an empty list if the only object does not exist.
            Output::Whole(_) if single && found.is_empty() && !failures.is_empty() => Ok(()),
            Output::Whole(form) => objects::of_names(self, found, single, form),
        }
    }

    /// Returns the selected resources, without duplicates.
    fn resources(&self, words: &[String]) -> Result<Vec<Resource>, Error> {
        let mut found: Vec<Resource> = Vec::new();
        for word in words {
            let resource = self.resource(word)?;
            if !found.contains(&resource) {
                found.push(resource);
            }
        }
        Ok(found)
    }

    fn resource(&self, word: &str) -> Result<Resource, Error> {
        let resource = self.source.resource(word)?;
        for other in selection::also_meant(&self.source.resources()?, word, &resource) {
            complain!("Warning: short name {word:?} could also match lower priority resource {other}");
        }
        Ok(resource)
    }

    /// Returns the namespace in which objects of a resource are listed.
    fn namespace_of(&self, resource: &Resource) -> Option<String> {
        Some(self.namespace.clone()).filter(|_| resource.namespaced && !self.args.all_namespaces)
    }

    /// Returns the selected objects, except those that do not exist.
    fn named(&self, names: &[(String, String)], failures: &mut Vec<Error>) -> Result<Vec<Named>, Error> {
        let words: Vec<String> = names.iter().map(|(word, _)| word.clone()).collect();
        let mut resources: Vec<(String, Resource)> = Vec::new();
        for word in words {
            if !resources.iter().any(|(known, _)| *known == word) {
                let resource = self.resource(&word)?;
                resources.push((word, resource));
            }
        }
        let mut found = Vec::new();
        for (word, name) in names {
            let Some((_, resource)) = resources.iter().find(|(known, _)| known == word) else { continue };
            if self.args.all_namespaces && resource.namespaced {
                return Err(Error::usage("a resource cannot be retrieved by name across all namespaces"));
            }
            match self.one(resource, name) {
                Ok(object) => found.push(Named { resource: resource.clone(), object }),
                Err(failure) if self.args.ignore_not_found && failure.is_not_found() => {}
                Err(failure) => failures.push(failure),
            }
        }
        Ok(found)
    }

    fn one(&self, resource: &Resource, name: &str) -> Result<Value, Error> {
        let namespace = self.namespace_of(resource);
        let found = self.source.get(resource, namespace.as_deref(), name, self.args.subresource())?;
        self.rows.read(resource, found)
    }
}

fn print(out: &mut dyn Write, texts: &[&str]) -> Result<(), Error> {
    texts.iter().try_for_each(|text| out.write_all(text.as_bytes())).map_err(|error| Error::Output(error.kind().into()))
}
