//! Recorded results of Kubernetes, kubectl and Go (`tests/facts`).

use flate2::read::GzDecoder;
use std::{fs, io::Read as _};

/// The text of a compressed file of `tests/facts`.
pub fn unpacked(name: &str) -> String {
    let path = format!("{}/tests/facts/{name}", env!("CARGO_MANIFEST_DIR"));
    let file = fs::File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).unwrap_or_else(|error| panic!("{path}: {error}"));
    text
}
