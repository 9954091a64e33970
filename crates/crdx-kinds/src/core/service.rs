//! Services.

pub(crate) mod allocator;
mod printer;
mod strategy;

pub(crate) use strategy::Service;
