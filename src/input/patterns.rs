//! Expands patterns of paths, such as `charts/*/crds` and `**/*.yaml`.
//!
//! Every component may be a pattern in the syntax of [`globset`]: `*`, `?`, `[a-z]` and `{a,b}`; `**` matches any number of
//! directories. A component that exists as it is written is not a pattern. As in shells, wildcards do not match names that
//! begin with a dot unless the component does, and `**` does not follow symbolic links, so that the search ends.

use super::Ignore;
use globset::{GlobBuilder, GlobMatcher};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The maximum depth of directories.
pub const MAX_DEPTH: usize = 256;

/// The paths that match a pattern, in order.
#[derive(Debug, Default)]
pub struct Matches {
    /// The files and directories.
    pub paths: Vec<PathBuf>,
    /// True if the last component is `**`: the subdirectories of the directories match, too.
    pub recursive: bool,
    /// Directories that cannot be read.
    pub unreadable: Vec<(PathBuf, io::Error)>,
    /// Directories that are too deep to be searched.
    pub too_deep: Vec<PathBuf>,
}

/// A component of a pattern.
enum Part {
    /// A name, or a component such as `..`.
    Literal(PathBuf),
    /// `**`
    AnyDirectories,
    /// A name with wildcards.
    Wildcard { text: PathBuf, matcher: GlobMatcher, hidden: bool },
}

/// Finds the paths that match a pattern; `None` if no component of `path` is one. Directories that are ignored are not
/// searched.
///
/// # Errors
/// A component has a syntax error.
pub fn expand(path: &Path, ignore: &Ignore) -> Result<Option<Matches>, globset::Error> {
    let parts: Vec<Part> = path.components().map(part).collect::<Result<_, _>>()?;
    if parts.iter().all(|part| matches!(part, Part::Literal(_))) {
        return Ok(None);
    }
    let mut found = Matches { paths: vec![PathBuf::new()], ..Matches::default() };
    for part in &parts {
        let before = std::mem::take(&mut found.paths);
        for path in before {
            found.append(&path, part, ignore);
        }
    }
    found.recursive = matches!(parts.last(), Some(Part::AnyDirectories));
    for path in found.paths.iter_mut().filter(|path| path.as_os_str().is_empty()) {
        *path = PathBuf::from(".");
    }
    found.paths.retain(|path| fs::metadata(path).is_ok());
    // Several `**` find a path in several ways.
    found.paths.sort();
    found.paths.dedup();
    if found.recursive {
        // They are searched again, and reported then.
        found.too_deep.clear();
        let all = std::mem::take(&mut found.paths);
        for path in all {
            if !found.paths.last().is_some_and(|last| path.starts_with(last)) {
                found.paths.push(path);
            }
        }
    }
    Ok(Some(found))
}

fn part(component: Component<'_>) -> Result<Part, globset::Error> {
    let Component::Normal(name) = component else { return Ok(Part::Literal(component.as_os_str().into())) };
    let text = name.to_str().unwrap_or_default();
    if text == "**" {
        return Ok(Part::AnyDirectories);
    }
    if !text.contains(['*', '?', '[', '{']) {
        return Ok(Part::Literal(name.into()));
    }
    let matcher = GlobBuilder::new(text).literal_separator(true).build()?.compile_matcher();
    Ok(Part::Wildcard { text: name.into(), matcher, hidden: text.starts_with('.') })
}

impl Matches {
    /// Adds the paths below `path` that match the next part.
    fn append(&mut self, path: &Path, part: &Part, ignore: &Ignore) {
        match part {
            Part::Literal(name) => self.paths.push(path.join(name)),
            Part::AnyDirectories => self.append_directories(path, ignore, 0),
            Part::Wildcard { text, .. } if path.join(text).symlink_metadata().is_ok() => {
                self.paths.push(path.join(text));
            }
            Part::Wildcard { matcher, hidden, .. } => {
                let matching = |entry: &fs::DirEntry| {
                    let name = entry.file_name();
                    (*hidden || !is_hidden(entry)) && matcher.is_match(&name)
                };
                let entries = self.entries(path).into_iter().filter(matching);
                let names: Vec<PathBuf> = entries.map(|entry| path.join(entry.file_name())).collect();
                self.paths.extend(names);
            }
        }
    }

    /// Adds a directory and all directories below it.
    fn append_directories(&mut self, directory: &Path, ignore: &Ignore, depth: usize) {
        let is_directory = directory.as_os_str().is_empty() || directory.is_dir();
        if !is_directory {
            return;
        }
        if depth > MAX_DEPTH {
            return self.too_deep.push(directory.to_owned());
        }
        self.paths.push(directory.to_owned());
        for entry in self.entries(directory) {
            let below = directory.join(entry.file_name());
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && !is_hidden(&entry) && !ignore.matches_entry(&below, true) {
                self.append_directories(&below, ignore, depth + 1);
            }
        }
    }

    /// The entries of a directory, in no order; none of a path that is not a directory.
    fn entries(&mut self, path: &Path) -> Vec<fs::DirEntry> {
        let directory = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => {
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                    self.unreadable.push((directory.to_owned(), error));
                }
                Vec::new()
            }
        }
    }
}

fn is_hidden(entry: &fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in [
            "a/crds/one.yaml",
            "a/crds/deep/two.yml",
            "b/crds/three.yaml",
            "b/other/four.yaml",
            "b/[x].yaml",
            "[dir]/five.yaml",
            ".hidden/six.yaml",
            ".git/seven.yaml",
            "top.yaml",
        ] {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        dir
    }

    fn matching(dir: &Path, pattern: &str, ignore: &[&str]) -> Vec<String> {
        let patterns: Vec<String> = ignore.iter().map(|text| (*text).to_owned()).collect();
        let found = expand(&dir.join(pattern), &Ignore::new(&patterns).unwrap()).unwrap().unwrap();
        assert!(found.unreadable.is_empty());
        let relative = |path: &PathBuf| path.strip_prefix(dir).unwrap().display().to_string();
        found.paths.iter().map(relative).collect()
    }

    #[test]
    fn every_component_may_be_a_pattern() {
        let dir = tree();
        let found = |pattern: &str| matching(dir.path(), pattern, &[]);
        assert_eq!(found("*/crds/*.yaml"), ["a/crds/one.yaml", "b/crds/three.yaml"]);
        assert_eq!(found("?/crds"), ["a/crds", "b/crds"]);
        assert_eq!(found("{a,b}/[co]*"), ["a/crds", "b/crds", "b/other"]);
        assert_eq!(found("*.yaml"), ["top.yaml"]);
        assert_eq!(found("*/nothing"), [""; 0]);
        assert_eq!(found("top.yaml/*"), [""; 0]);
        assert!(expand(Path::new("a/b.yaml"), &Ignore::default()).unwrap().is_none());
        assert!(expand(Path::new("a{b"), &Ignore::default()).is_err());
    }

    #[test]
    fn two_stars_match_any_number_of_directories() {
        let dir = tree();
        let found = |pattern: &str| matching(dir.path(), pattern, &[]);
        let all =
            ["[dir]/five.yaml", "a/crds/one.yaml", "b/[x].yaml", "b/crds/three.yaml", "b/other/four.yaml", "top.yaml"];
        assert_eq!(found("**/*.yaml"), all);
        assert_eq!(found("**/**/*.yaml"), all);
        assert_eq!(found("**/crds"), ["a/crds", "b/crds"]);
        assert_eq!(found("a/**/*.yml"), ["a/crds/deep/two.yml"]);
        assert_eq!(matching(dir.path(), "**/*.yml", &["crds/"]), [""; 0]);
        let below = expand(&dir.path().join("?/**"), &Ignore::default()).unwrap().unwrap();
        assert!(below.recursive);
        assert_eq!(below.paths, [dir.path().join("a"), dir.path().join("b")]);
        let here = expand(Path::new("**"), &Ignore::new(&["*/".to_owned()]).unwrap()).unwrap().unwrap();
        assert_eq!(here.paths, [Path::new(".")]);
    }

    #[test]
    fn hidden_names_must_be_written() {
        let dir = tree();
        assert_eq!(matching(dir.path(), ".h*/*.yaml", &[]), [".hidden/six.yaml"]);
        assert_eq!(matching(dir.path(), ".hidden/**/*.yaml", &[]), [".hidden/six.yaml"]);
        assert_eq!(matching(dir.path(), "*/s*.yaml", &[]), [""; 0]);
    }

    #[test]
    fn a_component_that_exists_is_no_pattern() {
        let dir = tree();
        assert_eq!(matching(dir.path(), "[dir]/*.yaml", &[]), ["[dir]/five.yaml"]);
        assert_eq!(matching(dir.path(), "*/[x].yaml", &[]), ["b/[x].yaml"]);
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_do_not_form_loops() {
        let dir = tree();
        std::os::unix::fs::symlink("..", dir.path().join("a/up")).unwrap();
        assert_eq!(matching(dir.path(), "**/crds", &[]), ["a/crds", "b/crds"]);
        assert_eq!(matching(dir.path(), "a/*/top.yaml", &[]), ["a/up/top.yaml"]);
    }
}
