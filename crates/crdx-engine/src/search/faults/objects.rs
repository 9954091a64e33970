//! Faults that an object shows.

use super::rules::clear_rules;
use super::samples::Samples;
use super::{Fault, FaultEffort, FaultKind, FaultNode};
use crate::examples::changes::{changed, first_of_error};
use crate::examples::generate::{self, ExampleFields};
use crate::examples::search::accepted;
use crate::examples::{self, Checker, Rejection};
use crate::schema_steps::{SchemaStep, below, below_mut};
use crate::search::candidates;
use crate::search::place::placed;
use crdx_server::rules::Rules;
use crdx_server::rules::node::steps;
use crdx_server::schema::{Schema, ValidationRule};
use crdx_value::release::Release;
use crdx_value::steps::Steps;
use crdx_value::{Value, json};
use std::cmp::Reverse;
use std::collections::HashSet;

/// The number of accepted values of a transition rule that are compared.
const UPDATED: usize = 4;
/// The number of generated values of a node.
const GENERATED: usize = 3;

/// The server of one version, and an object that it accepts.
pub struct Subject<'s> {
    pub checker: &'s Checker,
    base: Value,
    effort: FaultEffort,
    requests: Steps,
    pub release: Release,
    pub samples: Samples,
}

/// Returns true if an object may show a fault of the node.
pub fn may_have_fault(node: &FaultNode<'_>) -> bool {
    let rules = &node.schema.x_validations;
    node.has_default_for_rules
        || !node.expensive.is_empty()
        || rules.iter().any(|rule| is_transition(&rule.rule) || !rule.message_expression.is_empty())
}

/// Returns the faults of a version that an object shows.
pub fn faults(checker: &Checker, nodes: &[&FaultNode<'_>], release: Release, effort: FaultEffort) -> Vec<Fault> {
    let mut found = Vec::new();
    let Ok(start) = examples::start(checker, ExampleFields::Minimal) else { return found };
    let (base, None) = accepted(checker, start, effort.base) else { return found };
    let subject =
        Subject { checker, base, effort, requests: Steps::new(effort.requests), release, samples: Samples::default() };
    let expensive = nodes.iter().flat_map(|node| node.expensive.iter().map(move |(index, cost)| (node, *index, cost)));
    let mut expensive: Vec<_> = expensive.collect();
    expensive.sort_by_key(|(.., cost)| Reverse(**cost));
    found.extend(expensive.iter().take(effort.costs).filter_map(|(node, index, _)| subject.cost(node, *index)));
    for node in nodes {
        if node.has_default_for_rules {
            found.extend(subject.default(node));
        }
        let rules = &node.schema.x_validations;
        if rules.iter().any(|rule| is_transition(&rule.rule)) {
            found.extend(subject.transition(node));
        }
        for (index, rule) in rules.iter().enumerate() {
            if !rule.message_expression.is_empty() && !is_transition(&rule.rule) {
                found.extend(subject.message(node, index));
            }
        }
    }
    found
}

fn is_transition(rule: &str) -> bool {
    rule.contains("oldSelf")
}

impl Subject<'_> {
    /// An object that the server accepts.
    pub fn base(&self) -> &Value {
        &self.base
    }

    /// Returns the accepted object with another value of the node.
    pub fn with(&self, node: &FaultNode<'_>, value: Option<&Value>) -> Option<Value> {
        placed(&self.checker.schema, &self.base, &node.steps, value)
    }

    /// The server's answer to a create; `None` if the object violates the schema, or no more requests are sent.
    pub fn create(&self, object: &Value) -> Option<Result<(), Rejection>> {
        if self.requests.are_spent() || self.checker.violates_schema(object) {
            return None;
        }
        self.requests.take(1).ok()?;
        Some(self.checker.create(object).map_or(Ok(()), Err))
    }

    fn accepts(&self, object: &Value) -> bool {
        matches!(self.create(object), Some(Ok(())))
    }

    /// The server's answer to an update; `None` if the server rejects the existing object, or no more requests are sent.
    fn update(&self, from: &Value, to: &Value) -> Option<Result<(), Rejection>> {
        self.requests.take(2).ok()?;
        let (_, _, answer) = self.checker.update(from, to)?;
        Some(answer.map(|_| ()))
    }

    /// An object that lacks the field and is rejected because of the default: it is accepted with another value.
    fn default(&self, node: &FaultNode<'_>) -> Option<Fault> {
        let default = node.schema.default.as_ref()?;
        std::iter::once(self.base.clone())
            .chain(self.without_siblings(node))
            .find_map(|start| self.default_in(node, default, &start))
    }

    /// Returns the accepted object with as few fields beside the node as possible.
    fn without_siblings(&self, node: &FaultNode<'_>) -> Option<Value> {
        let root = &*self.checker.schema;
        let (_, above) = node.steps.split_last()?;
        let parent = above.iter().try_fold(root, below)?;
        placed(root, &self.base, above, Some(&generate::value(parent, ExampleFields::Minimal, 0)))
    }

    fn default_in(&self, node: &FaultNode<'_>, default: &Value, start: &Value) -> Option<Fault> {
        let with = |value: &Value| placed(&self.checker.schema, start, &node.steps, Some(value));
        let object = placed(&self.checker.schema, &with(default)?, &node.steps, None)?;
        let rejection = self.create(&object)?.err()?;
        let values = simple_values(node.schema).filter(|value| value != default);
        let mut others = values.take(self.effort.objects).filter_map(|value| with(&value));
        others.find(|other| self.accepts(other))?;
        let error = rejection.errors.first().map_or_else(|| rejection.message.clone(), ToString::to_string);
        let message = format!("{}: with its default, an object without the field is rejected: {error}", node.path());
        Some(node.shown(FaultKind::DefaultViolatesRule, "default", message, vec![object]))
    }

    /// An update that changes nothing and is rejected, or updates that together avoid a transition rule.
    fn transition(&self, node: &FaultNode<'_>) -> Option<Fault> {
        let keyword = "x-kubernetes-validations";
        if self.requests.are_spent() {
            return None;
        }
        let more = std::iter::once_with(|| candidates::values(Some(node.schema), None)).flatten();
        let mut seen = HashSet::new();
        let values = simple_values(node.schema).chain(more).filter(move |value| seen.insert(json::to_string(value)));
        let objects = values.filter_map(|value| self.with(node, Some(&value))).take(self.effort.objects);
        let objects: Vec<Value> = objects.filter(|object| self.accepts(object)).take(UPDATED).collect();
        for object in &objects {
            if self.rejects(node, object, object) {
                let message = format!("{}: a transition rule rejects an update that changes nothing", node.path());
                return Some(node.shown(FaultKind::UnchangedUpdate, keyword, message, vec![object.clone()]));
            }
        }
        if !matches!(node.steps.last(), Some(SchemaStep::Property(_))) || node.schema.default.is_some() {
            return None;
        }
        let mut pairs = objects.iter().flat_map(|first| objects.iter().map(move |second| (first, second)));
        let (first, second) = pairs.find(|(first, second)| first != second && self.rejects(node, first, second))?;
        let unset = placed(&self.checker.schema, first, &node.steps, None)?;
        let accepts = |from: &Value, to: &Value| matches!(self.update(from, to), Some(Ok(())));
        if !accepts(first, &unset) || !accepts(&unset, second) {
            return None;
        }
        let message = format!(
            "{}: an update that removes the field and another one that sets it again avoid the transition rule; require the field, or put the rule on its parent",
            node.path()
        );
        let objects = vec![first.clone(), unset, second.clone()];
        Some(node.shown(FaultKind::AvoidableTransition, keyword, message, objects))
    }

    /// Returns true if an update is rejected with an error at the node.
    fn rejects(&self, node: &FaultNode<'_>, from: &Value, to: &Value) -> bool {
        let Some(Err(rejection)) = self.update(from, to) else { return false };
        let depth = node.steps.len();
        rejection.errors.iter().any(|error| steps(&error.field).is_ok_and(|path| path.len() >= depth) || depth == 0)
    }

    /// Returns the schema of the version with only these rules, at this node.
    pub fn only(&self, node: &FaultNode<'_>, rules: Vec<ValidationRule>) -> Option<Rules> {
        let mut schema = Schema::clone(&self.checker.schema);
        clear_rules(&mut schema);
        let own = node.steps.iter().try_fold(&mut schema, |schema, step| below_mut(schema, step))?;
        own.x_validations = rules;
        Rules::new(&schema, self.release)
    }

    /// An object that the rule rejects, and for which its message expression fails.
    fn message(&self, node: &FaultNode<'_>, index: usize) -> Option<Fault> {
        if self.requests.are_spent() {
            return None;
        }
        let rule = node.schema.x_validations.get(index)?;
        let message = ValidationRule {
            rule: format!("size({}) >= 0", rule.message_expression),
            message_expression: String::new(),
            ..rule.clone()
        };
        let bare = ValidationRule { message_expression: String::new(), ..rule.clone() };
        let rules = self.only(node, vec![bare, message])?;
        let is_failing = |object: &Value| {
            let evaluations = rules.evaluations(object, None);
            let of = |rule: usize| evaluations.iter().filter(move |one| one.rule == rule);
            of(0).zip(of(1)).any(|(own, message)| !own.holds && !message.holds)
        };
        let value = generate::value(node.schema, ExampleFields::Full, 0);
        let minimal = generate::value(node.schema, ExampleFields::Minimal, 0);
        for start in [minimal, value] {
            let object = if node.steps.is_empty() { self.base.clone() } else { self.with(node, Some(&start))? };
            let path = path_in(&object, &node.steps)?;
            let changes = first_of_error(&self.checker.schema, &object, &path, self.effort.objects);
            let others = changes.iter().map(|changes| changed(&object, changes));
            for object in std::iter::once(object.clone()).chain(others) {
                let sees_defaults =
                    |object: &Value| self.checker.defaulted(object).is_some_and(|object| is_failing(&object));
                if sees_defaults(&object) && matches!(self.create(&object), Some(Err(_))) {
                    let message = format!(
                        "{}: the messageExpression fails for an object that the rule rejects, so the message is another one",
                        node.path()
                    );
                    let keyword = format!("x-kubernetes-validations[{index}].messageExpression");
                    return Some(node.shown(FaultKind::FailingMessage, &keyword, message, vec![object]));
                }
            }
        }
        None
    }
}

/// Returns values that take little time to generate.
fn simple_values(schema: &Schema) -> impl Iterator<Item = Value> {
    let made = (0..GENERATED)
        .flat_map(|number| [ExampleFields::Minimal, ExampleFields::Full].map(|fields| (fields, number)))
        .map(|(fields, number)| generate::value(schema, fields, number));
    made.chain(schema.enum_.iter().take(GENERATED).cloned())
}

/// Returns the path of the first value of a node.
fn path_in(object: &Value, steps: &[SchemaStep]) -> Option<Vec<String>> {
    let mut at = object;
    let mut path = Vec::new();
    for step in steps {
        let name = match (step, at) {
            (SchemaStep::Property(name), _) => name.clone(),
            (SchemaStep::Items, _) => "0".to_owned(),
            (SchemaStep::Values, Value::Object(members)) => members.keys().next()?.clone(),
            (SchemaStep::Values, _) => return None,
        };
        at = crdx_server::rules::node::step(at, &name)?;
        path.push(name);
    }
    Some(path)
}
