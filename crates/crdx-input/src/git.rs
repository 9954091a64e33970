//! Files as of a commit, `git:REF`. git runs as a process, as for [`super::committed`]: it runs no other program, fetches
//! nothing and writes nothing.

use super::committed::run;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time limit of git.
const LIMIT: Duration = Duration::from_secs(30);

/// Returns the name of the commit in `git:REF`; `None` for any other text.
pub fn reference(text: &str) -> Option<&str> {
    text.strip_prefix("git:")
}

/// A commit of the repository that contains a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    directory: PathBuf,
    /// The identifier.
    id: String,
}

/// The reason why a commit cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitError {
    /// There is no such commit, no repository or no git.
    #[error("git finds no commit {0:?} here")]
    NoCommit(String),
    /// A file that the commit has cannot be read.
    #[error("git cannot read {} of commit {commit}", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The identifier of the commit.
        commit: String,
    },
}

impl Commit {
    /// Finds the commit `reference`, such as `main` or `HEAD~1`, of the repository that contains `directory`.
    ///
    /// # Errors
    /// There is no such commit.
    pub fn resolve(directory: &Path, reference: &str) -> Result<Self, GitError> {
        let none = || GitError::NoCommit(reference.to_owned());
        let revision = format!("{reference}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", "--end-of-options", &revision];
        let output = run(directory, &arguments, LIMIT).ok_or_else(none)?;
        let id = String::from_utf8(output).map_err(|_| none())?.trim().to_owned();
        let is_id = id.len() >= 40 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_id { Ok(Self { directory: directory.to_owned(), id }) } else { Err(none()) }
    }

    /// Returns the files of the commit at `path`, a file or a directory, with the subdirectories of a directory. They are
    /// paths below `path`, or `path` itself.
    ///
    /// # Errors
    /// The commit cannot be read.
    pub fn files(&self, path: &Path) -> Result<Vec<PathBuf>, GitError> {
        let (directory, name) = match path.file_name() {
            // The parent of the root of the repository is outside of it.
            Some(name) if !self.directory.join(path).is_dir() => {
                (path.parent().unwrap_or(Path::new("")), PathBuf::from(name))
            }
            // `.` and `..` have no name.
            _ => (path, PathBuf::from(".")),
        };
        let unreadable = || GitError::Unreadable { path: path.to_owned(), commit: self.id.clone() };
        let place = self.directory.join(directory);
        // A directory that no longer exists has no files that the working directory could name.
        if !place.is_dir() {
            return Ok(Vec::new());
        }
        let name = name.to_str().ok_or_else(unreadable)?;
        let arguments = ["ls-tree", "-r", "-z", "--name-only", &self.id, "--", name];
        let output = run(&place, &arguments, LIMIT).ok_or_else(unreadable)?;
        let names = output.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        names.map(|name| std::str::from_utf8(name).map(|name| directory.join(name)).map_err(|_| unreadable())).collect()
    }

    /// Returns the content of a file in the commit; `None` if the commit does not have it.
    ///
    /// # Errors
    /// The file is in the commit and cannot be read, for example because it is too large.
    pub fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, GitError> {
        if self.files(path)?.is_empty() {
            return Ok(None);
        }
        self.content(path).map(Some)
    }

    /// Returns the content of a file that the commit has.
    ///
    /// # Errors
    /// The file cannot be read, for example because it is too large.
    pub fn content(&self, path: &Path) -> Result<Vec<u8>, GitError> {
        let unreadable = || GitError::Unreadable { path: path.to_owned(), commit: self.id.clone() };
        let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(unreadable)?;
        let directory = self.directory.join(path.parent().unwrap_or(Path::new("")));
        let arguments = ["cat-file", "blob", &format!("{}:./{name}", self.id)];
        run(&directory, &arguments, LIMIT).ok_or_else(unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committed::tests::git;
    use std::fs;

    #[test]
    fn files_are_read_as_of_a_commit() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        git(folder.path(), &["init", "-q", "-b", "main"]);
        write("a/b/c ü.yaml", "old");
        write("a/d.yaml", "d");
        write("other", "o");
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-qm", "first"]);
        write("a/b/c ü.yaml", "new");
        let commit = Commit::resolve(folder.path(), "main").unwrap();
        let names = |path: &str| -> Vec<String> {
            commit.files(Path::new(path)).unwrap().iter().map(|path| path.display().to_string()).collect()
        };
        assert_eq!(names("a"), ["a/b/c ü.yaml", "a/d.yaml"]);
        assert_eq!(names("a/d.yaml"), ["a/d.yaml"]);
        assert_eq!(names(".").len(), 3);
        assert!(names("missing").is_empty() && names("missing/x").is_empty() && names("*").is_empty());
        assert_eq!(commit.read(Path::new("a/b/c ü.yaml")).unwrap().as_deref(), Some(&b"old"[..]));
        assert_eq!(commit.read(Path::new("new.yaml")), Ok(None));
    }

    #[test]
    fn a_reference_is_never_an_option() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Commit::resolve(folder.path(), "main").is_err(), "there is no repository");
        git(folder.path(), &["init", "-q"]);
        for name in ["", "main", "--all", "-h", "HEAD", "a b", "x:y"] {
            assert_eq!(Commit::resolve(folder.path(), name), Err(GitError::NoCommit(name.to_owned())));
        }
    }
}
