//! The state of a session, and how it reacts to events.

use super::background::{Background, Event};
use super::check::{Checked, Checker};
use super::cluster::Fetched;
use super::defaults::defaulted;
use super::files::{File, Files};
use super::finding::{Finding, Severity, findings};
use super::live::Live;
use super::messages::{DidChange, DidChangeFiles, DidChangeSettings, DidOpen, InitializeParams, OfDocument};
use super::requests::Requests;
use super::{plan, protocol, uri, workspace};
use crate::Settings;
use crdx_input::configuration::{ConfigurationError, FILE_NAME};
use crdx_server::server::Timestamp;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Instant;

/// A session with a client.
pub struct Session<'c> {
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
    /// Requests whose answers follow from the next check.
    waiting: Vec<Request>,
    is_shut_down: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The client requested it, or closed the connection.
    Finished,
    /// The client sent `exit` without `shutdown`.
    WithoutShutdown,
}

impl<'c> Session<'c> {
    /// Begins a session after the client's `initialize`.
    pub fn new(
        connection: &'c Connection,
        background: Background,
        flags: Settings,
        now: fn() -> Timestamp,
        params: &InitializeParams,
    ) -> Self {
        let folders: Vec<PathBuf> = match &params.workspace_folders {
            Some(folders) => folders.iter().map(|folder| PathBuf::from(uri::path(&folder.uri))).collect(),
            None => params.root_uri.iter().map(|root| PathBuf::from(uri::path(root))).collect(),
        };
        let options = params.initialization_options.clone().unwrap_or_default();
        let root = folders.first().map(PathBuf::as_path);
        let (initial, problem) = match flags.clone().with(&options, root) {
            Ok(settings) => (settings, None),
            Err(problem) => (flags, Some(problem)),
        };
        let namespace = crdx_cluster::namespace_or_default(None, &crdx_cluster::ClusterFlags::default());
        let live = Live::default();
        let (checker, invalid) = plan::checker(&initial, &folders, &namespace, &live, now);
        let (settings, files) = (initial.clone(), Files::default());
        let has_symbol_trees = params.can("/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport");
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
            waiting: Vec::new(),
            is_shut_down,
        };
        if let Some(problem) = problem {
            session.show_problem(&problem.to_string());
        }
        session.show_invalid(invalid);
        session.log_problems();
        session.watch_files(params);
        session
    }

    /// Handles events until the client ends the session.
    pub fn run(mut self, events: &Receiver<Event>) -> End {
        while let Ok(event) = events.recv() {
            let mut next = Some(event);
            // Diagnostics are computed when the client pauses.
            while let Some(event) = next {
                if let Some(end) = self.handle(event) {
                    return end;
                }
                next = events.try_recv().ok();
            }
            self.publish();
            for request in std::mem::take(&mut self.waiting) {
                let response = self.respond(request);
                self.send(response.into());
            }
        }
        End::Finished
    }

    /// Handles an event; returns how the session ended, if it did.
    fn handle(&mut self, event: Event) -> Option<End> {
        match event {
            // An edit and the request for its hints usually come together.
            Event::Message(Message::Request(request)) if request.method == "textDocument/inlayHint" => {
                self.waiting.push(request);
            }
            Event::Message(Message::Request(request)) => {
                let response = self.respond(request);
                self.send(response.into());
            }
            Event::Message(Message::Notification(notification)) if notification.method == "exit" => {
                return Some(if self.is_shut_down { End::Finished } else { End::WithoutShutdown });
            }
            Event::Message(Message::Notification(notification)) => self.receive(notification),
            Event::Message(Message::Response(response)) => self.receive_response(response),
            Event::Closed => return Some(End::Finished),
            Event::Committed { uri, content } => {
                if let Some(file) = self.files.get_mut(&uri) {
                    let path = uri::path(&uri);
                    let name = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
                    file.is_outdated |= file.history.update(&format!("HEAD:./{name}"), content);
                }
            }
            Event::Fetched(fetched) if self.settings.live => self.update(fetched),
            Event::Fetched(_) => {}
        }
        None
    }

    /// Uses an answer of the cluster.
    fn update(&mut self, fetched: Fetched) {
        let learned = self.live.update(fetched);
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

    /// Requests notifications about changed files, if the client supports them.
    fn watch_files(&self, params: &InitializeParams) {
        if params.can("/workspace/didChangeWatchedFiles/dynamicRegistration") {
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
        // The client has exited; the next read ends the session.
        let _ = self.connection.sender.send(message);
    }

    fn message(&self, method: &str, kind: u8, text: &str) {
        self.send(Notification::new(method.to_owned(), json!({"type": kind, "message": text})).into());
    }

    /// Shows a problem with the options of the client.
    fn show_problem(&self, problem: &str) {
        self.message("window/showMessage", 1, &format!("kubectl-crdx: {problem}"));
    }

    /// Shows that the file with the settings of the project is invalid.
    fn show_invalid(&self, error: Option<ConfigurationError>) {
        if let Some(error) = error {
            self.show_problem(&error.to_string());
        }
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
                let Ok(DidOpen { text_document: file }) = parsed(params) else { return };
                self.files.open(file);
            }
            "textDocument/didChange" => {
                let Ok(change) = parsed::<DidChange>(params) else { return };
                self.files.edit(change);
            }
            "textDocument/didClose" => {
                let Ok(closed) = parsed::<OfDocument>(params) else { return };
                let uri = &closed.text_document.uri;
                self.files.close(uri);
                self.show(uri, None, &json!([]));
            }
            "textDocument/didSave" => {
                let Ok(saved) = parsed::<OfDocument>(params) else { return };
                self.changed(&saved.text_document.uri);
            }
            "workspace/didChangeWatchedFiles" => {
                let Ok(changed) = parsed::<DidChangeFiles>(params) else { return };
                changed.changes.iter().for_each(|change| self.changed(&change.uri));
            }
            "workspace/didChangeConfiguration" => {
                let Ok(changed) = parsed::<DidChangeSettings>(params) else { return };
                // Clients send all their settings, only this server's, or none; then the server requests them.
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
            Err(problem) => self.show_problem(&problem.to_string()),
        }
    }

    /// Notes that a file changed on the disk.
    fn changed(&mut self, uri: &str) {
        let path = uri::path(uri);
        let is_policy = self.settings.policies.iter().any(|policies| path.starts_with(policies.as_str()));
        let is_settings = Path::new(&path).file_name().is_some_and(|name| name == FILE_NAME);
        self.is_stale |=
            is_settings || is_policy || self.checker.reads(&path) || workspace::contains_definition(path.as_ref());
        // A suite may name any file.
        self.checker.forget_suites();
        self.files.all().filter(|(_, file)| file.is_suite).for_each(|(_, file)| file.is_outdated = true);
    }

    /// Publishes the diagnostics of files whose text, CRDs, policies or committed version changed.
    fn publish(&mut self) {
        if std::mem::take(&mut self.is_stale) {
            let (checker, invalid) =
                plan::checker(&self.settings, &self.folders, &self.namespace, &self.live, self.now);
            self.checker = checker;
            self.show_invalid(invalid);
            self.log_problems();
            self.files.all().for_each(|(_, file)| file.is_outdated = true);
        }
        let mut files = std::mem::take(&mut self.files);
        let mut unknown = Vec::new();
        for (uri, file) in files.all().filter(|(_, file)| file.is_outdated) {
            if self.settings.compares && uri.starts_with("file:") {
                if file.history.is_due(Instant::now()) {
                    let is_asked = self.background.ask_git(uri, PathBuf::from(uri::path(uri)));
                    if !is_asked {
                        file.history.update("", None);
                    }
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
        file.defaulted = Vec::new();
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
                file.defaulted = defaulted(&checked.items);
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
