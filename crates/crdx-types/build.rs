//! Divides the table of Go types in two parts: the types of CRDs and of metadata, which every run reads, become rows in
//! Rust; all others are compressed.

#[path = "src/releases.rs"]
mod releases;

use releases::split_releases;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs, io};

const TABLE: &str = "src/types.txt";

/// The packages of the first part, and its single types.
const PACKAGES: [&str; 4] = ["apiextensions/v1", "meta/v1", "runtime", "types"];
const TYPES: [&str; 3] = ["autoscaling/v1.Scale", "autoscaling/v1.ScaleSpec", "autoscaling/v1.ScaleStatus"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={TABLE}");
    println!("cargo::rerun-if-changed=src/releases.rs");
    let text = fs::read_to_string(TABLE)?;
    let mut covered = 0..=0;
    // The first part: the line of each type, and its indented lines.
    let mut first: Vec<(&str, String)> = Vec::new();
    let mut second = String::new();
    let mut is_first = false;
    for line in text.lines() {
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("releases"), Some(oldest)) => {
                let number = |word: Option<&str>| word.and_then(|word| word.parse().ok()).unwrap_or_default();
                covered = number(Some(oldest))..=number(words.next());
                is_first = false;
            }
            (Some("type"), Some(name)) => {
                let package = name.rsplit_once('.').map_or("", |(package, _)| package);
                is_first = PACKAGES.contains(&package) || TYPES.contains(&name);
                if is_first {
                    first.push((line, String::new()));
                    continue;
                }
            }
            (Some("kind"), _) => is_first = false,
            _ => {}
        }
        let part = match first.last_mut() {
            Some((_, body)) if is_first => body,
            _ => &mut second,
        };
        part.push_str(line);
        part.push('\n');
    }
    first.sort_unstable();
    let mut rows = format!("({covered:?}, &[\n");
    for (line, body) in first {
        let (line, releases) = split_releases(line, &covered);
        let (name, head) = line.strip_prefix("type ").and_then(|line| line.split_once(' ')).unwrap_or_default();
        let releases = (releases.start(), releases.end());
        let _ = writeln!(rows, "TypeRow {{ name: {name:?}, head: {head:?}, releases: {releases:?}, body: {body:?} }},");
    }
    rows.push_str("])");
    let folder = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("OUT_DIR is not set"))?;
    fs::write(Path::new(&folder).join("definitions.rs"), rows)?;
    crdx_embedded::compress_text("types.txt", &second)
}
