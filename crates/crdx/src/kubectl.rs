//! The requests that kubectl would send.
//!
//! [`request`] builds single requests, [`update`] chooses between them as `kubectl apply`, `apply --server-side`,
//! `replace`, `create` and `scale` do after reading the live object, [`options`] has the flags that decide.

pub mod client_schema;
pub mod options;
pub mod request;
pub mod schema_model;
pub mod update;

pub use options::{Action, FieldValidation, Subresource, Verb};
