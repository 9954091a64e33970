//! Counts the examples of CRDs of real projects that the server accepts.

use crdx_engine::documents::InputEntry;
use crdx_engine::examples::{Checker, ExampleFields, example};
use crdx_input::{Input, InputOptions};
use crdx_value::Value;
use crdx_value::release::Release;
use std::path::{Path, PathBuf};

/// Returns the CRDs of the corpus, each with its file; empty if there is no corpus.
fn corpus() -> Vec<(String, Value)> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus");
    let Ok(projects) = std::fs::read_dir(&corpus) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = projects.map(|entry| entry.unwrap().path().join("crds")).collect();
    paths.retain(|path| path.is_dir());
    paths.sort();
    let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let definitions = Input::open(&paths, InputOptions { recursive: true, ..InputOptions::default() });
    let definitions = definitions.filter_map(|entry| match entry {
        InputEntry::Document(document) if document.is_definition() => {
            let file = Path::new(&*document.source).strip_prefix(&corpus).unwrap().display().to_string();
            Some((file, document.value))
        }
        _ => None,
    });
    definitions.collect()
}

/// Returns true for each example of a CRD that the server accepts; prints the rejected ones.
fn accepted(file: &str, crd: &Value, extents: &[ExampleFields]) -> Vec<bool> {
    let checker = Checker::new(crd, None, Release::NEWEST).unwrap_or_else(|error| panic!("{file}: {error}"));
    let is_accepted = |extent: &ExampleFields| {
        let example = example(&checker, *extent).unwrap();
        if let Some(rejection) = &example.rejection {
            println!("{file}: the {extent:?} example is rejected: {}", rejection.message);
        }
        example.rejection.is_none()
    };
    extents.iter().map(is_accepted).collect()
}

fn assert_most(minimal: usize, all: usize) {
    assert!(minimal * 100 >= all * 95, "the server accepts {minimal} minimal examples of {all}");
}

#[test]
fn most_minimal_examples_of_real_crds_are_accepted() {
    // Use every eighth CRD: installing all of them takes a minute.
    let crds: Vec<(String, Value)> = corpus().into_iter().step_by(8).collect();
    let minimal = crds.iter().filter(|(file, crd)| accepted(file, crd, &[ExampleFields::Minimal]) == [true]).count();
    assert_most(minimal, crds.len());
}

/// `cargo test --test tests all_examples -- --ignored --nocapture`
#[test]
#[ignore = "takes minutes without optimization"]
fn all_examples_of_real_crds() {
    let crds = corpus();
    let (mut minimal, mut full) = (0, 0);
    for (file, crd) in &crds {
        let accepted = accepted(file, crd, &[ExampleFields::Minimal, ExampleFields::Full]);
        minimal += usize::from(accepted[0]);
        full += usize::from(accepted[1]);
    }
    println!("{} CRDs: the server accepts {minimal} minimal and {full} full examples", crds.len());
    assert_most(minimal, crds.len());
}
