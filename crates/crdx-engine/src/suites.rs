//! Test suites for custom resources and built-in kinds: a case sends a few requests to a
//! [`Server`](crdx_server::server::Server) and compares the answers with its expectations.
//!
//! The format and its meaning are those of `openshift/api` (`tests/types.go`, `tests/generator.go`): [`suite`] parses a
//! file, [`variant`] selects among the CRDs with the same name, [`case_runner`] installs one of them and runs cases.
//! These modules do not read files.

pub mod case_runner;
mod compare;
pub mod coverage;
mod fields;
pub mod first;
mod outcome;
mod patch;
pub mod round_trips;
pub mod subject;
pub mod suite;
pub mod update;
pub mod variant;
mod yaml_text;

pub use case_runner::CaseRunner;
pub use coverage::Coverage;
pub use outcome::{CaseOutcome, CaseRequest, Failure};
pub use subject::Subject;
pub use suite::{Action, Case, Suite};
pub use variant::Variant;
