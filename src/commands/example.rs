//! `example`: prints a valid object of a CRD.

pub mod args;
mod report;

use super::definitions::{Definition, Given};
use crate::commands::exit::Exit;
use crate::commands::flags::JsonOrYaml;

use crate::output::printable::complain;
use args::Example;
use crdx::examples::{self, Checker, ExampleFields};
use crdx_text::json::write::kubectl;
use crdx_value::field::UNFINISHED;
use crdx_value::release::Release;
use crdx_value::{Value, object};
use std::io::{self, BufWriter, Write};

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn run(args: &args::Example) -> io::Result<Exit> {
    let mut out = BufWriter::new(io::stdout().lock());
    let mut exit = Exit::Accepted;
    let mut objects = Vec::new();
    let Example { words, crds, kubernetes, cluster, .. } = args;
    let given = Given { words, crds, kubernetes: *kubernetes, cluster };
    for definition in given.read(&mut exit) {
        let (made, result) = example_of(&definition, args);
        exit = exit.max(result);
        let Some((object, checker)) = made else { continue };
        match args.output {
            JsonOrYaml::Json => objects.push(object),
            JsonOrYaml::Yaml => {
                let separator = if objects.is_empty() { "" } else { "---\n" };
                let schema = (!args.minimal).then_some(&*checker.schema);
                write!(out, "{separator}{}", report::yaml(&object, schema))?;
                objects.push(Value::Null);
            }
        }
    }
    if args.output == JsonOrYaml::Json && !objects.is_empty() {
        writeln!(out, "{}", kubectl(&one_or_list(objects)).trim_end())?;
    }
    out.flush()?;
    Ok(exit)
}

/// Returns the example of a CRD with the server that checked it; errors are printed to standard error.
fn example_of(definition: &Definition, args: &args::Example) -> (Option<(Value, Checker)>, Exit) {
    let release = args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
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
    let Some(rejection) = example.rejection else { return (Some((example.object, checker)), Exit::Accepted) };
    if rejection.is_unfinished {
        complain!("error: {location}: cannot tell whether a server accepts an example: {UNFINISHED}");
        return (None, Exit::CannotTell);
    }
    complain!("error: {location}: found no example that the server accepts; it rejects this one:");
    for error in &rejection.errors {
        complain!("  {error}");
    }
    if rejection.errors.is_empty() {
        complain!("  {}", rejection.message);
    }
    (Some((example.object, checker)), Exit::Rejected)
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
