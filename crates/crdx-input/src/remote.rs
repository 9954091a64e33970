//! CRDs with a URL. `kubectl crdx fetch` downloads them and writes their hashes to a lock; everything else reads the
//! downloaded files from the cache. This module opens no connection.

pub mod lock;
pub mod url;

use crdx_files::cache;
use crdx_files::digest::sha256;
use crdx_files::open::read_small;
use crdx_files::project::{self, LOCK};
use lock::{Lock, LockError};
use std::env;
use std::io;
use std::path::{Path, PathBuf};

/// The largest download, in bytes.
pub const MAX_DOWNLOAD: u64 = super::archive::LIMIT;

/// A downloaded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// The URL without credentials.
    pub name: String,
    /// The file in the cache.
    path: PathBuf,
    sha256: String,
}

/// The reason why a URL is not read.
#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    /// It has a scheme that is not downloaded.
    #[error("{0} cannot be downloaded: its scheme is none of http, https, oci, helm+http and helm+https")]
    Scheme(String),
    /// The lock is invalid.
    #[error("{}: {error}", .path.display())]
    Lock {
        /// The lock.
        path: PathBuf,
        /// What is wrong.
        error: LockError,
    },
    /// The lock does not have it.
    #[error("{name} is not in {}, so it is not known what it should contain", .path.display())]
    NotLocked {
        /// The URL without credentials.
        name: String,
        /// The lock.
        path: PathBuf,
    },
    #[error("{0} is not in the cache")]
    NotCached(String),
    /// The file in the cache cannot be read.
    #[error("the copy of {0} in the cache cannot be read: {1}")]
    Unreadable(String, io::Error),
    /// The file in the cache has other content.
    #[error("the copy of {0} in the cache does not have the hash of the lock")]
    Changed(String),
    #[error("there is no directory for the cache")]
    NoCache,
}

impl RemoteError {
    /// What the user can do about `url`.
    pub fn hint(&self, url: &str) -> String {
        match self {
            Self::Scheme(_) => "download it yourself, and name the file".to_owned(),
            Self::Lock { .. } => "correct it, or delete it and run kubectl crdx fetch".to_owned(),
            Self::NoCache => format!("set the variable {} to a directory", cache::VARIABLE),
            _ if url::name(url) == url => format!("download it: kubectl crdx fetch --crds {url}"),
            _ => "download it: kubectl crdx fetch --crds URL, with the URL as it is given here".to_owned(),
        }
    }
}

/// Returns the path of the lock that applies in `directory`; by default the working directory.
pub fn lock_path(directory: Option<&Path>) -> PathBuf {
    let working_directory = || env::current_dir().unwrap_or_default();
    let start = directory.map_or_else(working_directory, Path::to_owned);
    let found = project::directory(&start);
    // A path below the working directory is shown as such.
    if directory.is_none() && found == start { PathBuf::from(LOCK) } else { found.join(LOCK) }
}

/// Returns the path of a file in the cache.
///
/// # Errors
/// There is no cache.
pub fn cache_path() -> Result<PathBuf, RemoteError> {
    cache::directory().map(|cache| cache.join("downloads")).ok_or(RemoteError::NoCache)
}

impl Remote {
    /// Returns the sources of an entry of the catalog in the lock that applies in `directory`.
    ///
    /// # Errors
    /// It was not fetched.
    pub fn sources(entry: &str, directory: Option<&Path>) -> Result<Vec<String>, RemoteError> {
        let path = lock_path(directory);
        let lock = Lock::read(&path).map_err(|error| RemoteError::Lock { path: path.clone(), error })?;
        let sources = lock.sources(entry).to_vec();
        if sources.is_empty() { Err(RemoteError::NotLocked { name: entry.to_owned(), path }) } else { Ok(sources) }
    }

    /// Returns the names of all URLs in the lock that applies in `directory`.
    ///
    /// # Errors
    /// The lock is invalid.
    pub fn names(directory: Option<&Path>) -> Result<Vec<String>, RemoteError> {
        let path = lock_path(directory);
        let lock = Lock::read(&path).map_err(|error| RemoteError::Lock { path, error })?;
        Ok(lock.names().map(str::to_owned).collect())
    }

    /// Finds a URL in the lock that applies in `directory`.
    ///
    /// # Errors
    /// It was not fetched.
    pub fn find(url: &str, directory: Option<&Path>) -> Result<Self, RemoteError> {
        let name = url::name(url);
        if url::kind(url).is_none() {
            return Err(RemoteError::Scheme(name));
        }
        let path = lock_path(directory);
        let lock = Lock::read(&path).map_err(|error| RemoteError::Lock { path: path.clone(), error })?;
        let Some(sha256) = lock.hash(&name) else { return Err(RemoteError::NotLocked { name, path }) };
        let path = cache_path()?.join(sha256);
        if !path.is_file() {
            return Err(RemoteError::NotCached(name));
        }
        Ok(Self { name, path, sha256: sha256.to_owned() })
    }

    /// The file in the cache.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the file.
    ///
    /// # Errors
    /// It does not have the hash of the lock.
    pub fn read(&self) -> Result<Vec<u8>, RemoteError> {
        let unreadable = |error| RemoteError::Unreadable(self.name.clone(), error);
        let content = read_small(&self.path, MAX_DOWNLOAD).map_err(unreadable)?;
        if sha256(&content) == self.sha256 { Ok(content) } else { Err(RemoteError::Changed(self.name.clone())) }
    }
}
