//! Errors of kubectl.

use crdx_value::GoError;

/// The reason why kubectl would not send a request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnsentError {
    /// The last-applied annotation of the existing object is not JSON.
    #[error("the last-applied annotation of the old object is not JSON: {0}")]
    LastApplied(GoError),
    /// The lists of the objects cannot be merged.
    #[error("{0}")]
    Patch(GoError),
    /// There are no replicas to send.
    #[error("its kind has no scale subresource in this version, or the object has no replicas")]
    NoReplicas,
}
