//! The answers of a search, and its effort.

use super::probe::Counterexample;
use crdx_value::Value;
use crdx_value::steps::memory;

/// The memory of all objects that are sent, in bytes, for each object of the effort.
pub const MEMORY: u64 = 64 << 10;
/// The maximum number of accepted objects that are changed further.
pub const MAX_STARTS: usize = 48;

/// The effort of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The maximum number of objects that are sent.
    pub objects: usize,
    /// The seed of the random part; the same seed gives the same answers.
    pub seed: u64,
}

/// The memory of a request for an object: the servers copy it several times.
pub fn size(object: &Value) -> u64 {
    (memory(object) as u64).saturating_mul(8)
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// An object that shows the effect.
    Found(Box<Counterexample>),
    /// No object can show it: this follows from the CRDs.
    NonePossible,
    /// No object was found; there may be one.
    NoneFound,
    /// The question depends on an answer that is not known.
    CannotTell(Unknown),
}

/// The reason why a question has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// Objects are converted by a webhook, which is not called.
    #[error("a webhook converts objects between this version and the stored version")]
    ConversionWebhook,
    /// The server accepts no object that the search tried: with an old CRD, under that CRD.
    #[error("no object was found that the server accepts")]
    NoObject,
    /// A policy matches neither creates nor updates.
    #[error("the policy matches neither creates nor updates, and no other requests are tried")]
    NoWrite,
    /// A policy depends on what is not known.
    #[error("the policy depends on what is not known: the user, a namespace, params or other objects")]
    PolicyInput,
}
