//! Searches for objects that answer a question about a CRD.
//!
//! ```text
//! upgrade     what the update of a CRD does to objects: the smallest object for each effect, a proof, or neither
//! faults      what cannot work in one CRD, with the object that shows it or a proof
//! probe       asks the servers with the old and the new CRD about one object
//! candidates  objects to ask about: at the differences of two schemas, then further away, then at random
//! proof       differences of two CRDs that no object can show
//! shrink      makes an object as small as possible while it still answers the question
//! ```
//!
//! Every object that a search returns was sent to the simulated server. A search is never wrong about an object, but it may
//! miss one: [`Answer::NoneFound`] is not [`Answer::NonePossible`].

mod candidates;
mod differing;
pub mod faults;
mod place;
mod probe;
mod proof;
mod random;
mod shrink;
pub mod upgrade;

pub use probe::{Counterexample, Question};
pub use upgrade::{Upgrade, UpgradeError, VersionUpgrade};

/// How much a search tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// The most objects that are sent.
    pub objects: usize,
    /// The seed of the random part; the same seed gives the same answers.
    pub seed: u64,
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
    /// The current CRD accepts no object that the search tried.
    #[error("no object was found that the old CRD accepts")]
    NoObject,
}
