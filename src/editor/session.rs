//! The session with a client: messages in, diagnostics and responses out.

use super::check::Checker;
use super::completion::{self, Suggestion};
use super::cursor::Cursor;
use super::finding::{Finding, Severity, findings};
use super::text::Text;
use super::{hover, schema, uri, workspace};
use crate::editor::Settings;
use crate::kubectl::FieldValidation;
use crate::server::Timestamp;
use crate::simulation::{self, Plan};
use crate::{cluster, input, kubectl};
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response};
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, InitializeParams, Position, Range,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::path::PathBuf;

/// The session ended before the client asked for it.
#[derive(Debug)]
pub struct Error(ProtocolError);

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the client broke the language server protocol: {}", self.0)
    }
}

impl std::error::Error for Error {}

/// Serves a client until it exits or closes the connection. `now` is the clock. Files may nest deeply, so the calling
/// thread needs a large stack.
///
/// # Errors
/// The client's messages are not in the protocol's order.
pub fn serve(connection: &Connection, flags: Settings, now: fn() -> Timestamp) -> Result<(), Error> {
    match session(connection, flags, now) {
        Err(error) if !error.channel_is_disconnected() => Err(Error(error)),
        _ => Ok(()),
    }
}

/// As [`serve`], for a client on standard input and output.
///
/// # Errors
/// As [`serve`].
pub fn serve_stdio(flags: Settings, now: fn() -> Timestamp) -> Result<(), Error> {
    // The threads that read and write end with the process: the reader may wait for a client that is gone.
    let (connection, _threads) = Connection::stdio();
    serve(&connection, flags, now)
}

fn session(connection: &Connection, flags: Settings, now: fn() -> Timestamp) -> Result<(), ProtocolError> {
    let (id, params) = connection.initialize_start()?;
    let params: InitializeParams = serde_json::from_value(params).unwrap_or_default();
    connection.initialize_finish(id, capabilities())?;
    let mut session = Session::new(connection, flags, now, &params);
    session.watch_files(&params);
    while let Ok(message) = connection.receiver.recv() {
        let mut next = Some(message);
        // Diagnostics are computed when the client pauses.
        while let Some(message) = next {
            match message {
                Message::Request(request) => {
                    if connection.handle_shutdown(&request)? {
                        return Ok(());
                    }
                    let response = session.respond(request);
                    session.send(response.into());
                }
                Message::Notification(notification) => session.receive(notification),
                Message::Response(_) => {}
            }
            next = connection.receiver.try_recv().ok();
        }
        session.publish();
    }
    Ok(())
}

fn capabilities() -> Value {
    json!({
        "capabilities": {
            "textDocumentSync": {"openClose": true, "change": 2, "save": true},
            "hoverProvider": true,
            "completionProvider": {"triggerCharacters": [" "]},
            "codeActionProvider": {"codeActionKinds": ["quickfix"]},
        },
        "serverInfo": {"name": "kubectl-crdx", "version": env!("CARGO_PKG_VERSION")},
    })
}

struct Session<'c> {
    connection: &'c Connection,
    now: fn() -> Timestamp,
    folders: Vec<PathBuf>,
    /// The namespace of objects without one, read from the kubeconfig once.
    namespace: String,
    flags: Settings,
    settings: Settings,
    checker: Checker,
    /// True if the CRDs or policies have to be read again.
    is_stale: bool,
    /// The open files by URI.
    files: BTreeMap<String, File>,
}

/// An open file.
struct File {
    version: i32,
    text: Text,
    findings: Vec<Finding>,
    /// True if the findings are those of an earlier text.
    is_outdated: bool,
}

impl<'c> Session<'c> {
    fn new(connection: &'c Connection, flags: Settings, now: fn() -> Timestamp, params: &InitializeParams) -> Self {
        let folders: Vec<PathBuf> = match &params.workspace_folders {
            Some(folders) => folders.iter().map(|folder| PathBuf::from(uri::path(folder.uri.as_str()))).collect(),
            #[allow(deprecated, reason = "older clients send nothing else")]
            None => params.root_uri.iter().map(|root| PathBuf::from(uri::path(root.as_str()))).collect(),
        };
        let namespace = cluster::namespace_or_default(None, &cluster::Target::default());
        let (settings, problem) = configured(&flags, &folders, params.initialization_options.as_ref());
        let checker = Checker::new(plan(&settings, &folders, &namespace, now));
        let (files, is_stale) = (BTreeMap::new(), false);
        let session = Self { connection, now, folders, namespace, flags, settings, checker, is_stale, files };
        session.report(problem.as_deref());
        session.log_problems();
        session
    }

    /// Asks the client to report changes of files, if it can.
    fn watch_files(&self, params: &InitializeParams) {
        let workspace = params.capabilities.workspace.as_ref();
        let watched = workspace.and_then(|workspace| workspace.did_change_watched_files);
        if watched.and_then(|watched| watched.dynamic_registration) == Some(true) {
            let watchers = json!([{"globPattern": "**/*.{yaml,yml,json}"}]);
            let registration = json!({
                "id": "files",
                "method": "workspace/didChangeWatchedFiles",
                "registerOptions": {"watchers": watchers},
            });
            let id = RequestId::from("watch".to_owned());
            let params = json!({"registrations": [registration]});
            self.send(Request::new(id, "client/registerCapability".to_owned(), params).into());
        }
    }

    fn send(&self, message: Message) {
        // The client is gone; the next read ends the session.
        let _ = self.connection.sender.send(message);
    }

    /// Shows a problem with the options of the client.
    fn report(&self, problem: Option<&str>) {
        if let Some(problem) = problem {
            self.message("window/showMessage", 1, &format!("kubectl-crdx: {problem}"));
        }
    }

    /// Logs the problems with CRDs and policies.
    fn log_problems(&self) {
        for item in &self.checker.problems {
            self.message("window/logMessage", 2, &format!("{}: {}", item.location, item.reason));
        }
    }

    fn message(&self, method: &str, kind: u8, text: &str) {
        self.send(Notification::new(method.to_owned(), json!({"type": kind, "message": text})).into());
    }

    fn respond(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        let result = match method.as_str() {
            "textDocument/hover" => Place::of(&params).map(|at| self.hover(&at)),
            "textDocument/completion" => Place::of(&params).map(|at| self.completion(&at)),
            "textDocument/codeAction" => self.code_actions(&params),
            _ => {
                let message = format!("{method} is not supported");
                return Response::new_err(id, ErrorCode::MethodNotFound as i32, message);
            }
        };
        match result {
            Ok(result) => Response::new_ok(id, result),
            Err(error) => Response::new_err(id, ErrorCode::InvalidParams as i32, error.to_string()),
        }
    }

    /// Handles a notification; malformed ones are ignored, as the protocol requires.
    fn receive(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: file }) = parsed(params) else { return };
                let open =
                    File { version: file.version, text: Text::new(file.text), findings: Vec::new(), is_outdated: true };
                self.files.insert(file.uri.as_str().to_owned(), open);
            }
            "textDocument/didChange" => {
                let Ok(change) = parsed::<DidChangeTextDocumentParams>(params) else { return };
                if let Some(file) = self.files.get_mut(change.text_document.uri.as_str()) {
                    change.content_changes.into_iter().for_each(|change| file.text.edit(change));
                    file.version = change.text_document.version;
                    file.is_outdated = true;
                }
            }
            "textDocument/didClose" => {
                let Ok(closed) = parsed::<DidCloseTextDocumentParams>(params) else { return };
                let uri = closed.text_document.uri.as_str();
                self.files.remove(uri);
                self.show(uri, None, &json!([]));
            }
            "textDocument/didSave" => {
                let Ok(saved) = parsed::<DidSaveTextDocumentParams>(params) else { return };
                self.changed(saved.text_document.uri.as_str());
            }
            "workspace/didChangeWatchedFiles" => {
                let Ok(changed) = parsed::<DidChangeWatchedFilesParams>(params) else { return };
                changed.changes.iter().for_each(|change| self.changed(change.uri.as_str()));
            }
            "workspace/didChangeConfiguration" => {
                let Ok(changed) = parsed::<DidChangeConfigurationParams>(params) else { return };
                // Clients send all their settings, or only this server's.
                let own = changed.settings.get("kubectl-crdx").cloned().unwrap_or(changed.settings);
                let (settings, problem) = configured(&self.flags, &self.folders, Some(&own));
                self.report(problem.as_deref());
                if problem.is_none() {
                    self.is_stale |= settings != self.settings;
                    self.settings = settings;
                }
            }
            _ => {}
        }
    }

    /// Notes that a file changed on the disk.
    fn changed(&mut self, uri: &str) {
        let path = uri::path(uri);
        let is_policy = self.settings.policies.iter().any(|policies| path.starts_with(policies.as_str()));
        self.is_stale |= is_policy || self.checker.reads(&path) || workspace::contains_definition(path.as_ref());
    }

    /// Publishes the diagnostics of files whose text, CRDs or policies changed.
    fn publish(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            self.checker = Checker::new(plan(&self.settings, &self.folders, &self.namespace, self.now));
            self.log_problems();
            self.files.values_mut().for_each(|file| file.is_outdated = true);
        }
        let mut files = std::mem::take(&mut self.files);
        for (uri, file) in files.iter_mut().filter(|(_, file)| file.is_outdated) {
            file.findings = self.check(uri, &file.text);
            file.is_outdated = false;
            let diagnostics: Vec<Value> = file.findings.iter().map(|finding| diagnostic(finding, &file.text)).collect();
            self.show(uri, Some(file.version), &diagnostics.into());
        }
        self.files = files;
    }

    fn check(&self, uri: &str, text: &Text) -> Vec<Finding> {
        let items = panic::catch_unwind(AssertUnwindSafe(|| self.checker.check(&uri::path(uri), text.content())));
        let failed = |message: String| Finding {
            range: 0..0,
            severity: Severity::Unknown,
            kind: "cannotTell".to_owned(),
            message,
            replacement: None,
        };
        match items {
            Ok(Ok(items)) => findings(&items, text),
            Ok(Err(error)) => vec![failed(error.to_string())],
            Err(_) => {
                vec![failed("kubectl-crdx itself failed on this file; this is a bug, please report it".to_owned())]
            }
        }
    }

    fn show(&self, uri: &str, version: Option<i32>, diagnostics: &Value) {
        let params = json!({"uri": uri, "version": version, "diagnostics": diagnostics});
        self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), params).into());
    }

    /// The file and the byte offset of a position.
    fn place(&self, at: &Place) -> Option<(String, &File, usize)> {
        let file = self.files.get(&at.uri)?;
        Some((uri::path(&at.uri), file, file.text.offset(at.position)))
    }

    fn hover(&self, at: &Place) -> Value {
        let found = || {
            let (path, file, offset) = self.place(at)?;
            let cursor = Cursor::at(&self.checker, &path, &file.text, offset)?;
            let object = &cursor.document.value;
            hover::text(schema::of_object(self.checker.definition(object)?, object)?, &cursor.path)
        };
        found().map_or(Value::Null, |text| json!({"contents": {"kind": "markdown", "value": text}}))
    }

    fn completion(&self, at: &Place) -> Value {
        let Some((path, file, offset)) = self.place(at) else { return Value::Null };
        let found = completion::suggestions(&self.checker, &path, &file.text, offset);
        found.iter().enumerate().map(|(index, suggestion)| completion_item(index, suggestion)).collect()
    }

    fn code_actions(&self, params: &Value) -> Result<Value, serde_json::Error> {
        let uri: String = member(&member::<Value>(params, "textDocument")?, "uri")?;
        let range: Range = member(params, "range")?;
        let Some(file) = self.files.get(&uri).filter(|file| !file.is_outdated) else { return Ok(json!([])) };
        let (from, to) = (file.text.offset(range.start), file.text.offset(range.end));
        let here = file.findings.iter().filter(|finding| finding.range.start <= to && from <= finding.range.end);
        let actions = here.filter_map(|finding| {
            let replacement = finding.replacement.as_ref()?;
            let old = file.text.content().get(finding.range.clone())?;
            // A quoted name stays quoted.
            let quote = old.get(..1).filter(|quote| matches!(*quote, "\"" | "'")).unwrap_or_default();
            let edit =
                json!({"range": file.text.range(finding.range.clone()), "newText": format!("{quote}{replacement}{quote}")});
            Some(json!({
                "title": format!("Change to `{replacement}`"),
                "kind": "quickfix",
                "isPreferred": true,
                "diagnostics": [diagnostic(finding, &file.text)],
                "edit": {"changes": {uri.as_str(): [edit]}},
            }))
        });
        Ok(actions.collect())
    }
}

/// A position in a file.
struct Place {
    uri: String,
    position: Position,
}

impl Place {
    /// Reads `TextDocumentPositionParams`.
    fn of(params: &Value) -> Result<Self, serde_json::Error> {
        let uri = member(&member::<Value>(params, "textDocument")?, "uri")?;
        Ok(Self { uri, position: member(params, "position")? })
    }
}

fn member<T: DeserializeOwned>(params: &Value, name: &str) -> Result<T, serde_json::Error> {
    parsed(params.get(name).cloned().unwrap_or_default())
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(params)
}

fn diagnostic(finding: &Finding, text: &Text) -> Value {
    let severity = match finding.severity {
        Severity::Error => 1,
        Severity::Warning => 2,
        Severity::Unknown => 3,
    };
    json!({
        "range": text.range(finding.range.clone()),
        "severity": severity,
        "code": finding.kind,
        "source": "kubectl-crdx",
        "message": finding.message,
    })
}

fn completion_item(index: usize, suggestion: &Suggestion) -> Value {
    const FIELD: u8 = 5;
    const ENUM_MEMBER: u8 = 20;
    let required = if suggestion.required { " required" } else { "" };
    json!({
        "label": suggestion.label,
        "kind": if suggestion.is_value { ENUM_MEMBER } else { FIELD },
        "detail": format!("{}{required}", suggestion.detail),
        "documentation": suggestion.documentation,
        "insertText": suggestion.insert,
        "sortText": format!("{index:04}"),
    })
}

/// The settings of the client, or the flags and what is wrong with the options.
fn configured(flags: &Settings, folders: &[PathBuf], options: Option<&Value>) -> (Settings, Option<String>) {
    let Some(options) = options else { return (flags.clone(), None) };
    match flags.clone().with(options, folders.first().map(PathBuf::as_path)) {
        Ok(settings) => (settings, None),
        Err(problem) => (flags.clone(), Some(problem)),
    }
}

/// The plan for files of the workspace. No cluster is contacted.
fn plan(settings: &Settings, folders: &[PathBuf], namespace: &str, now: fn() -> Timestamp) -> Plan {
    let mut crds = settings.crds.clone();
    if !settings.skips_workspace {
        crds.extend(workspace::files_with_definitions(folders));
    }
    Plan {
        filenames: Vec::new(),
        crds,
        old: Vec::new(),
        kustomizations: Vec::new(),
        options: input::Options { recursive: true, ..input::Options::default() },
        policies: simulation::admission::Options { paths: settings.policies.clone(), ..Default::default() },
        skip: Vec::new(),
        selector: None,
        field_validation: FieldValidation::Strict,
        ignore_missing_crds: false,
        strict_builtin: false,
        jobs: Some(NonZeroUsize::MIN),
        table: false,
        request_kind: kubectl::update::RequestKind::default(),
        show_bookkeeping: false,
        compares: None,
        target: cluster::Target::default(),
        offline: true,
        releases: settings.releases.clone(),
        namespace: Some(namespace.to_owned()),
        now: now(),
    }
}
