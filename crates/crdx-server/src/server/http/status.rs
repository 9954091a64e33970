//! Error responses: `metav1.Status` as `k8s.io/apimachinery/pkg/api/errors` builds it.
//!
//! Handlers return a [`Refusal`] as their error, as the server passes errors to `scope.err(err)`. It also carries the
//! field errors, for callers in the same process.

mod reason;

use crate::server::metadata::InvalidObject;
use crate::server::scope::GroupResource;
use crdx_value::field::ErrorList;
use crdx_value::quote::go_quote;
use crdx_value::steps::Spent;
use crdx_value::{Map, Value};
pub(in crate::server) use reason::Reason;

/// An error response.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    /// `status` as a webhook wrote it; otherwise it is `Failure`.
    pub(in crate::server) status: Option<Box<str>>,
    /// The HTTP status code.
    pub(in crate::server) code: u16,
    /// The machine-readable reason.
    pub(in crate::server) reason: Reason,
    /// The human-readable message.
    pub(in crate::server) message: String,
    /// `details`, for reasons that have them.
    pub(in crate::server) details: Option<Box<Details>>,
    /// The field errors of a 422.
    pub(in crate::server) errors: ErrorList,
    /// `metadata` (`ListMeta`): the continue token of an expired list, or what a webhook wrote.
    pub(in crate::server) metadata: Option<Box<Map>>,
}

/// `metav1.StatusDetails`
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct Details {
    /// The object's name.
    pub name: String,
    pub group: String,
    /// The resource, or the kind.
    pub kind: String,
    /// The object's UID.
    pub uid: String,
    pub causes: Vec<Cause>,
    /// `retryAfterSeconds`
    pub retry_after_seconds: i64,
}

/// `metav1.StatusCause`
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::server) struct Cause {
    /// The reason; may be empty.
    pub reason: String,
    /// The text.
    pub message: String,
    /// The field; may be empty.
    pub field: String,
}

impl Details {
    fn new(of: GroupResource<'_>, name: &str) -> Self {
        Self { name: name.to_owned(), group: of.group.to_owned(), kind: of.resource.to_owned(), ..Self::default() }
    }
}

impl From<InvalidObject> for Refusal {
    fn from(error: InvalidObject) -> Self {
        Self::internal(error.to_string())
    }
}

impl From<Spent> for Refusal {
    fn from(_: Spent) -> Self {
        Self::unfinished()
    }
}

impl Refusal {
    /// A refusal without details.
    pub(in crate::server) fn plain(code: u16, reason: Reason, message: impl Into<String>) -> Self {
        Self { status: None, code, reason, message: message.into(), details: None, errors: Vec::new(), metadata: None }
    }
    fn about(code: u16, reason: Reason, of: GroupResource<'_>, name: &str, message: String) -> Self {
        Self { details: Some(Box::new(Details::new(of, name))), ..Self::plain(code, reason, message) }
    }

    /// The message of the status.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// An error that is not an `APIStatus`: 500 without a reason.
    pub fn unclassified(message: impl Into<String>) -> Self {
        Self::plain(500, Reason::Unknown, message)
    }
    /// `NewBadRequest`
    pub(in crate::server) fn bad_request(message: impl Into<String>) -> Self {
        Self::plain(400, Reason::BadRequest, message)
    }
    /// `NewNotFound`
    pub fn not_found(of: GroupResource<'_>, name: &str) -> Self {
        Self::about(404, Reason::NotFound, of, name, format!("{of} {} not found", go_quote(name)))
    }
    /// `NewAlreadyExists`
    pub(in crate::server) fn already_exists(of: GroupResource<'_>, name: &str) -> Self {
        Self::about(409, Reason::AlreadyExists, of, name, format!("{of} {} already exists", go_quote(name)))
    }
    /// `NewGenerateNameConflict`
    pub(in crate::server) fn generated_name_exists(of: GroupResource<'_>, name: &str) -> Self {
        let message = format!(
            "{of} {} already exists, the server was not able to generate a unique name for the object",
            go_quote(name)
        );
        let mut refusal = Self::about(409, Reason::AlreadyExists, of, name, message);
        if let Some(details) = &mut refusal.details {
            details.retry_after_seconds = 1;
        }
        refusal
    }
    /// `NewConflict`
    pub(in crate::server) fn conflict(of: GroupResource<'_>, name: &str, reason: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {of} {}: {reason}", go_quote(name));
        Self::about(409, Reason::Conflict, of, name, message)
    }
    /// The conflict reported when an object was modified since it was read.
    pub(in crate::server) fn modified(of: GroupResource<'_>, name: &str) -> Self {
        Self::conflict(
            of,
            name,
            "the object has been modified; please apply your changes to the latest version and try again",
        )
    }
    /// `NewApplyConflict`
    pub(in crate::server) fn apply_conflict(message: String, details: Details) -> Self {
        Self { details: Some(Box::new(details)), ..Self::plain(409, Reason::Conflict, message) }
    }
    /// `NewForbidden`
    pub(in crate::server) fn forbidden(of: GroupResource<'_>, name: &str, reason: &str) -> Self {
        let message = if of.resource.is_empty() {
            format!("forbidden: {reason}")
        } else if name.is_empty() {
            format!("{of} is forbidden: {reason}")
        } else {
            format!("{of} {} is forbidden: {reason}", go_quote(name))
        };
        Self::about(403, Reason::Forbidden, of, name, message)
    }
    /// `NewMethodNotSupported`
    pub(in crate::server) fn method_not_supported(of: GroupResource<'_>, verb: &str) -> Self {
        let message = format!("{verb} is not supported on resources of kind {}", go_quote(&of.to_string()));
        Self::about(405, Reason::MethodNotAllowed, of, "", message)
    }
    /// `NewMethodNotSupported` with a different message.
    pub(in crate::server) fn not_allowed(of: GroupResource<'_>, message: &str) -> Self {
        Self::about(405, Reason::MethodNotAllowed, of, "", message.to_owned())
    }
    /// The request needs the answer of a webhook. It is never sent ([`crate::server::http::calls`]).
    pub(in crate::server) fn waiting() -> Self {
        Self::plain(500, Reason::InternalError, "the request waits for a webhook".to_owned())
    }
    /// `corruptObjectError`: the object of that revision cannot be decoded.
    pub(in crate::server) fn undecodable(revision: u64, reason: &str) -> Self {
        Self::plain(500, Reason::Undecodable, format!("object not decodable revision={revision}: {reason}"))
    }
    /// `NewTimeoutError`
    pub(in crate::server) fn timeout(message: &str) -> Self {
        Self::plain(504, Reason::Timeout, format!("Timeout: {message}"))
    }
    /// The request needs more steps or memory than the simulated server uses for one: the answer of a server whose time
    /// for the request is over (`finisher.go`). Whether it would answer so depends on its speed.
    pub(in crate::server) fn unfinished() -> Self {
        let message = "Timeout: request did not complete within requested timeout - context deadline exceeded";
        Self::plain(504, Reason::Unfinished, message)
    }
    /// A refusal as a webhook wrote it.
    pub(in crate::server) fn of_status(status: &Value) -> Self {
        let text = |value: &Value, key: &str| value.str_at(&[key]).unwrap_or_default().to_owned();
        let number = |value: &Value, key: &str| value.get(key).and_then(Value::as_int).unwrap_or_default();
        let details = status.get("details").filter(|details| !details.is_null()).map(|details| {
            let causes = details.get("causes").and_then(Value::as_array).unwrap_or_default();
            let cause = |cause: &Value| Cause {
                reason: text(cause, "reason"),
                message: text(cause, "message"),
                field: text(cause, "field"),
            };
            Box::new(Details {
                name: text(details, "name"),
                group: text(details, "group"),
                kind: text(details, "kind"),
                uid: text(details, "uid"),
                causes: causes.iter().map(cause).collect(),
                retry_after_seconds: number(details, "retryAfterSeconds"),
            })
        });
        let code = u16::try_from(number(status, "code")).unwrap_or(500);
        let reason = Reason::Other(text(status, "reason"));
        let state = Some(text(status, "status").into());
        let written = status.get("metadata").and_then(Value::as_object);
        let mut metadata = written.cloned().unwrap_or_default();
        metadata.retain(|key, value| match &**key {
            "selfLink" | "resourceVersion" | "continue" => value.as_str().is_some_and(|text| !text.is_empty()),
            "remainingItemCount" => !value.is_null(),
            _ => false,
        });
        let metadata = Some(Box::new(metadata));
        Self { status: state, details, metadata, ..Self::plain(code, reason, text(status, "message")) }
    }
    /// Adds a cause to the details; an empty one is left out.
    #[must_use]
    pub fn with_cause(mut self, reason: &str) -> Self {
        if let Some(details) = self.details.as_mut().filter(|_| !reason.is_empty()) {
            details.causes.push(Cause { reason: reason.to_owned(), ..Cause::default() });
        }
        self
    }
    /// `NewInternalError`
    pub(in crate::server) fn internal(message: impl Into<String>) -> Self {
        let cause = message.into();
        let mut refusal = Self::plain(500, Reason::InternalError, format!("Internal error occurred: {cause}"));
        refusal.details = Some(Box::new(Details {
            causes: vec![Cause { message: cause, ..Cause::default() }],
            ..Details::default()
        }));
        refusal
    }
    /// `NewRequestEntityTooLargeError`
    pub(in crate::server) fn too_large(message: &str) -> Self {
        Self::plain(413, Reason::RequestEntityTooLarge, format!("Request entity too large: {message}"))
    }
    /// The error for a JSON patch that cannot be applied (`NewGenericServerResponse`, 422). Its message names no cause.
    pub(in crate::server) fn patch_does_not_apply() -> Self {
        let mut refusal =
            Self::plain(422, Reason::Invalid, "the server rejected our request due to an error in our request");
        refusal.details = Some(Box::default());
        refusal
    }
    /// The router's error for an unknown path, with empty details.
    pub(in crate::server) fn unrouted(code: u16, reason: Reason, message: impl Into<String>) -> Self {
        Self { details: Some(Box::default()), ..Self::plain(code, reason, message) }
    }
    /// The router's error for a method that a path does not support.
    pub(in crate::server) fn method_not_allowed() -> Self {
        let text = "the server does not allow this method on the requested resource";
        Self::unrouted(405, Reason::MethodNotAllowed, text)
    }
    /// The router's error for an `Accept` header that a path cannot satisfy.
    pub(in crate::server) fn no_representation() -> Self {
        let accepted = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self::unrouted(
            406,
            Reason::NotAcceptable,
            format!("406: Not Acceptable\n\nAvailable representations: {accepted}"),
        )
    }
    /// `NewResourceExpired`
    pub(in crate::server) fn expired(message: impl Into<String>) -> Self {
        Self::plain(410, Reason::Expired, message)
    }
    /// The error for an expired continue token; `token` continues the list with the current objects.
    pub(in crate::server) fn expired_page(token: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.";
        let metadata = Map::from_iter([("continue".into(), token.into())]);
        Self { metadata: Some(Box::new(metadata)), ..Self::expired(message) }
    }
    /// `NewTooLargeResourceVersionError`
    pub(in crate::server) fn resource_version_too_large(wanted: u64, current: u64) -> Self {
        let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
        let mut refusal = Self::plain(504, Reason::Timeout, message);
        refusal.details = Some(Box::new(Details {
            causes: vec![Cause {
                reason: "ResourceVersionTooLarge".to_owned(),
                message: "Too large resource version".to_owned(),
                field: String::new(),
            }],
            retry_after_seconds: 1,
            ..Details::default()
        }));
        refusal
    }
    /// 406: no acceptable response format.
    pub(in crate::server) fn not_acceptable(message: impl Into<String>) -> Self {
        Self::plain(406, Reason::NotAcceptable, message)
    }
    /// 415: an unsupported request format.
    pub(in crate::server) fn unsupported_media_type(accepted: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            accepted.join(", ")
        );
        Self::plain(415, Reason::UnsupportedMediaType, message)
    }
    /// `NewInvalid`: a 422 with one cause per field error. `of.resource` is the kind.
    pub(in crate::server) fn invalid(of: GroupResource<'_>, name: &str, errors: ErrorList) -> Self {
        Self::invalid_quoted(of, name, &go_quote(name), errors)
    }
    /// `NewInvalid` for a name that is quoted differently in the message.
    pub(in crate::server) fn invalid_quoted(
        of: GroupResource<'_>,
        name: &str,
        quoted: &str,
        errors: ErrorList,
    ) -> Self {
        let causes = errors
            .iter()
            .map(|e| Cause { reason: e.kind.reason().to_owned(), message: e.body(), field: e.field.clone() })
            .collect();
        let mut message = format!("{of} {quoted} is invalid");
        if let Some(text) = aggregate(&errors) {
            message.push_str(": ");
            message.push_str(&text);
        }
        let mut details = Details::new(of, name);
        details.causes = causes;
        Self { details: Some(Box::new(details)), errors, ..Self::plain(422, Reason::Invalid, message) }
    }
    /// `NewInvalid` for request options.
    pub(in crate::server) fn invalid_options(kind: &str, errors: ErrorList) -> Self {
        Self::invalid(GroupResource { group: "meta.k8s.io", resource: kind }, "", errors)
    }

    /// The `metav1.Status` of the refusal.
    pub(in crate::server) fn into_value(self) -> Value {
        let Self { code, reason, message, details, metadata, .. } = self;
        let status = self.status.as_deref().unwrap_or("Failure");
        let mut status = status_value(status, code, reason.as_str(), message, details.map(|details| *details));
        if let (Some(metadata), Some(members)) = (metadata, status.as_object_mut()) {
            members.insert("metadata".to_owned(), Value::Object(*metadata));
        }
        status
    }
}

/// Builds a `metav1.Status`.
pub(in crate::server) fn status_value(
    status: &str,
    code: u16,
    reason: &str,
    message: impl Into<String>,
    details: Option<Details>,
) -> Value {
    let mut out = Map::new();
    out.insert("kind".into(), "Status".into());
    out.insert("apiVersion".into(), "v1".into());
    out.insert("metadata".into(), Map::new().into());
    insert_text(&mut out, "status", status);
    insert_text(&mut out, "message", message);
    insert_text(&mut out, "reason", reason);
    if let Some(details) = details {
        out.insert("details".into(), details.into_value());
    }
    if code != 0 {
        out.insert("code".into(), Value::Int(i64::from(code)));
    }
    Value::Object(out)
}

impl Details {
    fn into_value(self) -> Value {
        let mut out = Map::new();
        insert_text(&mut out, "name", self.name);
        insert_text(&mut out, "group", self.group);
        insert_text(&mut out, "kind", self.kind);
        insert_text(&mut out, "uid", self.uid);
        if !self.causes.is_empty() {
            let causes = self.causes.into_iter().map(|cause| {
                let mut entry = Map::new();
                insert_text(&mut entry, "reason", cause.reason);
                insert_text(&mut entry, "message", cause.message);
                insert_text(&mut entry, "field", cause.field);
                Value::Object(entry)
            });
            out.insert("causes".into(), Value::Array(causes.collect()));
        }
        if self.retry_after_seconds != 0 {
            out.insert("retryAfterSeconds".into(), Value::Int(self.retry_after_seconds));
        }
        Value::Object(out)
    }
}

fn insert_text(out: &mut Map, key: &str, text: impl Into<String>) {
    let text = text.into();
    if !text.is_empty() {
        out.insert(key.to_owned(), Value::from(text));
    }
}

/// `ErrorList.ToAggregate().Error()`: the text of a single error, or all texts without duplicates in brackets; `None`
/// without errors.
pub(in crate::server) fn aggregate(errors: &ErrorList) -> Option<String> {
    let texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let mut seen = std::collections::HashSet::new();
    let distinct: Vec<&str> = texts.iter().map(String::as_str).filter(|text| seen.insert(*text)).collect();
    match distinct.as_slice() {
        [] => None,
        [one] => Some((*one).to_owned()),
        many => Some(["[", &many.join(", "), "]"].concat()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::field::{FieldError, FieldPath};

    const FOOS: GroupResource<'_> = GroupResource { group: "example.com", resource: "foos" };

    #[test]
    fn equal_errors_are_listed_once_but_each_is_a_cause() {
        let error = FieldError::required(&FieldPath::new("a"), "");
        let status = Refusal::invalid(FOOS, "x", vec![error.clone(), error]).into_value();
        assert_eq!(status.str_at(&["message"]), Some("foos.example.com \"x\" is invalid: a: Required value"));
        assert_eq!(status.at(&["details", "causes"]).and_then(Value::as_array).map(<[Value]>::len), Some(2));
    }

    #[test]
    fn a_webhook_may_write_the_metadata_of_its_denial() {
        let denial = r#"{"code":403,"metadata":{"name":"x","resourceVersion":"7","continue":""},"message":"no","status":"Failure"}"#;
        let denial = crdx_text::json::read(denial.as_bytes()).unwrap();
        assert_eq!(
            crdx_value::json::to_string(&Refusal::of_status(&denial).into_value()),
            r#"{"apiVersion":"v1","code":403,"kind":"Status","message":"no","metadata":{"resourceVersion":"7"},"status":"Failure"}"#
        );
    }

    #[test]
    fn unclassified_errors_have_neither_reason_nor_details() {
        let status = Refusal::unclassified("no").into_value();
        assert_eq!(
            crdx_value::json::to_string(&status),
            r#"{"apiVersion":"v1","code":500,"kind":"Status","message":"no","metadata":{},"status":"Failure"}"#
        );
    }
}
