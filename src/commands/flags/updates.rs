//! The flags for existing objects and for the simulated request.

use clap::{Args as ClapArgs, ValueEnum};
use crdx_engine::kubectl::RequestKind;
use crdx_engine::kubectl::{self, Verb};

/// The existing objects, and the request that would write the new ones.
#[derive(Clone, Debug, Default, ClapArgs)]
#[command(next_help_heading = "Updates")]
pub struct Updates {
    /// A file or directory with the existing objects, `-` for standard input, or git:REF for the given paths as of a
    /// commit, such as git:main; may be repeated. A new object updates the existing one of the same kind, namespace and name, or is created if there is none. An existing object without `metadata.uid` is treated as applied earlier by the same command: fields that only it has are removed
    /// [default: the objects of the cluster; with --offline none]
    #[arg(long, value_name = "PATH")]
    pub old: Vec<String>,
    /// Simulate `kubectl apply --server-side`
    #[arg(long, group = "request")]
    pub server_side: bool,
    /// Simulate `kubectl replace`
    #[arg(long, group = "request")]
    pub replace: bool,
    /// Simulate `kubectl create`: an object that exists, in --old or in the cluster, is rejected (`AlreadyExists`)
    #[arg(long, group = "request")]
    pub create: bool,
    /// Write a subresource: status is replaced (or applied with --server-side), scale receives the replicas of the
    /// object
    #[arg(long, value_name = "NAME", ignore_case = true, conflicts_with = "create")]
    pub subresource: Option<Subresource>,
    /// With --server-side, take over fields that other managers own
    #[arg(long, requires = "server_side")]
    pub force_conflicts: bool,
    /// The field manager [default: kubectl's]
    #[arg(long, value_name = "NAME")]
    pub field_manager: Option<String>,
}

impl Updates {
    /// Returns the kind of request.
    pub fn request_kind(&self) -> RequestKind {
        let verb = match (self.server_side, self.replace, self.create) {
            (true, ..) => Verb::ServerSide,
            (_, true, _) => Verb::Replace,
            (_, _, true) => Verb::Create,
            _ => Verb::Apply,
        };
        RequestKind {
            verb,
            subresource: self.subresource.map(Into::into),
            force: self.force_conflicts,
            manager: self.field_manager.clone(),
        }
    }
}

/// `--subresource`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Subresource {
    /// The status
    Status,
    /// The replicas
    Scale,
}

impl From<Subresource> for kubectl::Subresource {
    fn from(flag: Subresource) -> Self {
        match flag {
            Subresource::Status => Self::Status,
            Subresource::Scale => Self::Scale,
        }
    }
}
