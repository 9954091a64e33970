//! Copies of directories, in which files are replaced before a program renders them.

use super::normal;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The deepest directory that is copied.
const MAX_DEPTH: usize = 32;

/// The bytes that a file or directory takes in addition to its content, so that links in a circle and empty files are limited, too.
const ENTRY: u64 = 256;

/// The limits of a copy.
#[derive(Clone, Debug)]
pub struct Copy {
    /// The number of bytes that are left.
    pub left: u64,
    /// The directory without links that no link may lead out of, if there is one. Links that do are not copied.
    pub within: Option<PathBuf>,
}

impl Copy {
    /// Copies a file or a directory with what is in it.
    ///
    /// # Errors
    /// `FileTooLarge` if it has more bytes than are left; a file cannot be read or written.
    pub fn copy(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        self.copy_below(from, to, 0)
    }

    fn copy_below(&mut self, from: &Path, to: &Path, depth: usize) -> io::Result<()> {
        let Some(from) = self.resolved(from)? else { return Ok(()) };
        let metadata = fs::metadata(&from)?;
        let content = if metadata.is_file() { metadata.len() } else { 0 };
        self.left = self.left.checked_sub(ENTRY + content).ok_or(io::ErrorKind::FileTooLarge)?;
        if metadata.is_file() {
            fs::create_dir_all(to.parent().unwrap_or(to))?;
            return fs::copy(&from, to).map(drop);
        }
        if !metadata.is_dir() || depth > MAX_DEPTH {
            return Ok(());
        }
        fs::create_dir_all(to)?;
        for entry in fs::read_dir(&from)? {
            let entry = entry?;
            if entry.file_name() != ".git" {
                self.copy_below(&entry.path(), &to.join(entry.file_name()), depth + 1)?;
            }
        }
        Ok(())
    }

    /// Returns the path to read; `None` for a link that is not copied.
    fn resolved(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let Some(within) = &self.within else { return Ok(Some(path.to_owned())) };
        match fs::canonicalize(path) {
            Ok(path) => Ok(path.starts_with(within).then_some(path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Returns a path as seen from a directory without links above it; `None` if it is not in there.
pub fn relative(path: &Path, root: &Path) -> Option<PathBuf> {
    let absolute = fs::canonicalize(".").ok()?.join(path);
    Some(normal(&absolute).strip_prefix(root).ok()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_limited() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/.git")).unwrap();
        fs::write(dir.path().join("a/.git/config"), "long enough to fail").unwrap();
        fs::write(dir.path().join("a/b"), "12345").unwrap();
        let copy = |left: u64| Copy { left, within: None }.copy(&dir.path().join("a"), &dir.path().join("to"));
        assert_eq!(copy(2 * ENTRY + 4).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
        copy(2 * ENTRY + 5).unwrap();
        assert!(dir.path().join("to/b").is_file() && !dir.path().join("to/.git").exists());
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_are_not_copied() {
        let dir = tempfile::tempdir().unwrap();
        let top = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(top.join("repository/a")).unwrap();
        fs::write(top.join("secret"), "s").unwrap();
        fs::write(top.join("repository/shared"), "t").unwrap();
        for (name, target) in [("out", "../../secret"), ("in", "../shared"), ("dangling", "none"), ("loop", ".")] {
            std::os::unix::fs::symlink(target, top.join("repository/a").join(name)).unwrap();
        }
        let mut copy = Copy { left: 1 << 20, within: Some(top.join("repository")) };
        copy.copy(&top.join("repository/a"), &top.join("to")).unwrap();
        assert_eq!(fs::read_to_string(top.join("to/in")).unwrap(), "t");
        assert!(!top.join("to/out").exists() && !top.join("to/dangling").exists());
    }
}
