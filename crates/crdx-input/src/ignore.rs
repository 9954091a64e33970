//! `--ignore`: leaves files out, with patterns in the syntax of a `.gitignore` file.

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Directories that have no manifests of the repository, and often very many files.
const NEVER_READ: [&str; 3] = [".git", ".venv", "node_modules"];

/// Returns true if a directory with this name is never searched.
pub fn is_never_read(path: &Path) -> bool {
    path.file_name().is_some_and(|name| NEVER_READ.iter().any(|never| name == *never))
}

/// Patterns of a `.gitignore` file in the working directory, or in a directory above it.
#[derive(Clone, Debug)]
pub struct Ignore {
    patterns: Gitignore,
    /// The working directory.
    root: PathBuf,
    /// The directory of the patterns, if it is another one.
    directory: Option<PathBuf>,
    /// Files and directories that are left out, as absolute paths.
    paths: Arc<[PathBuf]>,
}

impl Default for Ignore {
    fn default() -> Self {
        Self { patterns: Gitignore::empty(), root: PathBuf::new(), directory: None, paths: Arc::default() }
    }
}

/// Why a pattern is invalid.
#[derive(Debug, thiserror::Error)]
#[error("{0}; patterns have the syntax of .gitignore, such as 'charts/*/templates/'")]
pub struct PatternError(ignore::Error);

impl Ignore {
    /// Parses patterns; a later one overrides an earlier one.
    ///
    /// # Errors
    /// The first invalid pattern.
    pub fn new(patterns: &[String]) -> Result<Self, PatternError> {
        Self::in_directory(patterns, None)
    }

    /// Parses patterns of a directory, by default the working directory.
    ///
    /// # Errors
    /// The first invalid pattern.
    pub fn in_directory(patterns: &[String], directory: Option<&Path>) -> Result<Self, PatternError> {
        if patterns.is_empty() {
            return Ok(Self::default());
        }
        let root = std::env::current_dir().unwrap_or_default();
        let mut builder = GitignoreBuilder::new("");
        for pattern in patterns {
            builder.add_line(None, pattern).map_err(PatternError)?;
        }
        let directory = directory.filter(|directory| *directory != root).map(Path::to_owned);
        Ok(Self { patterns: builder.build().map_err(PatternError)?, root, directory, paths: Arc::default() })
    }

    /// Also leaves out these files and directories.
    #[must_use]
    pub fn and_paths(self, paths: &[PathBuf]) -> Self {
        let root = std::env::current_dir().unwrap_or_default();
        Self { paths: paths.iter().map(|path| without_parents(&root.join(path))).collect(), root, ..self }
    }

    /// Returns true if a path given on the command line, or a directory above it, is ignored.
    pub fn matches(&self, path: &Path) -> bool {
        if self.has_path(path) {
            return true;
        }
        if self.patterns.is_empty() {
            return false;
        }
        let path = self.relative(path);
        let above = path.ancestors().skip(1).collect::<Vec<_>>();
        above.into_iter().rev().any(|directory| self.excludes(directory, true)) || self.excludes(&path, path.is_dir())
    }

    /// Returns true if an entry is ignored, in a directory that is not.
    pub fn matches_entry(&self, path: &Path, is_directory: bool) -> bool {
        self.has_path(path) || !self.patterns.is_empty() && self.excludes(&self.relative(path), is_directory)
    }

    fn has_path(&self, path: &Path) -> bool {
        !self.paths.is_empty() && self.paths.contains(&without_parents(&self.root.join(path)))
    }

    fn excludes(&self, path: &Path, is_directory: bool) -> bool {
        !path.as_os_str().is_empty() && self.patterns.matched(path, is_directory).is_ignore()
    }

    /// The path relative to the directory of the patterns, if it is below it.
    fn relative(&self, path: &Path) -> PathBuf {
        if let Some(directory) = &self.directory {
            let full = without_parents(&self.root.join(path));
            // No pattern matches a file elsewhere.
            return full.strip_prefix(directory).map(Path::to_owned).unwrap_or_default();
        }
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir)).collect()
    }
}

/// The path without `.` and `..`, as text: links are not resolved, as git does not either.
fn without_parents(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                found.pop();
            }
            Component::CurDir => {}
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_left_out_besides_patterns() {
        let ignore = Ignore::new(&["*.json".to_owned()]).unwrap().and_paths(&["a/../b".into()]);
        let ignores = |path: &str| ignore.matches_entry(Path::new(path), false);
        assert!(ignores("b") && ignores("./b") && ignores("x.json"));
        assert!(!ignores("a") && !ignores("c/b"));
        assert!(Ignore::default().and_paths(&["b".into()]).matches(Path::new("b")));
    }

    #[test]
    fn patterns_may_be_relative_to_a_directory_above() {
        let here = std::env::current_dir().unwrap();
        let (above, own) = (here.parent().unwrap(), here.file_name().unwrap().to_str().unwrap());
        let ignores = |pattern: &str, path: &str| {
            Ignore::in_directory(&[pattern.to_owned()], Some(above)).unwrap().matches(Path::new(path))
        };
        assert!(ignores(&format!("/{own}/a"), "a/b") && ignores("/x", "../x/y") && ignores("b", "a/b"));
        assert!(!ignores("/a", "a/b") && !ignores("a", "../../a"));
        assert!(ignores("/x", above.join("x").to_str().unwrap()));
    }

    fn ignored(patterns: &[&str], path: &str) -> bool {
        let patterns: Vec<String> = patterns.iter().map(|p| (*p).to_owned()).collect();
        Ignore::new(&patterns).unwrap().matches(Path::new(path))
    }

    #[test]
    fn patterns_mean_what_they_mean_to_git() {
        assert!(ignored(&["*.tmpl.yaml"], "./a/b.tmpl.yaml"));
        assert!(ignored(&["templates/"], "chart/templates/x.yaml"));
        assert!(!ignored(&["templates/"], "chart/templates"), "a pattern with a slash at its end is for directories");
        assert!(ignored(&["/a"], "a/b.yaml") && !ignored(&["/a"], "b/a/c.yaml"));
        assert!(ignored(&["**/test/*.yaml"], "x/test/y.yaml") && !ignored(&["**/test/*.yaml"], "x/test/z/y.yaml"));
        assert!(!ignored(&["*.yaml", "!keep.yaml"], "a/keep.yaml"));
        assert!(ignored(&["a", "!a/keep.yaml"], "a/keep.yaml"), "nothing below an ignored directory is kept");
        assert!(!ignored(&["# a comment"], "# a comment"));
        assert!(!ignored(&[], "a"));
        let here = std::env::current_dir().unwrap().join("a/b");
        assert!(ignored(&["/a"], here.to_str().unwrap()));
    }

    #[test]
    fn an_invalid_pattern_is_an_error() {
        let error = Ignore::new(&["a{b".to_owned()]).unwrap_err();
        assert!(error.to_string().contains("a{b"), "{error}");
    }
}
