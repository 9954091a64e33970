//! `crdx.lock`: the hash of every download, by the name of its URL, and the sources of entries of the catalog.

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
pub struct Lock {
    hashes: BTreeMap<String, String>,
    /// The sources of entries of the catalog.
    catalog: BTreeMap<String, Vec<String>>,
}

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
    /// An entry of the catalog has no sources.
    #[error("catalog[{0}] is not an entry with sources")]
    CatalogEntry(usize),
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
            if !is_sha256(&sha256) || url.is_empty() || lock.hashes.insert(url, sha256).is_some() {
                return Err(LockError::Entry(index));
            }
        }
        for (index, entry) in read.value.get("catalog").and_then(Value::as_array).unwrap_or_default().iter().enumerate()
        {
            let name = entry.str_at(&["entry"]).unwrap_or_default().to_owned();
            let sources = entry.get("sources").and_then(Value::as_array).unwrap_or_default();
            let sources: Vec<String> = sources.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            if name.is_empty() || sources.is_empty() {
                return Err(LockError::CatalogEntry(index));
            }
            lock.catalog.insert(name, sources);
        }
        Ok(lock)
    }

    /// The text of the file.
    pub fn text(&self) -> String {
        let entry = |(url, sha256): (&String, &String)| object([("url", url.as_str()), ("sha256", sha256.as_str())]);
        let crds: Vec<Value> = self.hashes.iter().map(entry).collect();
        let of_catalog = |(entry, sources): (&String, &Vec<String>)| {
            let sources: Vec<Value> = sources.iter().map(|source| source.as_str().into()).collect();
            object([("entry", Value::from(entry.as_str())), ("sources", sources.into())])
        };
        let catalog: Vec<Value> = self.catalog.iter().map(of_catalog).collect();
        let catalog = (!catalog.is_empty()).then(|| ("catalog", catalog.into()));
        let members = [("version", Value::Int(VERSION)), ("crds", crds.into())];
        let value = object(members.into_iter().chain(catalog));
        format!("{COMMENT}{}", yaml::write::to_string(&value))
    }

    /// Returns the hash of the URL with this name.
    pub fn hash(&self, name: &str) -> Option<&str> {
        self.hashes.get(name).map(String::as_str)
    }

    /// Returns the names of the URLs.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hashes.keys().map(String::as_str)
    }

    /// Sets the hash of the URL with this name.
    pub fn set(&mut self, name: &str, sha256: &str) {
        self.hashes.insert(name.to_owned(), sha256.to_owned());
    }

    /// Returns the sources of an entry of the catalog.
    pub fn sources(&self, entry: &str) -> &[String] {
        self.catalog.get(entry).map(Vec::as_slice).unwrap_or_default()
    }

    /// Sets the sources of an entry of the catalog.
    pub fn set_sources(&mut self, entry: &str, sources: Vec<String>) {
        self.catalog.insert(entry.to_owned(), sources);
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
        lock.set_sources("a@v1", vec!["https://h/a//crds".to_owned()]);
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
            "version: 1\ncatalog: [{entry: a@v1}]\n".to_owned(),
        ] {
            assert!(Lock::decode(text.as_bytes()).is_err(), "{text}");
        }
    }
}
