//! `crdx.lock`: the hash of every download, by the name of its URL.

use crdx_files::digest::is_sha256;
use crdx_files::open::read_small;
use crdx_text::yaml;
use crdx_value::{Value, object};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;

/// The largest lock that is read, in bytes.
const LARGEST: u64 = 4 << 20;

/// The first line.
const COMMENT: &str = "# Written by `kubectl crdx fetch`; commit it.\n";

/// The version of the format.
const VERSION: i64 = 1;

/// The hashes of downloads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lock(BTreeMap<String, String>);

/// The reason why a lock is not used.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// It cannot be read.
    #[error("it cannot be read: {0}")]
    Unreadable(#[from] io::Error),
    /// It is not YAML.
    #[error("it is not valid: {0}")]
    Text(String),
    /// It has another version.
    #[error("it is not version {VERSION} of the format")]
    Version,
    /// An entry is not a URL with a hash.
    #[error("crds[{0}] is not a URL with a sha256 hash, or has the URL of another entry")]
    Entry(usize),
}

impl Lock {
    /// Reads a lock. A missing file is an empty lock.
    ///
    /// # Errors
    /// The file cannot be read or is invalid.
    pub fn read(path: &Path) -> Result<Self, LockError> {
        match read_small(path, LARGEST) {
            Ok(text) => Self::decode(&text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    fn decode(text: &[u8]) -> Result<Self, LockError> {
        let read = yaml::read_strict(text).map_err(|error| LockError::Text(error.to_string()))?;
        if let Some(error) = read.error() {
            return Err(LockError::Text(error.to_string()));
        }
        if read.value.get("version").and_then(Value::as_int) != Some(VERSION) {
            return Err(LockError::Version);
        }
        let mut lock = Self::default();
        for (index, entry) in read.value.get("crds").and_then(Value::as_array).unwrap_or_default().iter().enumerate() {
            let text = |key: &str| entry.str_at(&[key]).unwrap_or_default().to_owned();
            let (url, sha256) = (text("url"), text("sha256"));
            if !is_sha256(&sha256) || url.is_empty() || lock.0.insert(url, sha256).is_some() {
                return Err(LockError::Entry(index));
            }
        }
        Ok(lock)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let entry = |(url, sha256): (&String, &String)| object([("url", url.as_str()), ("sha256", sha256.as_str())]);
        let crds: Vec<Value> = self.0.iter().map(entry).collect();
        let value = object([("version", Value::Int(VERSION)), ("crds", crds.into())]);
        format!("{COMMENT}{}", yaml::write::to_string(&value))
    }

    /// Returns the hash of the URL with this name.
    pub fn hash(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// Sets the hash of the URL with this name.
    pub fn set(&mut self, name: &str, sha256: &str) {
        self.0.insert(name.to_owned(), sha256.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_sorted_and_read_back() {
        let mut lock = Lock::default();
        let (a, b) = ("a".repeat(64), "b".repeat(64));
        lock.set("https://h/z", &a);
        lock.set("https://h/a", &b);
        let text = lock.text();
        assert!(text.find("https://h/a").unwrap() < text.find("https://h/z").unwrap(), "{text}");
        assert_eq!(Lock::decode(text.as_bytes()).unwrap(), lock);
        assert_eq!(lock.hash("https://h/z"), Some(a.as_str()));
        assert_eq!(Lock::read(Path::new("/nonexistent/crdx.lock")).unwrap(), Lock::default());
    }

    #[test]
    fn an_invalid_lock_is_an_error() {
        let hash = "c".repeat(64);
        for text in [
            "<<<<<<< HEAD\n".to_owned(),
            String::new(),
            "version: 2\ncrds: []\n".to_owned(),
            "version: 1\ncrds: [{url: a, sha256: x}]\n".to_owned(),
            format!("version: 1\ncrds: [{{url: a, sha256: {hash}}}, {{url: a, sha256: {hash}}}]\n"),
            "version: 1\nversion: 1\n".to_owned(),
        ] {
            assert!(Lock::decode(text.as_bytes()).is_err(), "{text}");
        }
    }
}
