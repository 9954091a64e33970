//! `openapi`: prints the OpenAPI document that the server would publish.

pub mod args;

use super::definitions::{Given, LoadedDefinition};
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::flags::Color;
use crate::commands::terminal::{Content, OutputLimitError, Stream, output_limit};
use crdx_output::printable::complain;
use crdx_server::crd::{self, CustomResourceDefinition, openapi};
use crdx_text::{TooLong, json};
use crdx_types::openapi::OpenApiVersion;
use crdx_value::Value;
use crdx_value::release::Release;
use crdx_value::suggest;
use std::io::Write;

/// Runs the command.
pub fn run(args: &args::Openapi) -> Result<Exit, Error> {
    let mut exit = Exit::Accepted;
    let args::Openapi { words, crds, kubernetes, cluster, .. } = args;
    let definitions = Given { words, crds, kubernetes: *kubernetes, cluster }.read(&mut exit);
    if definitions.is_empty() {
        return Ok(exit);
    }
    match document(args, &definitions) {
        Ok(document) => {
            let text = json::write::kubectl_within(&document, output_limit()).map_err(OutputLimitError::from)?;
            let mut out = Stream::stdout(Color::Never, Content::Json).write;
            out.write_all(text.as_bytes())?;
            out.flush()?;
            Ok(exit)
        }
        Err(message) => {
            complain!("error: {message}");
            Ok(Exit::CannotTell)
        }
    }
}

/// The reason why there is no document to print.
#[derive(Debug, thiserror::Error)]
enum OpenapiError {
    #[error(transparent)]
    Undecodable(#[from] crd::DecodeError),
    #[error("{crd} does not serve {wanted}: it serves {served}{help}")]
    NotServed { crd: String, wanted: String, served: String, help: String },
    #[error(transparent)]
    TooLong(#[from] OutputLimitError),
}

impl From<TooLong> for OpenapiError {
    fn from(error: TooLong) -> Self {
        Self::TooLong(error.into())
    }
}

fn document(args: &args::Openapi, definitions: &[LoadedDefinition]) -> Result<Value, OpenapiError> {
    let release = args.kubernetes.kubernetes_version.unwrap_or(Release::NEWEST);
    let crds = definitions.iter().map(|definition| Ok(crd::decode(&definition.value)?.crd));
    let crds = crds.collect::<Result<Vec<_>, OpenapiError>>()?;
    let mut published = Vec::new();
    for crd in &crds {
        published.extend(versions(args, crd)?.into_iter().map(|version| (crd, version)));
    }
    let publish = if args.v2 { openapi::v2 } else { openapi::v3 };
    let documents = published.iter().map(|(crd, version)| Ok(publish(crd, version, release)));
    let mut document = openapi::merge_within::<OpenapiError>(output_limit(), documents)?;
    let openapi_version = if args.v2 { OpenApiVersion::V2 } else { OpenApiVersion::V3 };
    openapi::adapt(&mut document, openapi_version, release);
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
