//! The live cluster, through kube. The only request this crate can send is a GET.
//!
//! Async code does not leave this crate, and nothing is set up before the first [`Connection::open`]. [`configuration`] selects
//! the cluster and user, [`credentials`] identifies the user, [`connection`] sends requests, [`pages`] and [`watch`] read long responses, [`cache`] stores data
//! that changes rarely; [`discovery`], [`definitions`] and [`admission`] are the requests themselves. [`download`] reads files from other servers.
//!
//! No error contains a text of a kubeconfig, of a credential plugin or of a proxy's URL other than names and paths: it may be
//! a secret.
//!
//! Without the feature `cluster`, [`Connection::open`] fails.
//!
//! [`configuration`]: self::configuration
//! [`credentials`]: self::credentials

// Without the feature `cluster`, a connection cannot be opened, and little of this crate is used.
#![cfg_attr(not(feature = "cluster"), allow(dead_code))]

mod admission;
mod answer;
mod cache;
#[cfg(feature = "cluster")]
mod configuration;
#[cfg_attr(not(feature = "cluster"), path = "no_connection.rs")]
mod connection;
mod context;
#[cfg(feature = "cluster")]
mod credentials;
mod definitions;
mod discovery;
#[cfg(feature = "cluster")]
pub mod download;
#[cfg(feature = "cluster")]
mod fields;
#[cfg(feature = "cluster")]
mod kubeconfig;
#[cfg(feature = "cluster")]
pub mod kuberc;
mod limits;
pub mod log;
mod pages;
#[cfg(feature = "cluster")]
mod plugin;
#[cfg(feature = "cluster")]
mod proxy;
mod raw;
mod saved;
mod secret;
mod settings;
#[cfg(feature = "cluster")]
mod tls;
mod version;
mod warnings;
mod watch;

pub use admission::Written;
pub use connection::{Connection, PendingResponse};
pub use context::{is_configured, names, namespace_or_default};
pub use crdx_engine::cluster::{Error, Resource, Status};
pub use crdx_files::cache::directory as default_cache_dir;
pub use discovery::{AGGREGATED, aggregated, find};
pub use pages::{Page, Pages, Query};
#[cfg(feature = "cluster")]
pub use proxy::from_environment as proxy_from_environment;
pub use secret::Secret;
pub use settings::{LiveSettings, settings};
pub use version::{Simulated, simulated};
pub use watch::Watch;

use std::path::PathBuf;
use std::time::Duration;

/// `Accept` for JSON.
pub const JSON: &str = "application/json";
/// `Accept` for a Table, or JSON if the server has none.
pub const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";

/// The flags that select a cluster and user. `None` or empty means the kubeconfig's value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClusterFlags {
    /// `--kubeconfig`
    pub kubeconfig: Option<PathBuf>,
    /// `--context`
    pub context: Option<String>,
    /// `--cluster`
    pub cluster: Option<String>,
    /// `--user`
    pub user: Option<String>,
    /// `--server`
    pub server: Option<String>,
    /// `--certificate-authority`
    pub certificate_authority: Option<PathBuf>,
    /// `--insecure-skip-tls-verify`
    pub insecure_skip_tls_verify: bool,
    /// `--tls-server-name`
    pub tls_server_name: Option<String>,
    /// `--token`
    pub token: Option<Secret>,
    /// `--client-certificate`
    pub client_certificate: Option<PathBuf>,
    /// `--client-key`
    pub client_key: Option<PathBuf>,
    /// `--as`
    pub as_user: Option<String>,
    /// `--as-group`
    pub as_groups: Vec<String>,
    /// `--as-uid`
    pub as_uid: Option<String>,
    /// `--profile`: a saved cluster, which is read in place of one
    pub profile: Option<PathBuf>,
    /// `--kuberc`
    pub kuberc: Option<PathBuf>,
    /// `--request-timeout`; `None` waits as long as data keeps arriving
    pub request_timeout: Option<Duration>,
    /// The cache directory for discovery and CRDs; `None` disables the cache
    pub cache: Option<PathBuf>,
}
