//! Formats the results for each object (`crdx_engine::report`): [`text`], [`json`] and [`pipeline`].

pub mod admission;
pub mod case;
pub mod fields;
pub mod json;
pub mod members;
pub mod pipeline;
pub mod repeated;
pub mod text;

/// The prefix of an error of `ObjectReport::hidden` when it is printed alone.
const HIDDEN_NOTE: &str = "after the unknown fields, the server would also report: ";
