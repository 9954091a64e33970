//! The directory of a project: where its settings and the lock of its downloads are.

use std::path::{Path, PathBuf};

/// The name of the file with settings.
pub const SETTINGS: &str = ".crdx.yaml";

/// The name of the file with the hashes of downloads.
pub const LOCK: &str = "crdx.lock";

/// The number of directories from `directory` to the root of its repository, the directory with `.git`; 0 without a
/// repository, so that a file outside the project is never read.
pub fn levels_to_root(directory: &Path) -> usize {
    repository(directory).map_or(0, |root| directory.components().count() - root.components().count())
}

/// Returns the root of the repository that has `directory`, a path without links.
pub fn repository(directory: &Path) -> Option<&Path> {
    directory.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok())
}

/// Returns the nearest directory, from `directory` upwards to the root of its repository, that has settings or a lock;
/// `directory` itself if there is none.
pub fn directory(directory: &Path) -> PathBuf {
    let is_project = |above: &&Path| [SETTINGS, LOCK].iter().any(|name| above.join(name).is_file());
    let found = directory.ancestors().take(levels_to_root(directory) + 1).find(is_project);
    found.unwrap_or(directory).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_nearest_directory_with_settings_or_a_lock_counts() {
        let top = tempfile::tempdir().unwrap();
        let inner = top.path().join("repository/a/b");
        fs::create_dir_all(&inner).unwrap();
        fs::write(top.path().join(LOCK), "").unwrap();
        fs::create_dir(top.path().join("repository/.git")).unwrap();
        assert_eq!(directory(&inner), inner, "a file outside the repository does not count");
        fs::write(top.path().join("repository").join(SETTINGS), "").unwrap();
        assert_eq!(directory(&inner), top.path().join("repository"));
        fs::write(top.path().join("repository/a").join(LOCK), "").unwrap();
        assert_eq!(directory(&inner), top.path().join("repository/a"));
    }
}
