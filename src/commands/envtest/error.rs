//! The errors of `envtest` and of the programs that it writes.

use super::flags::FlagError;
use crate::commands::flags::admission_configuration::AdmissionConfigurationError;
use crate::commands::flags::static_policies::StaticPoliciesError;
use crdx_input::profile::ProfileError;
use crdx_serve::{AuthenticationError, TlsError};
use crdx_server::server::{RuntimeConfigError, SettingsError};
use crdx_value::release::FeatureGatesError;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a program cannot run, or the folder cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum EnvtestError {
    /// A flag is not valid.
    #[error(transparent)]
    Flag(#[from] FlagError),
    /// A text sets no feature gates.
    #[error("--feature-gates: {0}")]
    Gates(#[from] FeatureGatesError),
    /// A server of the release does not accept the settings.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The configuration of admission plugins cannot be used.
    #[error("--admission-control-config-file: {0}")]
    Admission(#[from] AdmissionConfigurationError),
    /// The server does not start with its policies in files.
    #[error("--admission-control-config-file: {0}")]
    Policies(#[from] StaticPoliciesError),
    /// A text is no `--runtime-config`.
    #[error("--runtime-config: {0}")]
    RuntimeConfig(#[from] RuntimeConfigError),
    /// The profile cannot be used.
    #[error(transparent)]
    Profile(#[from] ProfileError),
    /// The profile cannot be opened.
    #[error("{}", .0.text())]
    ProfileConnection(#[from] crdx_cluster::Error),
    /// A server of the release does not accept the settings of the profile.
    #[error("{0}")]
    ProfileSettings(String),
    /// A flag needs another one.
    #[error("--{0} needs --{1}")]
    Needs(&'static str, &'static str),
    /// The port 0 is requested, which clients cannot find.
    #[error("--secure-port: 0 is not a port: give one from 1 to 65535")]
    NoPort,
    /// The name of the folder is a version that is not simulated.
    #[error("the folder {}: {error}", path.display())]
    Version {
        /// The folder.
        path: PathBuf,
        error: crdx_value::release::UnknownRelease,
    },
    /// The file to replace is not one that this command wrote.
    #[error("{} is not a {kind} that this command wrote: name another directory with --dir", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// `link` or `copy`
        kind: &'static str,
    },
    /// The operating system refuses an operation.
    #[error("{operation} {}: {error}", path.display())]
    Io {
        /// The operation, such as `cannot read`.
        operation: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The directory is not a path.
    #[error("{}: {error}", path.display())]
    Path {
        /// The directory.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// The path of this program is not known.
    #[error("the path of this program is unknown: {0}")]
    Program(io::Error),
    /// The credentials of clients cannot be read.
    #[error("credentials of clients: {0}")]
    Credentials(AuthenticationError),
    /// The certificate of the server cannot be generated.
    #[error("cannot make a certificate: {0}")]
    NoCertificate(TlsError),
    /// The certificate of the server cannot be used.
    #[error(transparent)]
    Certificate(#[from] TlsError),
    /// The server cannot be started.
    #[error("cannot serve: {0}")]
    Serve(io::Error),
    /// The health checks of etcd cannot be served.
    #[error(transparent)]
    Etcd(io::Error),
}

impl EnvtestError {
    /// An operation that the operating system refuses.
    pub fn io(operation: &'static str, path: &Path, error: io::Error) -> Self {
        Self::Io { operation, path: path.to_owned(), error }
    }
}
