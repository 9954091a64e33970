//! The Kubernetes API server for custom resources as a pure function: [`server::Server::handle`] answers a request over
//! an in-memory store. It does what `k8s.io/apiextensions-apiserver` does, without etcd, sockets, threads or a clock;
//! times and random seeds are inputs.
//!
//! The modules below are listed by layer, with a blank line between layers. A module imports only modules of the layers
//! above its own; `tests/project/architecture.rs` reads the layers from this file and enforces them.

pub mod cluster_state;

pub mod schema;

pub mod rules;

pub mod pipeline;

pub mod apply;

pub mod crd;

pub mod policies;

pub mod webhooks;

pub mod server;
