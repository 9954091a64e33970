//! `serve --sessions`: servers on request, for test frameworks of other languages. Each line on standard input is a request, and each
//! has one line of JSON as its answer. The end of standard input ends the process, so that it does not outlive its parent.

use super::args::Serve;
use super::start;
use crate::commands::error::Error;
use crate::commands::exit::Exit;
use crate::commands::lines;
use crdx_output::report::json::API_VERSION;
use crdx_serve::Running;
use crdx_value::{json, object};
use std::collections::BTreeMap;
use std::io::{self, Write as _};

/// The longest request.
const LONGEST: u64 = 1 << 16;
/// The maximum number of servers at the same time: each has threads of its own.
const MOST: usize = 256;

/// A request for a server, or for the end of one.
#[derive(Debug, PartialEq, Eq)]
enum SessionRequest {
    /// `new`, or `new ["PATH"]` with files and directories to load besides those of `--load`
    New(Vec<String>),
    /// `end URL`
    End(String),
}

/// The reason why a request has no effect.
#[derive(Debug, thiserror::Error)]
enum SessionError {
    #[error("{0:?} is no request: write new, new [\"PATH\"] or end URL")]
    Unknown(String),
    #[error("the request is longer than {LONGEST} bytes: load a directory")]
    TooLong,
    #[error("no server has the URL {0}: write the one that new returned")]
    NoServer(String),
    #[error("{MOST} servers run already: end one of them")]
    TooMany,
    #[error("{}", .0.join("; "))]
    NotStarted(Vec<String>),
}

impl SessionRequest {
    fn read(line: &str) -> Result<Self, SessionError> {
        let unknown = || SessionError::Unknown(line.to_owned());
        match line.split_once(' ') {
            None if line == "new" => Ok(Self::New(Vec::new())),
            Some(("new", paths)) => paths_of(paths).map(Self::New).ok_or_else(unknown),
            Some(("end", url)) => Ok(Self::End(url.to_owned())),
            _ => Err(unknown()),
        }
    }
}

/// The texts of a JSON array.
fn paths_of(text: &str) -> Option<Vec<String>> {
    let array = crdx_text::json::read(text.as_bytes()).ok()?;
    array.as_array()?.iter().map(|path| path.as_str().map(str::to_owned)).collect()
}

/// Serves requests until standard input ends.
///
/// # Errors
/// Returns an error if standard input cannot be read or an answer cannot be written.
pub fn run(args: &Serve) -> Result<Exit, Error> {
    let mut running = BTreeMap::new();
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    while lines::read(&mut input, &mut line, LONGEST)? {
        let answer = if line.len() as u64 > LONGEST {
            Err(SessionError::TooLong)
        } else {
            answer(String::from_utf8_lossy(&line).trim(), args, &mut running)
        };
        let members = answer.unwrap_or_else(|error| vec![("error", error.to_string())]);
        let fixed = [("apiVersion", API_VERSION.to_owned()), ("kind", "SessionReport".to_owned())];
        let mut out = io::stdout().lock();
        writeln!(out, "{}", json::to_string(&object(fixed.into_iter().chain(members))))?;
        out.flush()?;
    }
    Ok(Exit::Accepted)
}

/// The members of the answer to a request.
fn answer(
    request: &str,
    args: &Serve,
    running: &mut BTreeMap<String, Running>,
) -> Result<Vec<(&'static str, String)>, SessionError> {
    match SessionRequest::read(request)? {
        SessionRequest::New(_) if running.len() >= MOST => Err(SessionError::TooMany),
        SessionRequest::New(paths) => {
            let load = [args.load.as_slice(), &paths].concat();
            let server = start(&Serve { load, ..args.clone() }).map_err(SessionError::NotStarted)?;
            let (url, kubeconfig) = (server.url(), server.kubeconfig());
            running.insert(url.clone(), server);
            Ok(vec![("url", url), ("kubeconfig", kubeconfig)])
        }
        SessionRequest::End(url) => match running.remove(&url) {
            Some(_) => Ok(vec![("ended", url)]),
            None => Err(SessionError::NoServer(url)),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_words() {
        assert_eq!(SessionRequest::read("new").unwrap(), SessionRequest::New(Vec::new()));
        let with_paths = SessionRequest::read(r#"new ["crds", "a b.yaml"]"#).unwrap();
        assert_eq!(with_paths, SessionRequest::New(vec!["crds".to_owned(), "a b.yaml".to_owned()]));
        let end = SessionRequest::read("end http://127.0.0.1:1").unwrap();
        assert_eq!(end, SessionRequest::End("http://127.0.0.1:1".to_owned()));
        for other in ["", "New", "new x", "new [1]", "end", "stop a"] {
            let error = SessionRequest::read(other).unwrap_err().to_string();
            assert_eq!(error, format!("{other:?} is no request: write new, new [\"PATH\"] or end URL"));
        }
    }
}
