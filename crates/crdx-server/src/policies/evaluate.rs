//! Evaluates the expressions of a policy within their cost budgets (`admission/plugin/cel/activation.go`,
//! `composition.go`).

use super::compile::{CompiledExpression, Variable, Variables};
use super::dependencies::{Dependencies, Dependency};
use super::environment::Declarations;
use super::model::FailurePolicy;
use super::request::Request;
use crdx_cel::{
    eval::{LazyFields, Outcome, PER_CALL_LIMIT, Program},
    value::{AuthorizationSubject, Authorizer, Error, Gaps, Map, Opaque, ResourceCheck, User, Value as CelValue},
};
use crdx_value::{Value, quote, steps::Steps};
use std::cell::{Cell, OnceCell, RefCell};
use std::sync::Arc;

/// The cost budget of all validations of a policy, of its audit annotations, and of one mutation.
pub const BUDGET: i64 = 10_000_000;
/// The cost up to which an evaluation with unknown parts is certain to stay within its limit on the server.
const CERTAIN_COST: u64 = PER_CALL_LIMIT / 10;
/// The cost budget of the match conditions of a policy.
const MATCH_CONDITIONS_BUDGET: i64 = BUDGET / 4;
/// The error when a budget is exceeded.
pub(crate) const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";

/// The error when the budget is exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{OUT_OF_BUDGET}")]
pub(crate) struct OutOfBudget;

/// The variables of an expression.
#[derive(Clone, Debug)]
pub struct Inputs<'a> {
    /// `object`
    pub object: Option<&'a Value>,
    /// The unknown parts of `object`.
    pub gaps: Option<&'a Gaps>,
    /// `oldObject`
    pub old_object: Option<&'a Value>,
    /// `params`
    pub params: Option<&'a Value>,
    /// `request`
    pub request: &'a Value,
    /// `namespaceObject`
    pub namespace: Option<&'a Value>,
    /// `authorizer` and `authorizer.requestResource`; if `None`, reading them is an error.
    pub authorizers: Option<&'a Authorizers>,
    /// The steps that are left. Once they are spent, the results of expressions mean nothing.
    pub steps: &'a Steps,
}

/// The values of `authorizer` and `authorizer.requestResource`.
#[derive(Clone, Debug)]
pub struct Authorizers {
    authorizer: Arc<Opaque>,
    request_resource: Arc<Opaque>,
}

impl Authorizers {
    /// Creates the authorizer values of a request.
    pub fn new(request: &Request<'_>, authorizer: Arc<dyn Authorizer>) -> Self {
        let user = User { name: request.user.username.clone(), groups: request.user.groups.clone() };
        let subject = AuthorizationSubject { user: Arc::new(user), authorizer };
        let check = ResourceCheck {
            subject: subject.clone(),
            group: request.resource.group.clone(),
            resource: request.resource.resource.clone(),
            subresource: request.subresource.to_owned(),
            namespace: request.namespace.to_owned(),
            name: request.name.to_owned(),
        };
        Self {
            authorizer: Arc::new(Opaque::Authorizer(subject)),
            request_resource: Arc::new(Opaque::ResourceCheck(check)),
        }
    }
}

/// The value of a variable, computed on first use.
#[derive(Clone, Debug)]
enum Computed<'a> {
    Not,
    /// The variable refers to itself.
    Running,
    Done(Result<CelValue<'a>, Error>),
}

/// The values of an environment's variables, in its order.
type Slots<'a> = Vec<Result<CelValue<'a>, Error>>;

/// The length of the longest chain of variables that read each other. A server has a growing stack instead.
const MAX_DEPTH: usize = 1000;

/// The inputs of several expressions and their shared variables.
pub(crate) struct Activation<'a> {
    inputs: Inputs<'a>,
    variables: &'a Variables,
    /// The values of `variables`; empty until the first is read.
    values: RefCell<Vec<Computed<'a>>>,
    /// The values of the environment's variables, for the environment used first; see [`Self::slots`].
    slots: OnceCell<(Declarations, Slots<'a>)>,
    /// The cost of variables since the last expression.
    cost: Cell<u64>,
    /// The number of variables that are being computed: each may read another one.
    depth: Cell<usize>,
}

/// The result of an expression.
#[derive(Clone, Debug)]
pub enum Evaluation<'a> {
    /// A value.
    Value(CelValue<'a>),
    /// An error, with the server's text.
    Error(String),
    /// The value depends on this part of `object`, which is not known.
    Unknown(String),
}

impl<'a> Activation<'a> {
    /// Creates an activation without computed variables.
    pub fn new(inputs: Inputs<'a>, variables: &'a Variables) -> Self {
        let depth = Cell::new(0);
        Self { inputs, variables, values: RefCell::default(), slots: OnceCell::new(), cost: Cell::new(0), depth }
    }

    /// Evaluates an expression and subtracts its cost from `budget`.
    ///
    /// # Errors
    /// Returns an error if the budget is exceeded.
    pub fn evaluate(
        &self,
        expression: &'a CompiledExpression,
        budget: &mut i64,
    ) -> Result<Evaluation<'a>, OutOfBudget> {
        let program = match &expression.program {
            Ok(program) => program,
            Err(reason) => return Ok(Evaluation::Error(format!("compilation error: {reason}"))),
        };
        let outcome = self.run(program, expression.declarations);
        if let Some(path) = self.unknown(&outcome) {
            return Ok(Evaluation::Unknown(path));
        }
        charge(budget, self.cost.take())?;
        charge(budget, outcome.cost)?;
        Ok(match outcome.result {
            Ok(value) => Evaluation::Value(value),
            Err(error) => Evaluation::Error(format!("expression '{}' resulted in error: {error}", expression.source)),
        })
    }

    /// Runs a program that is not part of the policy. The cost includes that of the variables that it reads.
    pub fn outcome(&self, program: &'a Program, declarations: Declarations) -> Outcome<'a> {
        let mut outcome = self.run(program, declarations);
        outcome.cost = outcome.cost.saturating_add(self.cost.take());
        outcome
    }

    /// The unknown part of `object` on which the result of an evaluation depends.
    fn unknown(&self, outcome: &Outcome<'a>) -> Option<String> {
        let gaps = self.inputs.gaps?;
        let used_gap = gaps.used.take();
        match &outcome.result {
            Err(Error::Unknown(path)) => Some(path.to_string()),
            // An absorbed operand costs a different amount on the server, so an expensive evaluation may exceed the limit there.
            _ if outcome.cost > CERTAIN_COST || self.cost.get() > CERTAIN_COST => Some(gaps.path.clone()),
            _ => used_gap,
        }
    }

    fn run(&self, program: &'a Program, declarations: Declarations) -> Outcome<'a> {
        let (known, slots) = self.slots.get_or_init(|| (declarations, self.slots_of(declarations)));
        if *known == declarations {
            return program.run_with(slots, self, PER_CALL_LIMIT, self.inputs.steps);
        }
        program.run_with(&self.slots_of(declarations), self, PER_CALL_LIMIT, self.inputs.steps)
    }

    /// The values of an environment's variables, in its order.
    fn slots_of(&self, declarations: Declarations) -> Slots<'a> {
        let inputs = &self.inputs;
        let json = |value: Option<&'a Value>| Ok(value.map_or(CelValue::Null, CelValue::untyped));
        let object = inputs.object.map_or(Ok(CelValue::Null), |object| CelValue::partial(object, inputs.gaps));
        let mut slots = Vec::with_capacity(8);
        slots.extend([object, json(inputs.old_object), json(inputs.namespace), json(Some(inputs.request))]);
        if declarations.params {
            slots.push(json(inputs.params));
        }
        if declarations.authorizer {
            let missing = |name: &str| Error::new(format!("no such attribute(s): {name}"));
            let value = |of: &Arc<Opaque>| CelValue::Opaque(Arc::clone(of));
            slots.push(inputs.authorizers.map(|a| value(&a.authorizer)).ok_or_else(|| missing("authorizer")));
            let check = inputs.authorizers.map(|a| value(&a.request_resource));
            slots.push(check.ok_or_else(|| missing("authorizer.requestResource")));
        }
        slots.push(Ok(CelValue::Map(Map::Lazy)));
        slots
    }

    fn compute(&self, variable: &'a Variable) -> Result<CelValue<'a>, Error> {
        let failed = |how: String| Error::new(format!("composited variable {} {how}", quote::go_quote(&variable.name)));
        let program =
            variable.expression.program.as_ref().map_err(|reason| failed(format!("fails to compile: {reason}")))?;
        let before = self.inputs.gaps.and_then(|gaps| gaps.used.take());
        let outcome = self.run(program, variable.expression.declarations);
        self.cost.set(self.cost.get().saturating_add(outcome.cost));
        let unknown = self.unknown(&outcome);
        if let (Some(gaps), Some(before)) = (self.inputs.gaps, before) {
            gaps.used.record(&before);
        }
        if let Some(path) = unknown {
            return Err(Error::Unknown(path.into()));
        }
        outcome.result.map_err(|error| failed(format!("fails to evaluate: {error}")))
    }
}

impl<'a> LazyFields<'a> for Activation<'a> {
    fn get(&self, name: &str) -> Option<Result<CelValue<'a>, Error>> {
        let (index, variable) = self.variables.get(name)?;
        match self.values.borrow().get(index) {
            Some(Computed::Done(value)) => return Some(value.clone()),
            Some(Computed::Running) => {
                return Some(Err(Error::new(format!("variable {} depends on itself", quote::go_quote(name)))));
            }
            Some(Computed::Not) | None => {}
        }
        let set = |computed: Computed<'a>| {
            let mut values = self.values.borrow_mut();
            if values.is_empty() {
                values.resize(self.variables.count(), Computed::Not);
            }
            if let Some(slot) = values.get_mut(index) {
                *slot = computed;
            }
        };
        if self.depth.get() >= MAX_DEPTH {
            self.inputs.steps.take_all();
            return Some(Err(Error::Interrupted));
        }
        set(Computed::Running);
        self.depth.set(self.depth.get() + 1);
        let value = self.compute(variable);
        self.depth.set(self.depth.get() - 1);
        set(Computed::Done(value.clone()));
        Some(value)
    }
}

fn charge(budget: &mut i64, cost: u64) -> Result<(), OutOfBudget> {
    let left = i64::try_from(cost).ok().map(|cost| *budget - cost).filter(|left| *left >= 0);
    *budget = left.ok_or(OutOfBudget)?;
    Ok(())
}

/// The reason why match conditions do not decide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NotDecided {
    /// Conditions failed, with the server's message.
    Failed(String),
    /// A condition depends on an unknown input, and no other condition is false.
    Unknown(Dependency),
}

/// Returns true if all match conditions of a policy are true (`webhook/matchconditions/matcher.go`). `namespaceObject`
/// is always null in them, so it is always known.
///
/// # Errors
/// Returns the errors of conditions, unless the policy ignores failures, or a dependency on an `unknown` input.
pub(crate) fn match_conditions<'a>(
    activation: &Activation<'a>,
    conditions: &'a [CompiledExpression],
    failure_policy: &FailurePolicy,
    unknown: Dependencies,
) -> Result<bool, NotDecided> {
    let unknown = Dependencies { namespace: false, ..unknown };
    let mut budget = MATCH_CONDITIONS_BUDGET;
    let known = conditions.iter().filter(|condition| condition.dependencies.shared(unknown).is_none());
    let results: Result<Vec<Evaluation<'a>>, OutOfBudget> =
        known.map(|condition| activation.evaluate(condition, &mut budget)).collect();
    let results = match results {
        Ok(results) => results,
        Err(OutOfBudget) => return failed(OUT_OF_BUDGET.to_owned(), failure_policy),
    };
    if results.iter().any(|result| matches!(result, Evaluation::Value(CelValue::Bool(false)))) {
        return Ok(false);
    }
    let unknown_field = results.iter().find_map(|result| match result {
        Evaluation::Unknown(path) => Some(Dependency::Field(path.clone())),
        _ => None,
    });
    let unknown_input = || conditions.iter().find_map(|condition| condition.dependencies.shared(unknown));
    if let Some(dependency) = unknown_field.or_else(unknown_input) {
        return Err(NotDecided::Unknown(dependency));
    }
    let mut errors: Vec<String> = Vec::new();
    for result in results {
        if let Evaluation::Error(error) = result
            && !errors.contains(&error)
        {
            errors.push(error);
        }
    }
    match &*errors {
        [] => Ok(true),
        [one] => failed(one.clone(), failure_policy),
        many => failed(format!("[{}]", many.join(", ")), failure_policy),
    }
}

fn failed(error: String, failure_policy: &FailurePolicy) -> Result<bool, NotDecided> {
    match failure_policy {
        FailurePolicy::Fail => Err(NotDecided::Failed(error)),
        FailurePolicy::Ignore => Ok(false),
        // The server ignores errors for unknown values of the failure policy.
        FailurePolicy::Other(_) => Ok(true),
    }
}

/// Converts a Namespace to `namespaceObject`, with the fields that expressions can read (`CreateNamespaceObject`).
pub fn namespace_object(namespace: &Value) -> Value {
    let mut shown = namespace.clone();
    if let Some(members) = shown.as_object_mut() {
        members.remove("apiVersion");
        members.remove("kind");
        if let Some(metadata) = members.get_mut("metadata").and_then(Value::as_object_mut) {
            for hidden in ["managedFields", "ownerReferences", "selfLink"] {
                metadata.remove(hidden);
            }
        }
    }
    shown
}
