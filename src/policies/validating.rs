//! `ValidatingAdmissionPolicy`: which validations fail, and what that means (`policy/validating/{dispatcher,validator}.go`).

use super::denial::{Denial, Origin, Refused};
use super::evaluate::{
    Activation, Authorizers, BUDGET, Evaluation, Inputs, OUT_OF_BUDGET, OutOfBudget, match_conditions, namespace_object,
};
use super::matching::{Matched, matches};
use super::model::{Binding, FailurePolicy, Policy};
use super::params::{self, Param};
use super::request::{Cluster, Request};
use super::source::Hook;
use crate::cel::value::Value as CelValue;
use crate::value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The longest message a message expression may make, in bytes.
const MAX_MESSAGE: usize = 5 * 1024;
/// The longest value of an audit annotation, in bytes.
const MAX_ANNOTATION: usize = 10 * 1024;

/// What validating policies say of a request besides refusing it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// Failures of bindings with the action Warn; [`warning_text`] gives the header.
    pub warnings: Vec<Origin>,
    /// Failures of bindings with the action Audit.
    pub audits: Vec<Origin>,
    /// Audit annotations by key (`policy/key`).
    pub annotations: BTreeMap<String, Vec<String>>,
}

/// The text of the `Warning` header of a failed validation.
pub fn warning_text(origin: &Origin) -> String {
    let Origin { policy, binding, message, .. } = origin;
    format!("Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{binding}': {message}")
}

/// One decision of a policy.
struct Decision {
    denied: bool,
    message: String,
    reason: Option<String>,
    validation: Option<usize>,
}

impl Decision {
    /// An error: it denies unless the policy ignores failures.
    fn error(policy: &Policy, message: String, validation: Option<usize>) -> Self {
        Self { denied: policy.failure_policy != FailurePolicy::Ignore, message, reason: None, validation }
    }
}

/// What one evaluation of a policy gave.
#[derive(Default)]
struct Outcome {
    decisions: Vec<Decision>,
    annotations: Vec<Annotation>,
}

enum Annotation {
    Publish(String, String),
    Error(String),
}

/// Evaluates all policies on a request. Findings are added whether the request is refused or not.
///
/// # Errors
/// The first denial, as the server answers it.
pub fn validate(
    hooks: &[Hook],
    request: &Request<'_>,
    object: Option<&Value>,
    cluster: &dyn Cluster,
    findings: &mut Findings,
) -> Result<(), Refused> {
    let mut dispatch = Dispatch { request, object, cluster, findings, denials: Vec::new(), authorizers: None };
    for hook in hooks {
        dispatch.policy(hook)?;
    }
    match dispatch.denials.into_iter().next() {
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
}

impl Dispatch<'_> {
    fn configuration_error(&mut self, policy: &Policy, binding: Option<&Binding>, why: &str) {
        let message = match &policy.failure_policy {
            FailurePolicy::Ignore => return,
            FailurePolicy::Fail if binding.is_some() => format!("failed to configure binding: {why}"),
            FailurePolicy::Fail => format!("failed to configure policy: {why}"),
            FailurePolicy::Other(word) => format!("unrecognized failure policy: '{word}'"),
        };
        let binding = binding.map(|binding| binding.name.clone()).unwrap_or_default();
        self.denials.push((Origin { policy: policy.name.clone(), binding, validation: None, message }, None));
    }

    fn policy(&mut self, hook: &Hook) -> Result<(), Refused> {
        let policy = &*hook.policy;
        let Some(constraints) = &policy.match_constraints else {
            self.configuration_error(policy, None, super::NO_CONSTRAINTS);
            return Ok(());
        };
        let matched = match matches(constraints, self.request, self.object, self.cluster) {
            Ok(Some(matched)) => matched,
            Ok(None) => return Ok(()),
            Err(why) => {
                self.configuration_error(policy, None, &why);
                return Ok(());
            }
        };
        let param_kind = match params::kind_of(policy, self.cluster) {
            Ok(kind) => kind,
            Err(why) => {
                self.configuration_error(policy, None, &why);
                return Ok(());
            }
        };
        for binding in &hook.bindings {
            if let Some(resources) = &binding.match_resources {
                match matches(resources, self.request, self.object, self.cluster) {
                    Ok(Some(_)) => {}
                    Ok(None) => continue,
                    Err(why) => {
                        self.configuration_error(policy, Some(binding), &why);
                        continue;
                    }
                }
            }
            let params = match params::collect(param_kind.as_ref(), binding, self.request, self.cluster) {
                Ok(params) => params,
                Err(why) => {
                    self.configuration_error(policy, Some(binding), &why);
                    continue;
                }
            };
            self.binding(hook, binding, &matched, &params)?;
        }
        Ok(())
    }

    fn binding(&mut self, hook: &Hook, binding: &Binding, matched: &Matched, params: &[Param]) -> Result<(), Refused> {
        let (request, policy) = (self.request, &*hook.policy);
        let convert = |object: Option<&Value>| {
            object
                .filter(|_| matched.kind != request.kind && !params.is_empty())
                .map(|object| self.cluster.convert(object, &matched.resource, &matched.kind))
                .transpose()
        };
        let (converted, converted_old) = match (convert(self.object), convert(request.old_object)) {
            (Ok(object), Ok(old)) => (object, old),
            (Err(why), _) | (_, Err(why)) => {
                self.configuration_error(policy, Some(binding), &format!("failed to convert object version: {why}"));
                return Ok(());
            }
        };
        let namespace = namespace_of(request, self.cluster)?;
        let shown = namespace.as_deref().map(namespace_object);
        let param_type = params::typed_kind(policy, self.cluster);
        let object = converted.as_ref().or(self.object);
        let old_object = converted_old.as_ref().or(request.old_object);
        let value = request.to_value(&matched.kind, &matched.resource);
        let condition_value = request.to_value(&matched.kind, &request.resource);
        let cluster = self.cluster;
        let authorizers =
            self.authorizers.get_or_insert_with(|| Authorizers::new(request, cluster.authorizer())).clone();
        for param in params {
            let param = param.as_deref().map(|param| params::shown(param, param_type.as_ref()));
            let inputs = Inputs {
                object,
                old_object,
                params: param.as_deref(),
                request: &value,
                namespace: shown.as_ref(),
                authorizers: Some(&authorizers),
            };
            let outcome = evaluate(hook, &inputs, &condition_value);
            self.settle(policy, binding, outcome);
        }
        Ok(())
    }

    /// What the decisions mean for the actions of a binding.
    fn settle(&mut self, policy: &Policy, binding: &Binding, outcome: Outcome) {
        let origin = |message: String, validation: Option<usize>| Origin {
            policy: policy.name.clone(),
            binding: binding.name.clone(),
            validation,
            message,
        };
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

/// The Namespace object of a request; none for a cluster-scoped object and for namespaces themselves.
///
/// # Errors
/// The namespace does not exist.
pub(super) fn namespace_of(request: &Request<'_>, cluster: &dyn Cluster) -> Result<Option<Arc<Value>>, Refused> {
    if request.namespace.is_empty() || request.is_namespace() {
        return Ok(None);
    }
    let found = cluster.namespace(request.namespace);
    found.map(Some).ok_or_else(|| Refused::NamespaceNotFound(request.namespace.to_owned()))
}

/// `validator.Validate`
fn evaluate(hook: &Hook, inputs: &Inputs<'_>, condition_request: &Value) -> Outcome {
    let (policy, compiled) = (&*hook.policy, &*hook.compiled);
    let whole = |message: &str| Outcome {
        decisions: vec![Decision::error(policy, message.to_owned(), None)],
        annotations: Vec::new(),
    };
    if !compiled.match_conditions.is_empty() {
        let inputs = Inputs { namespace: None, request: condition_request, ..inputs.clone() };
        let activation = Activation::new(inputs, &compiled.variables);
        match match_conditions(&activation, &compiled.match_conditions, &policy.failure_policy) {
            Ok(true) => {}
            Ok(false) => return Outcome::default(),
            Err(why) => return whole(&why),
        }
    }
    let mut budget = BUDGET;
    let activation = Activation::new(inputs.clone(), &compiled.variables);
    let results: Result<Vec<_>, OutOfBudget> =
        compiled.validations.iter().map(|validation| activation.evaluate(validation, &mut budget)).collect();
    let Ok(results) = results else { return whole(OUT_OF_BUDGET) };
    let without_authorizer = Inputs { authorizers: None, ..inputs.clone() };
    let for_messages = Activation::new(without_authorizer.clone(), &compiled.variables);
    let messages: Result<Vec<_>, OutOfBudget> = compiled
        .messages
        .iter()
        .map(|message| message.as_ref().map(|message| for_messages.evaluate(message, &mut budget)).transpose())
        .collect();
    let decisions = results
        .into_iter()
        .enumerate()
        .map(|(index, result)| match (result, &messages) {
            (Evaluation::Error(why), _) => Decision::error(policy, why, Some(index)),
            (_, Err(OutOfBudget)) => {
                Decision::error(policy, format!("failed messageExpression: {OUT_OF_BUDGET}"), Some(index))
            }
            (Evaluation::Value(CelValue::Bool(true)), _) => {
                Decision { denied: false, message: String::new(), reason: None, validation: Some(index) }
            }
            (Evaluation::Value(_), Ok(messages)) => {
                let computed = messages.get(index).and_then(Option::as_ref);
                denial(policy, index, computed)
            }
        })
        .collect();
    let for_annotations = Activation::new(without_authorizer, &compiled.variables);
    let mut budget = BUDGET;
    let mut annotations = Vec::new();
    for (annotation, expression) in policy.audit_annotations.iter().zip(&compiled.audit_annotations) {
        let Ok(result) = for_annotations.evaluate(expression, &mut budget) else { return whole(OUT_OF_BUDGET) };
        match result {
            Evaluation::Error(why) if policy.failure_policy != FailurePolicy::Ignore => {
                annotations.push(Annotation::Error(why));
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
    Outcome { decisions, annotations }
}

/// The decision of a validation that does not hold.
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
