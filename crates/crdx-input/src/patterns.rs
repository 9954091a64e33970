//! Expands patterns of paths, such as `charts/*/crds` and `**/*.yaml`.
//!
//! Every component may be a pattern in the syntax of [`globset`]: `*`, `?`, `[a-z]` and `{a,b}`; `**` matches any number of
//! directories. A component that exists as it is written is not a pattern. As in shells, wildcards do not match names that
//! begin with a dot unless the component does, and `**` does not follow symbolic links, so that the search ends.

use super::Ignore;
use globset::{GlobBuilder, GlobMatcher};
use std::cell::Cell;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The maximum depth of directories.
pub const MAX_DEPTH: usize = 256;

/// The longest component that is a pattern, in bytes. Names of files have at most 255.
const LONGEST: usize = 4096;

/// The most paths that the patterns of one command visit: some seconds of work. A repository of a hundred thousand files has
/// about as many for each `**`.
const MOST_VISITS: usize = 200_000;

/// The paths that the patterns of one command may still visit. Components such as `*/..` visit directories again, and a
/// pattern may have thousands of them.
#[derive(Debug)]
pub struct Visits(Cell<usize>);

impl Default for Visits {
    fn default() -> Self {
        Self(Cell::new(MOST_VISITS))
    }
}

impl Visits {
    fn take(&self, count: usize) -> Result<(), PatternError> {
        let left = self.0.get().checked_sub(count);
        self.0.set(left.unwrap_or(0));
        left.map(drop).ok_or(PatternError::TooManyVisits)
    }
}

/// The reason why a pattern is not expanded.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// A component has a syntax error.
    #[error("is invalid: {0}")]
    Syntax(#[from] globset::Error),
    /// A component is longer than [`LONGEST`].
    #[error("is invalid: a part of it has more than {LONGEST} bytes")]
    TooLong,
    /// The patterns visit more than [`MOST_VISITS`] paths.
    #[error("is not searched: this command has searched {MOST_VISITS} files and directories for its patterns")]
    TooManyVisits,
}

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
enum PatternPart {
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
/// A component has a syntax error, or the patterns visit too many paths.
pub fn expand(path: &Path, ignore: &Ignore, visits: &Visits) -> Result<Option<Matches>, PatternError> {
    let parts: Vec<PatternPart> = path.components().map(part).collect::<Result<_, _>>()?;
    if parts.iter().all(|part| matches!(part, PatternPart::Literal(_))) {
        return Ok(None);
    }
    let mut found = Matches { paths: vec![PathBuf::new()], ..Matches::default() };
    for part in &parts {
        let before = found.take_directories(visits)?;
        for path in before {
            found.append(&path, part, (ignore, visits))?;
        }
    }
    found.recursive = matches!(parts.last(), Some(PatternPart::AnyDirectories));
    for path in found.paths.iter_mut().filter(|path| path.as_os_str().is_empty()) {
        *path = PathBuf::from(".");
    }
    found.paths.retain(|path| fs::metadata(path).is_ok());
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

fn part(component: Component<'_>) -> Result<PatternPart, PatternError> {
    let Component::Normal(name) = component else { return Ok(PatternPart::Literal(component.as_os_str().into())) };
    let text = name.to_str().unwrap_or_default();
    if text == "**" {
        return Ok(PatternPart::AnyDirectories);
    }
    if !text.contains(['*', '?', '[', '{']) {
        return Ok(PatternPart::Literal(name.into()));
    }
    if text.len() > LONGEST {
        return Err(PatternError::TooLong);
    }
    let matcher = GlobBuilder::new(text).literal_separator(true).build()?.compile_matcher();
    Ok(PatternPart::Wildcard { text: name.into(), matcher, hidden: text.starts_with('.') })
}

impl Matches {
    /// Takes the paths found so far, in order, and each directory once: `**/**`, `*/..` and symbolic links lead to a directory
    /// in several ways.
    fn take_directories(&mut self, visits: &Visits) -> Result<Vec<PathBuf>, PatternError> {
        visits.take(self.paths.len())?;
        let mut paths = std::mem::take(&mut self.paths);
        paths.sort();
        paths.dedup();
        if paths.len() > 1 {
            let mut known = HashSet::new();
            paths.retain(|path| {
                let same = if path.as_os_str().is_empty() { Path::new(".") } else { path };
                identity(same).is_none_or(|same| known.insert(same))
            });
        }
        Ok(paths)
    }

    /// Adds the paths below `path` that match the next part.
    fn append(
        &mut self,
        path: &Path,
        part: &PatternPart,
        (ignore, visits): (&Ignore, &Visits),
    ) -> Result<(), PatternError> {
        match part {
            PatternPart::Literal(name) => self.paths.push(path.join(name)),
            PatternPart::AnyDirectories => self.append_directories(path, (ignore, visits), 0)?,
            PatternPart::Wildcard { text, .. } if path.join(text).symlink_metadata().is_ok() => {
                self.paths.push(path.join(text));
            }
            PatternPart::Wildcard { matcher, hidden, .. } => {
                let matching = |entry: &fs::DirEntry| {
                    let name = entry.file_name();
                    (*hidden || !is_hidden(entry)) && matcher.is_match(&name)
                };
                let entries = self.entries(path, visits)?.into_iter().filter(matching);
                let names: Vec<PathBuf> = entries.map(|entry| path.join(entry.file_name())).collect();
                self.paths.extend(names);
            }
        }
        Ok(())
    }

    /// Adds a directory and all directories below it.
    fn append_directories(
        &mut self,
        directory: &Path,
        (ignore, visits): (&Ignore, &Visits),
        depth: usize,
    ) -> Result<(), PatternError> {
        let is_directory = directory.as_os_str().is_empty() || directory.is_dir();
        if !is_directory {
            return Ok(());
        }
        if depth > MAX_DEPTH {
            self.too_deep.push(directory.to_owned());
            return Ok(());
        }
        self.paths.push(directory.to_owned());
        for entry in self.entries(directory, visits)? {
            let below = directory.join(entry.file_name());
            let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_directory && !is_hidden(&entry) && !ignore.matches_entry(&below, true) {
                self.append_directories(&below, (ignore, visits), depth + 1)?;
            }
        }
        Ok(())
    }

    /// The entries of a directory, in no order; none of a path that is not a directory.
    fn entries(&mut self, path: &Path, visits: &Visits) -> Result<Vec<fs::DirEntry>, PatternError> {
        let directory = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let entries = match fs::read_dir(directory).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
            Ok(entries) => entries,
            Err(error) => {
                if !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
                    self.unreadable.push((directory.to_owned(), error));
                }
                Vec::new()
            }
        };
        visits.take(entries.len() + 1)?;
        Ok(entries)
    }
}

/// Identifies a file or directory; `None` if it cannot be read.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

fn is_hidden(entry: &fs::DirEntry) -> bool {
    entry.file_name().as_encoded_bytes().starts_with(b".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        write_tree(dir.path());
        dir
    }

    fn write_tree(dir: &Path) {
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
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }

    fn matching(dir: &Path, pattern: &str, ignore: &[&str]) -> Vec<String> {
        let patterns: Vec<String> = ignore.iter().map(|text| (*text).to_owned()).collect();
        let found = expand(&dir.join(pattern), &Ignore::new(&patterns).unwrap(), &Visits::default()).unwrap().unwrap();
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
        assert!(expand(Path::new("a/b.yaml"), &Ignore::default(), &Visits::default()).unwrap().is_none());
        assert!(expand(Path::new("a{b"), &Ignore::default(), &Visits::default()).is_err());
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
        let below = expand(&dir.path().join("?/**"), &Ignore::default(), &Visits::default()).unwrap().unwrap();
        assert!(below.recursive);
        assert_eq!(below.paths, [dir.path().join("a"), dir.path().join("b")]);
        let here =
            expand(Path::new("**"), &Ignore::new(&["*/".to_owned()]).unwrap(), &Visits::default()).unwrap().unwrap();
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

    /// The number of visits of a pattern.
    fn visits(dir: &Path, pattern: &str) -> usize {
        let visits = Visits::default();
        expand(&dir.join(pattern), &Ignore::default(), &visits).unwrap();
        MOST_VISITS - visits.0.get()
    }

    #[test]
    fn a_directory_is_searched_once_for_each_part() {
        // Some patterns search the parent, in which other tests must not create files.
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("tree");
        write_tree(&dir);
        for (part, end) in [("*/../", "*.yaml"), ("**/", "*.yaml"), ("a/**/../../", "*.yaml"), ("?/../", "top.yaml")] {
            let count = |times: usize| visits(&dir, &(part.repeat(times) + end));
            let one = count(3) - count(2);
            assert_eq!(count(40) - count(2), 38 * one, "{part}");
            assert_eq!(
                matching(&dir, &(part.repeat(40) + end), &[]).len(),
                matching(&dir, &(part.repeat(2) + end), &[]).len(),
                "{part}"
            );
        }
        assert_eq!(matching(&dir, "*/../*/../top.yaml", &[]), ["[dir]/../[dir]/../top.yaml"]);
    }

    #[test]
    fn the_visits_of_a_command_are_limited() {
        let dir = tree();
        let visits = Visits::default();
        let search = || expand(&dir.path().join("**/*.yaml"), &Ignore::default(), &visits).map(drop);
        let searches = (0..MOST_VISITS).take_while(|_| search().is_ok()).count();
        assert!((1000..MOST_VISITS / 10).contains(&searches), "{searches}");
        assert!(matches!(search(), Err(PatternError::TooManyVisits)));
        let long = format!("a/{}", "{x,".repeat(LONGEST));
        let expanded = expand(Path::new(&long), &Ignore::default(), &Visits::default());
        assert!(matches!(expanded, Err(PatternError::TooLong)));
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
