//! Requests to the API server: recorded exchanges (`*.jsonl.gz` and others) are replayed, random ones are compared with the real server.

mod collection;
pub mod differential;
pub mod exchange;
mod kubectl_get;
mod patch_types;
mod recorded_writes;
mod releases;
mod replay;
mod scenario;
pub mod varying;
mod writes;
