//! Compares the search for counterexamples with random objects ([`random`]), for CRDs of the corpus and single changes of them
//! ([`change`]). See `docs/fidelity/counterexamples.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

#[path = "counterexamples/change.rs"]
mod change;
#[path = "counterexamples/random.rs"]
mod random;
#[path = "counterexamples/rng.rs"]
mod rng;

use crdx_engine::search::upgrade::upgrade;
use crdx_engine::search::{Answer, Effort, Question, Upgrade};
use crdx_server::server::Timestamp;
use crdx_text::yaml;
use crdx_value::Value;
use crdx_value::release::Release;
use random::RandomObjects;
use rng::Rng;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Returns a number from the environment.
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Returns the CRDs of the corpus, in the order of their files.
fn corpus() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let mut files = Vec::new();
    let mut folders = vec![root];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.parent().is_some_and(|parent| parent.ends_with("crds")) {
                files.push(path);
            }
        }
    }
    files.sort();
    let mut crds = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).unwrap();
        for part in text.split("\n---") {
            let Ok(crd) = yaml::read(part.as_bytes()) else { continue };
            if crd.str_at(&["kind"]) == Some("CustomResourceDefinition")
                && crd.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1")
            {
                crds.push(crd);
            }
        }
    }
    crds
}

/// The answers of the search and of random objects.
#[derive(Debug, Default)]
struct Tally {
    counts: BTreeMap<(&'static str, &'static str), usize>,
    wrong: Vec<String>,
    missed: Vec<String>,
}

impl Tally {
    fn add(&mut self, what: &str, upgrade: &Upgrade, random: &BTreeMap<Question, Value>) {
        for version in &upgrade.versions {
            for (question, answer) in &version.answers {
                let is_found = random.contains_key(question);
                let text = match answer {
                    Answer::Found(_) => "found",
                    Answer::NonePossible => "none possible",
                    Answer::NoneFound => "none found",
                    Answer::CannotTell(_) => "cannot tell",
                };
                *self.counts.entry((text, if is_found { "found" } else { "not found" })).or_default() += 1;
                let entry =
                    || format!("{what}, {}: {}", question.as_str(), crdx_value::json::to_string(&random[question]));
                match answer {
                    Answer::NonePossible if is_found => self.wrong.push(entry()),
                    Answer::NoneFound if is_found => self.missed.push(entry()),
                    _ => {}
                }
            }
        }
    }
}

/// `CRDX_PAIRS` pairs, `CRDX_OBJECTS` random objects for each, from the seed `CRDX_SEED`.
#[test]
#[ignore = "needs ../shared/corpus and minutes: docs/fidelity/counterexamples.md"]
fn random_objects_find_nothing_that_the_search_excludes() {
    let (pairs, objects, seed) = (number("CRDX_PAIRS", 200), number("CRDX_OBJECTS", 3000), number("CRDX_SEED", 1));
    let (mut rng, crds, mut tally) = (Rng::new(seed as u64), corpus(), Tally::default());
    assert!(crds.len() > 100, "{}", crds.len());
    let effort = Effort { objects: number("CRDX_TRIES", 2000), seed: 0 };
    let mut done = 0;
    while done < pairs {
        let mut old = rng.pick(&crds).clone();
        change::keep_one_version(&mut old);
        let Some((new, what)) = change::single(&old, &mut rng) else { continue };
        let name = format!("{done} {}: {what}", old.str_at(&["metadata", "name"]).unwrap());
        let start = Instant::now();
        let Ok(upgrade) = upgrade(&old, &new, Release::NEWEST, Timestamp::default(), effort) else { continue };
        if upgrade.answer.code >= 400 {
            continue;
        }
        let Some(mut random) = RandomObjects::new(&old, &new, Rng::new(rng.number())) else { continue };
        let searched = start.elapsed();
        let (found, sent) = random.search(objects, Duration::from_secs(20));
        tally.add(&name, &upgrade, &found);
        done += 1;
        println!("{name}: search {searched:?}, {sent} random objects {:?}", start.elapsed().saturating_sub(searched));
    }
    println!("{tally:#?}");
    assert!(tally.wrong.is_empty());
}
