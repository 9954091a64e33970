//! The lock of a state file, which keeps other processes from opening it under any name.
//!
//! The lock is on the file itself (`flock`), so links and other paths to it are covered. Compaction replaces the file by a
//! rename: the new file is locked before it gets the name, so that the name never refers to an unlocked file. A process
//! that locks a file checks afterwards that the name still refers to it.
//!
//! A lock on Windows (`LockFileEx`) would also keep this process from reading the file through other handles. There,
//! `FILE.lock` beside the resolved path is locked, which covers symbolic links, but not hard links.

use crdx_files::open;
use crdx_value::lock::lock;
use std::fs::{self, File, Metadata, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Mutex;

/// The number of times that the file may be replaced while it is being opened.
const ATTEMPTS: usize = 100;

/// A locked state file.
#[derive(Debug)]
pub(super) struct Lock {
    file: Mutex<File>,
    /// The former mode of the file, if others could read or write it.
    pub was_open: Option<u32>,
}

/// The reason why a file cannot be locked.
#[derive(Debug, thiserror::Error)]
pub(super) enum LockError {
    /// Another process has locked it.
    #[error("it is in use")]
    InUse,
    /// The operating system refuses an operation.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A file beside the state file that belongs to neither its owner nor this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it belongs to another user, who could have planted it: remove it")]
pub(super) struct ForeignFileError;

/// The path of the state file refers to another file, or to none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the file was removed or replaced while it was open: stop this serve and start it again")]
pub(super) struct ReplacedError;

impl Lock {
    /// Opens or creates the file at a resolved path and locks it.
    ///
    /// # Errors
    /// Returns an error if the path is not a regular file or another process has locked it.
    pub fn acquire(path: &Path) -> Result<Self, LockError> {
        for _ in 0..ATTEMPTS {
            let file = open::private(path)?;
            let locked = if cfg!(unix) { file } else { open::private(&super::with_suffix(path, "lock"))? };
            try_lock(&locked)?;
            if cfg!(not(unix)) || is_at(&locked, path)? {
                // The mode of another user's file remains.
                let was_open = open::make_private(&locked).ok().flatten();
                return Ok(Self { file: Mutex::new(locked), was_open });
            }
        }
        Err(LockError::InUse)
    }

    /// Locks the file at `from` and renames it to `to`; then releases the lock of the file that it replaces.
    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        if cfg!(not(unix)) {
            return fs::rename(from, to);
        }
        // Someone may have removed the file, and another process may use a new one with its name.
        if !is_at(&lock(&self.file), to)? {
            return Err(io::Error::other(ReplacedError));
        }
        let new = open::appended(from)?;
        try_lock(&new).map_err(|error| match error {
            LockError::InUse => io::ErrorKind::ResourceBusy.into(),
            LockError::Io(error) => error,
        })?;
        fs::rename(from, to)?;
        *lock(&self.file) = new;
        Ok(())
    }

    /// Refuses a file of a user other than the owner of the state file and the user of this process.
    #[cfg(unix)]
    pub fn check_owner(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::MetadataExt;
        let owner = file.metadata()?.uid();
        let own = lock(&self.file).metadata()?.uid();
        let process = rustix::process::geteuid().as_raw();
        if [own, process].contains(&owner) { Ok(()) } else { Err(io::Error::other(ForeignFileError)) }
    }

    /// Other systems do not give files of one directory different owners by default.
    #[cfg(not(unix))]
    pub fn check_owner(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

fn try_lock(file: &File) -> Result<(), LockError> {
    file.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => LockError::InUse,
        TryLockError::Error(error) => error.into(),
    })
}

/// Returns true if the path still refers to this file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(found) => Ok(is_same(&file.metadata()?, &found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}
