//! What the commands share, without files, sockets and clocks.
//!
//! The modules are listed by layer, with a blank line between layers. A module imports only modules of the layers above its
//! own; `tests/project/architecture.rs` reads the layers from this file and enforces them.

pub mod kubectl;

pub mod report;

pub mod documents;

#[cfg(feature = "simulator")]
pub mod cluster;

#[cfg(feature = "simulator")]
pub mod profile;

pub mod simulation;

pub mod schema_steps;

pub mod single_version;

pub mod rehearsal;

pub mod examples;

pub mod search;

pub mod lint;

pub mod suites;

#[cfg(test)]
mod fixture;
