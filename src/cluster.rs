//! The live cluster, through kube. Everything here reads: the only request it can send is [`Connection::get`].
//!
//! Nothing async leaves this module, and nothing is set up before the first [`Connection::open`].

mod connection;
mod context;
mod definitions;
mod discovery;

pub use connection::Connection;
pub use context::namespace;
pub use discovery::{Resource, find};

use std::path::PathBuf;

/// Which cluster.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// `--kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--context`
    pub context: Option<String>,
    /// `--server`
    pub server: Option<String>,
}

/// Why the cluster did not tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Error {
    /// What went wrong.
    pub message: String,
    /// What can be done about it.
    pub help: Option<String>,
    /// Whether nothing could be reached, so that asking on is of no use.
    pub unreachable: bool,
}

impl Error {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::default() }
    }

    fn unreachable(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { message: message.into(), help: Some(help.into()), unreachable: true }
    }
}
