//! Sends one object as kubectl does: reads the existing object, then makes the request that [`RequestKind::operation`]
//! chooses.

use super::create_or_update::{Operation, RequestKind};
use super::error::UnsentError;
use super::patch::PatchType;
use super::request::{self, RequestOptions};
use super::written_metadata::equals_apart_from_written_metadata;
use super::{Action, Subresource, Verb};
use crdx_server::server::{Format, Request, Response, ResponseBody, Server, Trace};
use crdx_value::Value;
use std::fmt::Debug;
use std::sync::Arc;

/// Sends requests to a server that needs to know a cluster.
pub trait Sender: Debug {
    /// Sends a request.
    fn send(&self, server: &Server, request: Request) -> Response;
}

/// The resource and name of an object.
#[derive(Clone, Copy, Debug)]
pub struct ObjectTarget<'a> {
    /// The name of its CRD.
    pub definition: &'a str,
    /// The version of its `apiVersion`.
    pub version: &'a str,
    /// The path of its collection.
    pub collection: &'a str,
    /// Its name; empty if the server generates one.
    pub name: &'a str,
    /// Sends writes to the server; without it, they are sent as they are.
    pub sender: Option<&'a dyn Sender>,
    /// The patch of `kubectl apply`.
    pub patch: PatchType,
}

impl<'a> ObjectTarget<'a> {
    /// The CRD with this name.
    pub fn definition(name: &'a str) -> Self {
        Self {
            definition: "customresourcedefinitions.apiextensions.k8s.io",
            version: "v1",
            collection: request::DEFINITIONS,
            name,
            sender: None,
            patch: PatchType::Definition,
        }
    }

    /// The path of the object; `None` if the server generates its name.
    fn path(self) -> Option<String> {
        (!self.name.is_empty()).then(|| request::object(self.collection, self.name))
    }

    /// Sends a write.
    pub fn handle(self, server: &Server, request: Request) -> Response {
        match self.sender {
            Some(sender) => sender.send(server, request),
            None => server.handle_owned(request),
        }
    }
}

/// The result of a request.
#[derive(Debug)]
pub struct RequestOutcome {
    /// The action performed, or simulated in a dry run.
    pub action: Action,
    /// The object before the request.
    pub before: Option<Arc<Value>>,
    /// The response. If the request succeeded, it holds the object after it.
    pub response: Response,
    /// False if kubectl sends no request, because nothing would change.
    pub is_sent: bool,
}

/// Sends `object`.
///
/// # Errors
/// Returns the reason why kubectl would refuse to send a request.
pub fn send(
    server: &Server,
    target: ObjectTarget<'_>,
    object: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Result<RequestOutcome, UnsentError> {
    let path = target.path();
    let before = path.as_deref().and_then(|path| read(server, path, request_options));
    let operation = request_kind.operation(path.is_some(), before.is_some());
    let path = path.unwrap_or_default();
    let request = write(server, (target, &path), object, before.as_deref(), request_kind, operation, request_options)?;
    let is_sent = request.is_some();
    let mut response = match request {
        Some(request) => target.handle(server, request),
        None => unchanged(before.clone().unwrap_or_default()),
    };
    if operation == Operation::Scale
        && response.code == 200
        && let Some(after) = read(server, &path, request_options)
    {
        response.body = ResponseBody::Json(after);
    }
    let action = match (&before, &response.body) {
        (Some(before), ResponseBody::Json(after)) if response.code == 200 && is_unchanged(before, after) => {
            Action::Unchanged
        }
        (None, _) if request_kind.verb != Verb::Replace => Action::Create,
        _ if request_kind.verb == Verb::Create => Action::Create,
        _ => Action::Update,
    };
    Ok(RequestOutcome { action, before, response, is_sent })
}

/// The request for an object that does not exist.
///
/// # Errors
/// Returns the reason why kubectl would refuse to send a request.
pub(crate) fn for_absent(
    server: &Server,
    target: ObjectTarget<'_>,
    object: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Result<Request, UnsentError> {
    let path = target.path();
    let operation = request_kind.operation(path.is_some(), false);
    let at = (target, path.as_deref().unwrap_or_default());
    whole(server, at, object, None, (request_kind, operation), request_options)
}

/// The object at `path`, if it exists and can be read.
fn read(server: &Server, path: &str, request_options: RequestOptions) -> Option<Arc<Value>> {
    match server.handle(&request::read(path, request_options)) {
        Response { code: 200, body: ResponseBody::Json(object), .. } => Some(object),
        _ => None,
    }
}

/// The request of an operation; `None` if nothing would change.
fn write(
    server: &Server,
    (target, path): (ObjectTarget<'_>, &str),
    object: Value,
    before: Option<&Value>,
    request_kind: &RequestKind,
    operation: Operation,
    request_options: RequestOptions,
) -> Result<Option<Request>, UnsentError> {
    if operation != Operation::Patch {
        return whole(server, (target, path), object, before, (request_kind, operation), request_options).map(Some);
    }
    // kubectl sends no request when nothing would change.
    let Some(patch) = target.patch.patch(before.unwrap_or(&Value::Null), object)? else { return Ok(None) };
    let by = Some(request_kind.field_manager(operation));
    Ok(Some(request::patch(path, patch.content_type, patch.value, by, request_options)))
}

/// The request of an operation that does not depend on the content of the existing object.
fn whole(
    server: &Server,
    (target, path): (ObjectTarget<'_>, &str),
    object: Value,
    before: Option<&Value>,
    (request_kind, operation): (&RequestKind, Operation),
    request_options: RequestOptions,
) -> Result<Request, UnsentError> {
    let by = request_kind.field_manager(operation);
    let written_path = match request_kind.subresource {
        Some(Subresource::Status) => format!("{path}/status"),
        _ => path.to_owned(),
    };
    Ok(match operation {
        // Without an existing object, there is nothing to patch.
        Operation::Create | Operation::CreateByApply | Operation::Patch => {
            create(target, object, request_kind, request_options)
        }
        Operation::ServerSideApply => request::apply(&written_path, object, by, request_kind.force, request_options),
        Operation::Replace => {
            let object = operation.whole_object(object);
            request::replace(&written_path, object, before, Some(by), request_options)
        }
        Operation::Scale => {
            let scale = server.scale_of(target.definition, target.version, &object);
            // A Scale omits zero.
            let replicas = scale.map(|scale| scale.at(&["spec", "replicas"]).cloned().unwrap_or(Value::Int(0)));
            let replicas = replicas.ok_or(UnsentError::NoReplicas)?;
            request::scale(path, replicas, request_kind.manager.as_deref(), request_options)
        }
    })
}

/// The create that kubectl sends for an object that does not exist.
pub fn create(
    target: ObjectTarget<'_>,
    object: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Request {
    let operation = request_kind.create(!target.name.is_empty());
    let by = request_kind.field_manager(operation);
    request::create_by(target.collection, operation.whole_object(object), by, request_options)
}

/// Creates an object, or applies it with force if the server has one with its name. `send` passes a request to the
/// server and may call its webhooks.
///
/// # Errors
/// Returns an error of `send`.
pub fn create_or_apply<E>(
    collection: &str,
    object: Value,
    request_options: RequestOptions,
    mut send: impl FnMut(Request) -> Result<Response, E>,
) -> Result<Response, E> {
    let created = send(request::create(collection, object.clone(), request_options))?;
    if created.code != 409 {
        return Ok(created);
    }
    let path = request::object(collection, object.str_at(&["metadata", "name"]).unwrap_or_default());
    send(request::apply(&path, object, "kubectl-create", true, request_options))
}

fn unchanged(object: Arc<Value>) -> Response {
    Response {
        code: 200,
        body: ResponseBody::Json(object),
        format: Format::Json,
        headers: Vec::new(),
        warnings: Vec::new(),
        trace: Trace::default(),
    }
}

/// Returns true if the response to a write did not change the object.
fn is_unchanged(before: &Value, after: &Value) -> bool {
    fn revision(object: &Value) -> Option<&str> {
        object.str_at(&["metadata", "resourceVersion"])
    }
    revision(before) == revision(after) || equals_apart_from_written_metadata(before, after)
}
