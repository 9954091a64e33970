//! The cache on disk: one directory per server, as in kubectl, readable by the user only. On any error the
//! data is requested from the server again.

use crdx_files::cache;
use crdx_server::server::http::address::encoded;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The cache directory of one server.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    dir: Option<PathBuf>,
}

impl Cache {
    /// The directory below `base` for the server at `url`; without a base nothing is cached.
    pub fn new(base: Option<&Path>, url: &str) -> Self {
        Self { dir: base.and_then(|base| Some(base.join(file_name(url)?))) }
    }

    /// Reads the entry `name` unless it is older than `age`.
    pub fn read(&self, name: &str, age: Duration) -> Option<Vec<u8>> {
        let path = self.dir.as_ref()?.join(file_name(name)?);
        // A modification time in the future has no age.
        let old = std::fs::metadata(&path).ok()?.modified().ok()?.elapsed().ok()?;
        if old > age { None } else { std::fs::read(path).ok() }
    }

    /// Writes the entry `name` atomically.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        let (Some(dir), Some(name)) = (&self.dir, file_name(name)) else { return };
        // On a full or read-only disk the run continues without a cache.
        drop(cache::write(dir, &name, bytes));
    }
}

/// Encodes any text as a file name; `None` if the name would be too long.
fn file_name(text: &str) -> Option<String> {
    let name = encoded(text);
    (!name.is_empty() && name.len() <= 200 && !name.starts_with('.')).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[test]
    fn entries_are_returned_until_they_expire() {
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
