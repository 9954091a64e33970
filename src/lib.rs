//! kubectl-crdx: what the Kubernetes API server would do with a custom resource, told before anything reaches the cluster.
//!
//! The heart is a CRD API server as a pure function, [`server`]; every command is a client of it. Data flows one way and a
//! module imports only what stands above it here (`tests/architecture.rs` holds this).

pub mod release;

pub mod value;

pub mod field;

pub mod suggest;

pub mod text;

pub mod regexp;

pub mod jsonpath;

pub mod schema;

pub mod cel;

pub mod builtin;

pub mod rules;

pub mod pipeline;

pub mod apply;

pub mod crd;

pub mod policies;

pub mod server;

pub mod kubectl;

pub mod lint;

pub mod rehearsal;

pub mod suites;

pub mod output;

pub mod input;

pub mod cluster;

pub mod serve;

pub mod simulation;

pub mod cli;
