//! Searches for objects that answer a question about a CRD.
//!
//! ```text
//! upgrade     what the update of a CRD does to objects: the smallest object for each effect, a proof, or neither
//! faults      what cannot work in one CRD, with the object that shows it or a proof
//! policies    what admission policies deny
//! round_trip  the objects that change between the versions of a CRD
//! probe       asks the servers with the old and the new CRD about one object
//! candidates  objects to ask about: at the differences of two schemas, then further away, then at random
//! proof       differences of two CRDs that no object can show
//! shrink      makes an object as small as possible while it still answers the question
//! ```
//!
//! Every object that a search returns was sent to the simulated server. A search is never wrong about an object, but it may
//! miss one: [`Answer::NoneFound`] is not [`Answer::NonePossible`].

mod answer;
mod candidates;
mod differing;
pub mod faults;
mod kept_status;
mod place;
#[cfg(feature = "simulator")]
pub mod policies;
mod probe;
mod proof;
mod random;
pub mod round_trip;
mod shrink;
pub mod upgrade;

pub use answer::{Answer, Effort, Unknown};
pub use probe::{Counterexample, Question};
pub use upgrade::{Upgrade, UpgradeError, VersionUpgrade};
