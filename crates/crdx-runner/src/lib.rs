//! Runs the engine of [`crdx_engine`] on threads, over files and a live cluster: what commands and the editor share.

pub mod simulation;

pub mod suites;
