//! Changes an object step by step until the server accepts it. The object with the fewest errors is changed next; as
//! soon as a change reduces the errors, the search continues from the new object.

use super::changes::{Changes, changed, first_of_error, of_unions};
use super::rule_changes::of_rules;
use super::{Checker, Rejection};
use crdx_server::rules::node::steps;
use crdx_value::steps::{Steps, memory};
use crdx_value::{Value, json};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet, VecDeque};

/// The maximum number of objects that the server checks for an example.
pub(crate) const BUDGET: usize = 600;
/// The most memory of the objects and changes, in bytes.
const MEMORY: u64 = 64 << 20;
/// The most cost of all evaluations of rules.
const COST: u64 = 50_000_000;
/// The number of errors whose changes are tried.
const MAX_ERRORS: usize = 64;
/// The maximum number of changes to one object.
const MAX_CHANGES: usize = 400;
/// The number of changes that are generated first: usually one of them reduces the errors.
const FIRST_CHANGES: usize = 32;
/// The weight of an error of the schema relative to one of a rule: the server runs no rules while there are schema
/// errors.
const SCHEMA_ERROR: usize = 1000;

/// Which changes are tried first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeOrder {
    /// Those of all fields of a node, with the words of all its rules.
    Fields,
    /// Those of the fields of each rule, with its own words.
    Rules,
}

/// An object that the server rejected.
struct RejectedObject {
    object: Value,
    rejection: Rejection,
    score: usize,
    /// The changes that have not been tried.
    changes: VecDeque<Changes>,
    /// The number of changes that were generated.
    generated: usize,
}

impl RejectedObject {
    /// Generates changes if none is left: first a few, then all.
    fn generate(&mut self, checker: &Checker, order: ChangeOrder, most: usize) {
        if self.changes.is_empty() && self.generated < most {
            let wanted = if self.generated == 0 { FIRST_CHANGES.min(most) } else { most };
            let all = all_changes(checker, &self.object, &self.rejection, order, wanted);
            let count = all.len();
            self.changes = all.into_iter().skip(self.generated).collect();
            // Fewer than wanted means that there are no others.
            self.generated = if count < wanted { most } else { count };
        }
    }

    /// Returns true if some changes have not been tried.
    fn has_more(&self, most: usize) -> bool {
        !self.changes.is_empty() || self.generated < most
    }
}

/// Returns the object that the server accepts, or the best of `budget` objects and the reason why the server rejects it.
pub fn accepted(checker: &Checker, start: Value, budget: usize) -> (Value, Option<Rejection>) {
    accepted_with(checker, start, budget, ChangeOrder::Fields, &|_| true)
}

/// As [`accepted`], of the objects that have what is wanted.
pub fn accepted_with(
    checker: &Checker,
    start: Value,
    budget: usize,
    order: ChangeOrder,
    is_wanted: &dyn Fn(&Value) -> bool,
) -> (Value, Option<Rejection>) {
    // Some changes give an object that was checked before.
    let most = MAX_CHANGES.min(budget.saturating_mul(2));
    let mut seen = HashSet::new();
    let Some(rejection) = checker.create(&start) else { return (start, None) };
    seen.insert(json::to_string(&start));
    let score = score_of(checker, &start, &rejection);
    let mut checked = Vec::new();
    // Of two equally good objects, the earlier one comes first.
    let mut queue = BinaryHeap::from([Reverse((score, 0))]);
    let mut spent = 1;
    // The server copies each object several times.
    let (used, cost) = (Steps::new(MEMORY), Steps::new(COST));
    let is_over = |object: &Value, rejection: &Rejection| {
        let memory = 4 * memory(object) as u64;
        used.take(memory).is_err() || cost.take(rejection.cost).is_err() || rejection.is_unfinished
    };
    let mut over = is_over(&start, &rejection);
    checked.push(RejectedObject { object: start, rejection, score, changes: VecDeque::new(), generated: 0 });
    while !over && let Some(Reverse((_, index))) = queue.pop() {
        let Some(current) = checked.get_mut(index) else { break };
        current.generate(checker, order, most);
        let (mut changes, object, least) =
            (std::mem::take(&mut current.changes), current.object.clone(), current.score);
        while let Some(next) = changes.pop_front() {
            let object = changed(&object, &next);
            if !is_wanted(&object) || !seen.insert(json::to_string(&object)) {
                continue;
            }
            let Some(rejection) = checker.create(&object) else { return (object, None) };
            over = is_over(&object, &rejection) || used.take(memory_of(&next)).is_err();
            let score = score_of(checker, &object, &rejection);
            queue.push(Reverse((score, checked.len())));
            checked.push(RejectedObject { object, rejection, score, changes: VecDeque::new(), generated: 0 });
            spent += 1;
            if score < least || spent >= budget || over {
                break;
            }
        }
        if spent >= budget {
            break;
        }
        if let Some(current) = checked.get_mut(index) {
            current.changes = changes;
            if current.has_more(most) {
                queue.push(Reverse((least, index)));
            }
        }
    }
    let best = checked.into_iter().min_by_key(|one| one.score);
    best.map_or((Value::Null, None), |best| (best.object, Some(best.rejection)))
}

fn memory_of(changes: &Changes) -> u64 {
    changes.iter().filter_map(|change| change.value.as_ref()).map(|value| memory(value) as u64).sum()
}

fn score_of(checker: &Checker, object: &Value, rejection: &Rejection) -> usize {
    let weight = if checker.violates_schema(object) { SCHEMA_ERROR } else { 0 };
    weight + rejection.errors.len().max(1)
}

/// Returns `most` changes that may remove an error of the object, alternating between the errors.
fn all_changes(
    checker: &Checker,
    object: &Value,
    rejection: &Rejection,
    order: ChangeOrder,
    most: usize,
) -> VecDeque<Changes> {
    let mut paths = Vec::new();
    let mut of_errors: Vec<VecDeque<Changes>> = Vec::new();
    for error in rejection.errors.iter().take(MAX_ERRORS) {
        let is_root = error.is_at_nil_path() || error.field.is_empty();
        let Ok(path) = steps(if is_root { "" } else { &error.field }) else { continue };
        if paths.contains(&path) {
            continue;
        }
        // Errors of unions are reported at the root.
        let unions = if is_root { of_unions(&checker.schema, object) } else { Vec::new() };
        let of_rules = match order {
            ChangeOrder::Fields => Vec::new(),
            ChangeOrder::Rules => of_rules(&checker.schema, object, &path),
        };
        let unions = unions.into_iter().chain(of_rules);
        of_errors.push(unions.chain(first_of_error(&checker.schema, object, &path, most)).collect());
        paths.push(path);
    }
    let mut all = VecDeque::new();
    while all.len() < most && of_errors.iter().any(|changes| !changes.is_empty()) {
        all.extend(of_errors.iter_mut().filter_map(VecDeque::pop_front));
    }
    all
}
