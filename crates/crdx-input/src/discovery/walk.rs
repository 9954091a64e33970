//! The files of a repository.

use crate::ignore::is_never_read;
use crate::patterns::MAX_DEPTH;
use ignore::WalkBuilder;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Returns the files below a directory, in order and relative to it, and messages about what could not be read. As git does
/// without a configuration, it reads the `.gitignore` of the directory and of those below it.
///
/// # Errors
/// The directory cannot be read.
pub fn files(directory: &Path, reads_ignored: bool) -> io::Result<(Vec<PathBuf>, Vec<String>)> {
    fs::read_dir(directory)?;
    let mut walk = WalkBuilder::new(directory);
    walk.standard_filters(false).git_ignore(!reads_ignored).require_git(false).parents(false);
    walk.max_depth(Some(MAX_DEPTH)).sort_by_file_name(Ord::cmp);
    walk.filter_entry(|entry| entry.depth() == 0 || !is_never_read(entry.path()));
    let (mut paths, mut errors) = (Vec::new(), Vec::new());
    for entry in walk.build() {
        match entry {
            Ok(entry) => {
                let is_file =
                    entry.file_type().is_some_and(|kind| kind.is_file() || kind.is_symlink() && entry.path().is_file());
                let relative = entry.path().strip_prefix(directory).ok().filter(|_| is_file);
                paths.extend(relative.map(Path::to_owned));
            }
            Err(error) => errors.push(error.to_string()),
        }
    }
    Ok((paths, errors))
}
