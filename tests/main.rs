//! All integration tests; README.md says what each folder is for.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

mod cli;
mod conformance;
mod facts;
mod large_stack;
mod project;
mod properties;
mod repositories;
mod serve;
