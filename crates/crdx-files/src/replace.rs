//! Replacing a file of the user: the new text is written to a temporary file in the same directory, which then gets the
//! name of the file. After a crash or on a full disk, the file has either its old or its new text.

use super::check_regular;
use super::open::resolved;
use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes a file. Through a symbolic link, its target is replaced and the link remains. The mode is kept.
///
/// # Errors
/// Returns an error if the path is not a regular file, the file may not be written, or the disk is full.
pub fn replace(path: &Path, text: &[u8]) -> io::Result<()> {
    let path = resolved(path)?;
    let directory = path.parent().unwrap_or(Path::new("."));
    let existing = match fs::metadata(&path) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut file = match &existing {
        Some(metadata) => {
            check_regular(metadata)?;
            // A file that may not be written may not be replaced either.
            drop(File::options().append(true).open(&path)?);
            NamedTempFile::new_in(directory)?
        }
        None => new_file(directory)?,
    };
    file.write_all(text)?;
    if let Some(metadata) = existing {
        keep_owner(file.as_file(), &metadata);
        file.as_file().set_permissions(permissions(&metadata))?;
    }
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

fn permissions(metadata: &fs::Metadata) -> Permissions {
    metadata.permissions()
}

/// A temporary file whose mode is that of any new file of this process.
fn new_file(directory: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

/// Gives the new file the owner of the old one, if this process may: root edits files of others.
#[cfg(unix)]
fn keep_owner(file: &File, metadata: &fs::Metadata) {
    use std::os::unix::fs::{MetadataExt, fchown};
    let is_other = file.metadata().is_ok_and(|new| (new.uid(), new.gid()) != (metadata.uid(), metadata.gid()));
    if is_other {
        let _ = fchown(file, Some(metadata.uid()), Some(metadata.gid()));
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: &fs::Metadata) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    #[test]
    fn a_link_and_the_mode_remain() {
        let directory = tempfile::tempdir().unwrap();
        let (file, link) = (directory.path().join("file"), directory.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o640)).unwrap();
        symlink("file", &link).unwrap();
        replace(&link, b"new").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        // Nothing is left beside it.
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
        replace(&directory.path().join("other"), b"x").unwrap();
        assert_eq!(fs::read(directory.path().join("other")).unwrap(), b"x");
    }

    #[test]
    fn other_things_are_not_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [pipe.as_path(), Path::new("/dev/null"), directory.path()] {
            let error = replace(path, b"x").unwrap_err().to_string();
            assert!(error.contains("only a regular file"), "{error}");
        }
    }
}
