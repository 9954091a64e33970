//! The errors of a state file.

use super::line::LineError;
use std::io;
use std::path::{Path, PathBuf};

/// The reason why a state file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// Another process uses it.
    #[error("{} is in use: stop the other serve, or use another file", .0.display())]
    InUse(PathBuf),
    /// It is a file of another kind.
    #[error("{} is not a state file of kubectl crdx: choose another name", .0.display())]
    OtherFormat(PathBuf),
    /// One of its lines cannot be restored.
    #[error("{}: {error}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        error: Box<LineError>,
    },
    /// The operating system refuses an operation.
    #[error("cannot {operation} {}: {error}", path.display())]
    Io {
        operation: &'static str,
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

/// The reason why an open state file is not written any more.
#[derive(Debug, thiserror::Error)]
pub enum StateFailure {
    /// A write failed. The commits before it are complete.
    #[error("the state file {} cannot be written: {error}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
    /// A sync failed. The commits since the last sync may be lost.
    #[error("the state file {} cannot be synced to disk: {error}", path.display())]
    Sync {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        error: io::Error,
    },
}

impl StateFailure {
    pub(super) fn write(path: &Path, error: io::Error) -> Self {
        Self::Write { path: path.to_owned(), error }
    }

    pub(super) fn sync(path: &Path, error: io::Error) -> Self {
        Self::Sync { path: path.to_owned(), error }
    }

    /// Returns a message that says what to do, and which writes are in the file.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Write { error, .. } if is_full(error) => {
                "free disk space and start again; acknowledged writes are kept"
            }
            Self::Write { .. } => "check the disk and start again; acknowledged writes are kept",
            Self::Sync { .. } => "check the disk and start again; writes acknowledged in the last seconds may be lost",
        }
    }
}

fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
