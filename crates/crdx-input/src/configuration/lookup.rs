//! Finds the file.

use super::{ConfigurationError, Settings, read};
use crate::git::{Commit, GitError, reference};
use crdx_files::open::read_small;
use crdx_files::project::{SETTINGS, levels_to_root, repository};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub const FILE_NAME: &str = SETTINGS;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 10;

/// Which file is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lookup {
    /// `--config`: this file, or `git:REF` for the file of a commit.
    pub file: Option<String>,
    /// `--no-config`: no file.
    pub no_file: bool,
}

impl Lookup {
    /// Reads the file that applies in `directory`, an absolute path. Paths in the result are relative to `directory` if
    /// `relative` is true, otherwise absolute.
    ///
    /// # Errors
    /// The file of `--config` cannot be read, or a file is invalid.
    pub fn read(&self, directory: &Path, relative: bool) -> Result<Settings, ConfigurationError> {
        if self.no_file {
            return Ok(Settings::default());
        }
        match &self.file {
            Some(file) => match reference(file) {
                Some(commit) => of_commit(file, commit, directory, relative),
                None => named(Path::new(file), directory),
            },
            None => found(directory, relative),
        }
    }
}

fn found(directory: &Path, relative: bool) -> Result<Settings, ConfigurationError> {
    for levels in 0..=levels_to_root(directory) {
        let (base, full) = base(directory, levels, relative);
        let path = base.join(FILE_NAME);
        match read_small(&full.join(FILE_NAME), LARGEST) {
            Ok(text) => {
                let settings = read::settings(&text, &path.display().to_string(), &base, &full)?;
                return Ok(Settings { root: Some(root_of(&full).unwrap_or(full)), ..settings });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&path, &error)),
        }
    }
    Ok(Settings::default())
}

fn named(path: &Path, directory: &Path) -> Result<Settings, ConfigurationError> {
    let text = read_small(&directory.join(path), LARGEST).map_err(|error| unreadable(path, &error))?;
    let base = path.parent().map(Path::to_owned).unwrap_or_default();
    let full = directory.join(&base);
    let settings = read::settings(&text, &path.display().to_string(), &base, &full)?;
    // In a repository, the file and what it names may be those of a pull request. Elsewhere, the user chose the file.
    Ok(Settings { root: root_of(&full), ..settings })
}

/// Returns the root of the repository that has a directory.
fn root_of(directory: &Path) -> Option<PathBuf> {
    fs::canonicalize(directory).ok().and_then(|directory| repository(&directory).map(Path::to_owned))
}

/// Reads the file of a commit, for a run whose result must not depend on the file of a pull request. The paths in it are
/// those of the working directory.
fn of_commit(given: &str, commit: &str, directory: &Path, relative: bool) -> Result<Settings, ConfigurationError> {
    let failed = |error: &GitError| {
        let help = "fetch the commit first, or give --no-config".to_owned();
        ConfigurationError::new(format!("--config {given}: {error}"), None, Some(help))
    };
    let commit = Commit::resolve(directory, commit).map_err(|error| failed(&error))?;
    for levels in 0..=levels_to_root(directory) {
        let (base, full) = base(directory, levels, relative);
        let name = format!("{given}:{}", base.join(FILE_NAME).display());
        match commit.read(&full.join(FILE_NAME)).map_err(|error| failed(&error))? {
            Some(text) if text.len() as u64 > LARGEST => {
                let message = format!("{name} is larger than {LARGEST} bytes");
                return Err(ConfigurationError::new(message, None, Some("shorten it".to_owned())));
            }
            // The settings are trusted, but not the links of the working tree.
            Some(text) => {
                let settings = read::settings(&text, &name, &base, &full)?;
                return Ok(Settings { root: Some(root_of(&full).unwrap_or(full)), ..settings });
            }
            None => {}
        }
    }
    Ok(Settings::default())
}

/// The directory `levels` above `directory`, as paths in it are shown, and in full.
fn base(directory: &Path, levels: usize, relative: bool) -> (PathBuf, PathBuf) {
    let full = directory.ancestors().nth(levels).unwrap_or(directory).to_owned();
    let shown = if relative { std::iter::repeat_n("..", levels).collect() } else { full.clone() };
    (shown, full)
}

fn unreadable(path: &Path, error: &io::Error) -> ConfigurationError {
    let help = "give another file with --config, or --no-config".to_owned();
    ConfigurationError::new(format!("cannot read {}: {error}", path.display()), None, Some(help))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::configuration::SettingKey;
    use std::fs;

    fn crds(directory: &Path, relative: bool) -> Vec<String> {
        Lookup::default().read(directory, relative).unwrap().values(SettingKey::Crds).to_vec()
    }

    #[test]
    fn the_file_is_found_up_to_the_root_of_the_repository() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("repository/a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(top.path().join(FILE_NAME), "crds: outside\n").unwrap();
        assert!(crds(&inner, true).is_empty(), "without a repository, only the working directory is read");
        fs::create_dir(top.path().join("repository/.git")).unwrap();
        assert!(crds(&inner, true).is_empty(), "the search ends at the root");
        fs::write(top.path().join("repository").join(FILE_NAME), "crds: [c, /d, 'https://e']\n").unwrap();
        let separator = std::path::MAIN_SEPARATOR;
        assert_eq!(
            crds(&inner, true),
            [format!("..{separator}..{separator}c"), "/d".to_owned(), "https://e".to_owned()]
        );
        let absolute = top.path().join("repository").join("c").display().to_string();
        assert_eq!(crds(&inner, false).first(), Some(&absolute));
        fs::write(inner.join(FILE_NAME), "crds: own\n").unwrap();
        assert_eq!(crds(&inner, true), ["own"], "the nearest file counts");
        let none = Lookup { no_file: true, ..Lookup::default() };
        assert_eq!(none.read(&inner, true), Ok(Settings::default()));
    }

    #[test]
    fn a_file_that_is_too_large_or_no_file_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let text = |name: &str| {
            let lookup = Lookup { file: Some(name.to_owned()), no_file: false };
            lookup.read(directory.path(), true).unwrap_err().to_string()
        };
        fs::write(directory.path().join("large"), vec![b'#'; LARGEST as usize + 1]).unwrap();
        fs::create_dir(directory.path().join(FILE_NAME)).unwrap();
        assert!(text("large").contains("larger than 65536 bytes"), "{}", text("large"));
        assert!(text("missing").contains("--no-config"));
        assert!(Lookup::default().read(directory.path(), true).unwrap_err().to_string().contains("directory"));
    }
}
