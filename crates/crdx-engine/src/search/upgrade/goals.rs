//! Objects that show an effect at a given path, such as `spec.list[*].name`.

use crate::search::probe::{Counterexample, Effect, Question};
use crdx_server::rules::node::steps;
use crdx_value::Value;
use std::collections::BTreeSet;

/// The effect at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalEffect {
    /// A field is required and missing.
    Missing,
    /// A value is rejected.
    Invalid,
    /// A value is dropped.
    Pruned,
    /// A default is another one.
    Defaulted,
}

impl GoalEffect {
    fn is_of(self, question: Question, detail: &str) -> bool {
        let is_rejection = question.is_rejection();
        let is_missing = detail.ends_with(": Required value");
        match self {
            Self::Missing => is_rejection && is_missing,
            Self::Invalid => is_rejection && !is_missing,
            Self::Pruned => question == Question::Pruned,
            Self::Defaulted => question == Question::Defaulted,
        }
    }
}

/// A path at which an effect is looked for, and the object that shows it.
#[derive(Debug)]
pub struct EffectGoal {
    /// The names on the path; `*` is any name or index.
    pattern: Vec<String>,
    effect: GoalEffect,
    /// The object with the fewest other errors that was found.
    pub found: Option<Counterexample>,
    /// The number of its other errors.
    others: usize,
    /// The number of objects that were compared with it.
    compared: usize,
}

/// The number of objects after which an object with other errors is not replaced.
const MAX_COMPARED: usize = 60;

impl EffectGoal {
    /// Creates a goal from the path of values, as `lint` prints it.
    pub fn new(path: &str, effect: GoalEffect) -> Self {
        let pattern = if path == "self" { Vec::new() } else { steps(path).unwrap_or_default() };
        Self { pattern, effect, found: None, others: 0, compared: 0 }
    }

    /// Returns the details of an effect that are about this path: the path of each precedes `: `.
    pub fn details(&self, effects: &[Effect]) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for (question, details) in effects {
            let here = |detail: &&String| self.effect.is_of(*question, detail) && self.is_at(detail);
            for detail in details.iter().filter(here) {
                if !all.contains(detail) {
                    all.push(detail.clone());
                }
            }
        }
        all
    }

    fn is_at(&self, detail: &str) -> bool {
        let path = detail.split_once(": ").map_or(detail, |(path, _)| path);
        let Ok(path) = steps(if path == "<nil>" { "" } else { path }) else { return false };
        path.len() >= self.pattern.len() && self.pattern.iter().zip(&path).all(|(one, other)| one == "*" || one == other)
            // A path that is the whole object has only errors about it.
            && (!self.pattern.is_empty() || path.is_empty())
    }

    /// Returns true if no other object is wanted.
    pub fn is_reached(&self) -> bool {
        self.found.is_some() && (self.others == 0 || self.compared >= MAX_COMPARED)
    }

    /// Keeps the object if it shows the effect here with fewer other errors than the one before.
    pub fn note(&mut self, object: &Value, updated: Option<&Value>, effects: &[Effect]) {
        if self.is_reached() {
            return;
        }
        self.compared += usize::from(self.found.is_some());
        let details = self.details(effects);
        let others = self.others(effects);
        if !details.is_empty() && (self.found.is_none() || others < self.others) {
            self.found = Some(Counterexample { object: object.clone(), updated: updated.cloned(), details });
            self.others = others;
        }
    }

    /// Returns the details if they show the effect here with no more other errors than the object that was found.
    pub fn details_alone(&self, effects: &[Effect]) -> Option<Vec<String>> {
        let details = self.details(effects);
        (!details.is_empty() && self.others(effects) <= self.others).then_some(details)
    }

    /// Returns the number of different errors of rejections that are not this effect here.
    fn others(&self, effects: &[Effect]) -> usize {
        let errors = effects.iter().filter(|(question, _)| question.is_rejection()).flat_map(|(question, details)| {
            details.iter().filter(|detail| !(self.effect.is_of(*question, detail) && self.is_at(detail)))
        });
        errors.collect::<BTreeSet<_>>().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_with_fewer_other_errors_is_kept() {
        let mut goal = EffectGoal::new("spec.a", GoalEffect::Invalid);
        let effects = |errors: &[&str]| {
            vec![(Question::CreateRejected, errors.iter().map(|error| (*error).to_owned()).collect::<Vec<_>>())]
        };
        goal.note(&"first".into(), None, &effects(&["spec.a: Invalid value", "spec.b: Required value"]));
        assert!(!goal.is_reached());
        goal.note(&"other".into(), None, &effects(&["spec.b: Required value"]));
        goal.note(&"alone".into(), None, &effects(&["spec.a: Invalid value"]));
        assert!(goal.is_reached());
        assert_eq!(goal.found.as_ref().unwrap().object, "alone".into());
        assert_eq!(goal.details_alone(&effects(&["spec.a: Invalid value", "spec.c: Invalid value"])), None);
    }

    #[test]
    fn items_and_members_match() {
        for (pattern, detail, is_there) in [
            ("spec.list[*].name", "spec.list[3].name: Required value", true),
            ("spec.list[*].name", "spec.list[3].names: Required value", false),
            ("spec.map.*", "spec.map.x: Invalid value: 3", true),
            ("spec.map.*", "spec.map: Invalid value: 3", false),
            ("spec.a", "spec.a.b", true),
            ("self", "<nil>: Invalid value: \"object\": failed rule", true),
            ("self", "spec.a: Invalid value", false),
        ] {
            assert_eq!(EffectGoal::new(pattern, GoalEffect::Invalid).is_at(detail), is_there, "{pattern} {detail}");
        }
    }
}
