//! Compares the search for counterexamples with random objects ([`random`]), for pairs of CRDs from the histories of projects
//! and from single changes ([`pairs`]). The [`results`] of each pair are kept in a file, so that a run can be continued.
//! See `docs/fidelity/counterexamples.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, clippy::string_slice)]

#[path = "counterexamples/change.rs"]
mod change;
#[path = "counterexamples/pairs.rs"]
mod pairs;
#[path = "counterexamples/random.rs"]
mod random;
#[path = "counterexamples/results.rs"]
mod results;
#[path = "counterexamples/rng.rs"]
mod rng;

use crdx_engine::rehearsal::Releases;
use crdx_engine::search::upgrade::upgrade;
use crdx_engine::search::{Answer, Effort, Question, VersionUpgrade};
use crdx_server::server::Timestamp;
use crdx_value::release::Release;
use pairs::Pair;
use random::RandomObjects;
use results::{PairResult, Results};
use rng::Rng;
use std::time::{Duration, Instant};

/// Returns a number from the environment.
fn number(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// Compares the answers for one version of a pair; `None` if the server rejects the new CRD or no random object can be made.
fn compared(pair: &Pair, rng: Rng, effort: Effort, objects: usize, time: Duration) -> Option<PairResult> {
    let start = Instant::now();
    let upgrade = upgrade(&pair.old, &pair.new, Releases::both(Release::NEWEST), Timestamp::default(), effort).ok()?;
    if upgrade.answer.code >= 400 {
        return None;
    }
    let searched = start.elapsed();
    let storage = pairs::storage_version(&pair.old);
    let of_storage = |version: &&VersionUpgrade| Some(version.version.as_str()) == storage;
    let version = upgrade.versions.iter().find(of_storage).or(upgrade.versions.first())?;
    let is_open = |answer: &Answer| matches!(answer, Answer::NonePossible | Answer::NoneFound);
    let open: Vec<Question> =
        version.answers.iter().filter(|(_, answer)| is_open(answer)).map(|(question, _)| *question).collect();
    let mut random = RandomObjects::new(&pair.old, &pair.new, &version.version, rng)?;
    let sent = random.search(&open, objects, time);
    let searched_randomly = start.elapsed().checked_sub(searched)?;
    Some(PairResult::new(&pair.name, version, &sent, [searched, searched_randomly]))
}

/// The pairs of `CRDX_HISTORIES` and `CRDX_PAIRS` single changes, `CRDX_OBJECTS` random objects for each and at most
/// `CRDX_SECONDS`, from the seed `CRDX_SEED`. `CRDX_RESULTS` is the file with the results.
#[test]
#[ignore = "needs ../shared/corpus and hours: docs/fidelity/counterexamples.md"]
fn random_objects_find_nothing_that_the_search_excludes() {
    let (count, objects, seed) = (number("CRDX_PAIRS", 120), number("CRDX_OBJECTS", 100_000), number("CRDX_SEED", 1));
    let effort = Effort { objects: number("CRDX_TRIES", 2000), seed: 0 };
    let time = Duration::from_secs(number("CRDX_SECONDS", 600) as u64);
    let mut results = Results::open(std::env::var("CRDX_RESULTS").ok());
    let histories = std::env::var("CRDX_HISTORIES").map(|folder| pairs::of_histories(&folder)).unwrap_or_default();
    let compare = |pair: &Pair, rng: Rng| compared(pair, rng, effort, objects, time);
    let crds = pairs::corpus();
    assert!(crds.len() > 100, "{}", crds.len());
    for index in 0..count.max(histories.len()) {
        if let Some(pair) = histories.get(index) {
            results.add(&pair.name, || compare(pair, Rng::new(index as u64)));
        }
        if index < count {
            // A pair whose update the server rejects is drawn again.
            results.add(&format!("change {seed}.{index}"), || {
                let mut rng = Rng::new((seed as u64) << 32 | index as u64);
                (0..100).find_map(|_| {
                    let pair = pairs::changed(&crds, &format!("change {seed}.{index}"), &mut rng)?;
                    compare(&pair, Rng::new(rng.number()))
                })
            });
        }
    }
    println!("{results}");
    assert!(results.compared() > 0, "no pair was compared");
    assert!(results.contradicted().is_empty(), "{:#?}", results.contradicted());
}
