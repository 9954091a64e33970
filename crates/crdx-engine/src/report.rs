//! The results of a run as plain data: for each object its verdict, errors, warnings and changes, each with its source
//! location. Programs format them as they like.

pub mod admission;
mod diagnostic;
mod difference;
pub mod drift;
mod field_pattern;
mod identity;
mod known_finding;
mod location;
mod merge;
mod object;
mod pruned;
pub mod severity;
mod summary;
mod verdict;

pub use crate::kubectl::Action;
pub use admission::Admission;
pub use diagnostic::{Diagnostic, Remark, RunNote};
pub use difference::Difference;
pub use field_pattern::{FieldPattern, NoFieldPattern};
pub use identity::Identity;
pub use known_finding::KnownFinding;
pub use location::{Excerpt, STDIN, SourceLocation};
pub use merge::merged;
pub use object::{ASK_THE_CLUSTER, ObjectReport, ReleaseAnswer, ServerResponse};
pub use pruned::{FieldHint, PrunedField};
pub use severity::Severity;
pub use summary::Summary;
pub use verdict::Verdict;
