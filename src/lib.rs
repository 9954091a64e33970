//! kubectl-crdx shows what the Kubernetes API server would do with a custom resource, before anything reaches the
//! cluster.
//!
//! The core is a CRD API server as a pure function, [`crdx_server::server`]; every command is a client of it.
//! docs/ARCHITECTURE.md describes the crates.

pub mod commands;
