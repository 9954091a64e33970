//! `schema`: prints or writes JSON Schemas of custom resources.

pub mod args;
mod json_schema;

use super::definitions::Given;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags;
use crate::commands::terminal::{Content, OutputLimitError, Stream, output_limit};
use crdx_files::replace::replace;
use crdx_output::printable::complain;
use crdx_server::crd::{self, CustomResourceDefinition};
use crdx_text::json::write::kubectl_within;
use crdx_value::Value;
use crdx_value::sort::sort_by_key;
use json_schema::{Strictness, json_schema};
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Runs the command.
///
/// # Errors
/// Returns an error if output cannot be written.
pub fn run(args: &args::Schema) -> Result<Exit, Error> {
    let mut exit = Exit::Accepted;
    let args::Schema { words, crds, cluster, .. } = args;
    let given = Given { words, crds, kubernetes: flags::KubernetesVersion::default(), cluster };
    let definitions = given.read(&mut exit);
    let mut failed = |message: &str| {
        complain!("error: {message}");
        exit = Exit::CannotTell;
    };
    let mut schemas: Vec<SchemaFile> = Vec::new();
    for definition in definitions {
        let length = schemas.iter().map(|schema| schema.text.len()).sum();
        match schemas_of(&definition.value, args, output_limit().saturating_sub(length)) {
            Ok(more) => schemas.extend(more),
            Err(message) => failed(&format!("{}: {message}", definition.location)),
        }
    }
    let mut out = Stream::stdout(flags::Color::Never, Content::json_if(args.output_dir.is_none())).write;
    match (&args.output_dir, schemas.as_slice()) {
        (Some(directory), schemas) => {
            for SchemaFile { name, text } in schemas {
                let path = directory.join(name);
                match write(&path, text) {
                    Ok(()) => writeln!(out, "{}", path.display())?,
                    Err(error) => failed(&format!("cannot write {}: {error}", path.display())),
                }
            }
        }
        (None, [SchemaFile { text, .. }]) => out.write_all(text.as_bytes())?,
        (None, []) => {}
        (None, _) => failed("there is more than one CRD; write their schemas with --output-dir"),
    }
    out.flush()?;
    Ok(exit)
}

/// A schema and the name of its file in a catalog.
struct SchemaFile {
    name: String,
    text: String,
}

/// The reason why a CRD has no schema to print.
#[derive(Debug, thiserror::Error)]
enum SchemaError {
    #[error(transparent)]
    Undecodable(#[from] crd::DecodeError),
    #[error("its group, kind or version cannot be the name of a file")]
    NoFileName,
    #[error("{crd} does not serve {wanted}: it serves {served}")]
    NotServed { crd: String, wanted: String, served: String },
    #[error("{0} serves no version")]
    NothingServed(String),
    #[error(transparent)]
    TooLong(OutputLimitError),
}

/// Returns the schemas of a CRD, which have together at most `limit` bytes.
fn schemas_of(definition: &Value, args: &args::Schema, limit: usize) -> Result<Vec<SchemaFile>, SchemaError> {
    let crd = crd::decode(definition)?.crd;
    let strictness = if args.strict { Strictness::Strict } else { Strictness::Lenient };
    let mut versions = versions(args, &crd)?;
    if args.output_dir.is_none() {
        versions.truncate(1);
    }
    let kind = crd.spec.names.kind.to_lowercase();
    if !name_part(&crd.spec.group) || !name_part(&kind) || !versions.iter().all(|version| name_part(version)) {
        return Err(SchemaError::NoFileName);
    }
    let mut left = limit;
    let file = |version: &String| {
        let schema = json_schema(&crd, version, strictness);
        let text = kubectl_within(&schema, left).map_err(|_| SchemaError::TooLong(OutputLimitError(output_limit())))?;
        left = left.saturating_sub(text.len());
        Ok(SchemaFile { name: format!("{}/{kind}_{version}.json", crd.spec.group), text })
    };
    versions.iter().map(file).collect()
}

/// Returns true if the group, the kind or the version of a CRD that the server accepts may be this text.
fn name_part(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    !text.is_empty() && !text.starts_with('.') && text.chars().all(is_plain)
}

/// Returns the served versions with the storage version first, or the requested version.
fn versions(args: &args::Schema, crd: &CustomResourceDefinition) -> Result<Vec<String>, SchemaError> {
    let mut served: Vec<String> = crd.spec.versions.iter().filter(|v| v.served).map(|v| v.name.clone()).collect();
    if let Some(wanted) = &args.version {
        if served.contains(wanted) {
            return Ok(vec![wanted.clone()]);
        }
        return Err(SchemaError::NotServed {
            crd: crd.name().to_owned(),
            wanted: wanted.clone(),
            served: served.join(", "),
        });
    }
    sort_by_key(&mut served, |name| crd.storage_version() != Some(name));
    if served.is_empty() { Err(SchemaError::NothingServed(crd.name().to_owned())) } else { Ok(served) }
}

fn write(path: &Path, text: &str) -> io::Result<()> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory)?;
    }
    replace(path, text.as_bytes())
}
