//! Sends one object as kubectl does: reads the existing object, then makes the request of `kubectl apply`, `apply
//! --server-side`, `replace`, `create` or `scale`.

use super::request::{self, RequestOptions};
use super::{Action, Subresource, Verb};
use crdx_server::apply::client_side;
use crdx_server::apply::field_manager::LAST_APPLIED;
use crdx_server::server::{Format, Method, NamespaceState, Request, Response, ResponseBody, Server, Trace};
use crdx_value::{self as value, Map, Value};
use std::sync::Arc;

/// Which request kubectl makes; by default that of `kubectl apply`.
#[derive(Clone, Debug, Default)]
pub struct RequestKind {
    /// The kubectl command.
    pub verb: Verb,
    /// The subresource to write, `--subresource`.
    pub subresource: Option<Subresource>,
    /// `--force-conflicts`
    pub force: bool,
    /// `--field-manager`
    pub manager: Option<String>,
}

/// The resource and name of an object.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The name of its CRD.
    pub definition: &'a str,
    /// The version of its `apiVersion`.
    pub version: &'a str,
    /// The path of its collection.
    pub collection: &'a str,
    /// Its name; empty if the server generates one.
    pub name: &'a str,
    /// What is known of its namespace, if it is created.
    pub namespace_state: NamespaceState,
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
}

/// The reason why kubectl would not send a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsentError {
    /// The last-applied annotation of the existing object is not JSON.
    #[error("the last-applied annotation of the old object is not JSON: {0}")]
    LastApplied(String),
    /// There are no replicas to send.
    #[error("its CRD has no scale subresource in this version, or the object has no replicas")]
    NoReplicas,
}

/// Sends `object`.
///
/// # Errors
/// Why kubectl would refuse to send a request.
pub fn send(
    server: &Server,
    target: Target<'_>,
    object: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Result<RequestOutcome, UnsentError> {
    let path = if target.name.is_empty() { String::new() } else { request::object(target.collection, target.name) };
    let before = (!path.is_empty()).then(|| read(server, &path, request_options)).flatten();
    let creates = (before.is_none() && request_kind.verb != Verb::Replace) || request_kind.verb == Verb::Create;
    let action = if creates { Action::Create } else { Action::Update };
    let request = match (request_kind.subresource, request_kind.verb, &before) {
        (Some(Subresource::Scale), ..) => Some(scale(server, target, &path, &object, request_kind, request_options)?),
        (Some(Subresource::Status), Verb::ServerSide, _) => {
            Some(server_side(&format!("{path}/status"), object, request_kind, request_options))
        }
        (Some(Subresource::Status), ..) => {
            Some(replace(&format!("{path}/status"), object, before.as_deref(), request_kind, request_options))
        }
        (None, Verb::ServerSide, _) if !path.is_empty() => {
            let request = server_side(&path, object, request_kind, request_options);
            Some(Request { namespace_state: target.namespace_state, ..request })
        }
        (None, Verb::Replace, _) if !path.is_empty() => {
            Some(replace(&path, object, before.as_deref(), request_kind, request_options))
        }
        (None, Verb::Apply, Some(live)) => apply(&path, live, object, request_kind, request_options)?,
        (None, ..) => Some(create(target, object, request_kind, request_options)),
    };
    let mut response = match (&request, &before) {
        (Some(request), _) => server.handle(request),
        // kubectl sends no request when nothing would change.
        (None, live) => answered(live.clone().unwrap_or_default()),
    };
    if request_kind.subresource == Some(Subresource::Scale)
        && response.code == 200
        && let Some(after) = read(server, &path, request_options)
    {
        response.body = ResponseBody::Json(after);
    }
    let action = match (&before, &response.body) {
        (Some(before), ResponseBody::Json(after)) if response.code == 200 && is_unchanged(before, after) => {
            Action::Unchanged
        }
        _ => action,
    };
    Ok(RequestOutcome { action, before, response })
}

/// The create that kubectl sends for an object that does not exist. An object with only a generateName, which `kubectl
/// apply` and `kubectl replace` refuse, is sent as `kubectl create` would send it.
pub fn create(
    target: Target<'_>,
    object: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Request {
    let (object, by) = match request_kind.verb {
        Verb::Apply if !target.name.is_empty() => (client_side::to_create(object), CLIENT_SIDE),
        _ => (client_side::with_current_annotation(object), "kubectl-create"),
    };
    let by = request_kind.manager.as_deref().unwrap_or(by);
    let request = request::create_by(target.collection, object, by, request_options);
    Request { namespace_state: target.namespace_state, ..request }
}

/// The length in JSON up to which [`create_unannotated`] sends an object: with the annotation, it would be far below the
/// limits of the server.
pub const SHORT: usize = 64 << 10;

/// The create of `kubectl apply` for an object of at most [`SHORT`] bytes, without the last-applied annotation, which
/// takes half as long to write as the object takes to read. For answers that do not show the annotation.
pub fn create_unannotated(
    target: Target<'_>,
    object: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Request {
    let object = client_side::to_create_unannotated(object);
    let by = request_kind.manager.as_deref().unwrap_or(CLIENT_SIDE);
    let request = request::create_short_by(target.collection, object, by, request_options);
    Request { namespace_state: target.namespace_state, ..request }
}

const CLIENT_SIDE: &str = "kubectl-client-side-apply";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

/// The field manager of the request that creates an object.
pub fn manager_of_create(request_kind: &RequestKind, generates_name: bool) -> &str {
    let by = match request_kind.verb {
        Verb::Apply if !generates_name => CLIENT_SIDE,
        Verb::ServerSide if !generates_name => "kubectl",
        _ => "kubectl-create",
    };
    request_kind.manager.as_deref().unwrap_or(by)
}

/// The object at `path`, if it exists and can be read.
fn read(server: &Server, path: &str, request_options: RequestOptions) -> Option<Arc<Value>> {
    match server.handle(&request::read(path, request_options)) {
        Response { code: 200, body: ResponseBody::Json(object), .. } => Some(object),
        _ => None,
    }
}

fn answered(object: Arc<Value>) -> Response {
    Response {
        code: 200,
        body: ResponseBody::Json(object),
        format: Format::Json,
        headers: Vec::new(),
        warnings: Vec::new(),
        trace: Trace::default(),
    }
}

/// The patch of `kubectl apply`; `None` when there is nothing to patch. For a CRD it is a strategic merge patch, which has
/// the same content as a merge patch, because the lists of a CRD are replaced as a whole.
fn apply(
    path: &str,
    live: &Value,
    new: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Result<Option<Request>, UnsentError> {
    let new = client_side::with_last_applied(new);
    let is_definition = path.starts_with(request::DEFINITIONS);
    let patch = if is_definition { client_side::exact_patch(live, &new) } else { client_side::patch(live, new) };
    let patch = patch.map_err(UnsentError::LastApplied)?;
    if patch.as_object().is_some_and(Map::is_empty) {
        return Ok(None);
    }
    let by = format!("fieldManager={}", request::encoded(request_kind.manager.as_deref().unwrap_or(CLIENT_SIDE)));
    let content_type = if is_definition { STRATEGIC } else { MERGE };
    Ok(Some(request::write(Method::Patch, path, content_type, &by, patch, request_options)))
}

fn server_side(path: &str, object: Value, request_kind: &RequestKind, request_options: RequestOptions) -> Request {
    let by = request::encoded(request_kind.manager.as_deref().unwrap_or("kubectl"));
    let query = format!("fieldManager={by}&force={}", request_kind.force);
    request::write(Method::Patch, path, request::APPLY, &query, object, request_options)
}

/// A PUT. If the new object has no resourceVersion, kubectl sets that of the existing one (`Helper.Replace`).
fn replace(
    path: &str,
    object: Value,
    before: Option<&Value>,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Request {
    let mut object = client_side::with_current_annotation(object);
    let revision = before.and_then(|b| b.str_at(&["metadata", "resourceVersion"]));
    let own = object.str_at(&["metadata", "resourceVersion"]).unwrap_or_default();
    if own.is_empty()
        && let (Some(revision), Some(metadata)) = (revision, object.get_mut("metadata").and_then(Value::as_object_mut))
    {
        metadata.insert("resourceVersion".to_owned(), revision.into());
    }
    let by = format!("fieldManager={}", request::encoded(request_kind.manager.as_deref().unwrap_or("kubectl-replace")));
    request::write(Method::Put, path, "application/json", &by, object, request_options)
}

/// The merge patch of `kubectl scale` with the replicas of `object`.
fn scale(
    server: &Server,
    target: Target<'_>,
    path: &str,
    new: &Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Result<Request, UnsentError> {
    let scale = server.scale_of(target.definition, target.version, new);
    let replicas = scale.as_ref().and_then(|s| s.at(&["spec", "replicas"])).cloned();
    let replicas = replicas.ok_or(UnsentError::NoReplicas)?;
    Ok(request::scale(path, replicas, request_kind.manager.as_deref(), request_options))
}

/// Returns true if the response to a write did not change the object.
fn is_unchanged(before: &Value, after: &Value) -> bool {
    fn revision(object: &Value) -> Option<&str> {
        object.str_at(&["metadata", "resourceVersion"])
    }
    revision(before) == revision(after) || equals_apart_from_written_metadata(before, after)
}

/// Returns true if two states of an object differ at most in metadata written by the server and kubectl.
pub fn equals_apart_from_written_metadata(before: &Value, after: &Value) -> bool {
    fn content(object: &Value) -> impl Iterator<Item = (&String, &Value)> {
        object.as_object().into_iter().flatten().filter(|(key, _)| *key != "metadata")
    }
    // Only the metadata is copied.
    let metadata = |object: &Value| {
        let metadata = object.get("metadata")?.clone();
        Some(without_written_metadata(value::object([("metadata", metadata)])))
    };
    content(before).eq(content(after)) && metadata(before) == metadata(after)
}

/// The object without the metadata that the server and kubectl write.
pub fn without_written_metadata(mut object: Value) -> Value {
    request::remove_server_metadata(&mut object);
    remove_last_applied(&mut object);
    object
}

/// Removes the last-applied annotation of `kubectl apply`, and the annotations map if it becomes empty.
pub fn remove_last_applied(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && let Some(annotations) = metadata.get_mut("annotations").and_then(Value::as_object_mut)
        && annotations.remove(LAST_APPLIED).is_some()
        && annotations.is_empty()
    {
        metadata.remove("annotations");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    #[test]
    fn an_object_without_the_annotation_is_otherwise_the_same() {
        for annotations in [
            "null",
            "{}",
            r#"{"a":null,"b":"1"}"#,
            r#"{"a":1}"#,
            r#"{"kubectl.kubernetes.io/last-applied-configuration":"{}"}"#,
        ] {
            let read = |text: &str| json::read(text.as_bytes()).unwrap();
            let text =
                format!(r#"{{"metadata":{{"annotations":{annotations},"name":"x"}},"spec":{{"a":null,"b":[null]}}}}"#);
            let mut expected = client_side::to_create(read(&text));
            remove_last_applied(&mut expected);
            assert_eq!(client_side::to_create_unannotated(read(&text)), expected, "{annotations}");
        }
    }

    #[test]
    fn books_are_not_part_of_an_object() {
        let read = |text: &str| json::read(text.as_bytes()).unwrap();
        let kept = read(
            r#"{"metadata":{"name":"a","uid":"u","generation":3,"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}"}},"spec":1}"#,
        );
        assert_eq!(without_written_metadata(kept), read(r#"{"metadata":{"name":"a"},"spec":1}"#));
        let own = read(r#"{"metadata":{"annotations":{"a":"b"}}}"#);
        assert_eq!(without_written_metadata(own.clone()), own);
    }
}
