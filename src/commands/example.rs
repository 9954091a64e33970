//! `example`: prints a valid object of a CRD or of a built-in kind.

pub mod args;
mod built_in;
mod report;

use super::definitions::{Given, LoadedDefinition, is_path};
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::{Color, JsonOrYaml};
use crate::commands::terminal::{Content, OutputLimitError, Stream, output_limit};

use args::Example;
use crdx_engine::examples::{self, Checker, ExampleFields, Rejection};
use crdx_output::printable::complain;
use crdx_server::schema::Schema;
use crdx_text::json::write::kubectl_within;
use crdx_value::field::UNFINISHED;
use crdx_value::release::Release;
use crdx_value::{Value, object};
use std::io::{self, BufWriter, Write};

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn run(args: &args::Example) -> Result<Exit, Error> {
    let content = if args.output == JsonOrYaml::Json { Content::Json } else { Content::Data };
    let mut out = BufWriter::new(Stream::stdout(Color::Never, content).write);
    let mut exit = Exit::Accepted;
    let mut objects = Vec::new();
    let Example { words, crds, kubernetes, cluster, .. } = args;
    let release = release(args);
    // Named resources are looked up in --crds alone if it is given.
    let named = |word: &String| if crds.is_empty() && !is_path(word) { built_in::find(word, release) } else { None };
    let mut print = |object: Value, schema: Option<&Schema>| {
        match args.output {
            JsonOrYaml::Json => objects.push(object),
            JsonOrYaml::Yaml => {
                let separator = if objects.is_empty() { "" } else { "---\n" };
                let text = report::yaml(&object, schema.filter(|_| !args.minimal), output_limit());
                write!(out, "{separator}{}", text.map_err(OutputLimitError::from)?)?;
                objects.push(Value::Null);
            }
        }
        io::Result::Ok(())
    };
    let mut others = Vec::new();
    for word in words {
        let Some(resource) = named(word) else {
            others.push(word.clone());
            continue;
        };
        let (object, result) = built_in::example(&resource, args.version.as_deref(), release);
        exit = exit.max(result);
        if let Some(object) = object {
            print(object, None)?;
        }
    }
    let given = Given { words: &others, crds, kubernetes: *kubernetes, cluster };
    let definitions = if others.is_empty() { Vec::new() } else { given.read(&mut exit) };
    for definition in definitions {
        let (made, result) = example_of(&definition, args);
        exit = exit.max(result);
        let Some((object, checker)) = made else { continue };
        print(object, Some(&*checker.schema))?;
    }
    if args.output == JsonOrYaml::Json && !objects.is_empty() {
        let text = kubectl_within(&one_or_list(objects), output_limit()).map_err(OutputLimitError::from)?;
        out.write_all(text.as_bytes())?;
    }
    out.flush()?;
    Ok(exit)
}

/// Returns the example of a CRD with the server that checked it; errors are printed to standard error.
fn example_of(definition: &LoadedDefinition, args: &args::Example) -> (Option<(Value, Checker)>, Exit) {
    let release = release(args);
    let fields = if args.minimal { ExampleFields::Minimal } else { ExampleFields::Full };
    let name = definition.value.str_at(&["metadata", "name"]).unwrap_or_default();
    let location = format!("{}: {name}", definition.location);
    let checker = match Checker::new(&definition.value, args.version.as_deref(), release) {
        Ok(checker) => checker,
        Err(error) => {
            complain!("error: {location}: {error}");
            return (None, Exit::CannotTell);
        }
    };
    let example = match examples::example(&checker, fields) {
        Ok(example) => example,
        Err(error) => {
            complain!("error: {location}: {error}");
            return (None, Exit::CannotTell);
        }
    };
    if fields == ExampleFields::Full && example.rejection.is_none() {
        report_left_out(&checker.schema, &example.object, &location);
    }
    let exit = verdict(example.rejection, &location);
    (if exit == Exit::CannotTell { None } else { Some((example.object, checker)) }, exit)
}

/// The number of fields that a note names.
const NAMED: usize = 10;

/// Prints which fields an example does not have, because the server would not accept them together.
fn report_left_out(schema: &Schema, object: &Value, location: &str) {
    let fields = examples::left_out(schema, object);
    if fields.is_empty() {
        return;
    }
    let first = fields.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = fields.len().saturating_sub(NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    complain!("note: {location}: the example is without {first}{more}");
}

/// Prints why the server rejects an example, if it does, and returns the exit code.
fn verdict(rejection: Option<Rejection>, location: &str) -> Exit {
    let Some(rejection) = rejection else { return Exit::Accepted };
    if rejection.is_unfinished {
        complain!("error: {location}: cannot tell whether a server accepts an example: {UNFINISHED}");
        return Exit::CannotTell;
    }
    complain!("error: {location}: found no example that the server accepts; it rejects this one:");
    for error in &rejection.errors {
        complain!("  {error}");
    }
    if rejection.errors.is_empty() {
        complain!("  {}", rejection.message);
    }
    Exit::Rejected
}

/// The simulated release.
fn release(args: &args::Example) -> Release {
    args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST)
}

fn one_or_list(mut objects: Vec<Value>) -> Value {
    match objects.pop() {
        Some(only) if objects.is_empty() => only,
        last => {
            objects.extend(last);
            object([("apiVersion", Value::from("v1")), ("kind", "List".into()), ("items", objects.into())])
        }
    }
}
