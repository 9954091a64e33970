//! The requests that kubectl would send.
//!
//! [`create_or_update`] decides which request is sent for an object, [`send`](mod@send) reads the existing object and sends the
//! request, [`patch`] computes the patch of `kubectl apply`, [`request`] builds single requests, and [`options`] has the
//! flags on which the decision depends.

#[cfg(feature = "policies")]
mod built_in_patch;
#[cfg(feature = "simulator")]
pub(crate) mod client_schema;
mod create_or_update;
mod error;
mod options;
pub mod patch;
pub mod request;
pub mod schema_model;
pub mod send;
#[cfg(feature = "simulator")]
pub(crate) mod short_create;
pub mod written_metadata;

pub use create_or_update::{Operation, RequestKind};
pub use error::UnsentError;
pub use options::{Action, FieldValidation, Subresource, Verb};
