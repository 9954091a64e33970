//! kubectl-crdx shows what the Kubernetes API server would do with a custom resource, before anything reaches the
//! cluster.
//!
//! The core is a CRD API server as a pure function, [`crdx_server::server`]; every command is a client of it. The modules
//! below are listed by layer, with a blank line between layers. A module imports only modules of the layers above its
//! own; `tests/project/architecture.rs` reads the layers from this file and enforces them.

// The plugin is a program: no other package uses its modules, and a comment that repeats a name helps nobody.
#![allow(missing_docs)]

pub mod output;

pub mod files;

pub mod cluster;
pub mod input;
#[cfg(feature = "serve")]
pub mod serve;

#[cfg(feature = "cluster")]
pub mod download;
pub mod simulation;

pub mod suites;

pub mod configuration;

#[cfg(feature = "lsp")]
pub mod editor;

pub mod commands;
