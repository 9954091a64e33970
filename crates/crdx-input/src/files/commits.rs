//! Files as of a commit: `git:REF:PATH`, which the commands make of `--old git:REF` and the paths of their inputs.

use super::{ENDINGS, InputOptions, InputSource, ReadStep, note};
use crate::git::{Commit, GitError, reference};
use crdx_engine::documents::Note;
use globset::GlobBuilder;
use std::path::Path;
use std::sync::Arc;

/// Returns the paths of inputs as of the commit of `git:REF`; `None` if `old` is a path.
///
/// # Errors
/// There is no such commit, or an input is not a file.
pub fn as_of_commit(old: &str, inputs: &[String]) -> Option<Result<Vec<String>, Note>> {
    let name = reference(old).filter(|_| !Path::new(old).exists())?;
    if let Some(input) = inputs.iter().find(|path| *path == "-") {
        let hint = "name files or directories, or give the existing objects as a path".to_owned();
        return Some(Err(note(
            input,
            format!("standard input is not in a commit: --old {old} needs files"),
            Some(hint),
        )));
    }
    if let Err(error) = Commit::resolve(Path::new("."), name) {
        return Some(Err(unreadable(old, &error)));
    }
    Some(Ok(inputs.iter().map(|path| format!("git:{name}:{path}")).collect()))
}

/// Returns true if [`as_of_commit`] made this path.
pub fn is_as_of_commit(path: &str) -> bool {
    split(path).is_some() && !Path::new(path).exists()
}

fn split(path: &str) -> Option<(&str, &str)> {
    reference(path)?.split_once(':')
}

/// Adds the files of a commit. A path that the commit does not have has no files: it is new.
pub fn expand(path: &str, options: &InputOptions, steps: &mut Vec<ReadStep>) {
    let Some((name, path_in_commit)) = split(path) else { return };
    match files(name, path_in_commit, options) {
        Ok(sources) => steps.extend(sources.into_iter().map(ReadStep::Found)),
        Err(error) => steps.push(ReadStep::Problem(unreadable(path, &error))),
    }
}

fn files(name: &str, path: &str, options: &InputOptions) -> Result<Vec<InputSource>, GitError> {
    let commit = Arc::new(Commit::resolve(Path::new("."), name)?);
    files_of(&commit, &name.into(), path, options)
}

fn files_of(
    commit: &Arc<Commit>,
    name: &Arc<str>,
    path: &str,
    options: &InputOptions,
) -> Result<Vec<InputSource>, GitError> {
    let given = Path::new(path);
    let mut found = commit.files(given)?;
    let pattern = if found.is_empty() { GlobBuilder::new(path).literal_separator(true).build().ok() } else { None };
    let pattern = pattern.map(|glob| glob.compile_matcher());
    if pattern.is_some() {
        // The files below the components that are not a pattern.
        let is_pattern = |component: &std::path::Component<'_>| {
            component.as_os_str().to_string_lossy().contains(['*', '?', '[', '{'])
        };
        let base: std::path::PathBuf = given.components().take_while(|component| !is_pattern(component)).collect();
        let base = if base.as_os_str().is_empty() { Path::new(".") } else { &base };
        found = commit.files(base)?;
    }
    found.retain(|file| {
        let plain = file.strip_prefix(".").unwrap_or(file);
        let root = match &pattern {
            Some(pattern) => plain.ancestors().find(|path| pattern.is_match(path)),
            None => Some(if file.starts_with(given) { given } else { file.as_path() }),
        };
        let Some(root) = root else { return false };
        let has_ending = file.extension().and_then(|ending| ending.to_str()).is_some_and(|e| ENDINGS.contains(&e));
        let is_named = root == file || root == plain;
        let is_direct = file.parent() == Some(root) || plain.parent() == Some(root);
        (is_named || (has_ending && (is_direct || options.recursive))) && !options.ignore.matches(file)
    });
    let source = |path| InputSource::Committed { commit: Arc::clone(commit), name: Arc::clone(name), path };
    Ok(found.into_iter().map(source).collect())
}

fn unreadable(source: &str, error: &GitError) -> Note {
    let hint = "give --old a path, or git:REF with a branch, tag or commit of this repository, such as git:HEAD";
    note(source, error.to_string(), Some(hint.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::committed::tests::git;
    use std::fs;

    #[test]
    fn paths_and_patterns_are_those_of_the_commit() {
        let folder = tempfile::tempdir().unwrap();
        git(folder.path(), &["init", "-q", "-b", "main"]);
        for name in ["a/1.yaml", "a/deep/2.yml", "a/notes.txt", "b/crds/3.yaml"] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "a: 1\n").unwrap();
        }
        git(folder.path(), &["add", "."]);
        git(folder.path(), &["commit", "-qm", "first"]);
        fs::remove_file(folder.path().join("a/1.yaml")).unwrap();
        fs::write(folder.path().join("a/new.yaml"), "a: 2\n").unwrap();
        let base = folder.path().display().to_string();
        let commit = Arc::new(Commit::resolve(folder.path(), "main").unwrap());
        let found = |path: &str, recursive: bool| -> Vec<String> {
            let options = InputOptions { recursive, ..InputOptions::default() };
            let sources = files_of(&commit, &"main".into(), &format!("{base}/{path}"), &options).unwrap();
            sources.iter().map(|source| source.name().replace(&format!("git:main:{base}/"), "")).collect()
        };
        assert_eq!(found("a", false), ["a/1.yaml"]);
        assert_eq!(found("a", true), ["a/1.yaml", "a/deep/2.yml"]);
        assert_eq!(found("a/notes.txt", false), ["a/notes.txt"]);
        assert_eq!(found("a/*.yaml", false), ["a/1.yaml"]);
        assert_eq!(found("*/crds", false), ["b/crds/3.yaml"]);
        assert_eq!(found("**/*.y*ml", false), ["a/1.yaml", "a/deep/2.yml", "b/crds/3.yaml"]);
        assert_eq!(found("a/new.yaml", false), [""; 0]);
    }
}
