//! Pods.

mod app_armor;
mod parts;
mod printer;
mod resources;
mod status;
mod strategy;

pub(crate) use strategy::Pod;
