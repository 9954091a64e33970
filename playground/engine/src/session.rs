//! A server with the CRDs and policies of the page. Compiling a large CRD takes much longer than a request, so the servers
//! for the last texts are kept.

use crate::documents::{self, Document, Pane, Problem, Severity};
use crate::hints;
use crate::messages;
use crate::request::{Panes, Request};
use crate::rules;
use crdx::{ApiServer, Cause, Error, Release};
use crdx_engine::lint::convert::{Converted, convert};
use crdx_server::server::Snapshot;
use crdx_types::groups;
use crdx_value::{Value, group_version};
use std::rc::Rc;

/// The length of the texts whose servers are kept, in bytes. Compiled, a large CRD takes many times its length.
const KEPT: usize = 4 << 20;

/// The servers for the last texts.
#[derive(Debug, Default)]
pub struct Sessions {
    current: Option<Session>,
    /// The servers of earlier requests, the last one last.
    earlier: Vec<Session>,
}

/// A server with CRDs and policies.
#[derive(Debug)]
pub struct Session {
    key: SessionKey,
    /// The server.
    pub server: ApiServer,
    start: Snapshot,
    /// The CRDs.
    pub definitions: Vec<Document>,
    /// The server's messages about the CRDs and policies.
    pub problems: Vec<Problem>,
    /// The first CRD or policy that the server refused.
    pub refusal: Option<RefusedInput>,
    /// The estimated costs of the rules of the CRDs, for an answer.
    pub rules: Value,
    /// The CRDs of v1beta1 as v1.
    pub converted: Vec<Converted>,
}

/// A CRD or a policy that the server refused.
#[derive(Debug)]
pub struct RefusedInput {
    /// Its text.
    pub pane: Pane,
    /// The reason.
    pub error: Error,
}

/// The inputs that determine the state of a server. The texts are shared by the servers of all releases.
#[derive(Clone, Debug, PartialEq, Eq)]
struct SessionKey {
    release: Release,
    definitions: Rc<str>,
    policies: Rc<str>,
}

impl SessionKey {
    /// A small text has a server, too.
    fn length(&self) -> usize {
        (self.definitions.len() + self.policies.len()).max(64 << 10)
    }
}

impl Sessions {
    /// The server for a request, without any object.
    pub fn of(&mut self, request: &Request) -> &Session {
        let is_wanted = |session: &Session| {
            let (key, panes) = (&session.key, &request.panes);
            key.release == request.release
                && is_same(&key.definitions, &panes.crd)
                && is_same(&key.policies, &panes.policies)
        };
        self.earlier.extend(self.current.take());
        let session = if let Some(at) = self.earlier.iter().position(is_wanted) {
            self.earlier.remove(at)
        } else {
            let Panes { crd, policies, .. } = request.panes.clone();
            Session::new(SessionKey { release: request.release, definitions: crd, policies })
        };
        let mut kept = 0;
        // From the last one.
        let fits = |session: &&Session| {
            kept += session.key.length();
            kept <= KEPT
        };
        let count = self.earlier.iter().rev().take_while(fits).count();
        self.earlier.drain(..self.earlier.len() - count);
        session.server.server().roll_back(&session.start);
        self.current.insert(session)
    }
}

impl Session {
    fn new(key: SessionKey) -> Self {
        let server = ApiServer::builder().release(key.release);
        let server = if key.policies.trim().is_empty() { server } else { server.policies() };
        let server = server.build();
        let mut problems = Vec::new();
        let definitions = documents::read(Pane::Definitions, &key.definitions, &mut problems);
        let policies = documents::read(Pane::Policies, &key.policies, &mut problems);
        let (mut rules, mut converted) = (Vec::new(), Vec::new());
        let mut refusal = None;
        let mut install = |document: &Document, text: &str| {
            if let Err(error) = install(&server, document, text, &mut problems) {
                refusal.get_or_insert(RefusedInput { pane: document.pane, error });
            }
        };
        for document in &definitions {
            install(document, &key.definitions);
            if document.is_definition() {
                rules.extend(rules::answer(&server, document, &key.definitions));
                converted.extend(of_beta(document));
            }
        }
        for document in &policies {
            install(document, &key.policies);
        }
        let start = server.server().snapshot();
        Self { key, server, start, definitions, problems, refusal, rules: Value::Array(rules), converted }
    }

    /// The CRD of a kind.
    pub fn definition(&self, api_version: &str, kind: &str) -> Option<&Document> {
        let group = group_version::group(api_version);
        let is_wanted = |document: &&Document| {
            let text = |path: &[&str]| document.value.str_at(path).unwrap_or_default();
            document.is_definition() && text(&["spec", "group"]) == group && text(&["spec", "names", "kind"]) == kind
        };
        self.definitions.iter().find(is_wanted)
    }

    /// The kinds that the CRDs define: `apiVersion` and `kind` of each version that is served.
    pub fn kinds(&self) -> Vec<(String, &str)> {
        let definitions = self.definitions.iter().filter(|document| document.is_definition());
        let kinds = definitions.flat_map(|Document { value, .. }| {
            let text = |path: &[&str]| value.str_at(path).unwrap_or_default();
            let versions = value.at(&["spec", "versions"]).and_then(Value::as_array).unwrap_or_default();
            let served = versions.iter().filter(|version| version.get("served").and_then(Value::as_bool) == Some(true));
            let names = served.filter_map(|version| version.str_at(&["name"]));
            names.map(move |name| (format!("{}/{name}", text(&["spec", "group"])), text(&["spec", "names", "kind"])))
        });
        kinds.collect()
    }
}

/// Compares two texts, which mostly are one text.
fn is_same(one: &Rc<str>, other: &Rc<str>) -> bool {
    Rc::ptr_eq(one, other) || one == other
}

/// Creates a CRD, a policy or an object that policies refer to.
fn install(server: &ApiServer, document: &Document, text: &str, problems: &mut Vec<Problem>) -> Result<(), Error> {
    let installed = server.install(document.value.clone());
    // A CRD of v1beta1 has messages of its own.
    let installed = if document.is_definition() { installed } else { installed.map_err(built_in) };
    let mut found = match &installed {
        Ok(responses) => {
            let warnings = responses.iter().flat_map(|response| &response.warnings);
            warnings.map(|text_of_warning| warning(text_of_warning, document, text)).collect()
        }
        Err(error) => self::problems(error, document, text),
    };
    if document.is_definition() {
        hints::of_definition(&mut found, document, server.release());
    }
    problems.append(&mut found);
    installed.map(|_| ())
}

/// A warning of the server.
pub fn warning(warning: &str, document: &Document, text: &str) -> Problem {
    match messages::unknown_field(warning) {
        Some(path) => document.problem_of_unknown_field(text, Severity::Warning, warning, path),
        None => document.problem(text, Severity::Warning, warning, ""),
    }
}

/// The error for a kind without a CRD: whether a server accepts objects of the groups of Kubernetes itself is not known here.
pub fn built_in(error: Error) -> Error {
    match error {
        Error::UnknownKind { api_version, kind }
            if !api_version.is_empty() && groups::is_built_in(group_version::group(&api_version)) =>
        {
            Error::CannotTell(format!(
                "{kind} ({api_version}) is built into Kubernetes, and this page simulates custom resources only. The command `kubectl crdx validate` simulates built-in kinds, too."
            ))
        }
        other => other,
    }
}

/// The problems of a refused object.
pub fn problems(error: &Error, document: &Document, text: &str) -> Vec<Problem> {
    let of_cause = |cause: &Cause| {
        let message = cause.message.as_str();
        match error.status().map(|status| status.code) {
            // A field that the server does not know is marked by its name.
            Some(400) if messages::unknown_field(message).is_some() => {
                document.problem_of_unknown_field(text, Severity::Error, message, &cause.field)
            }
            Some(400) => document.problem_of_name(text, Severity::Error, message, &cause.field),
            // The path of a conflict begins with a dot, and its message does not repeat it.
            Some(409) if !cause.field.is_empty() => {
                let message = format!("{}: {message}", cause.field);
                document.problem(text, Severity::Error, message, cause.field.trim_start_matches('.'))
            }
            _ => document.problem(text, Severity::Error, message, &cause.field),
        }
    };
    match error {
        Error::Status(status) if !status.causes.is_empty() => status.causes.iter().map(of_cause).collect(),
        Error::UnknownKind { api_version, kind } if document.is_definition() => {
            let message =
                format!("no matches for kind {kind:?} in version {api_version:?}: use apiextensions.k8s.io/v1");
            vec![document.problem(text, Severity::Error, message, "apiVersion")]
        }
        Error::UnknownKind { .. } => vec![document.problem(text, Severity::Error, error.to_string(), "kind")],
        Error::Status(status) if messages::undeclared_fields(&status.message).next().is_some() => {
            let undeclared = messages::undeclared_fields(&status.message).map(|path| {
                let message = format!(".{path}: field not declared in schema");
                document.problem_of_unknown_field(text, Severity::Error, message, path)
            });
            undeclared.collect()
        }
        Error::Status(status) => vec![document.problem(text, Severity::Error, status.message.as_str(), "")],
        // The verdict has the reason.
        Error::CannotTell(_) => Vec::new(),
        other => vec![document.problem(text, Severity::Error, other.to_string(), "")],
    }
}

/// A CRD of v1beta1 as v1.
fn of_beta(document: &Document) -> Option<Converted> {
    let is_beta = document.value.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1beta1");
    let decoded = is_beta.then(|| crdx_server::crd::decode(&document.value).ok()).flatten()?;
    Some(convert(&decoded.crd))
}
