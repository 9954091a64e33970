//! One request to the server, and its result.

use crate::documents::{self, Document, Pane, Problem, Severity};
use crate::hints;
use crate::messages;
use crate::request::{Operation, Request};
use crate::session::{self, Session};
use crate::stored;
use crdx::{ApiServer, Error, FieldValidation, ObjectRef, Response, Row};
use crdx_value::{Value, group_version, object};

/// The verdict on a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The request is accepted.
    Accepted,
    /// The request, a CRD or a policy is refused.
    Rejected,
    /// The answer of a real server is not known.
    CannotTell,
    /// A text is missing or cannot be read, so that no request is sent.
    NotSent,
}

impl Verdict {
    /// The verdict in an answer.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Rejected => "rejected",
            Self::CannotTell => "cannotTell",
            Self::NotSent => "notSent",
        }
    }
}

/// The result of a request.
#[derive(Debug)]
pub struct Outcome {
    /// The verdict.
    pub verdict: Verdict,
    /// The server's message, or what to do next; empty for an accepted object.
    pub message: String,
    /// The HTTP status code, if the server answered.
    pub code: Option<u16>,
    /// The text with the object that the server refused.
    pub refused: Option<Pane>,
    /// Messages about the texts.
    pub problems: Vec<Problem>,
    /// The texts of `Warning` headers.
    pub warnings: Vec<String>,
    /// Notes that are no warnings of the server.
    pub notes: Vec<String>,
    /// True if the CRD would refuse the existing object today.
    pub has_invalid_old_object: bool,
    /// The response to an accepted request.
    pub response: Option<Response>,
    /// The object of the request.
    pub document: Option<Document>,
}

impl Outcome {
    fn new(verdict: Verdict, message: impl Into<String>) -> Self {
        Self {
            verdict,
            message: message.into(),
            code: None,
            refused: None,
            problems: Vec::new(),
            warnings: Vec::new(),
            notes: Vec::new(),
            has_invalid_old_object: false,
            response: None,
            document: None,
        }
    }

    /// The warnings of the server without those of dropped fields, which are problems with a place.
    pub fn other_warnings(&self) -> Vec<String> {
        let is_problem = |path: &str| self.problems.iter().any(|problem| problem.is_dropped && problem.field == path);
        let is_other = |warning: &&String| !messages::unknown_field(warning).is_some_and(is_problem);
        self.warnings.iter().filter(is_other).cloned().collect()
    }
}

/// Sends the request of the page, and returns the result.
pub fn answer(request: &Request, session: &Session) -> Value {
    let outcome = run(request, session);
    let mut problems = session.problems.clone();
    problems.extend(outcome.problems.iter().cloned());
    let mut members: Vec<(&str, Value)> = vec![
        ("version", request.release.to_string().into()),
        ("verdict", outcome.verdict.as_str().into()),
        ("message", outcome.message.as_str().into()),
        ("problems", Value::Array(problems.iter().map(Problem::to_value).collect())),
        ("warnings", documents::texts(&outcome.warnings)),
        ("otherWarnings", documents::texts(&outcome.other_warnings())),
        ("notes", documents::texts(&outcome.notes)),
        ("rules", session.rules.clone()),
    ];
    members.extend(outcome.code.map(|code| ("code", i64::from(code).into())));
    members.extend(outcome.refused.map(|pane| ("refused", pane.as_str().into())));
    if let Some(converted) = session.converted.first() {
        let text = crdx_text::yaml::write::to_string(&converted.crd);
        members.push(("converted", object([("crd", text.into()), ("changes", documents::texts(&converted.changes))])));
    }
    if let Some(response) = &outcome.response {
        members.push(("stored", stored::answer(response, outcome.document.as_ref())));
        members.push(("webhooks", documents::texts(&response.webhooks)));
        members.push(("ruleCost", (response.rule_cost as i64).into()));
        members.extend(response.row.as_ref().map(|row| ("row", row_value(row))));
    }
    object(members)
}

/// Sends the request of the page.
pub fn run(request: &Request, session: &Session) -> Outcome {
    if request.panes.crd.trim().is_empty() {
        return without_definition(request);
    }
    if let Some(refusal) = &session.refusal {
        let (verdict, code, message) = verdict_of(&refusal.error, refusal.pane);
        return Outcome { code, refused: Some(refusal.pane), ..Outcome::new(verdict, message) };
    }
    if let Some(problem) = session.problems.iter().find(|problem| problem.severity == Severity::Error) {
        return Outcome::new(Verdict::NotSent, format!("The {} cannot be read.", problem.pane.title()));
    }
    let mut problems = Vec::new();
    let mut documents = documents::read(Pane::Object, &request.panes.object, &mut problems);
    let is_readable = !problems.iter().any(|problem| problem.severity == Severity::Error);
    let Some(document) = documents.pop().filter(|_| is_readable && documents.is_empty()) else {
        let message = match (is_readable, documents.is_empty()) {
            (false, _) => "The object cannot be read.",
            (true, true) if request.panes.object.trim().is_empty() => {
                return Outcome::new(Verdict::Accepted, "The CustomResourceDefinition is accepted. Enter an object.");
            }
            (true, true) => "Enter an object.",
            (true, false) => "The pane of the object has several objects: leave one of them.",
        };
        return Outcome { problems, ..Outcome::new(Verdict::NotSent, message) };
    };
    let mut outcome =
        ObjectWriter { request, session, problems, notes: Vec::new(), has_invalid_old_object: false }.write(&document);
    outcome.document = Some(document);
    outcome
}

/// Without a CRD, an object of a built-in kind has an answer, too: that it is not simulated.
fn without_definition(request: &Request) -> Outcome {
    let documents = documents::read(Pane::Object, &request.panes.object, &mut Vec::new());
    let error = documents.first().map(|document| {
        let ObjectRef { api_version, kind, .. } = ObjectRef::from_object(&document.value);
        session::built_in(Error::UnknownKind { api_version, kind })
    });
    match error {
        Some(error @ Error::CannotTell(_)) => {
            let (verdict, _, message) = verdict_of(&error, Pane::Object);
            Outcome::new(verdict, message)
        }
        _ => Outcome::new(Verdict::NotSent, "Enter a CustomResourceDefinition."),
    }
}

/// Sends one object.
struct ObjectWriter<'a> {
    request: &'a Request,
    session: &'a Session,
    problems: Vec<Problem>,
    notes: Vec<String>,
    has_invalid_old_object: bool,
}

impl ObjectWriter<'_> {
    fn write(mut self, document: &Document) -> Outcome {
        let server = self.session.server.with(self.request.options.clone());
        if self.needs_old_object() && self.request.panes.old_object.trim().is_empty() {
            return self.outcome(Verdict::NotSent, "Enter the stored object, which this operation changes.");
        }
        if self.request.operation != Operation::Create
            && let Err(message) = self.store_old_object(document)
        {
            return self.outcome(Verdict::NotSent, message);
        }
        match self.send(&server, document).map_err(session::built_in) {
            Ok(response) => {
                let text = &self.request.panes.object;
                let pruned = response.pruned.iter().map(|pruned| {
                    let message = format!("pruned: the schema has no field {}", pruned.path);
                    document.problem_of_unknown_field(text, Severity::Warning, message, &pruned.path)
                });
                self.add_problems(pruned.collect(), document);
                self.note_strictness(&response);
                let mut outcome = self.outcome(Verdict::Accepted, "");
                outcome.code = Some(response.code);
                outcome.warnings.clone_from(&response.warnings);
                outcome.response = Some(response);
                outcome
            }
            Err(error) => {
                self.note_cluster_metadata(document);
                let text = &self.request.panes.object;
                let warnings = error.status().map(|status| status.warnings.clone()).unwrap_or_default();
                let mut problems = session::problems(&error, document, text);
                let unknown = warnings.iter().filter(|warning| messages::unknown_field(warning).is_some());
                problems.extend(unknown.map(|warning| session::warning(warning, document, text)));
                self.add_problems(problems, document);
                let (verdict, code, message) = verdict_of(&error, Pane::Object);
                Outcome { code, refused: Some(Pane::Object), warnings, ..self.outcome(verdict, message) }
            }
        }
    }

    /// Adds problems of the object, with suggestions.
    fn add_problems(&mut self, mut problems: Vec<Problem>, document: &Document) {
        let ObjectRef { api_version, kind, .. } = ObjectRef::from_object(&document.value);
        let kinds = self.session.kinds();
        let is_served = kinds.iter().any(|(version, served)| (version.as_str(), *served) == (&api_version, &kind));
        match self.session.definition(&api_version, &kind).filter(|_| is_served) {
            Some(definition) => {
                hints::of_object(&mut problems, document, definition, self.session.server.release());
            }
            None => hints::of_kind(&mut problems, &api_version, &kind, &kinds),
        }
        self.problems.append(&mut problems);
    }

    /// Returns true if the operation changes an object and never creates one.
    fn needs_old_object(&self) -> bool {
        !matches!(self.request.operation, Operation::Create | Operation::Apply)
    }

    /// An object that is accepted here because another level of field validation was chosen.
    fn note_strictness(&mut self, response: &Response) {
        if self.request.options.field_validation != FieldValidation::Strict && !response.pruned.is_empty() {
            let note = "By default, kubectl asks for strict field validation: the server would reject this object because of its unknown fields.";
            self.notes.push(note.to_owned());
        }
    }

    /// The server answers "not found" if the names differ, and does not say that there is an object with another name.
    fn note_other_object(&mut self, document: &Document, old: &Document) {
        let [new, old] = [document, old].map(|document| {
            let ObjectRef { api_version, kind, namespace, name, .. } = ObjectRef::from_object(&document.value);
            let namespace = namespace.unwrap_or_else(|| self.request.options.namespace.clone());
            (group_version::group(&api_version).to_owned(), kind, namespace, name)
        });
        if new != old {
            let is_elsewhere = new.2 != old.2;
            let [new, old] = [new, old].map(|(_, kind, namespace, name)| {
                if is_elsewhere { format!("{kind} {namespace}/{name}") } else { format!("{kind} {name}") }
            });
            let note = format!("The stored object ({old}) is not the object of the request ({new}).");
            self.notes.push(note);
        }
    }

    /// Objects that `kubectl get` printed cannot be created again as they are.
    fn note_cluster_metadata(&mut self, document: &Document) {
        let has_revision = document.value.str_at(&["metadata", "resourceVersion"]).is_some();
        if self.request.operation == Operation::Create && has_revision {
            let note =
                "Remove what a cluster wrote, such as metadata.resourceVersion and metadata.uid, to create the object.";
            self.notes.push(note.to_owned());
        }
    }

    fn outcome(self, verdict: Verdict, message: impl Into<String>) -> Outcome {
        let Self { problems, notes, has_invalid_old_object, .. } = self;
        Outcome { problems, notes, has_invalid_old_object, ..Outcome::new(verdict, message) }
    }

    fn send(&self, server: &ApiServer, document: &Document) -> Result<Response, Error> {
        let object = document.value.clone();
        match self.request.operation {
            Operation::Create => server.create(object),
            Operation::Apply => server.apply(object),
            Operation::Update => server.update(with_revision(server, object)),
            Operation::Status => server.update_status(with_revision(server, object)),
            Operation::Scale => self.scale(server, document),
        }
    }

    /// Scales the stored object to the replicas of the object, and returns the object.
    fn scale(&self, server: &ApiServer, document: &Document) -> Result<Response, Error> {
        let name = ObjectRef::from_object(&document.value);
        let version = group_version::split(&name.api_version).1;
        let definition = self.session.definition(&name.api_version, &name.kind);
        let scale = definition
            .and_then(|definition| definition.value.str_at(&["metadata", "name"]))
            .and_then(|definition| server.server().scale_of(definition, version, &document.value));
        let replicas = scale.as_ref().and_then(|scale| scale.at(&["spec", "replicas"])).and_then(Value::as_int);
        let Some(replicas) = replicas else {
            server.get(&name.clone().subresource("scale"))?;
            return Err(Error::CannotTell("the object has no replicas to scale to".to_owned()));
        };
        let scaled = server.scale(&name, replicas)?;
        let mut response = server.get(&name)?;
        response.warnings = scaled.warnings;
        Ok(response)
    }

    /// Stores the existing object, which today's CRD may refuse.
    fn store_old_object(&mut self, new: &Document) -> Result<(), &'static str> {
        let text = &self.request.panes.old_object;
        if text.trim().is_empty() {
            return Ok(());
        }
        let mut problems = Vec::new();
        let mut documents = documents::read(Pane::OldObject, text, &mut problems);
        let is_readable = !problems.iter().any(|problem| problem.severity == Severity::Error);
        self.problems.append(&mut problems);
        let Some(document) = documents.pop().filter(|_| is_readable) else {
            return Err(if is_readable { "Enter the stored object." } else { "The stored object cannot be read." });
        };
        if !documents.is_empty() {
            return Err("The pane of the stored object has several objects: leave one of them.");
        }
        self.store(&document).map_err(|message| {
            self.problems.push(document.problem(text, Severity::Error, message, "kind"));
            "The stored object cannot be stored."
        })?;
        self.note_other_object(new, &document);
        Ok(())
    }

    fn store(&mut self, document: &Document) -> Result<(), String> {
        let mut object = document.value.clone();
        let name = ObjectRef::from_object(&object);
        let definition = self.session.definition(&name.api_version, &name.kind);
        let Some(definition) = definition.and_then(|definition| definition.value.str_at(&["metadata", "name"])) else {
            let error = Error::UnknownKind { api_version: name.api_version, kind: name.kind };
            return Err(session::built_in(error).to_string());
        };
        complete(&mut object);
        let server = self.session.server.server();
        let version = group_version::split(&name.api_version).1.to_owned();
        let namespace = name.namespace.clone().unwrap_or_else(|| self.request.options.namespace.clone());
        server.seed(definition, &namespace, object).map_err(|error| error.to_string())?;
        // As a client reads it: with its namespace, and with defaults.
        let stored = self.session.server.get(&name.namespace(namespace)).map_err(|error| error.to_string())?;
        let verdict = server.validate_object(definition, &version, &stored.object);
        self.has_invalid_old_object = verdict.is_some_and(|verdict| !verdict.errors.is_empty());
        if self.has_invalid_old_object {
            let note = "The stored object has errors. The server tolerates those of unchanged fields (ratcheting).";
            self.notes.push(note.to_owned());
        }
        Ok(())
    }
}

/// The object with the resourceVersion of the existing one, which `kubectl replace` adds.
fn with_revision(server: &ApiServer, mut object: Value) -> Value {
    let name = ObjectRef::from_object(&object);
    let path = ["metadata", "resourceVersion"];
    if object.str_at(&path).is_none_or(str::is_empty)
        && let Ok(existing) = server.get(&name)
        && let Some(revision) = existing.at(&path)
    {
        object.insert_at(&path, revision.clone());
    }
    object
}

/// The verdict, the HTTP status code and the message of an error of a text. The list of problems says more, except if the answer is
/// not known.
fn verdict_of(error: &Error, pane: Pane) -> (Verdict, Option<u16>, String) {
    let title = pane.title();
    match error {
        Error::Status(status) => (Verdict::Rejected, Some(status.code), status.message.clone()),
        Error::CannotTell(reason) if pane == Pane::Object => {
            (Verdict::CannotTell, None, format!("Cannot tell: {reason}"))
        }
        Error::CannotTell(reason) => (Verdict::CannotTell, None, format!("Cannot tell about the {title}: {reason}")),
        Error::UnknownKind { api_version, kind } if pane == Pane::Object => {
            let message = format!("No CRD in the CustomResourceDefinition pane defines {kind} ({api_version}).");
            (Verdict::NotSent, None, message)
        }
        _ if pane == Pane::Object => (Verdict::NotSent, None, "The object cannot be sent.".to_owned()),
        _ => (Verdict::NotSent, None, format!("The {title} cannot be created.")),
    }
}

/// Adds the metadata that the server wrote when the object was created, if the text does not have it.
fn complete(object: &mut Value) {
    let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let written: [(&str, Value); 3] = [
        ("uid", "00000000-0000-4000-8000-000000000000".into()),
        ("creationTimestamp", "2026-01-01T00:00:00Z".into()),
        ("generation", 1_i64.into()),
    ];
    for (key, value) in written {
        metadata.entry(key.to_owned()).or_insert(value);
    }
}

/// The row that `kubectl get` prints.
fn row_value(row: &Row) -> Value {
    let cell = |cell: &crdx::Cell| {
        let text = match &cell.value {
            Value::Null => "<none>".to_owned(),
            Value::String(text) => text.clone(),
            value => crdx_value::json::to_string(value),
        };
        let is_wide = cell.priority > 0;
        object([("column", cell.column.to_uppercase().into()), ("text", text.into()), ("wide", Value::Bool(is_wide))])
    };
    Value::Array(row.cells.iter().map(cell).collect())
}
