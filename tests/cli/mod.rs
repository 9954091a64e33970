//! The program as its users run it: whole screens (`*.txt`), output formats, terminals, a live cluster and an editor.

mod broken_pipe;
mod committed;
mod completion;
pub mod configuration;
mod fetch;
mod flux;
mod formats;
mod kubectl_errors;
mod live;
mod long_names;
pub mod lsp;
mod pages;
mod render;
mod schemas;
pub mod screens;
mod terminal;
mod trust;
mod watch;
