//! Compresses the table of Go types in two parts: the types of CRDs and of metadata, which every run reads, and all
//! others.

use std::{fs, io};

const TABLE: &str = "src/types.txt";

/// The packages of the first part, and its single types.
const PACKAGES: [&str; 4] = ["apiextensions/v1", "meta/v1", "runtime", "types"];
const TYPES: [&str; 3] = ["autoscaling/v1.Scale", "autoscaling/v1.ScaleSpec", "autoscaling/v1.ScaleStatus"];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={TABLE}");
    let text = fs::read_to_string(TABLE)?;
    let (mut first, mut second) = (String::new(), String::new());
    let mut is_first = false;
    for line in text.lines() {
        let mut words = line.split(' ');
        match (words.next(), words.next()) {
            (Some("releases"), _) => {
                first.push_str(line);
                first.push('\n');
                is_first = false;
            }
            (Some("type"), Some(name)) => {
                let package = name.rsplit_once('.').map_or("", |(package, _)| package);
                is_first = PACKAGES.contains(&package) || TYPES.contains(&name);
            }
            (Some("kind"), _) => is_first = false,
            _ => {}
        }
        let part = if is_first { &mut first } else { &mut second };
        part.push_str(line);
        part.push('\n');
    }
    crdx_embedded::compress_text("definitions.txt", &first)?;
    crdx_embedded::compress_text("types.txt", &second)
}
