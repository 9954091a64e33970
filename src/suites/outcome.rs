//! The outcome of a case.

use crate::field::ErrorList;
use crate::value::Value;
use std::fmt;
use std::sync::Arc;

/// A request of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The create of `initial`.
    Initial,
    /// The write of the status of `initial`.
    InitialStatus,
    /// The write of `initial` after `initialCRDPatches` were undone.
    Restored,
    /// The write of `updated`.
    Update,
    /// The write of the status of `updated`.
    UpdateStatus,
    /// The server-side apply of `applied`.
    Apply,
    /// The delete.
    Delete,
}

impl Step {
    /// The subject of a message: `the server rejected …`.
    pub fn words(self) -> &'static str {
        match self {
            Self::Initial => "the create of `initial`",
            Self::InitialStatus => "the update of the status of `initial`",
            Self::Restored => "the update of `initial` after `initialCRDPatches` were undone",
            Self::Update => "the update to `updated`",
            Self::UpdateStatus => "the update of the status to that of `updated`",
            Self::Apply => "the server-side apply of `applied`",
            Self::Delete => "the delete",
        }
    }

    /// The field of the case with the object of the request.
    pub fn field(self) -> &'static str {
        match self {
            Self::Initial | Self::InitialStatus | Self::Restored | Self::Delete => "initial",
            Self::Update | Self::UpdateStatus => "updated",
            Self::Apply => "applied",
        }
    }
}

/// A request and its answer.
#[derive(Clone, Debug)]
pub struct Write {
    /// The request.
    pub step: Step,
    /// The object that was sent.
    pub sent: Value,
    /// The object that the request replaces.
    pub old: Option<Arc<Value>>,
    /// The object of the answer, or the message of a rejection.
    pub answer: Result<Arc<Value>, String>,
    /// The field errors of a rejection.
    pub errors: ErrorList,
    /// The warnings.
    pub warnings: Vec<String>,
}

/// Why a case fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// A field of the case is not a Kubernetes object.
    NoObject {
        /// The field.
        field: &'static str,
        /// Why.
        message: String,
    },
    /// `initialCRDPatches` cannot be applied, or the server rejects the CRD that they make.
    Patches(String),
    /// The server rejected a request that was expected to pass.
    Rejected(Step, String),
    /// The server accepted a request that was expected to be rejected, with this message if one is given.
    Accepted(Step, Option<String>),
    /// The server rejected the request with another message.
    OtherError {
        /// The request.
        step: Step,
        /// The expected part of the message.
        expected: String,
        /// The message.
        message: String,
    },
    /// `expectedStatusError` is given, and `updated` has no status.
    NoStatus,
    /// The stored object is another one. Both without metadata that the server writes.
    Differs {
        /// `expected`
        expected: Value,
        /// The stored object; null if it was deleted.
        stored: Value,
    },
    /// The warnings are others.
    Warnings {
        /// `expectedWarnings`
        expected: Vec<String>,
        /// The warnings.
        warnings: Vec<String>,
    },
}

impl Failure {
    /// The field of the case that is not met.
    pub fn field(&self) -> &'static str {
        match self {
            Self::NoObject { field, .. } => field,
            Self::Patches(_) => "initialCRDPatches",
            Self::Rejected(step, _) | Self::Accepted(step, None) => step.field(),
            Self::Accepted(Step::UpdateStatus, Some(_))
            | Self::OtherError { step: Step::UpdateStatus, .. }
            | Self::NoStatus => "expectedStatusError",
            Self::Accepted(..) | Self::OtherError { .. } => "expectedError",
            Self::Differs { .. } => "expected",
            Self::Warnings { .. } => "expectedWarnings",
        }
    }

    /// A word for it, for programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::NoObject { .. } => "noObject",
            Self::Patches(_) => "patches",
            Self::Rejected(..) => "rejected",
            Self::Accepted(..) => "accepted",
            Self::OtherError { .. } => "otherError",
            Self::NoStatus => "noStatus",
            Self::Differs { .. } => "differs",
            Self::Warnings { .. } => "warnings",
        }
    }

    /// The server's answer, if it was a rejection.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Rejected(_, message) | Self::OtherError { message, .. } => Some(message),
            _ => None,
        }
    }
}

/// One sentence; messages of the server and differences are not part of it.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject { field, message } => write!(f, "`{field}` cannot be sent: {message}"),
            Self::Patches(message) => write!(f, "`initialCRDPatches`: {message}"),
            Self::Rejected(step, _) => write!(f, "the server rejected {}", step.words()),
            Self::Accepted(step, None) => {
                write!(f, "the server accepted {}, which was expected to be rejected", step.words())
            }
            Self::Accepted(step, Some(expected)) => {
                write!(f, "the server accepted {}, which was expected to be rejected with {expected:?}", step.words())
            }
            Self::OtherError { step, expected, .. } => {
                write!(f, "the server rejected {} with another message than {expected:?}", step.words())
            }
            Self::NoStatus => f.write_str("`expectedStatusError` is given, and `updated` has no status to write"),
            Self::Differs { stored: Value::Null, .. } => f.write_str("the object is gone, and `expected` is given"),
            Self::Differs { .. } => f.write_str("the stored object differs from `expected`"),
            Self::Warnings { expected, warnings } => {
                write!(f, "the warnings are {warnings:?} and not {expected:?}")
            }
        }
    }
}

/// The result of a case on one server.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The failure; `None` if it passes.
    pub failure: Option<Failure>,
    /// The writes of the object, in order.
    pub writes: Vec<Write>,
    /// The stored object at the end, if the case reached it.
    pub stored: Option<Value>,
}
