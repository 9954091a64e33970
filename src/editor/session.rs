//! The session with a client: events in, diagnostics and responses out.

use super::background::{Background, Event};
use super::check::{Checked, Checker};
use super::files::{File, Files};
use super::finding::{Finding, Severity, findings};
use super::live::Live;
use super::requests::Requests;
use super::{protocol, uri, workspace};
use crate::editor::Settings;
use crate::kubectl::FieldValidation;
use crate::release::ReleaseSet;
use crate::server::Timestamp;
use crate::simulation::{self, Plan};
use crate::{cluster, input, kubectl};
use lsp_server::{Connection, ErrorCode, Message, Notification, ProtocolError, Request, RequestId, Response};
use lsp_types::{
    DidChangeConfigurationParams, DidChangeTextDocumentParams, DidChangeWatchedFilesParams, DidCloseTextDocumentParams,
    DidOpenTextDocumentParams, DidSaveTextDocumentParams, InitializeParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::io;
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Instant;

/// The reason why a session ended before the client asked for it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A message that the protocol does not allow.
    #[error("the client broke the language server protocol: {0}")]
    Protocol(ProtocolError),
    /// `exit` without `shutdown`.
    #[error("the client sent exit without shutdown")]
    Exit,
    /// A thread could not be started.
    #[error("a thread cannot be started: {0}")]
    Thread(io::Error),
}

/// Serves a client until it exits or closes the connection. `now` is the clock. Files may nest deeply, so the calling
/// thread needs a large stack.
///
/// # Errors
/// The client's messages are not in the protocol's order, or a thread cannot be started.
pub fn serve(connection: &Connection, flags: Settings, now: fn() -> Timestamp) -> Result<(), Error> {
    let begin = || {
        let (id, params) = connection.initialize_start()?;
        connection.initialize_finish(id, protocol::capabilities())?;
        Ok(serde_json::from_value(params).unwrap_or_default())
    };
    let params: InitializeParams = match begin() {
        Ok(params) => params,
        Err(error) if ProtocolError::channel_is_disconnected(&error) => return Ok(()),
        Err(error) => return Err(Error::Protocol(error)),
    };
    let (background, events) = Background::start(connection).map_err(Error::Thread)?;
    Session::new(connection, background, flags, now, &params).run(&events)
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

struct Session<'c> {
    connection: &'c Connection,
    background: Background,
    now: fn() -> Timestamp,
    folders: Vec<PathBuf>,
    /// The namespace of objects without one, read from the kubeconfig once.
    namespace: String,
    /// The flags and `initializationOptions`.
    initial: Settings,
    settings: Settings,
    has_symbol_trees: bool,
    checker: Checker,
    /// True if the CRDs or policies have to be read again.
    is_stale: bool,
    files: Files,
    live: Live,
    is_shut_down: bool,
}

/// Whether the session goes on.
enum Next {
    Continue,
    Ended,
}

impl<'c> Session<'c> {
    fn new(
        connection: &'c Connection,
        background: Background,
        flags: Settings,
        now: fn() -> Timestamp,
        params: &InitializeParams,
    ) -> Self {
        let folders: Vec<PathBuf> = match &params.workspace_folders {
            Some(folders) => folders.iter().map(|folder| PathBuf::from(uri::path(folder.uri.as_str()))).collect(),
            #[allow(deprecated, reason = "older clients send nothing else")]
            None => params.root_uri.iter().map(|root| PathBuf::from(uri::path(root.as_str()))).collect(),
        };
        let options = params.initialization_options.clone().unwrap_or_default();
        let root = folders.first().map(PathBuf::as_path);
        let (initial, problem) = match flags.clone().with(&options, root) {
            Ok(settings) => (settings, None),
            Err(problem) => (flags, Some(problem)),
        };
        let namespace = cluster::namespace_or_default(None, &cluster::Target::default());
        let live = Live::default();
        let checker = checker(&initial, &folders, &namespace, &live, now);
        let (settings, files) = (initial.clone(), Files::default());
        let symbols = params.capabilities.text_document.as_ref().and_then(|text| text.document_symbol.as_ref());
        let has_symbol_trees =
            symbols.and_then(|symbols| symbols.hierarchical_document_symbol_support).unwrap_or_default();
        let (is_stale, is_shut_down) = (false, false);
        let session = Self {
            connection,
            background,
            now,
            folders,
            namespace,
            initial,
            settings,
            has_symbol_trees,
            checker,
            is_stale,
            files,
            live,
            is_shut_down,
        };
        if let Some(problem) = problem {
            session.show_problem(&problem);
        }
        session.log_problems();
        session.watch_files(params);
        session
    }

    fn run(mut self, events: &Receiver<Event>) -> Result<(), Error> {
        while let Ok(event) = events.recv() {
            let mut next = Some(event);
            // Diagnostics are computed when the client pauses.
            while let Some(event) = next {
                if let Next::Ended = self.handle(event)? {
                    return Ok(());
                }
                next = events.try_recv().ok();
            }
            self.publish();
        }
        Ok(())
    }

    fn handle(&mut self, event: Event) -> Result<Next, Error> {
        match event {
            Event::Message(Message::Request(request)) => {
                let response = self.respond(request);
                self.send(response.into());
            }
            Event::Message(Message::Notification(notification)) if notification.method == "exit" => {
                return if self.is_shut_down { Ok(Next::Ended) } else { Err(Error::Exit) };
            }
            Event::Message(Message::Notification(notification)) => self.receive(notification),
            Event::Message(Message::Response(response)) => self.receive_response(response),
            Event::Closed => return Ok(Next::Ended),
            Event::Committed { uri, content } => {
                if let Some(file) = self.files.get_mut(&uri) {
                    let path = uri::path(&uri);
                    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
                    file.is_outdated |= file.history.learn(&format!("HEAD:./{name}"), content);
                }
            }
            Event::Fetched(fetched) if self.settings.live => self.learn(fetched),
            Event::Fetched(_) => {}
        }
        Ok(Next::Continue)
    }

    /// Uses an answer of the cluster.
    fn learn(&mut self, fetched: super::cluster::Fetched) {
        let learned = self.live.learn(fetched);
        if let Some(problem) = learned.problem {
            self.message("window/showMessage", 2, &format!("kubectl-crdx: {problem}"));
        }
        if let Some(note) = learned.note {
            self.message("window/logMessage", 3, &note);
        }
        self.is_stale |= learned.is_stale;
        if !learned.added.is_empty() && !self.is_stale {
            for (kind, definition) in &learned.added {
                self.checker.install_from_cluster(kind, definition);
            }
            self.files.all().for_each(|(_, file)| file.is_outdated = true);
        }
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
            self.ask("watch", "client/registerCapability", &json!({"registrations": [registration]}));
        }
    }

    fn ask(&self, id: &str, method: &str, params: &Value) {
        self.send(Request::new(RequestId::from(id.to_owned()), method.to_owned(), params).into());
    }

    fn send(&self, message: Message) {
        // The client is gone; the next read ends the session.
        let _ = self.connection.sender.send(message);
    }

    fn message(&self, method: &str, kind: u8, text: &str) {
        self.send(Notification::new(method.to_owned(), json!({"type": kind, "message": text})).into());
    }

    /// Shows a problem with the options of the client.
    fn show_problem(&self, problem: &str) {
        self.message("window/showMessage", 1, &format!("kubectl-crdx: {problem}"));
    }

    /// Logs the problems with CRDs and policies.
    fn log_problems(&self) {
        for item in &self.checker.problems {
            self.message("window/logMessage", 2, &format!("{}: {}", item.location, item.reason));
        }
    }

    fn respond(&mut self, request: Request) -> Response {
        if self.is_shut_down {
            let message = "the session was shut down".to_owned();
            return Response::new_err(request.id, ErrorCode::InvalidRequest as i32, message);
        }
        if request.method == "shutdown" {
            self.is_shut_down = true;
            return Response::new_ok(request.id, ());
        }
        let Self { checker, files, has_symbol_trees, .. } = self;
        let requests = Requests { checker, files, read: workspace::read, has_symbol_trees: *has_symbol_trees };
        let id = request.id.clone();
        let response = panic::catch_unwind(AssertUnwindSafe(|| requests.respond(request)));
        response.unwrap_or_else(|_| {
            let message = "kubectl-crdx itself failed; this is a bug, please report it".to_owned();
            Response::new_err(id, ErrorCode::InternalError as i32, message)
        })
    }

    /// Handles a notification; malformed ones are ignored, as the protocol requires.
    fn receive(&mut self, notification: Notification) {
        let Notification { method, params } = notification;
        match method.as_str() {
            "textDocument/didOpen" => {
                let Ok(DidOpenTextDocumentParams { text_document: file }) = parsed(params) else { return };
                self.files.open(file);
            }
            "textDocument/didChange" => {
                let Ok(change) = parsed::<DidChangeTextDocumentParams>(params) else { return };
                self.files.edit(change);
            }
            "textDocument/didClose" => {
                let Ok(closed) = parsed::<DidCloseTextDocumentParams>(params) else { return };
                let uri = closed.text_document.uri.as_str();
                self.files.close(uri);
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
                // Clients send all their settings, only this server's, or none, and are then asked for them.
                match changed.settings.get("kubectl-crdx") {
                    Some(own) => self.configure(own),
                    None if changed.settings.is_null() => {
                        let items = json!({"items": [{"section": "kubectl-crdx"}]});
                        self.ask("configuration", "workspace/configuration", &items);
                    }
                    None => self.configure(&changed.settings),
                }
            }
            _ => {}
        }
    }

    /// Uses the response to a request for settings.
    fn receive_response(&mut self, response: Response) {
        if response.id == RequestId::from("configuration".to_owned())
            && let Some(own) =
                response.response_result.ok().as_ref().and_then(|all| all.get(0)).filter(|own| !own.is_null())
        {
            self.configure(own);
        }
    }

    /// Changes the settings; those that `options` does not have are the initial ones.
    fn configure(&mut self, options: &Value) {
        match self.initial.clone().with(options, self.folders.first().map(PathBuf::as_path)) {
            Ok(settings) if settings == self.settings => {}
            Ok(settings) => {
                if !settings.live {
                    self.live = Live::default();
                }
                self.settings = settings;
                self.is_stale = true;
            }
            Err(problem) => self.show_problem(&problem),
        }
    }

    /// Notes that a file changed on the disk.
    fn changed(&mut self, uri: &str) {
        let path = uri::path(uri);
        let is_policy = self.settings.policies.iter().any(|policies| path.starts_with(policies.as_str()));
        self.is_stale |= is_policy || self.checker.reads(&path) || workspace::contains_definition(path.as_ref());
        // A suite may name any file.
        self.checker.forget_suites();
        self.files.all().filter(|(_, file)| file.is_suite).for_each(|(_, file)| file.is_outdated = true);
    }

    /// Publishes the diagnostics of files whose text, CRDs, policies or committed version changed.
    fn publish(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            self.checker = checker(&self.settings, &self.folders, &self.namespace, &self.live, self.now);
            self.log_problems();
            self.files.all().for_each(|(_, file)| file.is_outdated = true);
        }
        let mut files = std::mem::take(&mut self.files);
        let mut unknown = Vec::new();
        for (uri, file) in files.all().filter(|(_, file)| file.is_outdated) {
            if self.settings.compares && uri.starts_with("file:") {
                if file.history.is_due(Instant::now()) {
                    self.background.ask_git(uri, PathBuf::from(uri::path(uri)));
                }
                // The answer of git is the next event.
                if !file.history.is_known() {
                    continue;
                }
            }
            let checked = self.check(uri, file);
            file.is_outdated = false;
            let diagnostics: Vec<Value> =
                file.findings.iter().map(|finding| protocol::diagnostic(finding, &file.text)).collect();
            self.show(uri, Some(file.version), &diagnostics.into());
            unknown.extend(checked.into_iter().flat_map(|checked| checked.unknown));
        }
        self.files = files;
        if self.settings.live {
            let due = self.live.due(&unknown, Instant::now());
            if !due.is_empty() {
                self.background.ask_cluster(due);
            }
        }
    }

    /// Checks a file and keeps its findings.
    fn check(&self, uri: &str, file: &mut File) -> Option<Checked> {
        let committed = file.history.committed.as_ref().filter(|_| self.settings.compares);
        let content = file.text.content();
        let checked = panic::catch_unwind(AssertUnwindSafe(|| self.checker.check(&uri::path(uri), content, committed)));
        let failed = |message: String| Finding {
            range: 0..0,
            severity: Severity::Unknown,
            kind: "cannotTell".to_owned(),
            message,
            fix: None,
        };
        match checked {
            Ok(Ok(checked)) => {
                file.findings = findings(&checked, &file.text);
                file.is_suite = checked.suite.is_some();
                return Some(checked);
            }
            Ok(Err(error)) => file.findings = vec![failed(error.to_string())],
            Err(_) => {
                let message = "kubectl-crdx itself failed on this file; this is a bug, please report it";
                file.findings = vec![failed(message.to_owned())];
            }
        }
        None
    }

    fn show(&self, uri: &str, version: Option<i32>, diagnostics: &Value) {
        let params = json!({"uri": uri, "version": version, "diagnostics": diagnostics});
        self.send(Notification::new("textDocument/publishDiagnostics".to_owned(), params).into());
    }
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(params)
}

/// The CRDs and policies of the settings, the workspace and the cluster.
fn checker(settings: &Settings, folders: &[PathBuf], namespace: &str, live: &Live, now: fn() -> Timestamp) -> Checker {
    let releases = settings.releases.clone().or_else(|| live.release().map(ReleaseSet::from));
    let plan = plan(Settings { releases, ..settings.clone() }, folders, namespace, now());
    let mut checker = Checker::new(plan, settings.crds.clone());
    for (kind, definition) in live.definitions() {
        checker.install_from_cluster(kind, definition);
    }
    checker
}

/// The plan for files of the workspace. No cluster is contacted.
fn plan(settings: Settings, folders: &[PathBuf], namespace: &str, now: Timestamp) -> Plan {
    let mut crds = settings.crds;
    if !settings.skips_workspace {
        crds.extend(workspace::files_with_definitions(folders));
    }
    Plan {
        filenames: Vec::new(),
        crds,
        old: Vec::new(),
        kustomizations: Vec::new(),
        options: input::Options { recursive: true, ..input::Options::default() },
        policies: simulation::admission::Options { paths: settings.policies, ..Default::default() },
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
        releases: settings.releases,
        namespace: Some(namespace.to_owned()),
        now,
    }
}
