//! The search for one version.

use super::goals::{EffectGoal, GoalEffect};
use crate::examples::{self, Example, ExampleFields, search::accepted};
use crate::search::answer::{Answer, Effort, MAX_STARTS, MEMORY, Unknown, size};
use crate::search::candidates::{self, Edit};
use crate::search::differing::{self, DifferingNode};
use crate::search::probe::{Counterexample, Probe, Question};
use crate::search::random::Random;
use crate::search::shrink;
use crdx_server::schema::Schema;
use crdx_value::steps::{Steps, memory};
use crdx_value::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// The memory of an object that is changed only after all smaller ones: the effort would end after a few hundred.
const LARGE: u64 = 4 * MEMORY;
/// The cost of rules for each object of the effort.
const COST: u64 = 50_000;
/// The maximum number of further picks while the picked object is large.
const SMALLER: usize = 3;
/// The number of objects that the new CRD rejects to which others are updated.
const MAX_REJECTED: usize = 12;
/// The part of the effort, one of this number, that each round of updates has for itself.
const UPDATES: usize = 8;
/// The number of rejected objects that are mended, and the objects that are tried for each.
const MENDED: (usize, usize) = (24, 40);

/// The search for one version.
pub struct Run<'r> {
    probe: &'r Probe<'r>,
    old: Arc<Schema>,
    new: Arc<Schema>,
    open: Vec<Question>,
    found: BTreeMap<Question, Counterexample>,
    /// The effects and their paths; an object is wanted for each.
    goals: Vec<EffectGoal>,
    /// Different objects that the old CRD accepts, from which the search goes on.
    starts: Vec<Value>,
    /// The example objects.
    bases: Vec<Value>,
    /// Objects whose create only the new CRD rejects. It may tolerate their errors in an update that leaves the values.
    rejected: Vec<Value>,
    seen: HashSet<String>,
    /// The objects that are left.
    left: usize,
    /// The updates of one round.
    updates: usize,
    mended: usize,
    accepted: usize,
    memory: Steps,
    cost: Steps,
    random: Random,
}

impl<'r> Run<'r> {
    pub fn new(probe: &'r Probe<'r>, effort: Effort, open: &[Question]) -> Self {
        let objects = effort.objects as u64;
        Self {
            probe,
            old: Arc::clone(&probe.old.schema),
            new: Arc::clone(&probe.new.schema),
            open: open.to_vec(),
            found: BTreeMap::new(),
            goals: Vec::new(),
            starts: Vec::new(),
            bases: Vec::new(),
            rejected: Vec::new(),
            seen: HashSet::new(),
            left: effort.objects.saturating_sub(2 * (effort.objects / UPDATES)),
            updates: effort.objects / UPDATES,
            mended: 0,
            accepted: 0,
            memory: Steps::new(objects.saturating_mul(MEMORY)),
            cost: Steps::new(objects.saturating_mul(COST)),
            random: Random::new(effort.seed),
        }
    }

    /// Also searches for objects that show an effect at each of these paths.
    pub fn at(mut self, goals: &[(String, GoalEffect)]) -> Self {
        self.goals = goals.iter().map(|(path, effect)| EffectGoal::new(path, *effect)).collect();
        self
    }

    /// Returns the objects that were found for the paths.
    pub fn at_goals(self) -> Vec<Option<Counterexample>> {
        self.goals.into_iter().map(|goal| goal.found).collect()
    }

    /// Returns the number of objects and updates that the old CRD accepted.
    pub fn accepted(&self) -> usize {
        self.accepted
    }

    /// Returns the answers to the open questions.
    pub fn answers(mut self) -> Vec<(Question, Answer)> {
        let none = if self.accepted == 0 { Answer::CannotTell(Unknown::NoObject) } else { Answer::NoneFound };
        let questions = std::mem::take(&mut self.open);
        let mut answer = |question| self.found.remove(&question).map(|found| Answer::Found(Box::new(found)));
        questions.into_iter().map(|question| (question, answer(question).unwrap_or_else(|| none.clone()))).collect()
    }

    /// Searches until all questions are answered or the effort is spent.
    pub fn search(&mut self) {
        let (old, new) = (Arc::clone(&self.old), Arc::clone(&self.new));
        let nodes = differing::nodes(&old, &new);
        self.examples();
        let mut edits = candidates::at_differences(&nodes);
        edits.extend(candidates::of_names(&old, &new));
        self.edits(&edits);
        self.all(candidates::at_rules(&new, &self.bases.clone(), &nodes));
        if let Some(base) = self.bases.last() {
            edits.extend(candidates::elsewhere(&old, &base.clone()));
        }
        self.edits(&edits);
        for start in self.starts.clone() {
            self.all(candidates::at_rules(&new, &[start], &nodes));
        }
        self.updates();
        self.at_random(&edits, &nodes);
        self.updates();
        self.shrink();
    }

    fn is_over(&self) -> bool {
        self.left == 0
            || self.memory.are_spent()
            || self.cost.are_spent()
            || (self.open.iter().all(|question| self.found.contains_key(question)) && self.has_all_goals())
    }

    fn has_all_goals(&self) -> bool {
        self.goals.iter().all(EffectGoal::is_reached)
    }

    /// Tries the examples, also with a status.
    fn examples(&mut self) {
        for fields in [ExampleFields::Minimal, ExampleFields::Full] {
            let Ok(Example { object, rejection: None }) = examples::example(&self.probe.old, fields) else { continue };
            let with_status = candidates::with_status(&self.old, &object, fields);
            for object in [object, with_status] {
                if self.is_new(&object) && self.ask(object.clone()) {
                    self.bases.push(object);
                }
            }
        }
    }

    /// Applies each edit to each example, to large ones last.
    fn edits(&mut self, edits: &[Edit]) {
        let old = Arc::clone(&self.old);
        let (large, small): (Vec<Value>, Vec<Value>) = self.bases.iter().cloned().partition(is_large);
        for bases in [small, large] {
            for (edit, base) in edits.iter().flat_map(|edit| bases.iter().map(move |base| (edit, base))) {
                if self.is_over() {
                    return;
                }
                if let Some(object) = edit.on(&old, base) {
                    self.try_object(object);
                }
            }
        }
    }

    fn all(&mut self, objects: Vec<Value>) {
        for object in objects {
            if self.is_over() {
                return;
            }
            self.try_object(object);
        }
    }

    /// Applies several edits to an accepted object.
    fn at_random(&mut self, edits: &[Edit], nodes: &[DifferingNode<'_>]) {
        let old = Arc::clone(&self.old);
        let extra: Vec<Edit> = nodes
            .iter()
            .flat_map(|node| {
                candidates::values(node.old, node.new)
                    .into_iter()
                    .map(|value| Edit::Place(node.steps.clone(), Some(value)))
            })
            .collect();
        let mut rounds = self.left.saturating_mul(4);
        while !self.is_over() && rounds > 0 {
            rounds -= 1;
            let Some(mut object) = self.start() else { return };
            for _ in 0..=self.random.below(4) {
                let pool = if self.random.below(3) == 0 { &extra } else { edits };
                let Some(edit) = self.random.pick(pool) else { continue };
                object = edit.on(&old, &object).unwrap_or(object);
            }
            self.try_object(object);
        }
    }

    /// Returns one of the accepted objects, rarely a large one.
    fn start(&mut self) -> Option<Value> {
        let mut picked = self.random.pick(&self.starts)?;
        for _ in 0..SMALLER {
            if !is_large(picked) {
                break;
            }
            picked = self.random.pick(&self.starts)?;
        }
        Some(picked.clone())
    }

    fn is_new(&mut self, object: &Value) -> bool {
        self.seen.insert(json::to_string(object))
    }

    /// Asks about an object that was not tried before. If the old CRD rejects it, a few objects near it are tried.
    fn try_object(&mut self, object: Value) {
        if !self.is_new(&object) || self.ask(object.clone()) || self.mended >= MENDED.0 {
            return;
        }
        self.mended += 1;
        let (near, rejection) = accepted(&self.probe.old, object, MENDED.1);
        self.left = self.left.saturating_sub(MENDED.1 / 4);
        if rejection.is_none() && self.is_new(&near) {
            self.ask(near);
        }
    }

    /// Asks about an object. Returns true if the old CRD accepts it.
    fn ask(&mut self, object: Value) -> bool {
        self.left = self.left.saturating_sub(1);
        let _ = self.memory.take(size(&object));
        match self.probe.effects(&object) {
            Ok(effects) => {
                self.accepted += 1;
                self.goals.iter_mut().for_each(|goal| goal.note(&object, None, &effects));
                let is_rejected = effects.iter().any(|(question, _)| *question == Question::CreateRejected);
                if is_rejected && self.rejected.len() < MAX_REJECTED {
                    self.rejected.push(object.clone());
                }
                for (question, details) in effects {
                    self.note(question, Counterexample { object: object.clone(), updated: None, details });
                }
                if self.starts.len() < MAX_STARTS {
                    self.starts.push(object);
                } else if self.random.below(8) == 0 {
                    let index = self.random.below(MAX_STARTS);
                    if let Some(start) = self.starts.get_mut(index) {
                        *start = object;
                    }
                }
                true
            }
            Err(rejection) => {
                let _ = self.cost.take(rejection.cost);
                false
            }
        }
    }

    /// Keeps the smallest object.
    fn note(&mut self, question: Question, found: Counterexample) {
        if !self.open.contains(&question) {
            return;
        }
        let size = |one: &Counterexample| memory(&one.object) + one.updated.as_ref().map_or(0, memory);
        if self.found.get(&question).is_none_or(|best| size(&found) < size(best)) {
            self.found.insert(question, found);
        }
    }

    /// Tries updates between accepted objects: first to those whose create is rejected, then of each to itself.
    fn updates(&mut self) {
        let question = Question::UpdateRejected;
        let is_answered = |run: &Self| !run.open.contains(&question) || run.found.contains_key(&question);
        let (starts, rejected, bases) = (self.starts.clone(), self.rejected.clone(), self.bases.clone());
        let to_rejected = rejected.iter().flat_map(|to| bases.iter().chain(&starts).map(move |from| (from, to)));
        let pairs = (0..starts.len()).flat_map(|by| starts.iter().zip(starts.iter().cycle().skip(by)));
        // Large objects before must not prevent updates of small ones.
        let left = Steps::new((self.updates as u64).saturating_mul(MEMORY));
        for (from, to) in to_rejected.chain(pairs).take(self.updates) {
            if left.are_spent() || (is_answered(self) && self.has_all_goals()) {
                return;
            }
            let _ = left.take(size(from).saturating_add(size(to)));
            let Some(details) = self.probe.update(from, to) else {
                self.accepted += 1;
                continue;
            };
            let updated = (from != to).then(|| to.clone());
            let effects = [(question, details.clone())];
            self.goals.iter_mut().for_each(|goal| goal.note(from, updated.as_ref(), &effects));
            self.note(question, Counterexample { object: from.clone(), updated, details });
        }
    }

    /// Makes everything that was found as small as possible.
    fn shrink(&mut self) {
        for (question, found) in std::mem::take(&mut self.found) {
            let smallest = shrunk(&found, |object, updated| self.shows(question, object, updated));
            self.found.extend(smallest.map(|smallest| (question, smallest)));
        }
        let mut goals = std::mem::take(&mut self.goals);
        for goal in &mut goals {
            let Some(found) = goal.found.take() else { continue };
            goal.found = shrunk(&found, |object, updated| self.shows_goal(goal, object, updated));
        }
        self.goals = goals;
    }

    /// Returns the details of an effect on an object, or on the update of one.
    fn shows(&self, question: Question, object: &Value, updated: Option<&Value>) -> Option<Vec<String>> {
        if updated.is_none() {
            let effects = self.probe.effects(object).ok()?;
            if let Some((_, details)) = effects.into_iter().find(|(one, _)| *one == question) {
                return Some(details);
            }
        }
        // A transition rule may reject an update that changes nothing else.
        let is_update = question == Question::UpdateRejected;
        if is_update { self.probe.update(object, updated.unwrap_or(object)) } else { None }
    }

    fn shows_goal(&self, goal: &EffectGoal, object: &Value, updated: Option<&Value>) -> Option<Vec<String>> {
        let of_object = || goal.details_alone(&self.probe.effects(object).ok()?);
        let of_update = || {
            let details = self.probe.update(object, updated.unwrap_or(object))?;
            goal.details_alone(&[(Question::UpdateRejected, details)])
        };
        if updated.is_none() { of_object().or_else(of_update) } else { of_update() }
    }
}

fn is_large(object: &Value) -> bool {
    size(object) > LARGE
}

/// Returns the smallest object, and update of it, with details.
fn shrunk(
    found: &Counterexample,
    shows: impl Fn(&Value, Option<&Value>) -> Option<Vec<String>>,
) -> Option<Counterexample> {
    let updated = found.updated.as_ref();
    let object = shrink::shrunk(found.object.clone(), |object| shows(object, updated).is_some());
    let updated = updated.map(|to| shrink::shrunk(to.clone(), |to| shows(&object, Some(to)).is_some()));
    let details = shows(&object, updated.as_ref())?;
    Some(Counterexample { object, updated, details })
}
