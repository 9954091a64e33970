#![doc = include_str!("../README.md")]
//!
//! # Modules
//! [`ApiServer`] and the types of its methods are at the top of the crate. The modules below are listed by layer, with a
//! blank line between layers. A module imports only modules of the layers above its own; `tests/project/architecture.rs`
//! reads the layers from this file and enforces them.

pub mod kubectl;

pub mod report;

pub mod documents;

#[cfg(feature = "simulator")]
pub mod cluster;

pub mod simulation;

pub mod lint;

pub mod rehearsal;

pub mod examples;

pub mod suites;

mod api_server;

#[cfg(test)]
mod fixture;

pub use api_server::{
    ApiServer, ApiServerBuilder, Cause, Cell, Collection, Defaulted, Error, FieldValidation, IntoManifest, List,
    MAX_DEPTH, Manifest, ManifestError, Mutated, ObjectRef, PatchType, Position, Pruned, RequestOptions, Response, Row,
    RuleCost, Status, SufficientLimit,
};
pub use crdx_value::Value;
pub use crdx_value::release::Release;
