//! `--raw`: prints the answer of the cluster to a GET (`kubectl/pkg/rawhttp`).

use super::args;
use crate::commands::error::Error;
use crate::commands::source::{ObjectSource, problem, unserved};
use std::io::Write;

/// Prints the answer to a GET of `uri`.
pub fn print(args: &args::Get, uri: &str, out: &mut dyn Write) -> Result<(), Error> {
    if !args.words.is_empty() {
        return Err(Error::usage("arguments may not be passed when --raw is specified"));
    }
    if args.watch || args.watch_only || args.selector.as_deref().is_some_and(|text| !text.is_empty()) {
        let message = "--raw may not be specified with other flags that filter the server request or alter the output";
        return Err(Error::usage(message));
    }
    if args.output.as_deref().is_some_and(|text| !text.is_empty()) {
        return Err(Error::usage("--raw and --output are mutually exclusive"));
    }
    if !uri.starts_with('/') {
        let message = format!("--raw must be a valid URL path: parse {uri:?}: invalid URI for request");
        return Err(problem(&message, "begin the path with a slash, such as /apis").into());
    }
    let ObjectSource::Live(connection) = ObjectSource::live(&args.cluster)? else { return Ok(()) };
    for chunk in connection.raw(uri).map_err(|error| unserved(error, ""))? {
        out.write_all(&chunk?).map_err(|error| Error::Output(error.kind().into()))?;
    }
    Ok(())
}
