//! Opens, creates and replaces files without following planted links and without waiting for pipes.
//!
//! [`open`] opens what a path names, [`input_size`] counts what was read, [`replace`] rewrites a file of the user, [`cache`] has files that can be downloaded again,
//! [`project`] finds the directory of a project.

pub mod cache;
pub mod digest;
pub mod input_size;
pub mod open;
pub mod project;
pub mod replace;

use std::fs::{FileType, Metadata};
use std::io;

/// The largest file that is read whole, in bytes: as large as the largest document of an input.
pub(crate) const MAX_FILE: u64 = 256 << 20;

/// A path names something other than a regular file of bounded size; in an [`io::Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoFileError {
    /// It is a directory, a pipe, a device or a socket.
    #[error("it is {0}, and only a regular file is read here: name a file")]
    NotRegular(&'static str),
    /// It is longer than the maximum, in bytes.
    #[error("it is larger than {0} bytes: name a smaller file")]
    TooLarge(u64),
}

impl From<NoFileError> for io::Error {
    fn from(error: NoFileError) -> Self {
        Self::new(io::ErrorKind::InvalidInput, error)
    }
}

/// Checks that this is a regular file.
///
/// # Errors
/// Returns [`NoFileError::NotRegular`] for anything else.
pub fn check_regular(metadata: &Metadata) -> Result<(), NoFileError> {
    if metadata.is_file() { Ok(()) } else { Err(NoFileError::NotRegular(kind(metadata.file_type()))) }
}

#[cfg(unix)]
fn kind(file_type: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    match file_type {
        t if t.is_dir() => "a directory",
        t if t.is_fifo() => "a named pipe",
        t if t.is_socket() => "a socket",
        t if t.is_symlink() => "a symbolic link",
        _ => "a device",
    }
}

#[cfg(not(unix))]
fn kind(file_type: FileType) -> &'static str {
    match file_type {
        t if t.is_dir() => "a directory",
        t if t.is_symlink() => "a symbolic link",
        _ => "a device",
    }
}
