//! The requests that kubectl would send.
//!
//! [`create_or_update`] decides which request is sent for an object, [`send`](mod@send) reads the existing object and sends the
//! request, [`patch`] computes the patch of `kubectl apply`, [`request`] builds single requests, and [`options`] has the
//! flags on which the decision depends.

pub mod client_schema;
pub mod create_or_update;
pub mod error;
pub mod options;
pub mod patch;
pub mod request;
pub mod schema_model;
pub mod send;
pub mod written_metadata;

pub use create_or_update::{Operation, RequestKind};
pub use error::UnsentError;
pub use options::{Action, FieldValidation, Subresource, Verb};
