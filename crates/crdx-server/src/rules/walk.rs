//! Evaluates the rules of an object, node by node (`schema/cel/validation.go`): the rules of a node first, then those
//! of its children.
//!
//! All evaluations are charged to one cost budget; exceeding it ends the walk. An error in an unchanged value becomes a
//! warning, except for transition rules.

use super::{
    compile::{Compiled, NO_TYPE},
    cost_budget::{self, OBJECT_BUDGET, OUT_OF_BUDGET},
    tree::RuleTreeNode,
};
use crate::schema::{
    ValidationRule,
    correlate::{Correlation, Pair, find_by_keys},
    ratchet,
};
use crdx_cel::{
    decl::DeclType,
    eval::{PER_CALL_LIMIT, Program},
    value::{Error, Value as CelValue},
};
use crdx_value::Value;
use crdx_value::field::{BadValue, ErrorList, ErrorType, FieldError, FieldPath, ROOT};
use crdx_value::release::{Release, V1_35};
use crdx_value::steps::Steps;

/// The maximum length in bytes of the result of a message expression.
const MAX_MESSAGE: usize = 5 * 1024;

/// The result of evaluating rules.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The errors.
    pub errors: ErrorList,
    /// The errors in unchanged values, which are reported as warnings.
    pub warnings: Vec<String>,
    /// The cost of all evaluations, with the steps that it does not include.
    pub cost: u64,
}

/// The evaluation of a rule on a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    /// The path of the schema node, as in [`NodeType::path`](super::compile::NodeType).
    pub path: String,
    /// The index of the rule within its node.
    pub rule: usize,
    /// True if the rule evaluated to true.
    pub holds: bool,
    /// True if the evaluation cost more than the limit of one call.
    pub exceeds_limit: bool,
}

/// Stops the walk; no further rule is evaluated.
struct Stop;

/// The correlated pair of the current node, if any, and that of its closest correlated ancestor.
#[derive(Clone, Copy, Default)]
struct Pairs {
    current: Option<Pair>,
    ancestor: Option<Pair>,
}

struct RuleEvaluator<'a, 'c> {
    release: Release,
    correlation: Option<&'c mut Correlation<'a>>,
    findings: Findings,
    budget: i64,
    /// The steps that are left for work without a cost.
    steps: &'c Steps,
    /// A record of the evaluations, if requested.
    evaluated: Option<Vec<Evaluated>>,
}

/// Evaluates the rules of an object and returns the evaluations.
pub(super) fn evaluations(
    (root, release): (&RuleTreeNode, Release),
    new: &Value,
    old: Option<&Value>,
) -> Vec<Evaluated> {
    let (evaluated, steps) = (Some(Vec::new()), &Steps::of_request());
    let findings = Findings::default();
    let mut walk = RuleEvaluator { release, correlation: None, findings, budget: OBJECT_BUDGET, steps, evaluated };
    // The evaluations before an early stop are returned, too.
    let _ = walk.node(root, &ROOT, new, old, Pairs::default());
    walk.evaluated.unwrap_or_default()
}

/// Evaluates the rules of an object. `old` is the object it replaces, with the correlation of both.
pub(super) fn walk<'a>(
    (root, release): (&RuleTreeNode, Release),
    new: &'a Value,
    old: Option<(&'a Value, Option<(&mut Correlation<'a>, Pair)>)>,
) -> Findings {
    let (old, correlation, current) = match old {
        Some((old, Some((correlation, pair)))) => (Some(old), Some(correlation), Some(pair)),
        Some((old, None)) => (Some(old), None, None),
        None => (None, None, None),
    };
    let steps = Steps::of_request();
    let findings = Findings::default();
    let mut walk =
        RuleEvaluator { release, correlation, findings, budget: OBJECT_BUDGET, steps: &steps, evaluated: None };
    // The findings include the reason for an early stop.
    let _ = walk.node(root, &ROOT, new, old, Pairs { current, ancestor: None });
    Findings { cost: Steps::of_request().left() - steps.left(), ..walk.findings }
}

/// Evaluates the rules of a value at `path` that replaces `old`, without ratcheting. Also returns the remaining budget,
/// which is negative if the walk was stopped.
pub(super) fn walk_alone<'a>(
    (root, release): (&RuleTreeNode, Release),
    path: &FieldPath<'_>,
    new: &'a Value,
    old: Option<&'a Value>,
    budget: i64,
    steps: &Steps,
) -> (ErrorList, i64) {
    let mut walk =
        RuleEvaluator { release, correlation: None, findings: Findings::default(), budget, steps, evaluated: None };
    let stopped = walk.node(root, path, new, old, Pairs::default()).is_err();
    (walk.findings.errors, if stopped { -1 } else { walk.budget })
}

impl<'a> RuleEvaluator<'a, '_> {
    fn node(
        &mut self,
        node: &RuleTreeNode,
        path: &FieldPath<'_>,
        new: &'a Value,
        old: Option<&'a Value>,
        pairs: Pairs,
    ) -> Result<(), Stop> {
        if new.is_null() {
            return Ok(());
        }
        let old = old.filter(|old| !old.is_null());
        self.rules(node, path, new, old, pairs)?;
        match new {
            Value::Array(items) => self.items(node, path, items, old, pairs),
            Value::Object(members) => {
                let old = old.and_then(Value::as_object).filter(|_| node.correlatable);
                for (name, value) in members {
                    let old = old.and_then(|old| old.get(name));
                    if let Some(child) = &node.additional {
                        let pairs = self.member(pairs, name);
                        self.node(child, &path.key(name), value, old, pairs)?;
                    }
                    if let Some(child) = node.properties.get(name) {
                        let pairs = self.member(pairs, name);
                        self.node(child, &path.child(name), value, old, pairs)?;
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn items(
        &mut self,
        node: &RuleTreeNode,
        path: &FieldPath<'_>,
        items: &'a [Value],
        old: Option<&'a Value>,
        pairs: Pairs,
    ) -> Result<(), Stop> {
        let Some(child) = &node.items else { return Ok(()) };
        let old = old.and_then(Value::as_array).filter(|_| !node.map_keys.is_empty()).unwrap_or_default();
        let by_key = find_by_keys(old, &node.map_keys);
        for (index, item) in items.iter().enumerate() {
            let pairs = match (pairs.current, &mut self.correlation) {
                (Some(current), Some(correlation)) => {
                    Pairs { current: correlation.index(current, index), ancestor: Some(current) }
                }
                _ => pairs,
            };
            self.node(child, &path.index(index), item, by_key.get(item), pairs)?;
        }
        Ok(())
    }

    fn member(&mut self, pairs: Pairs, name: &'a str) -> Pairs {
        match (pairs.current, &mut self.correlation) {
            // Both objects were converted to the same kind and version, so changes of these fields are ignored.
            (Some(_), _) if pairs.ancestor.is_none() && matches!(name, "apiVersion" | "kind") => Pairs::default(),
            (Some(current), Some(correlation)) => {
                Pairs { current: correlation.key(current, name), ancestor: Some(current) }
            }
            _ => pairs,
        }
    }

    fn rules(
        &mut self,
        node: &RuleTreeNode,
        path: &FieldPath<'_>,
        new: &'a Value,
        old: Option<&'a Value>,
        pairs: Pairs,
    ) -> Result<(), Stop> {
        if node.rules.is_empty() {
            return Ok(());
        }
        let Some(decl) = &node.cel_type.decl else {
            let detail = format!("rule compiler initialization error: {NO_TYPE}");
            self.findings.errors.push(FieldError::invalid(path, node.type_.as_str(), detail));
            return Ok(());
        };
        if self.budget <= 0 {
            self.findings.errors.push(FieldError::invalid(path, node.type_.as_str(), OUT_OF_BUDGET));
            return Err(Stop);
        }
        let compiled = node.compiled(self.release);
        let uses_old = compiled.iter().any(|compiled| compiled.uses_old_self);
        let mut site = Site { node, path, new, pairs, values: Values::new(decl, new, old, uses_old) };
        for (index, (rule, compiled)) in node.rules.iter().zip(compiled).enumerate() {
            self.rule(&mut site, (index, rule), compiled, old.is_some())?;
        }
        Ok(())
    }

    fn rule(
        &mut self,
        site: &mut Site<'_, 'a>,
        (index, rule): (usize, &ValidationRule),
        compiled: &Compiled,
        has_old: bool,
    ) -> Result<(), Stop> {
        let type_ = site.node.type_.as_str();
        let invalid = |detail: String| FieldError::invalid(site.path, type_, detail);
        if let Some(error) = &compiled.error {
            self.findings.errors.push(invalid(format!("rule compile error: {error}")));
            return Ok(());
        }
        let Some(program) = &compiled.program else { return Ok(()) };
        let optional = rule.optional_old_self == Some(true);
        if compiled.uses_old_self && !has_old && !optional {
            // A transition rule is not evaluated without an old value.
            return Ok(());
        }
        let outcome = program.run(&site.values.for_rule(optional), PER_CALL_LIMIT, self.steps);
        if matches!(outcome.result, Err(Error::Interrupted)) {
            self.findings.errors.push(FieldError::unfinished(site.path));
            return Err(Stop);
        }
        if cost_budget::charge(&mut self.budget, outcome.cost).is_err() {
            self.findings.errors.push(invalid(OUT_OF_BUDGET.to_owned()));
            return Err(Stop);
        }
        if let Some(evaluated) = &mut self.evaluated {
            let holds = matches!(outcome.result, Ok(CelValue::Bool(true)));
            let exceeds_limit = matches!(outcome.result, Err(Error::CostLimitExceeded));
            evaluated.push(Evaluated { path: site.node.cel_type.path.clone(), rule: index, holds, exceeds_limit });
        }
        match outcome.result {
            Ok(CelValue::Bool(true)) => Ok(()),
            Ok(_) => self.failed(site, rule, compiled),
            Err(error) => {
                let name = name_of(rule);
                let text = error.to_string();
                let stop = matches!(error, Error::CostLimitExceeded);
                self.findings.errors.push(invalid(if error.is_no_such_overload() {
                    format!(
                        "'{text}': call arguments did not match a supported operator, function or macro signature for \
                         rule: {name}"
                    )
                } else if stop {
                    format!(
                        "'{text}': no further validation rules will be run due to call cost exceeds limit for rule: {name}"
                    )
                } else {
                    format!("{text} evaluating rule: {name}")
                }));
                if stop { Err(Stop) } else { Ok(()) }
            }
        }
    }

    /// Reports a rule that evaluated to false.
    fn failed(&mut self, site: &mut Site<'_, 'a>, rule: &ValidationRule, compiled: &Compiled) -> Result<(), Stop> {
        let path = match &compiled.field_path {
            Some(field) if !field.is_empty() => &site.path.child(field),
            _ => site.path,
        };
        let mut detail = None;
        if let Some(program) = &compiled.message {
            match self.message(program, &site.values.for_message(), &rule.message_expression) {
                Ok(message) => detail = message,
                Err(NoMessage::OverBudget(message)) => {
                    let error = FieldError::invalid(path, site.node.type_.as_str(), message);
                    self.report(error, compiled, site.pairs);
                    return Err(Stop);
                }
                Err(NoMessage::OutOfSteps) => {
                    self.findings.errors.push(FieldError::unfinished(path));
                    return Err(Stop);
                }
            }
        }
        let detail = detail.unwrap_or_else(|| {
            if rule.message.is_empty() {
                format!("failed rule: {}", name_of(rule))
            } else {
                rule.message.trim().to_owned()
            }
        });
        let value = || match site.node.type_.as_str() {
            // Before 1.35, errors showed the type instead of the value (`schema/cel/validation.go`).
            type_ if !self.release.since(V1_35) => BadValue::from(type_),
            "object" | "array" => BadValue::Omitted,
            _ => BadValue::new(site.new, self.release),
        };
        let error = match rule.reason.as_deref() {
            Some("FieldValueForbidden") => FieldError::forbidden(path, detail),
            Some("FieldValueRequired") => FieldError::required(path, detail),
            Some("FieldValueDuplicate") => FieldError::duplicate(path, value()),
            _ => FieldError::new(ErrorType::Invalid, path, value(), detail),
        };
        self.report(error, compiled, site.pairs);
        Ok(())
    }

    /// The result of a message expression; `None` if it cannot be used as a message.
    ///
    /// # Errors
    /// Returns the reason if the evaluation ends the walk.
    fn message(
        &mut self,
        program: &Program,
        variables: &[Result<CelValue<'_>, Error>],
        source: &str,
    ) -> Result<Option<String>, NoMessage> {
        let outcome = program.run(variables, PER_CALL_LIMIT, self.steps);
        if matches!(outcome.result, Err(Error::Interrupted)) {
            return Err(NoMessage::OutOfSteps);
        }
        cost_budget::charge(&mut self.budget, outcome.cost).map_err(|_| {
            NoMessage::OverBudget(
                "messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run"
                    .to_owned(),
            )
        })?;
        if matches!(outcome.result, Err(Error::CostLimitExceeded)) {
            let source = crdx_value::quote::go_quote(source);
            return Err(NoMessage::OverBudget(format!(
                "no further validation rules will be run due to call cost exceeds limit for messageExpression: {source}"
            )));
        }
        let Ok(CelValue::String(text)) = outcome.result else { return Ok(None) };
        let text = text.trim();
        let fits = !text.is_empty() && text.len() <= MAX_MESSAGE && !text.contains('\n');
        Ok(fits.then(|| text.to_owned()))
    }

    /// Adds an error, or a warning if the value is unchanged.
    fn report(&mut self, error: FieldError, compiled: &Compiled, pairs: Pairs) {
        let pair = pairs.current.or(pairs.ancestor).filter(|_| !compiled.uses_old_self);
        if ratchet::tolerates(&mut self.correlation, pair) {
            self.findings.warnings.push(error.to_string());
        } else {
            self.findings.errors.push(error);
        }
    }
}

/// The reason why a message expression ends the walk.
enum NoMessage {
    /// The expression exceeds the cost budget or the per-call limit; the server's message.
    OverBudget(String),
    OutOfSteps,
}

/// The node whose rules are evaluated.
struct Site<'s, 'a> {
    node: &'s RuleTreeNode,
    path: &'s FieldPath<'s>,
    new: &'a Value,
    pairs: Pairs,
    values: Values<'s>,
}

/// The values of `self` and `oldSelf`.
struct Values<'v> {
    new: Result<CelValue<'v>, Error>,
    old: Result<CelValue<'v>, Error>,
    /// The value of `oldSelf` in rules with `optionalOldSelf`.
    optional_old: Result<CelValue<'v>, Error>,
}

impl<'v> Values<'v> {
    fn new(decl: &'v DeclType, new: &'v Value, old: Option<&'v Value>, uses_old: bool) -> Self {
        let absent = || Err(Error::new("no such attribute(s): oldSelf"));
        let new = CelValue::from_json(new, decl);
        if !uses_old {
            return Self { new, old: absent(), optional_old: absent() };
        }
        match old.map(|old| CelValue::from_json(old, decl)) {
            Some(old) => Self { new, optional_old: old.clone().map(CelValue::some), old },
            None => Self { new, old: absent(), optional_old: Ok(CelValue::NONE) },
        }
    }

    fn for_rule(&self, optional_old_self: bool) -> Vec<Result<CelValue<'v>, Error>> {
        vec![self.new.clone(), if optional_old_self { self.optional_old.clone() } else { self.old.clone() }]
    }

    /// In message expressions, `oldSelf` is never optional.
    fn for_message(&self) -> Vec<Result<CelValue<'v>, Error>> {
        self.for_rule(false)
    }
}

/// The text that identifies a rule in error messages.
fn name_of(rule: &ValidationRule) -> &str {
    if rule.message.is_empty() { rule.rule.trim() } else { rule.message.trim() }
}
