//! The outcome of a case.

use crate::search::round_trip::TripReport;
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::field::{ErrorList, UNFINISHED};
use std::fmt;
use std::sync::Arc;

/// A request of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaseRequest {
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

impl CaseRequest {
    /// Returns the request as the object of a sentence: `the server rejected …`.
    pub fn text(self) -> &'static str {
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

    /// Returns the field of the case that contains the object of the request.
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
pub struct CaseWrite {
    /// The request.
    pub step: CaseRequest,
    /// The object that was sent.
    pub sent: Value,
    /// The existing object that the request replaces.
    pub old: Option<Arc<Value>>,
    /// The object of the answer, or the message of a rejection.
    pub answer: Result<Arc<Value>, GoError>,
    /// The field errors of a rejection.
    pub errors: ErrorList,
    /// The warnings of the server.
    pub warnings: Vec<String>,
}

/// The reason why a case fails.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// A field of the case is not a Kubernetes object.
    NoObject {
        /// The field.
        field: &'static str,
        /// The reason.
        message: String,
    },
    /// `initialCRDPatches` cannot be applied, or the server rejects the patched CRD.
    Patches(String),
    /// The server rejected a request that was expected to pass.
    Rejected(CaseRequest, String),
    /// The server accepted a request that was expected to be rejected, with this message if the case contains one.
    Accepted(CaseRequest, Option<String>),
    /// The server rejected the request with an unexpected message.
    OtherError {
        /// The request.
        step: CaseRequest,
        /// The expected part of the server's message.
        expected: String,
        /// The server's message.
        message: String,
    },
    /// The request needs more steps or memory than the program uses for one.
    Unfinished(CaseRequest),
    /// The case writes the status of a built-in kind that is not validated.
    BuiltInStatus(CaseRequest),
    /// The case contains `expectedStatusError`, but `updated` has no status.
    NoStatus,
    /// The stored object differs from the expected one. Both are without the metadata that the server writes.
    Differs {
        /// `expected`
        expected: Value,
        /// The stored object; null if it was deleted.
        stored: Value,
    },
    /// The warnings differ from the expected ones.
    Warnings {
        /// `expectedWarnings`
        expected: Vec<String>,
        /// The warnings of the server.
        warnings: Vec<String>,
    },
    /// Objects change in round trips between versions.
    RoundTrips(Arc<[TripReport]>),
    /// Round trips cannot be tried.
    NoRoundTrips(String),
}

impl Failure {
    /// Returns the field of the case whose expectation is not met; empty for the case itself.
    pub fn field(&self) -> &'static str {
        match self {
            Self::NoObject { field, .. } => field,
            Self::Patches(_) => "initialCRDPatches",
            Self::Rejected(step, _)
            | Self::Accepted(step, None)
            | Self::Unfinished(step)
            | Self::BuiltInStatus(step) => step.field(),
            Self::Accepted(CaseRequest::UpdateStatus, Some(_))
            | Self::OtherError { step: CaseRequest::UpdateStatus, .. }
            | Self::NoStatus => "expectedStatusError",
            Self::Accepted(..) | Self::OtherError { .. } => "expectedError",
            Self::Differs { .. } => "expected",
            Self::Warnings { .. } => "expectedWarnings",
            Self::RoundTrips(_) | Self::NoRoundTrips(_) => "",
        }
    }

    /// Returns the name of the failure in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::NoObject { .. } => "noObject",
            Self::Patches(_) => "patches",
            Self::Rejected(..) => "rejected",
            Self::Accepted(..) => "accepted",
            Self::OtherError { .. } => "otherError",
            Self::Unfinished(_) => "unfinished",
            Self::BuiltInStatus(_) => "builtInStatus",
            Self::NoStatus => "noStatus",
            Self::Differs { .. } => "differs",
            Self::Warnings { .. } => "warnings",
            Self::RoundTrips(_) => "roundTrip",
            Self::NoRoundTrips(_) => "noRoundTrip",
        }
    }

    /// Returns true if the server's answer is not known.
    pub fn is_unknown(&self) -> bool {
        matches!(self, Self::Unfinished(_) | Self::BuiltInStatus(_) | Self::NoRoundTrips(_))
    }

    /// Returns the server's message, if the server rejected the request.
    pub fn message(&self) -> Option<&str> {
        match self {
            Self::Rejected(_, message) | Self::OtherError { message, .. } => Some(message),
            _ => None,
        }
    }
}

/// Formats one sentence, without the server's messages and differences.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoObject { field, message } => write!(f, "`{field}` cannot be sent: {message}"),
            Self::Patches(message) => write!(f, "`initialCRDPatches`: {message}"),
            Self::Rejected(step, _) => write!(f, "the server rejected {}", step.text()),
            Self::Accepted(step, None) => {
                write!(f, "the server accepted {}, which was expected to be rejected", step.text())
            }
            Self::Accepted(step, Some(expected)) => {
                write!(f, "the server accepted {}, which was expected to be rejected with {expected:?}", step.text())
            }
            Self::OtherError { step, expected, .. } => {
                write!(f, "the server rejected {} with a message that does not contain {expected:?}", step.text())
            }
            Self::Unfinished(step) => write!(f, "cannot tell what the server answers to {}: {UNFINISHED}", step.text()),
            Self::BuiltInStatus(step) => write!(
                f,
                "cannot tell what the server answers to {}: the status of this kind is not validated, so leave it out",
                step.text()
            ),
            Self::NoStatus => f.write_str("`expectedStatusError` is given, and `updated` has no status to write"),
            Self::Differs { stored: Value::Null, .. } => f.write_str("the object was removed, but `expected` is given"),
            Self::Differs { .. } => f.write_str("the stored object differs from `expected`"),
            Self::Warnings { expected, warnings } => {
                write!(f, "the warnings are {warnings:?} and not {expected:?}")
            }
            Self::RoundTrips(_) => f.write_str("objects change in round trips between versions"),
            Self::NoRoundTrips(reason) => write!(f, "cannot tell whether objects survive round trips: {reason}"),
        }
    }
}

/// The result of a case on one server.
#[derive(Clone, Debug, Default)]
pub struct CaseOutcome {
    /// The failure; `None` if the case passes.
    pub failure: Option<Failure>,
    /// The writes of the object, in order.
    pub writes: Vec<CaseWrite>,
    /// The stored object at the end, if the case reached it.
    pub stored: Option<Value>,
    /// The results of round trips.
    pub round_trips: Arc<[TripReport]>,
}
