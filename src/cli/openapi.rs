//! `openapi`: prints the OpenAPI document that the server would publish.

use super::Exit;
use super::args;
use crate::crd::{
    self, CustomResourceDefinition,
    openapi::{self, OpenApiVersion},
};
use crate::input::{Entry, Input};
use crate::release::Release;
use crate::simulation::object::Object;
use crate::suggest;
use crate::text::json;
use crate::value::Value;
use std::io::{self, Write};

/// Runs the command.
pub fn run(args: &args::Openapi) -> io::Result<Exit> {
    match document(args) {
        Ok(document) => {
            let mut text = json::write::kubectl(&document);
            if !text.ends_with('\n') {
                text.push('\n');
            }
            io::stdout().write_all(text.as_bytes())?;
            Ok(Exit::Fine)
        }
        Err(message) => {
            eprintln!("error: {message}");
            Ok(Exit::CannotTell)
        }
    }
}

/// The reason why there is no document to print.
#[derive(Debug, thiserror::Error)]
enum OpenapiError {
    #[error("{location}: {message}")]
    Unreadable { location: String, message: String },
    #[error(transparent)]
    Undecodable(#[from] crd::DecodeError),
    #[error("there is no CustomResourceDefinition in {0}")]
    NoDefinition(String),
    #[error("{crd} does not serve {wanted}: it serves {served}{help}")]
    NotServed { crd: String, wanted: String, served: String, help: String },
}

fn document(args: &args::Openapi) -> Result<Value, OpenapiError> {
    let mut documents = Vec::new();
    for entry in Input::open(std::slice::from_ref(&args.filename), false) {
        let document = match entry {
            Entry::Document(document) => document,
            Entry::Problem(note) => {
                return Err(OpenapiError::Unreadable { location: note.source.to_string(), message: note.message });
            }
            Entry::Warning(_) => continue,
        };
        let object = Object { document, warnings: Vec::new() };
        if !object.is_definition() {
            continue;
        }
        let crd = crd::decode(object.value())?.crd;
        let publish = if args.v2 { openapi::v2 } else { openapi::v3 };
        for version in versions(args, &crd)? {
            documents.push(publish(&crd, &version));
        }
    }
    if documents.is_empty() {
        return Err(OpenapiError::NoDefinition(args.filename.clone()));
    }
    let mut document = openapi::merge(documents);
    let openapi_version = if args.v2 { OpenApiVersion::V2 } else { OpenApiVersion::V3 };
    openapi::adapt(&mut document, openapi_version, args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST));
    Ok(document)
}

fn versions(args: &args::Openapi, crd: &CustomResourceDefinition) -> Result<Vec<String>, OpenapiError> {
    let served = || crd.spec.versions.iter().filter(|v| v.served).map(|v| v.name.clone());
    match &args.version {
        Some(wanted) if served().any(|name| name == *wanted) => Ok(vec![wanted.clone()]),
        Some(wanted) => {
            let served: Vec<String> = served().collect();
            let similar = suggest::closest(wanted, served.iter().map(String::as_str)).map(suggest::did_you_mean);
            let help = similar.map_or_else(String::new, |question| format!("\nhelp: {question}"));
            let served = served.join(", ");
            Err(OpenapiError::NotServed { crd: crd.name().to_owned(), wanted: wanted.clone(), served, help })
        }
        None if args.v2 => Ok(served().collect()),
        None => {
            let stored = crd.storage_version().filter(|name| served().any(|served| served == *name));
            Ok(stored.map(str::to_owned).or_else(|| served().next()).into_iter().collect())
        }
    }
}
