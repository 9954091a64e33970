//! Simulates the requests of kubectl and reports what the Kubernetes API server does with a custom resource, for the
//! commands of kubectl-crdx and for other programs. It uses no file, socket, clock or thread.
//!
//! The modules below are listed by layer, with a blank line between layers. A module imports only modules of the layers
//! above its own; `tests/project/architecture.rs` reads the layers from this file and enforces them.

pub mod kubectl;

pub mod report;

pub mod lint;

pub mod rehearsal;

pub mod examples;

pub mod suites;
