//! Jobs.

mod printer;
mod strategy;

pub(crate) use strategy::Job;
