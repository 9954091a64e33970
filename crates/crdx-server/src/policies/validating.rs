//! Evaluates `ValidatingAdmissionPolicies` (`policy/validating/{dispatcher,validator}.go`).

use super::compile::CompiledExpression;
use super::denial::{Denial, Origin, Refused};
use super::dependencies::{Dependencies, Dependency};
use super::evaluate::{
    Activation, Authorizers, BUDGET, Evaluation, Inputs, NotDecided, OUT_OF_BUDGET, OutOfBudget, match_conditions,
    namespace_object,
};
use super::findings::Findings;
use super::knowledge::{Missing, NotEvaluated, PolicyPart};
use super::matching::{Matched, assumed_namespace, matches};
use super::model::{Binding, FailurePolicy, Policy, PolicyKind};
use super::params::{self, Param};
use super::request::{Alternative, Cluster, Kind, Request};
use super::source::PolicyHook;
use crate::cluster_state::Lookup;
use crdx_cel::value::Value as CelValue;
use crdx_value::Value;
use std::cell::{LazyCell, OnceCell, RefCell};
use std::sync::Arc;

/// The maximum length of a message from a messageExpression, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;
/// The maximum length of an audit annotation's value, in bytes.
const MAX_ANNOTATION: usize = 10 * 1024;

/// The decision of one expression of a policy, or of an error.
#[derive(PartialEq)]
struct Decision {
    denied: bool,
    message: String,
    reason: Option<String>,
    validation: Option<usize>,
}

impl Decision {
    /// Creates a decision for an error, which denies the request unless the failure policy is Ignore.
    fn error(policy: &Policy, message: String, validation: Option<usize>) -> Self {
        Self { denied: policy.failure_policy != FailurePolicy::Ignore, message, reason: None, validation }
    }
}

/// The result of one evaluation of a policy.
#[derive(Default, PartialEq)]
struct PolicyOutcome {
    decisions: Vec<Decision>,
    annotations: Vec<Annotation>,
    /// The parts that were not evaluated.
    unevaluated: Vec<(PolicyPart, Dependency)>,
}

#[derive(PartialEq)]
enum Annotation {
    Publish(String, String),
    Error(String),
}

impl PolicyOutcome {
    /// Returns true if a part was not evaluated because part of the object is unknown.
    fn depends_on_object(&self) -> bool {
        self.unevaluated.iter().any(|(_, dependency)| matches!(dependency, Dependency::Field(_)))
    }
}

/// Returns the outcome of all evaluations; `None` if they differ or if there are none.
fn common(mut outcomes: impl Iterator<Item = PolicyOutcome>) -> Option<PolicyOutcome> {
    let first = outcomes.next()?;
    outcomes.all(|outcome| outcome == first).then_some(first)
}

/// Evaluates all policies for a request. Findings are collected even if the request is denied.
///
/// # Errors
/// Returns the first denial, which is the server's response.
pub fn validate(
    hooks: &[PolicyHook],
    request: &Request<'_>,
    object: Option<&Value>,
    cluster: &dyn Cluster,
    findings: &mut Findings,
) -> Result<(), Refused> {
    let mut dispatch = Dispatch {
        request,
        object,
        cluster,
        findings,
        denials: Vec::new(),
        authorizers: None,
        namespace: OnceCell::new(),
        values: Vec::new(),
    };
    for hook in hooks {
        dispatch.policy(hook)?;
        if request.steps.are_spent() {
            return Err(Refused::Unfinished);
        }
    }
    let denials = dispatch.denials;
    findings.denials.extend(denials.iter().map(|(origin, _)| origin.clone()));
    match denials.into_iter().next() {
        None => Ok(()),
        Some((origin, reason)) => {
            let denial = Denial::validating(request, object, reason.as_deref(), origin);
            Err(Refused::Denied(Box::new(denial)))
        }
    }
}

struct Dispatch<'d> {
    request: &'d Request<'d>,
    object: Option<&'d Value>,
    cluster: &'d dyn Cluster,
    findings: &'d mut Findings,
    denials: Vec<(Origin, Option<String>)>,
    authorizers: Option<Authorizers>,
    /// `namespaceObject`, computed on first use.
    namespace: OnceCell<Option<Arc<Value>>>,
    /// `request` for the kinds and resources that policies matched.
    values: Vec<(Matched, Arc<Value>)>,
}

impl Dispatch<'_> {
    /// Records that a policy or binding cannot be evaluated because of a configuration error or an unknown input.
    fn not_evaluated(&mut self, hook: &PolicyHook, binding: Option<&Binding>, reason: NotEvaluated) {
        match reason {
            NotEvaluated::Error(detail) => self.configuration_error(&hook.policy, binding, detail.as_str()),
            NotEvaluated::Unknown(missing) => {
                self.findings.add_unevaluated(PolicyKind::Validating, hook, binding, PolicyPart::Matching, missing);
            }
        }
    }

    fn configuration_error(&mut self, policy: &Policy, binding: Option<&Binding>, reason: &str) {
        let message = match &policy.failure_policy {
            FailurePolicy::Ignore => return,
            FailurePolicy::Fail if binding.is_some() => format!("failed to configure binding: {reason}"),
            FailurePolicy::Fail => format!("failed to configure policy: {reason}"),
            FailurePolicy::Other(word) => format!("unrecognized failure policy: '{word}'"),
        };
        let binding = binding.map(|binding| binding.name.clone()).unwrap_or_default();
        self.denials.push((Origin { policy: policy.name.clone(), binding, message, ..Origin::default() }, None));
    }

    fn policy(&mut self, hook: &PolicyHook) -> Result<(), Refused> {
        let policy = &*hook.policy;
        let Some(constraints) = &policy.match_constraints else {
            self.configuration_error(policy, None, super::NO_CONSTRAINTS);
            return Ok(());
        };
        let matched = match matches(constraints, self.request, self.object, self.cluster) {
            Ok(Some(matched)) => matched,
            Ok(None) => return Ok(()),
            Err(reason) => {
                self.not_evaluated(hook, None, reason);
                return Ok(());
            }
        };
        let param_kind = match params::kind_of(policy, self.cluster) {
            Ok(kind) => kind,
            Err(reason) => {
                self.not_evaluated(hook, None, reason);
                return Ok(());
            }
        };
        for binding in &hook.bindings {
            if let Some(resources) = &binding.match_resources {
                match matches(resources, self.request, self.object, self.cluster) {
                    Ok(Some(_)) => {}
                    Ok(None) => continue,
                    Err(reason) => {
                        self.not_evaluated(hook, Some(binding), reason);
                        continue;
                    }
                }
            }
            let params = match params::collect(param_kind.as_ref(), binding, self.request, self.cluster) {
                Ok(params) => params,
                Err(reason) => {
                    self.not_evaluated(hook, Some(binding), reason);
                    continue;
                }
            };
            self.binding(hook, binding, &matched, (param_kind.as_ref(), &params))?;
        }
        Ok(())
    }

    fn binding(
        &mut self,
        hook: &PolicyHook,
        binding: &Binding,
        matched: &Matched,
        (param_kind, params): (Option<&Kind>, &[Param]),
    ) -> Result<(), Refused> {
        let (request, policy) = (self.request, &*hook.policy);
        let convert = |object: Option<&Value>| {
            object
                .filter(|_| matched.kind != request.kind && !params.is_empty())
                .map(|object| self.cluster.convert(object, &matched.resource, &matched.kind))
                .transpose()
        };
        let (converted, converted_old) = match (convert(self.object), convert(request.old_object)) {
            (Ok(object), Ok(old)) => (object, old),
            (Err(error), _) | (_, Err(error)) => {
                self.configuration_error(policy, Some(binding), &format!("failed to convert object version: {error}"));
                return Ok(());
            }
        };
        let shown = self.namespace()?;
        let param_type = params::typed_kind(param_kind, self.cluster);
        let object = converted.as_ref().or(self.object);
        let old_object = converted_old.as_ref().or(request.old_object);
        let value = self.value(matched);
        let condition_value = match &*hook.compiled.match_conditions {
            [] => Arc::clone(&value),
            _ => self.value(&Matched { kind: Arc::clone(&matched.kind), resource: Arc::clone(&request.resource) }),
        };
        let cluster = self.cluster;
        let authorizers =
            self.authorizers.get_or_insert_with(|| Authorizers::new(request, cluster.authorizer())).clone();
        let unknown = unknown_to(request, cluster);
        for param in params {
            let param = param.as_deref().map(|param| params::shown(param, param_type));
            let inputs = Inputs {
                object,
                gaps: request.gaps.as_deref(),
                old_object,
                params: param.as_deref(),
                request: &value,
                namespace: shown.as_deref(),
                authorizers: Some(&authorizers),
                steps: &request.steps,
            };
            let outcome = evaluate(hook, &inputs, &condition_value, unknown);
            let outcome = if converted.is_none() && outcome.depends_on_object() {
                let of = |alternative: &Alternative| {
                    let object = alternative.object.as_ref().or(object);
                    let inputs = Inputs { object, gaps: Some(&alternative.gaps), ..inputs.clone() };
                    evaluate(hook, &inputs, &condition_value, unknown)
                };
                common(request.alternatives.iter().map(of)).unwrap_or(outcome)
            } else {
                outcome
            };
            self.record_outcome(hook, binding, outcome);
        }
        Ok(())
    }

    /// Returns `namespaceObject`.
    fn namespace(&self) -> Result<Option<Arc<Value>>, Refused> {
        if let Some(known) = self.namespace.get() {
            return Ok(known.clone());
        }
        let found = namespace_of(self.request, self.cluster)?;
        let shown = found.map(|namespace| Arc::new(namespace_object(&namespace)));
        Ok(self.namespace.get_or_init(|| shown).clone())
    }

    /// Returns `request` for policies with this match.
    fn value(&mut self, matched: &Matched) -> Arc<Value> {
        if let Some((_, value)) = self.values.iter().find(|(known, _)| known == matched) {
            return Arc::clone(value);
        }
        let value = Arc::new(self.request.to_value(&matched.kind, &matched.resource));
        self.values.push((matched.clone(), Arc::clone(&value)));
        value
    }

    /// Applies a binding's actions to the decisions.
    fn record_outcome(&mut self, hook: &PolicyHook, binding: &Binding, outcome: PolicyOutcome) {
        let policy = &*hook.policy;
        let origin = |message: String, validation: Option<usize>| Origin {
            policy_kind: PolicyKind::Validating,
            policy: policy.name.clone(),
            binding: binding.name.clone(),
            validation,
            expression: validation
                .and_then(|index| policy.validations.get(index))
                .map(|validation| validation.expression.clone())
                .unwrap_or_default(),
            message,
        };
        for (part, dependency) in outcome.unevaluated {
            let missing = Missing::new(dependency, self.request.namespace);
            self.findings.add_unevaluated(PolicyKind::Validating, hook, Some(binding), part, missing);
        }
        for decision in outcome.decisions.into_iter().filter(|decision| decision.denied) {
            let origin = origin(decision.message, decision.validation);
            for action in &binding.validation_actions {
                match action.as_str() {
                    "Deny" => self.denials.push((origin.clone(), decision.reason.clone())),
                    "Warn" => self.findings.warnings.push(origin.clone()),
                    "Audit" => self.findings.audits.push(origin.clone()),
                    _ => {}
                }
            }
        }
        for annotation in outcome.annotations {
            match annotation {
                Annotation::Publish(key, value) => {
                    let values = self.findings.annotations.entry(format!("{}/{key}", policy.name)).or_default();
                    if !values.contains(&value) {
                        values.push(value);
                    }
                }
                Annotation::Error(message) => self.denials.push((origin(message, None), None)),
            }
        }
    }
}

/// Returns the Namespace object of a request; `None` for cluster-scoped objects and for namespaces. If it is not known, only its name and the label with it count.
///
/// # Errors
/// Returns an error if the namespace does not exist.
pub(super) fn namespace_of(request: &Request<'_>, cluster: &dyn Cluster) -> Result<Option<Arc<Value>>, Refused> {
    if request.namespace.is_empty() || request.is_namespace() {
        return Ok(None);
    }
    match cluster.namespace(request.namespace) {
        Lookup::Found(namespace) => Ok(Some(namespace)),
        Lookup::Absent => Err(Refused::NamespaceNotFound(request.namespace.to_owned())),
        Lookup::Unknown => Ok(Some(Arc::new(assumed_namespace(request.namespace)))),
    }
}

/// Returns the unknown inputs of a request.
pub(crate) fn unknown_to(request: &Request<'_>, cluster: &dyn Cluster) -> Dependencies {
    let namespace = !request.namespace.is_empty() && cluster.namespace(request.namespace) == Lookup::Unknown;
    Dependencies { namespace, ..cluster.unknown() }
}

/// `validator.Validate`. Parts that depend on an `unknown` input are not evaluated.
fn evaluate(hook: &PolicyHook, inputs: &Inputs<'_>, condition_request: &Value, unknown: Dependencies) -> PolicyOutcome {
    let (policy, compiled) = (&*hook.policy, &*hook.compiled);
    let whole = |message: &str| PolicyOutcome {
        decisions: vec![Decision::error(policy, message.to_owned(), None)],
        ..PolicyOutcome::default()
    };
    let doubts = RefCell::new(Vec::new());
    let doubt = |part: PolicyPart, dependency: Dependency| doubts.borrow_mut().push((part, dependency));
    if !compiled.match_conditions.is_empty() {
        let inputs = Inputs { namespace: None, request: condition_request, ..inputs.clone() };
        let activation = Activation::new(inputs, &compiled.variables);
        match match_conditions(&activation, &compiled.match_conditions, &policy.failure_policy, unknown) {
            Ok(true) => {}
            Ok(false) => return PolicyOutcome::default(),
            Err(NotDecided::Failed(detail)) => return whole(&detail),
            Err(NotDecided::Unknown(dependency)) => {
                return PolicyOutcome {
                    unevaluated: vec![(PolicyPart::Condition, dependency)],
                    ..PolicyOutcome::default()
                };
            }
        }
    }
    let mut budget = BUDGET;
    let activation = Activation::new(inputs.clone(), &compiled.variables);
    let known = |part: PolicyPart, expression: &CompiledExpression| match expression.dependencies.shared(unknown) {
        Some(dependency) => {
            doubt(part, dependency);
            false
        }
        None => true,
    };
    let results: Result<Vec<Option<Evaluation<'_>>>, OutOfBudget> = compiled
        .validations
        .iter()
        .enumerate()
        .map(|(index, validation)| {
            let known = known(PolicyPart::Validation(index), validation);
            known.then(|| activation.evaluate(validation, &mut budget)).transpose()
        })
        .collect();
    let Ok(mut results) = results else { return over_budget(inputs, doubts.into_inner(), whole) };
    for (index, result) in results.iter_mut().enumerate() {
        if let Some(Evaluation::Unknown(path)) = result {
            doubt(PolicyPart::Validation(index), Dependency::Field(std::mem::take(path)));
            *result = None;
        }
    }
    let without_authorizer = || {
        let inputs = Inputs { authorizers: None, ..inputs.clone() };
        Activation::new(inputs, &compiled.variables)
    };
    let for_messages = LazyCell::new(without_authorizer);
    let messages: Result<Vec<_>, OutOfBudget> = compiled
        .messages
        .iter()
        .enumerate()
        .map(|(index, message)| {
            let Some(message) = message else { return Ok(None) };
            if message.dependencies.shared(unknown).is_some() {
                let result = results.get(index).and_then(Option::as_ref);
                if matches!(result, Some(Evaluation::Value(value)) if value.as_bool() != Some(true)) {
                    known(PolicyPart::Message(index), message);
                }
                return Ok(None);
            }
            for_messages.evaluate(message, &mut budget).map(Some)
        })
        .collect();
    let decisions = results
        .into_iter()
        .enumerate()
        .filter_map(|(index, result)| Some((index, result?)))
        .map(|(index, result)| match (result, &messages) {
            (Evaluation::Error(detail) | Evaluation::Unknown(detail), _) => {
                Decision::error(policy, detail, Some(index))
            }
            (_, Err(OutOfBudget)) => {
                Decision::error(policy, format!("failed messageExpression: {OUT_OF_BUDGET}"), Some(index))
            }
            (Evaluation::Value(CelValue::Bool(true)), _) => {
                Decision { denied: false, message: String::new(), reason: None, validation: Some(index) }
            }
            (Evaluation::Value(_), Ok(messages)) => {
                let computed = messages.get(index).and_then(Option::as_ref);
                if let Some(Evaluation::Unknown(path)) = computed {
                    doubt(PolicyPart::Message(index), Dependency::Field(path.clone()));
                }
                denial(policy, index, computed)
            }
        })
        .collect();
    let for_annotations = LazyCell::new(without_authorizer);
    let mut budget = BUDGET;
    let mut annotations = Vec::new();
    for (annotation, expression) in policy.audit_annotations.iter().zip(&compiled.audit_annotations) {
        if !known(PolicyPart::AuditAnnotation, expression) {
            continue;
        }
        let Ok(result) = for_annotations.evaluate(expression, &mut budget) else {
            return over_budget(inputs, doubts.into_inner(), whole);
        };
        match result {
            Evaluation::Unknown(path) => doubt(PolicyPart::AuditAnnotation, Dependency::Field(path)),
            Evaluation::Error(detail) if policy.failure_policy != FailurePolicy::Ignore => {
                annotations.push(Annotation::Error(detail));
            }
            Evaluation::Value(CelValue::String(text)) if !text.trim().is_empty() => {
                let text = text.trim();
                let end = text.floor_char_boundary(MAX_ANNOTATION);
                let value = text.get(..end).unwrap_or(text).to_owned();
                annotations.push(Annotation::Publish(annotation.key.clone(), value));
            }
            _ => {}
        }
    }
    PolicyOutcome { decisions, annotations, unevaluated: doubts.into_inner() }
}

/// The outcome of a policy whose budget is exceeded. If parts of the object are unknown, the costs and therefore the
/// outcome are uncertain.
fn over_budget(
    inputs: &Inputs<'_>,
    mut doubts: Vec<(PolicyPart, Dependency)>,
    whole: impl Fn(&str) -> PolicyOutcome,
) -> PolicyOutcome {
    let Some(gaps) = inputs.gaps else { return whole(OUT_OF_BUDGET) };
    doubts.push((PolicyPart::Validation(0), Dependency::Field(gaps.path.clone())));
    PolicyOutcome { unevaluated: doubts, ..PolicyOutcome::default() }
}

/// Returns the decision for a validation that evaluates to false.
fn denial(policy: &Policy, index: usize, computed: Option<&Evaluation<'_>>) -> Decision {
    let validation = policy.validations.get(index).cloned().unwrap_or_default();
    let computed = match computed {
        Some(Evaluation::Value(CelValue::String(text))) => {
            Some(text.trim()).filter(|text| text.len() <= MAX_MESSAGE && !text.contains('\n'))
        }
        _ => None,
    };
    let given = || Some(validation.message.trim()).filter(|text| !text.is_empty());
    let message = computed
        .filter(|text| !text.is_empty())
        .or_else(given)
        .map_or_else(|| format!("failed expression: {}", validation.expression.trim()), str::to_owned);
    let reason = Some(validation.reason.unwrap_or_else(|| "Invalid".to_owned()));
    Decision { denied: true, message, reason, validation: Some(index) }
}
