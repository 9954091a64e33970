//! The HTTP side of the server (`k8s.io/apiserver/pkg/endpoints`): parses requests, negotiates content types and writes
//! responses. This module does not access the store.

pub mod address;
pub(in crate::server) mod answer;
pub(in crate::server) mod authorization;
pub mod bearer_token;
pub(in crate::server) mod body;
pub(in crate::server) mod calls;
pub(in crate::server) mod context;
pub(in crate::server) mod delete_options;
pub(in crate::server) mod given_state;
pub mod impersonation;
pub(in crate::server) mod negotiate;
pub(in crate::server) mod object_checks;
pub(in crate::server) mod object_notes;
pub(in crate::server) mod options;
pub(in crate::server) mod page;
pub(in crate::server) mod paused;
pub(in crate::server) mod protobuf;
pub(in crate::server) mod query;
pub(in crate::server) mod request;
pub(in crate::server) mod response;
pub(in crate::server) mod route;
pub(in crate::server) mod selector;
pub(in crate::server) mod settings;
pub(in crate::server) mod status;
pub(in crate::server) mod table;
pub(in crate::server) mod user;
pub mod wire;
