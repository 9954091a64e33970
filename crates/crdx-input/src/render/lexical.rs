//! Paths as texts: no file is looked at.

use std::path::{Component, Path, PathBuf};

/// Returns a path without `.` and `..`, as far as the text allows.
pub fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(normal.components().next_back(), Some(Component::Normal(_))) => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_keeps_the_parents_that_it_begins_with() {
        assert_eq!(normal(Path::new("./a/../../b/./c")), Path::new("../b/c"));
        assert_eq!(normal(Path::new("/a/./b/..")), Path::new("/a"));
    }
}
