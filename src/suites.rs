//! Test suites of CRD authors: each case is a few requests to a [`Server`](crate::server::Server), whose answers are
//! compared with what the case expects.
//!
//! The format and its meaning are those of `openshift/api` (`tests/types.go`, `tests/generator.go`): [`suite`] reads a
//! file, [`variant`] chooses among the CRDs of one name, [`mod@bench`] installs one of them and runs cases. Nothing here reads
//! a file: texts and CRDs come in as values.

pub mod bench;
mod compare;
pub mod coverage;
mod fields;
pub mod first;
pub mod outcome;
mod patch;
pub mod suite;
pub mod update;
pub mod variant;

pub use bench::CaseRunner;
pub use coverage::Coverage;
pub use outcome::{Failure, Outcome, Step};
pub use suite::{Action, Case, Suite};
pub use variant::Variant;
