//! Searches all CRDs of `../shared/corpus` and `../shared/suites` for faults, sends the objects that show them to another server, and
//! measures the time. See `docs/fidelity/counterexamples.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use crdx_cel::eval::PER_CALL_LIMIT;
use crdx_engine::examples::Checker;
use crdx_engine::lint::costs::costs;
use crdx_engine::rehearsal::Releases;
use crdx_engine::search::faults::{Evidence, Fault, FaultEffort, FaultKind, faults};
use crdx_engine::search::upgrade::upgrade;
use crdx_engine::search::{Answer, Effort, Question};
use crdx_server::crd;
use crdx_server::server::Timestamp;
use crdx_text::yaml;
use crdx_value::Value;
use crdx_value::release::Release;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The effort of the search for an object that a rule rejects although it is said to reject none.
const EFFORT: Effort = Effort { objects: 300, seed: 0 };

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn definitions() -> Vec<(PathBuf, Value)> {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let files = ["corpus", "suites"].into_iter().flat_map(|folder| files(&shared.join(folder)));
    let crds = files.flat_map(|path| {
        let text = std::fs::read_to_string(&path).unwrap();
        let values: Vec<Value> =
            text.split("\n---").filter_map(|part| yaml::read(part.as_bytes()).ok()).filter(is_definition).collect();
        values.into_iter().map(move |value| (path.clone(), value))
    });
    crds.collect()
}

fn is_definition(value: &Value) -> bool {
    value.str_at(&["kind"]) == Some("CustomResourceDefinition")
        && value.str_at(&["apiVersion"]) == Some("apiextensions.k8s.io/v1")
}

/// Returns the time that this thread has had on a processor.
fn thread_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(text.split_whitespace().next().unwrap().parse().unwrap())
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = thread_time();
    let done = work();
    (done, thread_time().checked_sub(start).unwrap())
}

/// Returns the index of the version in the field of a fault.
fn version_index(fault: &Fault) -> usize {
    fault.crd_field.strip_prefix("spec.versions[").unwrap().split(']').next().unwrap().parse().unwrap()
}

/// Returns true if the answers of a new server to the objects are those that the fault claims.
fn is_shown(crd: &Value, fault: &Fault, objects: &[Value]) -> bool {
    let versions = crd.at(&["spec", "versions"]).unwrap().as_array().unwrap();
    let name = versions[version_index(fault)].str_at(&["name"]);
    let checker = Checker::new(crd, name, Release::NEWEST).unwrap();
    let accepts = |from: &Value, to: &Value| checker.update(from, to).unwrap().2.is_ok();
    match (fault.kind, objects) {
        (FaultKind::AvoidableTransition, [first, unset, second]) => {
            accepts(first, unset) && accepts(unset, second) && !accepts(first, second)
        }
        (FaultKind::UnchangedUpdate, [object]) => checker.create(object).is_none() && !accepts(object, object),
        (FaultKind::DefaultViolatesRule | FaultKind::FailingMessage | FaultKind::ExcessiveCost, [object]) => {
            checker.create(object).is_some()
        }
        _ => false,
    }
}

/// Returns true unless an object is found that only the rule rejects: a rule that never rejects an object alone makes no difference.
fn rule_makes_no_difference(crd: &Value, fault: &Fault) -> bool {
    let (node, index) = fault.crd_field.strip_suffix(".rule").unwrap().rsplit_once('[').unwrap();
    let index: usize = index.strip_suffix(']').unwrap().parse().unwrap();
    let mut without = crd.clone();
    let mut at = &mut without;
    for name in crdx_server::rules::node::steps(node).unwrap() {
        at = match at {
            Value::Array(items) => &mut items[name.parse::<usize>().unwrap()],
            other => other.get_mut(&name).unwrap(),
        };
    }
    let Value::Array(rules) = at else { panic!("{node}") };
    rules.remove(index);
    let upgrade = upgrade(&without, crd, Releases::both(Release::NEWEST), Timestamp::default(), EFFORT).unwrap();
    let answers = upgrade.versions.iter().filter_map(|version| version.answer(Question::CreateRejected));
    upgrade.answer.code < 400 && answers.into_iter().all(|answer| !matches!(answer, Answer::Found(_)))
}

/// Returns true if the evidence of a fault is confirmed.
fn is_confirmed(crd: &Value, fault: &Fault) -> bool {
    match &fault.evidence {
        Evidence::Objects(objects) => is_shown(crd, fault, objects),
        Evidence::LongObject(object) => is_shown(crd, fault, std::slice::from_ref(object)),
        Evidence::Proof if matches!(fault.kind, FaultKind::DeadRule | FaultKind::ImpliedRule) => {
            rule_makes_no_difference(crd, fault)
        }
        Evidence::Proof => true,
    }
}

#[test]
#[ignore = "needs ../shared/corpus and minutes: docs/fidelity/counterexamples.md"]
fn every_fault_of_published_definitions_has_an_object_or_a_proof() {
    let (mut counts, mut unconfirmed) = (BTreeMap::<(FaultKind, &str), usize>::new(), Vec::new());
    let (mut times, mut rejected) = (Vec::new(), 0);
    for (path, crd) in definitions() {
        let name = crd.str_at(&["metadata", "name"]).unwrap().to_owned();
        let Ok(decoded) = crd::decode(&crd) else { continue };
        if Checker::new(&crd, None, Release::NEWEST).is_err() {
            rejected += 1;
            continue;
        }
        let costs = costs(&decoded.crd.spec, &Release::NEWEST.into());
        let expressions = costs.iter().flat_map(|cost| &cost.expressions);
        let expensive = expressions.filter(|one| !one.message && one.each > PER_CALL_LIMIT);
        let expensive = expensive.map(|one| (one.crd_field.as_str(), one.each)).collect();
        let decoded = crd::decode(&crd).unwrap().crd;
        let search = |effort| timed(|| faults(&decoded, Release::NEWEST, effort, &expensive));
        let (found, short) = search(FaultEffort::DEFAULT);
        let (thorough, long) = search(FaultEffort::THOROUGH);
        for fault in found.iter().chain(thorough.iter().filter(|fault| !found.contains(fault))) {
            let evidence = if fault.evidence == Evidence::Proof { "proof" } else { "object" };
            *counts.entry((fault.kind, evidence)).or_default() += 1;
            if !is_confirmed(&crd, fault) {
                unconfirmed.push(format!("{}: {fault:?}", path.display()));
            }
        }
        times.push((short, long, name));
    }
    assert!(times.len() > 200, "{}", times.len());
    for ((kind, evidence), count) in &counts {
        println!("{} with {evidence}: {count}", kind.as_str());
    }
    println!("{} CRDs, {rejected} rejected", times.len());
    println!("default: {:?}", times.iter().map(|(short, ..)| *short).sum::<Duration>());
    times.sort_by_key(|(_, long, _)| std::cmp::Reverse(*long));
    for (short, long, name) in times.iter().take(8) {
        println!("{name}: {short:?}, thorough {long:?}");
    }
    assert!(unconfirmed.is_empty(), "{unconfirmed:#?}");
    assert!(times.iter().all(|(_, long, _)| *long < Duration::from_mins(1)));
}
