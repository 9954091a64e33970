//! Errors: why there is no answer, or why the server refused the request.

use super::manifest::Document;
use crdx_server::server::{Response as Answer, ResponseBody};
pub use crdx_text::Position;
use crdx_text::strict::StrictError;
use crdx_value::Value;
use std::fmt;
use std::sync::Arc;

/// The reason why a request has no result.
///
/// ```
/// let server = crdx::ApiServer::new();
/// let error = server.create("apiVersion: example.com/v1\nkind: Kite\nmetadata: {name: a}").unwrap_err();
/// assert_eq!(error.to_string(), r#"no matches for kind "Kite" in version "example.com/v1": install its CRD first"#);
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The argument is not an object. No request was sent.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The server serves no such kind. No request was sent.
    #[error("no matches for kind {kind:?} in version {api_version:?}: install its CRD first")]
    UnknownKind {
        /// `apiVersion` of the object.
        api_version: String,
        /// `kind` of the object.
        kind: String,
    },
    /// The server refused the request.
    #[error(transparent)]
    Status(#[from] Box<Status>),
    /// The answer of a real server is not known; the text is the reason.
    #[error("cannot tell: {0}")]
    CannotTell(String),
}

impl Error {
    /// The status, if the server refused the request.
    pub fn status(&self) -> Option<&Status> {
        if let Self::Status(status) = self { Some(status) } else { None }
    }
}

/// A text that is not YAML or JSON, or is not an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", position.map(|at| format!("{at}: ")).unwrap_or_default())]
#[non_exhaustive]
pub struct ManifestError {
    /// The message.
    pub message: String,
    /// The line and the column in the text, if they are known.
    pub position: Option<Position>,
}

impl ManifestError {
    pub(super) fn new(message: impl Into<String>, position: Option<Position>) -> Self {
        Self { message: message.into(), position }
    }
}

/// The refusal of a request (`metav1.Status`).
///
/// ```
/// # fn main() -> Result<(), crdx::Error> {
/// let server = crdx::ApiServer::new();
/// # server.install(include_str!("../../tests/kites.yaml"))?;
/// let kite = "apiVersion: toys.example.com/v1
/// kind: Kite
/// metadata: {name: a}
/// spec:
///   length: -5
/// ";
/// let error = server.create(kite).unwrap_err();
/// let status = error.status().expect("the server refuses it");
/// assert_eq!((status.code, status.reason.as_str()), (422, "Invalid"));
/// let cause = &status.causes[0];
/// assert_eq!(cause.field, "spec.length");
/// assert_eq!(cause.position.unwrap().to_string(), "5:11");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Status {
    /// The HTTP status code.
    pub code: u16,
    /// The machine-readable reason, such as `Invalid`; may be empty.
    pub reason: String,
    /// The message.
    pub message: String,
    /// The causes: one per error of a field. The unknown fields of a request with
    /// [`FieldValidation::Strict`](super::FieldValidation::Strict), which a server has in its message only, are causes,
    /// too.
    pub causes: Vec<Cause>,
    /// The texts of `Warning` headers.
    pub warnings: Vec<String>,
    /// The Status as the server sends it; null for an answer in plain text.
    pub value: Arc<Value>,
}

/// A cause of a [`Status`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cause {
    /// The machine-readable reason, such as `FieldValueInvalid`; may be empty.
    pub reason: String,
    /// The message.
    pub message: String,
    /// The path of the field; may be empty.
    pub field: String,
    /// The line and the column of the field, or of its nearest ancestor, if the object was given as a text.
    pub position: Option<Position>,
}

impl std::error::Error for Status {}

/// The message, and a line per cause with its position.
impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        for cause in &self.causes {
            if let Some(position) = cause.position {
                write!(f, "\n  {position}: {}", cause.message)?;
            }
        }
        Ok(())
    }
}

impl Status {
    /// The status of a refusal; `document` is the object that was sent.
    pub(super) fn from_answer(answer: Answer, document: Option<&Document>) -> Self {
        let Answer { code, body, warnings, trace, .. } = answer;
        let (value, message) = match body {
            ResponseBody::Json(value) => {
                let message = value.str_at(&["message"]).unwrap_or_default().to_owned();
                (value, message)
            }
            ResponseBody::Text(text) => (Arc::default(), text.trim().to_owned()),
        };
        let reason = value.str_at(&["reason"]).unwrap_or_default().to_owned();
        let position = |path: &str| document.and_then(|document| document.position(path));
        let mut causes: Vec<Cause> = Vec::new();
        for error in &trace.errors {
            causes.push(Cause {
                reason: error.kind.reason().to_owned(),
                message: error.to_string(),
                field: error.field.clone(),
                position: error.value_path().and_then(position),
            });
        }
        for path in trace.pruned.iter().filter(|_| trace.failed_strict_decoding) {
            causes.push(Cause {
                reason: reason.clone(),
                message: StrictError::DroppedField(path.clone()).to_string(),
                field: path.clone(),
                position: document.and_then(|document| document.name_position(path)),
            });
        }
        if let Some(field) = trace.undecodable_field.map(String::from).filter(|_| causes.is_empty()) {
            let position = position(&field);
            causes.push(Cause { reason: reason.clone(), message: message.clone(), field, position });
        }
        if causes.is_empty() {
            let listed = value.at(&["details", "causes"]).and_then(Value::as_array).unwrap_or_default();
            let text = |cause: &Value, key: &str| cause.str_at(&[key]).unwrap_or_default().to_owned();
            causes.extend(listed.iter().map(|cause| Cause {
                reason: text(cause, "reason"),
                message: text(cause, "message"),
                field: text(cause, "field"),
                position: Some(text(cause, "field")).filter(|field| !field.is_empty()).and_then(|f| position(&f)),
            }));
        }
        Self { code, reason, message, causes, warnings, value }
    }
}
