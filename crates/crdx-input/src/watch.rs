//! Detects changes of files by polling their dates and sizes, which works on every file system.

use super::InputOptions;
use super::files::{self, InputSource, ReadStep};
use super::patterns::MAX_DEPTH;
use super::render::find;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

/// The polling interval.
const PAUSE: Duration = Duration::from_millis(250);

/// The files to watch.
#[derive(Clone, Debug)]
pub struct Watched<'a> {
    /// Files, directories and patterns.
    pub paths: &'a [String],
    /// The options for reading them.
    pub options: InputOptions,
}

/// The state of the files: date and size, or nothing for a file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileStates(BTreeMap<PathBuf, Option<(SystemTime, u64)>>);

impl FileStates {
    /// The number of files.
    pub fn files(&self) -> usize {
        self.0.len()
    }

    /// Returns the files that differ from an earlier state.
    pub fn changed(&self, before: &Self) -> Vec<PathBuf> {
        let all: BTreeSet<&PathBuf> = self.0.keys().chain(before.0.keys()).collect();
        all.into_iter().filter(|path| self.0.get(*path) != before.0.get(*path)).cloned().collect()
    }
}

impl Watched<'_> {
    /// Reads the current state.
    pub fn look(&self) -> FileStates {
        let steps = files::expand(self.paths, &self.options);
        let rendered = steps.iter().filter_map(|step| match step {
            ReadStep::Render(target, _) => Some(find::directories(target)),
            _ => None,
        });
        let mut below = BTreeSet::new();
        rendered.flatten().for_each(|directory| add_files(&directory, 0, &mut below));
        let paths = steps.into_iter().filter_map(|step| match step {
            ReadStep::Named(InputSource::File(path)) | ReadStep::Found(InputSource::File(path)) => Some(path),
            // A missing path may be created later.
            ReadStep::Problem(note) => Some(PathBuf::from(&*note.source)),
            ReadStep::Definitions(definitions) => Some(definitions.path().to_owned()),
            // All files in the directories of a rendered one are watched.
            ReadStep::Render(..)
            | ReadStep::LeftOut(_)
            | ReadStep::Named(_)
            | ReadStep::Found(_)
            | ReadStep::Skip(..)
            | ReadStep::DirectoryStart
            | ReadStep::DirectoryEnd(_) => None,
        });
        let state = |path: &PathBuf| {
            let found = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
            Some((found.modified().ok()?, found.len()))
        };
        FileStates(paths.chain(below).map(|path| (path.clone(), state(&path))).collect())
    }

    /// Waits until the state differs from `before`, then until it is stable: editors write in several steps.
    pub fn wait(&self, before: &FileStates) {
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

/// Adds all files below a directory.
fn add_files(directory: &Path, depth: usize, files: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok) {
        let path = entry.path();
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            files.insert(path);
        } else if depth < MAX_DEPTH && entry.file_name() != ".git" {
            add_files(&path, depth + 1, files);
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
        let watched = Watched { paths: &paths, options: InputOptions::default() };
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
        assert_eq!(looks[3].changed(&looks[2]), [dir.path().join("later.txt")]);
        assert_eq!(looks[3].changed(&looks[1]), [file.clone(), dir.path().join("later.txt")]);
        fs::write(dir.path().join("not-read.md"), "").unwrap();
        assert_eq!(Some(&watched.look()), looks.last());
        // The state already differs from `before`.
        watched.wait(&looks[0]);
    }
}
