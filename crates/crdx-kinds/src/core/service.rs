//! Services.

pub(crate) mod allocator;
pub(crate) mod network;
mod printer;
mod strategy;

pub(crate) use strategy::Service;
