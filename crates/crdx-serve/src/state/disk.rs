//! The file operations of a state file. Tests replace them by a disk that fails on demand.
//!
//! The directory may be one in which others can create files, such as `/tmp`. The path of the file is resolved once;
//! after that, no symbolic link is followed: the files beside it are opened without following links, and created only
//! if nothing has their name.

use super::lock::Lock;
use crdx_files::open;
use std::fmt::Debug;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Opens, renames and removes files.
pub(super) trait Disk: Debug + Send + Sync {
    /// Reads a whole file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// Creates an empty file, which replaces an existing one.
    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens an existing file to append to it.
    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Renames a file and replaces the file at `to`, whose lock the renamed file has from then on.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Syncs the directory of `path`, so that created, renamed and removed names are stored on disk.
    fn sync_directory(&self, path: &Path) -> io::Result<()>;
}

/// A file to which bytes are appended.
pub(super) trait DiskFile: Debug + Send + Sync {
    /// Appends all bytes. After an error, any number of them may have been appended.
    fn write_all(&self, bytes: &[u8]) -> io::Result<()>;
    /// Syncs the content to disk. After an error, any bytes since the last sync may be lost, even if a later sync
    /// succeeds: Linux drops pages that it could not write.
    fn sync(&self) -> io::Result<()>;
}

/// The file system of the operating system, on which one state file is locked.
#[derive(Debug)]
pub(super) struct FileSystem(pub Lock);

impl Disk for FileSystem {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut file = open::unlinked(path)?;
        self.0.check_owner(&file)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        // A file that a crash left behind, or a planted link; removing a link does not affect its target.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Arc::new(open::created(path)?))
    }

    fn append(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(open::appended(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        if cfg!(not(unix)) {
            return Ok(());
        }
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        File::open(directory)?.sync_all()
    }
}

impl DiskFile for File {
    fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = self;
        Write::write_all(&mut file, bytes)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// Appends to a file through [`Write`] and counts the bytes.
#[derive(Debug)]
pub(super) struct Appender<'a> {
    pub file: &'a dyn DiskFile,
    pub bytes: u64,
}

impl Write for Appender<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write_all(bytes)?;
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns `FILE.suffix`, in the same directory.
pub(super) fn with_suffix(path: &Path, what: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(what);
    name.into()
}
