//! Recorded results of Kubernetes, kubectl and Go (`tests/facts`).

mod builtin;
mod builtin_autoscalers;
mod builtin_names;
mod builtin_openapi;
mod builtin_writes;
pub mod cel_cost;
mod cel_functions;
pub mod cel_parse;
mod cel_releases;
pub mod cel_runs;
mod formats;
mod lists;
mod policy_types;
mod regexp;
mod strategic_patches;
mod time_zones;
mod yaml;

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
