//! kubectl-crdx shows what the Kubernetes API server would do with a custom resource, before anything reaches the
//! cluster.
//!
//! The core is a CRD API server as a pure function, [`server`]; every command is a client of it. The modules below are
//! listed by layer, with a blank line between layers. A module imports only modules of the layers above its own;
//! `tests/architecture.rs` reads the layers from this file and enforces them.

pub mod embedded;
pub mod release;

pub mod value;

pub mod field;
pub mod suggest;

pub mod jsonpath;
pub mod regexp;
pub mod text;

pub mod cel;

pub mod schema;

pub mod rules;

pub mod pipeline;

pub mod apply;

pub mod crd;

pub mod builtin;

pub mod policies;

pub mod webhooks;

pub mod server;

pub mod kubectl;

pub mod lint;

pub mod rehearsal;

pub mod examples;

pub mod suites;

pub mod output;

pub mod files;

pub mod cluster;
pub mod input;
pub mod serve;

pub mod simulation;

pub mod editor;

pub mod cli;
