//! Opening and creating files.

use super::{MAX_FILE, NoFileError, check_regular, input_size};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The mode of files that only their owner may read and write.
#[cfg(unix)]
const PRIVATE: u32 = 0o600;

/// Opens a regular file for reading. Opening a pipe or a device does not block.
///
/// # Errors
/// Returns [`NoFileError`] for anything but a regular file.
pub fn regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    without_blocking(&mut options);
    opened(&options, path)
}

/// Reads a regular file of at most [`MAX_FILE`] bytes.
///
/// # Errors
/// Returns [`NoFileError`] for anything else.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_up_to(regular(path)?, MAX_FILE, &mut bytes)?;
    Ok(bytes)
}

/// Reads a regular file of at most `limit` bytes.
///
/// # Errors
/// Returns [`NoFileError`] for anything else.
pub fn read_small(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_up_to(regular(path)?, limit, &mut bytes)?;
    Ok(bytes)
}

/// Reads a file, which may be a pipe that the user names, such as `/dev/stdin`, up to [`MAX_FILE`] bytes.
///
/// # Errors
/// Returns [`NoFileError::TooLarge`] for more bytes.
pub fn read_any(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_up_to(File::open(path)?, MAX_FILE, &mut bytes)?;
    Ok(bytes)
}

fn read_up_to(file: File, limit: u64, bytes: &mut Vec<u8>) -> io::Result<()> {
    file.take(limit + 1).read_to_end(bytes)?;
    input_size::add(bytes.len());
    if bytes.len() as u64 > limit { Err(NoFileError::TooLarge(limit).into()) } else { Ok(()) }
}

/// The path without symbolic links. The file itself need not exist, but a link to a missing file is an error.
///
/// # Errors
/// Returns an error if the directory or the target of a link does not exist.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
            let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
            let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
            Ok(fs::canonicalize(directory)?.join(name))
        }
        found => found,
    }
}

/// Opens a file at a [`resolved`] path for reading and writing, or creates it so that only its owner may read it.
///
/// # Errors
/// Returns an error for a symbolic link and for anything but a regular file.
pub fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    without_links(&mut options);
    opened(&options, path)
}

/// Opens an existing file at a [`resolved`] path for reading.
///
/// # Errors
/// Returns an error for a symbolic link and for anything but a regular file.
pub fn unlinked(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    without_links(&mut options);
    opened(&options, path)
}

/// Opens an existing file at a [`resolved`] path to append to it.
///
/// # Errors
/// Returns an error for a symbolic link and for anything but a regular file.
pub fn appended(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true);
    without_links(&mut options);
    opened(&options, path)
}

/// Creates a file that does not exist yet and that only its owner may read.
///
/// # Errors
/// Returns an error if the path exists, even as a link to a missing file.
pub fn created(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    without_links(&mut options);
    options.open(path)
}

/// Opens a file, pipe or device to append to it. A new file, and one of this user, may then be read by its owner only.
///
/// # Errors
/// Returns an error if it cannot be opened.
pub fn private_log(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).append(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, PRIVATE);
    let file = options.open(path)?;
    // A file of another user stays as it is.
    let _ = make_private(&file);
    Ok(file)
}

/// Takes the permissions of a regular file from everyone but its owner. Returns the former mode if others could read or
/// write the file.
///
/// # Errors
/// Returns an error if the file belongs to another user.
#[cfg(unix)]
pub fn make_private(file: &File) -> io::Result<Option<u32>> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = file.metadata()?;
    let mode = metadata.permissions().mode() & 0o777;
    let is_private = mode == mode & 0o700;
    if !metadata.is_file() || is_private {
        return Ok(None);
    }
    file.set_permissions(fs::Permissions::from_mode(mode & 0o700))?;
    Ok(Some(mode))
}

/// Other systems give a new file the permissions of its directory, which on Windows are private below the user's profile.
#[cfg(not(unix))]
pub fn make_private(_: &File) -> io::Result<Option<u32>> {
    Ok(None)
}

fn opened(options: &OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

#[cfg(unix)]
fn without_blocking(options: &mut OpenOptions) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    options.custom_flags(OFlags::NONBLOCK.bits() as i32);
}

#[cfg(unix)]
fn without_links(options: &mut OpenOptions) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    options.mode(PRIVATE).custom_flags((OFlags::NONBLOCK | OFlags::NOFOLLOW).bits() as i32);
}

/// Opening a named pipe does not wait for its writer on Windows.
#[cfg(not(unix))]
fn without_blocking(_: &mut OpenOptions) {}

/// `FILE_FLAG_OPEN_REPARSE_POINT`: a symbolic link is opened itself, which is no regular file.
#[cfg(windows)]
fn without_links(options: &mut OpenOptions) {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

#[cfg(not(any(unix, windows)))]
fn without_links(_: &mut OpenOptions) {}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_regular_files_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let (file, pipe, link) =
            (directory.path().join("file"), directory.path().join("pipe"), directory.path().join("link"));
        fs::write(&file, "text").unwrap();
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        symlink(&file, &link).unwrap();
        assert_eq!(read_regular(&link).unwrap(), b"text");
        let refused = |path: &Path| read_regular(path).unwrap_err().to_string();
        assert_eq!(refused(&pipe), "it is a named pipe, and only a regular file is read here: name a file");
        assert_eq!(
            refused(Path::new("/dev/zero")),
            "it is a device, and only a regular file is read here: name a file"
        );
        assert!(refused(directory.path()).starts_with("it is a directory"));
        let error = read_small(&file, 3).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 3 bytes: name a smaller file");
        assert!(read_small(&file, 4).is_ok() && read_any(&file).is_ok());
    }

    #[test]
    fn links_are_resolved_only_where_they_are_expected() {
        let directory = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(directory.path()).unwrap();
        let (file, link, dangling) = (base.join("file"), base.join("link"), base.join("dangling"));
        fs::write(&file, "text").unwrap();
        symlink("file", &link).unwrap();
        symlink("missing", &dangling).unwrap();
        assert_eq!(resolved(&link).unwrap(), file);
        assert_eq!(resolved(&base.join("new")).unwrap(), base.join("new"));
        assert!(resolved(&dangling).is_err() && resolved(&base.join("missing/new")).is_err());
        for opened in [private(&link), unlinked(&link), appended(&link), created(&link), created(&dangling)] {
            assert!(opened.is_err());
        }
        assert!(!base.join("missing").exists());
    }

    #[test]
    fn new_files_are_private() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        for (name, file) in [("a", private(&path("a"))), ("b", created(&path("b"))), ("c", private_log(&path("c")))] {
            file.unwrap();
            assert_eq!(mode(&path(name)), 0o600, "{name}");
        }
        fs::set_permissions(path("c"), fs::Permissions::from_mode(0o644)).unwrap();
        drop(private_log(&path("c")).unwrap());
        assert_eq!(mode(&path("c")), 0o600);
        assert!(private_log(Path::new("/dev/null")).is_ok());
    }
}
