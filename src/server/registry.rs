//! Reads and writes of objects: one file per verb, and the store with its log
//! (`k8s.io/apiserver/pkg/registry/generic/registry`).

pub(in crate::server) mod create;
pub(in crate::server) mod decode;
pub(in crate::server) mod delete;
pub(in crate::server) mod get;
pub(in crate::server) mod journal;
pub(in crate::server) mod list;
pub(in crate::server) mod managed_fields;
pub(in crate::server) mod metadata;
pub(in crate::server) mod objects;
pub(in crate::server) mod patch;
pub(in crate::server) mod project;
pub(in crate::server) mod random;
pub(in crate::server) mod rest;
pub(in crate::server) mod revision;
pub(in crate::server) mod seed;
pub(in crate::server) mod serving;
pub(in crate::server) mod store;
pub(in crate::server) mod update;
pub(in crate::server) mod watch;
pub(in crate::server) mod written;
