//! `kubectl crdx serve` and `envtest` as processes, and webhooks on a loopback port.

mod envtest;
pub mod process;
pub mod webhooks;
