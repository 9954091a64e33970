//! How much a server may send. The limits are far above what API servers send, and together keep a run below 500 MB
//! whatever a server sends.
//!
//! etcd stores at most 1.5 MiB per object, so that an object, and discovery or OpenAPI of thousands of CRDs, is far below
//! [`MAX_BODY`]. Only a page of many large objects can be longer; it is requested again in smaller pages.

use super::Error;
use crdx_files::input_size;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// The limit for the body of one answer, and for one event of a watch.
pub const MAX_BODY: usize = 32 << 20;
/// The limit for all bodies that were received and are not decoded yet.
const MAX_HELD: usize = 64 << 20;
/// The limit for the memory of one decoded body.
const MAX_DECODED: usize = 256 << 20;
/// The memory of a value, and of the node that a small object allocates.
const VALUE: usize = 48;
const OBJECT: usize = 560;
/// The time for an answer of any length.
const PATIENCE: Duration = Duration::from_mins(1);
/// The number of bytes that must arrive in each further second.
const SLOWEST: u64 = 16 << 10;
/// The limit for the objects of one page: real ones have more than 335 bytes each.
const MAX_ITEMS: usize = 100_000;
/// The limit for the objects of one list: etcd stores fewer.
const MAX_OBJECTS: usize = 10_000_000;
/// The limit for pages that are not full but followed by others. API servers fill pages.
const MAX_SHORT_PAGES: usize = 200;

/// The bytes of all bodies that were received and are not decoded yet.
#[derive(Clone, Debug, Default)]
pub struct Held(Arc<AtomicUsize>);

/// A body, whose bytes count until it is dropped.
#[derive(Debug, Default)]
pub struct HeldBody {
    all: Held,
    bytes: Vec<u8>,
}

impl Held {
    /// An empty body.
    pub fn body(&self) -> HeldBody {
        HeldBody { all: self.clone(), bytes: Vec::new() }
    }
}

impl HeldBody {
    /// The bytes received so far.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds bytes of the answer to a request for `path`.
    pub fn add(&mut self, bytes: &[u8], path: &str) -> Result<(), Error> {
        self.bytes.extend_from_slice(bytes);
        input_size::add(bytes.len());
        let all = self.all.0.fetch_add(bytes.len(), Ordering::Relaxed) + bytes.len();
        if self.bytes.len() > MAX_BODY {
            return Err(too_long(path, &format!("is longer than {} MiB", MAX_BODY >> 20)));
        }
        if all > MAX_HELD {
            let message = format!("and others that it sent at the same time are longer than {} MiB", MAX_HELD >> 20);
            return Err(too_long(path, &message));
        }
        Ok(())
    }
}

impl Drop for HeldBody {
    fn drop(&mut self) {
        self.all.0.fetch_sub(self.bytes.len(), Ordering::Relaxed);
    }
}

/// Returns an error if decoding a body would need too much memory: many small values need far more than their text.
pub fn check_decoded(body: &[u8], path: &str) -> Result<(), Error> {
    let memory: usize = body
        .iter()
        .map(|b| match b {
            b'{' => OBJECT,
            b',' | b'[' | b':' => VALUE,
            _ => 1,
        })
        .sum();
    if memory > MAX_DECODED {
        return Err(too_long(path, "has too many values"));
    }
    Ok(())
}

/// Returns an error if a page has more objects than a body of this length can hold, were they real.
pub fn check_items(items: usize, path: &str) -> Result<(), Error> {
    if items > MAX_ITEMS {
        return Err(too_long(path, "has more than 100,000 objects"));
    }
    Ok(())
}

fn too_long(path: &str, reason: &str) -> Error {
    let path = path.split('?').next().unwrap_or_default();
    Error {
        help: Some("check --server and the proxy: no API server sends so much".to_owned()),
        too_long: true,
        ..Error::new(format!("the cluster's answer to GET {path} {reason}"))
    }
}

/// The time that an answer of `bytes` bytes may take.
pub fn time_for(bytes: usize) -> Duration {
    PATIENCE + Duration::from_secs(bytes as u64 / SLOWEST)
}

/// Counts the pages of a list.
#[derive(Clone, Debug, Default)]
pub struct PageCounter {
    pages: usize,
    short: usize,
}

impl PageCounter {
    /// Counts a page with `items` items that is followed by another; `limit` were requested, or all if it is 0. Returns the reason why the list
    /// is not read further, if there is one.
    pub fn add(&mut self, items: usize, limit: usize) -> Option<&'static str> {
        self.pages += 1;
        self.short += usize::from(items < limit || limit == 0);
        if self.short > MAX_SHORT_PAGES {
            return Some("more than 200 of its pages are not full");
        }
        let pages = MAX_OBJECTS / limit.max(1);
        (self.pages > pages).then_some("it has more than 10 million objects")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_of_all_bodies_are_counted_until_they_are_dropped() {
        let (held, large) = (Held::default(), vec![b'x'; MAX_BODY]);
        let mut first = held.body();
        assert!(first.add(&large, "/a?b").is_ok());
        let error = first.add(b"x", "/a?b").unwrap_err();
        assert_eq!(
            (error.message.as_str(), error.too_long),
            ("the cluster's answer to GET /a is longer than 32 MiB", true)
        );
        let mut second = held.body();
        assert!(second.add(&large[1..], "/b").is_ok());
        assert!(held.body().add(b"x", "/c").unwrap_err().message.contains("and others that it sent at the same time"));
        drop(first);
        assert!(held.body().add(&large, "/c").is_ok());
        drop(second);
        assert_eq!(held.0.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn many_small_values_are_too_long() {
        assert!(check_decoded(&vec![b'x'; MAX_BODY], "/").is_ok());
        for value in [r#"{"a":0},"#, "0,", "[],", r#""","#] {
            assert!(
                check_decoded(value.repeat(MAX_BODY / value.len()).as_bytes(), "/").unwrap_err().too_long,
                "{value}"
            );
        }
    }

    #[test]
    fn a_list_ends() {
        let mut pages = PageCounter::default();
        assert_eq!((0..20_000).find_map(|_| pages.add(500, 500)), None);
        assert!(pages.add(500, 500).unwrap().contains("10 million"));
        let mut short = PageCounter::default();
        assert_eq!((0..2000).find(|_| short.add(499, 500).is_some()), Some(200));
        let mut all = PageCounter::default();
        assert_eq!((0..2000).find(|_| all.add(500, 0).is_some()), Some(200));
    }

    #[test]
    fn slow_answers_end() {
        assert_eq!(time_for(1000), PATIENCE);
        assert_eq!(time_for(MAX_BODY), PATIENCE + Duration::from_secs(2048));
    }
}
