//! The speed of reading YAML to values, in MB per second on one core.
//!
//! usage: cargo bench --bench yaml -- [FILE]...
//!
//! Without a file, it reads 20,000 objects like those of `rivals.py`. The best of seven runs is printed, for the manifests as
//! they are, which take the short cut of `text/yaml/block.rs`, and after a directive, with which the scanner and the parser
//! read them.

#![allow(clippy::expect_used)]

use crdx_text::documents::Chunks;
use crdx_text::yaml;
use std::hint::black_box;
use std::time::Instant;

const RUNS: usize = 7;

/// An object of about 900 bytes.
fn gadget(i: usize) -> String {
    let env: String = (0..8).fold(String::new(), |env, j| {
        env + &format!("    - name: SETTING_{j}\n      value: some value number {}\n", i * 7919 % 1_000_003 + j)
    });
    format!(
        "apiVersion: bench.example.com/v1\nkind: Gadget\nmetadata:\n  name: gadget-{i:06}\n  labels:\n    app: gadget\n    shard: s{}\n\
         spec:\n  replicas: {}\n  schedule: \"*/5 * * * {}\"\n  template:\n    image: registry.example.com/team/gadget:1.{}\n    env:\n{env}    ports: [8080, 9090]\n",
        i % 7,
        i % 9 + 1,
        i % 7,
        i % 50
    )
}

/// Reads all documents, and returns the megabytes per second of the best run.
fn measure(documents: &[Vec<u8>]) -> f64 {
    let bytes: usize = documents.iter().map(Vec::len).sum();
    let seconds = (0..RUNS).map(|_| {
        let start = Instant::now();
        for document in documents {
            black_box(yaml::read(black_box(document)).expect("the documents are YAML"));
        }
        start.elapsed().as_secs_f64()
    });
    bytes as f64 / 1e6 / seconds.fold(f64::MAX, f64::min)
}

fn main() {
    // `cargo bench` passes the flag `--bench`.
    let files: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let mut texts: Vec<(String, String)> = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("the file can be read");
        texts.push((file, text));
    }
    if texts.is_empty() {
        let objects: Vec<String> = (0..20_000).map(gadget).collect();
        texts.push(("20,000 objects".to_owned(), objects.join("---\n")));
    }
    for (name, text) in texts {
        let chunks = Chunks::new(text.as_bytes()).map(|chunk| chunk.expect("the text can be read"));
        let plain: Vec<Vec<u8>> = chunks.map(|chunk| chunk.text).collect();
        let directed: Vec<Vec<u8>> = plain.iter().map(|text| [b"%YAML 1.1\n---\n", &**text].concat()).collect();
        println!("{name}: {:.0} MB/s, after a directive {:.0} MB/s", measure(&plain), measure(&directed));
    }
}
