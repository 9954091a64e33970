//! Whether files change, told by looking at them now and then: that works on every file system, and needs no more than a
//! date and a size of each.

use super::Options;
use super::files::{self, Source, Step};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, SystemTime};

/// How long to wait between two looks.
const PAUSE: Duration = Duration::from_millis(250);

/// The files that are watched.
#[derive(Clone, Debug)]
pub struct Watched<'a> {
    /// Files, directories and patterns.
    pub paths: &'a [String],
    /// How they are read.
    pub options: Options,
}

/// What files look like: date and size, neither of what is no file or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Look(BTreeMap<PathBuf, Option<(SystemTime, u64)>>);

impl Look {
    /// How many files there are.
    pub fn files(&self) -> usize {
        self.0.len()
    }
}

impl Watched<'_> {
    /// Looks at the files that there are now.
    pub fn look(&self) -> Look {
        let paths = files::expand(self.paths, &self.options).into_iter().filter_map(|step| match step {
            Step::Named(Source::File(path)) | Step::Found(path) => Some(path),
            // A path that is not there may be created.
            Step::Problem(note) => Some(PathBuf::from(&*note.source)),
            Step::Named(_) | Step::NoFile(_) | Step::DirectoryStart | Step::DirectoryEnd(_) => None,
        });
        let state = |path: &PathBuf| {
            let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
            Some((found.modified().ok()?, found.len()))
        };
        Look(paths.map(|path| (path.clone(), state(&path))).collect())
    }

    /// Waits until the files look otherwise than `before`, and then until they stay so: an editor writes in several steps.
    pub fn wait(&self, before: &Look) {
        while self.look() == *before {
            thread::sleep(PAUSE);
        }
        let mut last = self.look();
        loop {
            thread::sleep(PAUSE);
            let now = self.look();
            if now == last {
                return;
            }
            last = now;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_shows() {
        let dir = tempfile::tempdir().unwrap();
        let paths = [dir.path().display().to_string(), dir.path().join("later.txt").display().to_string()];
        let watched = Watched { paths: &paths, options: Options::default() };
        let mut looks = vec![watched.look()];
        let file = dir.path().join("a.yaml");
        fs::write(&file, "a: 1\n").unwrap();
        looks.push(watched.look());
        fs::write(&file, "a: 10\n").unwrap();
        looks.push(watched.look());
        fs::write(dir.path().join("later.txt"), "").unwrap();
        looks.push(watched.look());
        fs::remove_file(&file).unwrap();
        looks.push(watched.look());
        assert!(looks.windows(2).all(|pair| pair[0] != pair[1]), "{looks:?}");
        fs::write(dir.path().join("not-read.md"), "").unwrap();
        assert_eq!(Some(&watched.look()), looks.last());
        // What is otherwise than before need not be waited for.
        watched.wait(&looks[0]);
    }
}
