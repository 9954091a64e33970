//! The checks of the fuzz targets (`fuzz/checks`), run on their corpora (`fuzz/corpus`).

#[path = "../../fuzz/checks/builtin_decode.rs"]
mod builtin_decode;
#[path = "../../fuzz/checks/builtin_validation.rs"]
mod builtin_validation;
#[path = "../../fuzz/checks/cel_run.rs"]
mod cel_run;
#[path = "../../fuzz/checks/cel_syntax.rs"]
mod cel_syntax;
#[path = "../../fuzz/checks/json_read.rs"]
mod json_read;
#[path = "../../fuzz/checks/jsonpath.rs"]
mod jsonpath;
#[path = "../../fuzz/checks/lsp.rs"]
mod lsp;
#[path = "../../fuzz/checks/policies.rs"]
mod policies;
#[path = "../../fuzz/checks/regexp.rs"]
mod regexp;
#[path = "../../fuzz/checks/requests.rs"]
mod requests;
#[path = "../../fuzz/checks/suites.rs"]
mod suites;
#[path = "../../fuzz/checks/yaml_read.rs"]
mod yaml_read;

use crate::conformance::differential::mutate::Rng;
use crate::large_stack::on_large_stack;
use crdx_value::base64::Encoding;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// The inputs of a target by name (`fuzz/corpus.py` describes the file).
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(format!("{target}.jsonl"));
    let input = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let data = match line["text"].as_str() {
            Some(text) => text.as_bytes().to_vec(),
            None => Encoding::Standard.decode(line["base64"].as_str().unwrap()).unwrap(),
        };
        (line["name"].as_str().unwrap().to_owned(), data)
    };
    fs::read_to_string(path).unwrap().lines().map(input).collect()
}

/// Runs a check on every input of its corpus.
fn run(target: &str, check: fn(&[u8])) {
    let inputs = corpus(target);
    assert!(inputs.len() >= 5, "{target} has a corpus");
    on_large_stack(move || {
        for (name, input) in inputs {
            println!("{name}");
            check(&input);
        }
    });
}

/// Changes bytes of the files of the corpora at random and runs the checks, for `CRDX_SECONDS` per target: a run without
/// the compiler's instrumentation.
#[test]
#[ignore = "runs as long as CRDX_SECONDS says, for each target"]
fn changed_inputs() {
    on_large_stack(change_inputs);
}

fn change_inputs() {
    let setting = |name: &str, default| std::env::var(name).map_or(default, |text| text.parse().unwrap());
    let (seconds, mut rng) = (setting("CRDX_SECONDS", 1), Rng::new(setting("CRDX_SEED", 1)));
    for (target, check) in TARGETS {
        let seeds: Vec<Vec<u8>> = corpus(target).into_iter().map(|(_, input)| input).collect();
        let (start, mut runs) = (Instant::now(), 0);
        while start.elapsed() < Duration::from_secs(seconds) {
            let mut input = rng.pick::<Vec<u8>>(&seeds).clone();
            for _ in 0..=rng.below(6) {
                let other = rng.pick::<Vec<u8>>(&seeds).clone();
                change(&mut input, &other, &mut rng);
            }
            let text = String::from_utf8_lossy(&input).into_owned();
            let caught = std::panic::catch_unwind(|| check(&input));
            assert!(caught.is_ok(), "{target} fails for {text:?}, that is {input:?}");
            runs += 1;
        }
        println!("{target}: {runs} inputs in {seconds} seconds");
    }
}

/// Replaces, removes, inserts or copies some bytes.
fn change(input: &mut Vec<u8>, other: &[u8], rng: &mut Rng) {
    let at = rng.below(input.len() + 1);
    let end = (at + rng.below(16)).min(input.len());
    let from = rng.below(other.len());
    let part = other[from..(from + rng.below(40)).min(other.len())].to_vec();
    let byte = *rng.pick(b"\0 \n\t\"'{}[]():,.-+0129aAzZ_\\%&*?|#~\xc3\xff");
    match rng.below(5) {
        0 => drop(input.splice(at..end, part)),
        1 => drop(input.splice(at..at, part)),
        2 => drop(input.drain(at..end)),
        3 => input.insert(at, byte),
        _ if at < input.len() => input[at] = byte,
        _ => {}
    }
}

macro_rules! corpora {
    ($($target:ident)*) => {
        const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($target), $target::check)),*];

        $(#[test]
        fn $target() {
            run(stringify!($target), $target::check);
        })*

        #[test]
        fn every_target_has_a_corpus() {
            let mut targets: Vec<String> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/fuzz_targets"))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().trim_end_matches(".rs").to_owned())
                .collect();
            targets.sort();
            assert_eq!(targets, [$(stringify!($target)),*]);
        }
    };
}

corpora! { builtin_decode builtin_validation cel_run cel_syntax json_read jsonpath lsp policies regexp requests suites yaml_read }
