//! The objects of a version that are sent: examples with few and with all fields, single changes of them, then combinations.

use crate::examples::generate::ExampleFields;
use crate::examples::search::accepted;
use crate::examples::{self, Checker, Example};
use crate::schema_steps::{SchemaStep, is_type_or_metadata, steps_below};
use crate::search::answer::{Effort, MAX_STARTS, MEMORY};
use crate::search::candidates::{self, Edit};
use crate::search::random::Random;
use crdx_server::schema::Schema;
use crdx_value::steps::{Steps, memory};
use crdx_value::{Value, json};
use std::collections::{HashSet, VecDeque};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The maximum number of nodes whose values are changed.
const MAX_NODES: usize = 2_000;
/// The values of a node.
const VALUES: usize = 12;
/// The number of rejected objects for each accepted one.
const REJECTED: usize = 10;
/// The number of rejected objects that are mended, and the objects that are tried for each.
const MENDED: (usize, usize) = (24, 40);

/// Receives each object that the version accepts, and how it is stored.
pub trait Visitor {
    /// Returns `Break` to end the search.
    fn visit(&mut self, object: &Value, stored: &Arc<Value>) -> ControlFlow<()>;
}

/// Sends objects to a visitor until the effort is spent.
pub fn visit(checker: &Checker, effort: Effort, visitor: &mut dyn Visitor) {
    let search = Search {
        checker,
        visitor,
        left: effort.objects,
        rejected: effort.objects.saturating_mul(REJECTED),
        memory: Steps::new((effort.objects as u64).saturating_mul(MEMORY)),
        mended: 0,
        seen: HashSet::new(),
        starts: Vec::new(),
        random: Random::new(effort.seed),
    };
    // The visitor or the effort ended the search, or nothing is left to try.
    let (ControlFlow::Break(()) | ControlFlow::Continue(())) = search.run();
}

struct Search<'v> {
    checker: &'v Checker,
    visitor: &'v mut dyn Visitor,
    left: usize,
    rejected: usize,
    memory: Steps,
    mended: usize,
    seen: HashSet<String>,
    starts: Vec<Value>,
    random: Random,
}

impl Search<'_> {
    fn run(mut self) -> ControlFlow<()> {
        let schema = Arc::clone(&self.checker.schema);
        let bases = self.bases()?;
        let mut edits = at_nodes(&schema);
        for base in &bases {
            edits.extend(candidates::elsewhere(&schema, base));
        }
        for edit in &edits {
            for base in &bases {
                if let Some(object) = edit.on(&schema, base) {
                    self.attempt(object)?;
                }
            }
        }
        for _ in 0..self.left.saturating_mul(4) {
            let Some(mut object) = self.random.pick(&self.starts).cloned() else { break };
            for _ in 0..=self.random.below(4) {
                if let Some(edit) = self.random.pick(&edits) {
                    object = edit.on(&schema, &object).unwrap_or(object);
                }
            }
            self.attempt(object)?;
        }
        ControlFlow::Continue(())
    }

    /// Sends the examples. Returns those that the version accepts, small ones first.
    fn bases(&mut self) -> ControlFlow<(), Vec<Value>> {
        let mut bases = Vec::new();
        for fields in [ExampleFields::Full, ExampleFields::Minimal] {
            let Ok(Example { object, rejection: None }) = examples::example(self.checker, fields) else { continue };
            let full = if fields == ExampleFields::Full {
                let with_status = candidates::with_status(&self.checker.schema, &object, fields);
                vec![without_empty_values(&with_status), with_status]
            } else {
                Vec::new()
            };
            for object in full {
                let (object, rejection) = accepted(self.checker, object, MENDED.1);
                if rejection.is_none() {
                    self.attempt(object.clone())?;
                    bases.insert(0, object);
                }
            }
            self.attempt(object.clone())?;
            bases.insert(0, object);
        }
        ControlFlow::Continue(bases)
    }

    fn attempt(&mut self, object: Value) -> ControlFlow<()> {
        if self.left == 0 || self.rejected == 0 || self.memory.are_spent() {
            return ControlFlow::Break(());
        }
        if !self.seen.insert(json::to_string(&object)) {
            return ControlFlow::Continue(());
        }
        let _ = self.memory.take(4 * memory(&object) as u64);
        if let Ok(stored) = self.checker.send(&object) {
            return self.accept(object, &stored);
        }
        self.rejected -= 1;
        if self.mended < MENDED.0 {
            self.mended += 1;
            let (near, rejection) = accepted(self.checker, object, MENDED.1);
            if rejection.is_none()
                && self.seen.insert(json::to_string(&near))
                && let Ok(stored) = self.checker.send(&near)
            {
                return self.accept(near, &stored);
            }
        }
        ControlFlow::Continue(())
    }

    fn accept(&mut self, object: Value, stored: &Arc<Value>) -> ControlFlow<()> {
        self.left -= 1;
        self.visitor.visit(&object, stored)?;
        if self.starts.len() < MAX_STARTS {
            self.starts.push(object);
        } else if self.random.below(8) == 0 {
            let index = self.random.below(MAX_STARTS);
            if let Some(start) = self.starts.get_mut(index) {
                *start = object;
            }
        }
        ControlFlow::Continue(())
    }
}

/// Returns edits that set the values of each node in turn.
fn at_nodes(schema: &Schema) -> Vec<Edit> {
    let mut queues = Vec::new();
    collect(schema, &mut Vec::new(), &mut queues);
    candidates::in_turn(queues)
}

fn collect(schema: &Schema, steps: &mut Vec<SchemaStep>, queues: &mut Vec<VecDeque<Edit>>) {
    for (step, node) in steps_below(schema) {
        if queues.len() >= MAX_NODES {
            return;
        }
        if steps.is_empty() && is_type_or_metadata(&step) {
            continue;
        }
        steps.push(step);
        let values = candidates::values(Some(node), None).into_iter().take(VALUES);
        queues.push(values.map(|value| Edit::Place(steps.clone(), Some(value))).collect());
        collect(node, steps, queues);
        steps.pop();
    }
}

/// Returns the object with other values for false and 0, which look like a missing value.
fn without_empty_values(object: &Value) -> Value {
    match object {
        Value::Bool(false) => Value::Bool(true),
        Value::Int(0) => Value::Int(7),
        Value::Array(items) => items.iter().map(without_empty_values).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            Value::Object(members.iter().map(|(name, value)| (name.clone(), without_empty_values(value))).collect())
        }
        other => other.clone(),
    }
}
