//! What is kept on disk between runs: a directory for each server, as kubectl has it, readable by nobody else. Whatever
//! goes wrong with it, what it holds is asked for again.

use super::connection::segment;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The place for what one server said.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    dir: Option<PathBuf>,
}

/// Where it is kept unless somebody says otherwise.
pub fn default_dir() -> Option<PathBuf> {
    dirs::cache_dir().map(|dir| dir.join("kubectl-crdx"))
}

impl Cache {
    /// The place below `base` for the server at `url`; without a base nothing is kept.
    pub fn new(base: Option<&Path>, url: &str) -> Self {
        Self { dir: base.and_then(|base| Some(base.join(file_name(url)?))) }
    }

    /// What was kept under `name`, unless that is longer ago than `age`.
    pub fn read(&self, name: &str, age: Duration) -> Option<Vec<u8>> {
        let path = self.dir.as_ref()?.join(file_name(name)?);
        // A time in the future is no age.
        let old = std::fs::metadata(&path).ok()?.modified().ok()?.elapsed().ok()?;
        if old > age { None } else { std::fs::read(path).ok() }
    }

    /// Keeps `bytes` under `name`: a reader finds all of them or none.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let (Some(dir), Some(name)) = (&self.dir, file_name(name)) else { return };
        let written = private(dir).and_then(|()| {
            let mut file = tempfile::NamedTempFile::new_in(dir)?;
            file.write_all(bytes)?;
            file.persist(dir.join(name)).map_err(|e| e.error)
        });
        // A full or read-only disk costs time, not the run.
        drop(written);
    }
}

/// One file name for any text; none for a text that makes one too long.
fn file_name(text: &str) -> Option<String> {
    let name = segment(text);
    (!name.is_empty() && name.len() <= 200 && !name.starts_with('.')).then_some(name)
}

/// Creates a directory that only its owner can look into.
fn private(dir: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(dir)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[test]
    fn what_is_kept_comes_back_until_it_is_too_old() {
        let base = tempfile::tempdir().unwrap();
        let below = base.path().join("deep/down");
        let cache = Cache::new(Some(&below), "https://a:6443/");
        assert_eq!(cache.read("x/y", LONG), None);
        cache.write("x/y", b"1");
        cache.write("x/y", b"2");
        assert_eq!(cache.read("x/y", LONG).as_deref(), Some(&b"2"[..]));
        std::thread::sleep(Duration::from_millis(5));
        assert_eq!(cache.read("x/y", Duration::ZERO), None);
        // Another server, and none.
        assert_eq!(Cache::new(Some(&below), "https://b:6443/").read("x/y", LONG), None);
        Cache::default().write("x/y", b"3");
        assert_eq!(Cache::default().read("x/y", LONG), None);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for dir in [&below, &below.join("https%3A%2F%2Fa%3A6443%2F")] {
                assert_eq!(std::fs::metadata(dir).unwrap().permissions().mode() & 0o777, 0o700);
            }
        }
    }

    #[test]
    fn a_name_never_leaves_the_directory() {
        assert_eq!(file_name("../../x"), None);
        assert_eq!(file_name(""), None);
        assert_eq!(file_name(&"x".repeat(300)), None);
        assert_eq!(file_name("a/../b").as_deref(), Some("a%2F..%2Fb"));
    }
}
