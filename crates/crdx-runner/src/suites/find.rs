//! Finds the files that contain suites, and the documents that are cases themselves.

use crdx_files::open::read_regular;
use crdx_input::files;
use crdx_value::sort::sort_by_key;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The extensions of files that may contain suites or documents.
const ENDS: &[&str] = &["yaml", "yml", "json"];

/// A file with cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Suite(PathBuf),
    /// Documents that must be accepted.
    Valid(PathBuf),
    /// Documents that must be rejected.
    Invalid(PathBuf),
}

/// Finds the files with cases in `paths`, in order. An unreadable path, or a directory without such files, is a
/// problem.
pub fn find(paths: &[String], problems: &mut Vec<String>) -> Vec<Found> {
    let here = [".".to_owned()];
    let paths = if paths.is_empty() { &here } else { paths };
    let mut found = Vec::new();
    for path in paths {
        let matching = files::matching(path);
        let matching = matching.iter().map(PathBuf::as_path).collect::<Vec<_>>();
        let paths = if matching.is_empty() { vec![Path::new(path)] } else { matching };
        for path in paths {
            if let Err(problem) = add(path, &mut found) {
                problems.push(problem.to_string());
            }
        }
    }
    found
}

/// The reason why a path has no test suite.
#[derive(Debug, thiserror::Error)]
enum FindError {
    #[error("cannot read {path}: {error}")]
    Unreadable { path: String, error: io::Error },
    #[error(
        "there is no test suite in {}: name a file, or a directory with *.testsuite.yaml, tests/*/*.yaml, valid/ or invalid/",
        .0.display()
    )]
    NoSuite(PathBuf),
}

fn add(path: &Path, found: &mut Vec<Found>) -> Result<(), FindError> {
    let unreadable = |error: io::Error| FindError::Unreadable { path: path.display().to_string(), error };
    let is_directory = fs::metadata(path).map_err(unreadable)?.is_dir();
    if !is_directory {
        found.push(folder(path).unwrap_or_else(|| Found::Suite(path.to_owned())));
        return Ok(());
    }
    let before = found.len();
    walk(path, found).map_err(unreadable)?;
    if found.len() > before {
        return Ok(());
    }
    Err(FindError::NoSuite(path.to_owned()))
}

fn walk(directory: &Path, found: &mut Vec<Found>) -> io::Result<()> {
    let mut entries = fs::read_dir(directory)?.collect::<io::Result<Vec<_>>>()?;
    sort_by_key(&mut entries, fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        // `./a` and `a` are the same file; use the shorter name.
        let path = path.strip_prefix(".").map_or_else(|_| path.clone(), Path::to_owned);
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(&path, found)?;
        } else if !fs::metadata(&path).is_ok_and(|file| file.is_file()) {
            // Opening a pipe would wait for its writer, and a device may never end.
        } else if let Some(file) = folder(&path) {
            found.push(file);
        } else if is_suite(&path) {
            found.push(Found::Suite(path));
        }
    }
    Ok(())
}

fn name(path: Option<&Path>) -> &str {
    path.and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default()
}

/// Returns a file of documents, which is below a directory `valid` or `invalid`.
fn folder(path: &Path) -> Option<Found> {
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    if !ENDS.contains(&end) || name(Some(path)).contains(".testsuite.") {
        return None;
    }
    path.ancestors().skip(1).find_map(|directory| match name(Some(directory)) {
        "valid" => Some(Found::Valid(path.to_owned())),
        "invalid" => Some(Found::Invalid(path.to_owned())),
        _ => None,
    })
}

/// Returns true if a file of a directory is a suite (`LoadTestSuiteSpecs`). Directories named `tests` may contain other
/// YAML files, so a file there must also look like a suite.
fn is_suite(path: &Path) -> bool {
    has_name_of_suite(path) || (may_be_suite(path) && read_regular(path).is_ok_and(|text| looks_like_suite(&text)))
}

/// As for a file of a directory, for a file with this content.
pub fn holds_suite(path: &Path, text: &[u8]) -> bool {
    has_name_of_suite(path) || (may_be_suite(path) && looks_like_suite(text))
}

fn has_name_of_suite(path: &Path) -> bool {
    let file = name(Some(path));
    file.ends_with(".testsuite.yaml") || file.ends_with(".testsuite.yml")
}

fn may_be_suite(path: &Path) -> bool {
    let directory = path.parent();
    let in_tests = name(directory.and_then(Path::parent)) == "tests" && name(directory) != "testdata";
    in_tests && path.extension().is_some_and(|end| end == "yaml")
}

fn looks_like_suite(text: &[u8]) -> bool {
    text.split(|b| *b == b'\n').any(|line| line.starts_with(b"crdName:") || line.starts_with(b"crd:"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_and_documents_are_found() {
        let dir = tempfile::tempdir().unwrap();
        for file in [
            "a/x.testsuite.yaml",
            "a/tests/crds/y.yaml",
            "a/tests/crds/values.yaml",
            "a/tests/testdata/z.yaml",
            "b/invalid/deep/i.yaml",
            "b/valid/v.json",
            "b/valid/readme.md",
            ".git/q.testsuite.yaml",
            "c.yaml",
        ] {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, if file.ends_with("values.yaml") { "a: 1" } else { "name: x\ncrdName: y" }).unwrap();
        }
        let at = |path: &str| dir.path().join(path);
        let want = [
            Found::Suite(at("a/tests/crds/y.yaml")),
            Found::Suite(at("a/x.testsuite.yaml")),
            Found::Invalid(at("b/invalid/deep/i.yaml")),
            Found::Valid(at("b/valid/v.json")),
        ];
        let finds = |path: PathBuf| {
            let mut problems = Vec::new();
            (find(&[path.display().to_string()], &mut problems), problems)
        };
        assert_eq!(finds(dir.path().to_owned()), (want.to_vec(), Vec::new()));
        assert_eq!(finds(at("*/tests/c*/y.yaml")), (vec![Found::Suite(at("a/tests/crds/y.yaml"))], Vec::new()));
        assert_eq!(finds(at("c.yaml")), (vec![Found::Suite(at("c.yaml"))], Vec::new()));
        let (found, problems) = finds(at("a/tests/testdata"));
        assert!(found.is_empty() && problems[0].starts_with("there is no test suite in "), "{problems:?}");
    }
}
