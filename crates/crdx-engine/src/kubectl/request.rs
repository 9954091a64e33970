//! The requests that kubectl would send, built for [`Server::handle`](crdx_server::server::Server::handle).

use super::FieldValidation;
use super::create_or_update::Operation;
use crdx_server::crd;
use crdx_server::server::{Body, Method, Request, Timestamp};
use crdx_value::{Value, json, object as json_object};

pub use crdx_server::server::http::address::{DEFINITIONS, collection, encoded, object};

/// The server refuses a longer body (`MaxRequestBodyBytes`); kubectl ends a body with a line break.
const LIMIT: usize = 3 * 1024 * 1024 - 1;

/// The options of a request, besides its object.
#[derive(Clone, Copy, Debug)]
pub struct RequestOptions {
    /// `fieldValidation`
    pub level: FieldValidation,
    /// `dryRun=All`
    pub dry_run: bool,
    /// True if the response should be a Table of the object.
    pub table: bool,
    /// The time of the request.
    pub now: Timestamp,
}

/// A read of one object.
pub fn read(path: &str, request_options: RequestOptions) -> Request {
    Request {
        accept: Some("application/json".to_owned()),
        user_agent: Some("kubectl".to_owned()),
        now: request_options.now,
        ..Request::new(Method::Get, path, Body::Empty)
    }
}

/// A create.
pub fn create(path: &str, object: Value, request_options: RequestOptions) -> Request {
    create_by(path, object, "kubectl-create", request_options)
}

/// A create by a field manager. As kubectl does (`Helper.Create`), removes the resourceVersion of the object.
pub(crate) fn create_by(path: &str, object: Value, by: &str, request_options: RequestOptions) -> Request {
    create_with(path, body(without_revision(object), true), by, request_options)
}

/// Like [`create_by`] for an object that is known to be shorter than the server's limit.
#[cfg(feature = "simulator")]
pub(crate) fn create_short_by(path: &str, object: Value, by: &str, request_options: RequestOptions) -> Request {
    create_with(path, Body::Value(without_revision(object)), by, request_options)
}

fn create_with(path: &str, body: Body, by: &str, request_options: RequestOptions) -> Request {
    write(Operation::Create, path, &managed(Some(by)), body, request_options)
}

fn without_revision(mut object: Value) -> Value {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
        && metadata.get("resourceVersion").is_some_and(|revision| revision.as_str().is_some())
    {
        metadata.remove("resourceVersion");
    }
    object
}

/// A server-side apply by a field manager.
pub fn apply(path: &str, object: Value, by: &str, force: bool, request_options: RequestOptions) -> Request {
    let query = format!("fieldManager={}&force={force}", encoded(by));
    write(Operation::ServerSideApply, path, &query, body(object, true), request_options)
}

/// A replacement. If the new object has no resourceVersion, kubectl sets that of the existing one (`Helper.Replace`).
pub fn replace(
    path: &str,
    mut object: Value,
    existing: Option<&Value>,
    by: Option<&str>,
    request_options: RequestOptions,
) -> Request {
    let revision = existing.and_then(|b| b.str_at(&["metadata", "resourceVersion"]));
    // kubectl refuses one of another type, and so does the server.
    let own = object.at(&["metadata", "resourceVersion"]);
    if own.is_none_or(|own| own.is_null() || own.as_str() == Some(""))
        && let (Some(revision), Some(metadata)) = (revision, object.get_mut("metadata").and_then(Value::as_object_mut))
    {
        metadata.insert("resourceVersion".to_owned(), revision.into());
    }
    write(Operation::Replace, path, &managed(by), body(object, true), request_options)
}

/// A patch of a kind with this content type. kubectl ends an object with a line break, and a patch without one.
pub fn patch(
    path: &str,
    content_type: &str,
    patch: Value,
    by: Option<&str>,
    request_options: RequestOptions,
) -> Request {
    let request = write(Operation::Patch, path, &managed(by), body(patch, false), request_options);
    Request { content_type: Some(content_type.to_owned()), ..request }
}

fn managed(by: Option<&str>) -> String {
    by.map_or(String::new(), |by| format!("fieldManager={}", encoded(by)))
}

/// A write without the options of kubectl, as other clients send it.
pub fn plain(operation: Operation, path: &str, object: Value) -> Request {
    Request {
        content_type: Some(operation.content_type().to_owned()),
        accept: Some("application/json".to_owned()),
        ..Request::new(operation.method(), path, object)
    }
}

/// The body of a request; `ends_line` is true if it ends with a line break.
fn body(object: Value, ends_line: bool) -> Body {
    if json::is_longer_than(&object, LIMIT - usize::from(ends_line)) {
        // The server refuses the body by its length.
        let mut text = json::to_string(&object);
        text.push_str(if ends_line { "\n" } else { "" });
        Body::Bytes(text.into_bytes())
    } else {
        Body::Value(object)
    }
}

/// A write. `query` holds parameters beyond those of all writes.
fn write(operation: Operation, path: &str, query: &str, body: Body, request_options: RequestOptions) -> Request {
    let dry_run = if request_options.dry_run { "&dryRun=All" } else { "" };
    let (accept, whole) = if request_options.table {
        ("application/json;as=Table;v=v1;g=meta.k8s.io", "&includeObject=Object")
    } else {
        ("application/json", "")
    };
    let and = if query.is_empty() { "" } else { "&" };
    let path = [path, "?", query, and, "fieldValidation=", request_options.level.as_str(), dry_run, whole].concat();
    Request {
        content_type: Some(operation.content_type().to_owned()),
        accept: Some(accept.to_owned()),
        user_agent: Some("kubectl".to_owned()),
        now: request_options.now,
        ..Request::new(operation.method(), &path, body)
    }
}

/// The merge patch that `kubectl scale` sends to the object at `path`. `by` is the field manager, if it differs from
/// the client's name.
pub fn scale(path: &str, replicas: Value, by: Option<&str>, request_options: RequestOptions) -> Request {
    let patch = json_object([("spec", json_object([("replicas", replicas)]))]);
    write(Operation::Scale, &format!("{path}/scale"), &managed(by), body(patch, false), request_options)
}

/// Removes what the cluster wrote into a CRD: server-owned metadata and status. Values that the server cannot decode are
/// kept, because it rejects a CRD with them.
pub fn remove_cluster_state(crd: &mut Value) {
    if let Some(members) = crd.as_object_mut()
        && let Some(status) = members.remove("status")
        && let Some(status) = undecodable(&[], "status", status)
    {
        members.insert("status".to_owned(), status);
    }
    remove_decodable_server_metadata(crd);
}

const SERVER_METADATA: [&str; 6] =
    ["creationTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"];

/// Removes the metadata that only the server writes. Values that it cannot decode are kept, because it rejects an object
/// with them.
pub fn remove_decodable_server_metadata(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in SERVER_METADATA {
            if let Some(value) = metadata.remove(key)
                && let Some(value) = undecodable(&["metadata"], key, value)
            {
                metadata.insert(key.to_owned(), value);
            }
        }
    }
}

/// Returns a member of a CRD if the server reports an error for it. Metadata is the same for all kinds.
fn undecodable(parents: &[&str], key: &str, value: Value) -> Option<Value> {
    if value.is_null() {
        return None;
    }
    let leaf = json_object([(key, value)]);
    let crd = parents.iter().rev().fold(leaf, |value, parent| json_object([(*parent, value)]));
    let is_valid = crd::decode(&crd).is_ok_and(|decoded| decoded.unknown.is_empty());
    let mut value = Some(crd).filter(|_| !is_valid);
    for key in parents.iter().copied().chain([key]) {
        value = value?.as_object_mut()?.remove(key);
    }
    value
}

/// Removes the metadata that only the server writes from an object that a server returned.
pub(crate) fn remove_server_metadata(object: &mut Value) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        for key in SERVER_METADATA {
            metadata.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_server::server::Timestamp;

    fn replaced(revision: Value) -> Value {
        let object = |revision: Value| json_object([("metadata", json_object([("resourceVersion", revision)]))]);
        let options =
            RequestOptions { level: FieldValidation::Strict, dry_run: true, table: false, now: Timestamp::default() };
        let request = replace("/a", object(revision), Some(&object("7".into())), None, options);
        let Body::Value(sent) = request.body else { panic!("text") };
        sent.at(&["metadata", "resourceVersion"]).cloned().unwrap_or_default()
    }

    #[test]
    fn a_replace_has_the_revision_of_the_existing_object_unless_it_has_one() {
        assert_eq!(replaced("".into()), "7".into());
        assert_eq!(replaced(Value::Null), "7".into());
        assert_eq!(replaced("1".into()), "1".into());
        // The server refuses it.
        assert_eq!(replaced(Value::Int(1)), Value::Int(1));
    }
}
