//! The cache of this user, which only they can read.

use std::env;
use std::fs::DirBuilder;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The variable that names the cache directory.
pub const VARIABLE: &str = "CRDX_CACHE";

/// The cache directory: the one that the variable names, otherwise one in the user's cache directory.
pub fn directory() -> Option<PathBuf> {
    let named = env::var_os(VARIABLE).filter(|name| !name.is_empty()).map(PathBuf::from);
    named.or_else(|| dirs::cache_dir().map(|dir| dir.join("kubectl-crdx")))
}

/// Writes a file atomically, and creates its directory.
///
/// # Errors
/// Returns an error if the disk is full or may not be written to.
pub fn write(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    create(directory)?;
    let mut file = tempfile::NamedTempFile::new_in(directory)?;
    file.write_all(bytes)?;
    file.persist(directory.join(name)).map_err(|error| error.error)?;
    Ok(())
}

/// Creates a directory that only its owner can read.
fn create(directory: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(directory)
}
