//! `MutatingAdmissionPolicy`: applies mutations one after the other and invokes policies again if needed
//! (`policy/mutating/dispatcher.go`, `admission/reinvocation.go`).

mod apply;
mod json_patch;
mod native;

use super::compile::CompiledPatch;
use super::denial::{Denial, Origin, Refused};
use super::evaluate::{
    Activation, Authorizers, BUDGET, Evaluation, Inputs, NotDecided, OUT_OF_BUDGET, OutOfBudget, match_conditions,
    namespace_object,
};
use super::findings::{Change, Findings};
use super::knowledge::{Missing, NotEvaluated, PolicyPart};
use super::matching::{Matched, matches};
use super::model::{Binding, FailurePolicy, Policy, PolicyKind};
use super::params::{self, Param};
use super::request::{Cluster, Kind, Request};
use super::source::PolicyHook;
use super::validating::{namespace_of, unknown_to};
use crdx_cel::value::Value as CelValue;
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::steps::{Spent, memory};
use native::NativeError;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of bytes of an object that a mutation copies in one step. The server bounds neither the number of
/// mutations nor the size of the object between them; the object is kept before and after each policy.
const COPIED: u64 = 4;

/// The reason why a mutation failed.
#[derive(Debug)]
enum MutationFailure {
    /// The failure policy applies.
    OfPolicy(String),
    /// The request is refused, independent of the failure policy.
    OfServer(Refused),
    /// The mutation depends on this part of the object, which is not known.
    Unknown(String),
}

impl From<NativeError> for MutationFailure {
    fn from(error: NativeError) -> Self {
        match error {
            NativeError::Failed(reason) => Self::OfPolicy(reason),
            NativeError::Spent(spent) => spent.into(),
        }
    }
}

impl From<Spent> for MutationFailure {
    fn from(_: Spent) -> Self {
        Self::OfServer(Refused::Unfinished)
    }
}

impl From<String> for MutationFailure {
    fn from(reason: String) -> Self {
        Self::OfPolicy(reason)
    }
}

impl From<GoError> for MutationFailure {
    fn from(reason: GoError) -> Self {
        Self::OfPolicy(reason.into())
    }
}

/// Applies all policies to the object of a create or update, in the round that `reinvocation` describes. Returns true
/// if the object changed.
///
/// # Errors
/// Returns the refusal of the request.
pub fn mutate(
    hooks: &[PolicyHook],
    request: &Request<'_>,
    object: &mut Value,
    cluster: &dyn Cluster,
    findings: &mut Findings,
    reinvocation: &mut Reinvocation,
) -> Result<bool, Refused> {
    let before = object.clone();
    admit(hooks, request, object, cluster, findings, reinvocation)?;
    Ok(*object != before)
}

/// The state kept between the two rounds (`policyReinvokeContext`).
#[derive(Debug, Default)]
pub struct Reinvocation {
    /// True in the second round.
    pub running: bool,
    /// True if a second round is needed.
    pub requested: bool,
    /// The object after the last round.
    output: Option<Value>,
    /// The invocations that may be repeated.
    invoked: BTreeSet<InvocationKey>,
    /// The invocations to repeat.
    again: BTreeSet<InvocationKey>,
}

impl Reinvocation {
    fn require(&mut self) {
        self.again.append(&mut self.invoked);
    }
}

/// Identifies an invocation: policy, binding, and the param's namespace and name.
type InvocationKey = (String, String, String, String);

/// A policy and a binding that match the request, with a param.
struct Invocation<'h> {
    hook: &'h PolicyHook,
    binding: &'h Binding,
    matched: Matched,
    param: Param,
}

impl Invocation<'_> {
    fn key(&self) -> InvocationKey {
        let param = |key: &str| {
            let text = self.param.as_ref().and_then(|param| param.str_at(&["metadata", key]));
            text.unwrap_or_default().to_owned()
        };
        (self.hook.policy.name.clone(), self.binding.name.clone(), param("namespace"), param("name"))
    }
}

/// The object in a version that some policies matched.
struct Versioned {
    object: Value,
    old_object: Option<Value>,
    changed: bool,
}

/// Errors with the failure policies that apply to them.
type Errors = Vec<(Origin, &'static str, FailurePolicy)>;

/// Applies all policies once.
fn admit(
    hooks: &[PolicyHook],
    request: &Request<'_>,
    object: &mut Value,
    cluster: &dyn Cluster,
    findings: &mut Findings,
    reinvocation: &mut Reinvocation,
) -> Result<(), Refused> {
    let mut round = Round { request, cluster, errors: Vec::new(), versions: BTreeMap::new() };
    let invocations = round.collect(hooks, object, findings);
    if !invocations.is_empty() {
        round.invoke(&invocations, object, findings, reinvocation)?;
    }
    let errors = round.errors.into_iter().filter(|(_, _, policy)| *policy != FailurePolicy::Ignore);
    let errors: Vec<(Origin, &'static str)> = errors.map(|(origin, reason, _)| (origin, reason)).collect();
    if errors.is_empty() {
        return Ok(());
    }
    findings.denials.extend(errors.iter().map(|(origin, _)| origin.clone()));
    Err(Refused::Denied(Box::new(Denial::mutating(request, Some(object), errors))))
}

struct Round<'r> {
    request: &'r Request<'r>,
    cluster: &'r dyn Cluster,
    errors: Errors,
    versions: BTreeMap<Arc<Kind>, Versioned>,
}

impl Round<'_> {
    fn error(&mut self, policy: &Policy, binding: Option<&Binding>, reason: &'static str, message: String) {
        let binding = binding.map(|binding| binding.name.clone()).unwrap_or_default();
        let origin = Origin {
            policy_kind: PolicyKind::Mutating,
            policy: policy.name.clone(),
            binding,
            message,
            ..Origin::default()
        };
        self.errors.push((origin, reason, policy.failure_policy.clone()));
    }

    fn not_evaluated(
        &mut self,
        hook: &PolicyHook,
        binding: Option<&Binding>,
        reason: NotEvaluated,
        findings: &mut Findings,
    ) {
        match reason {
            NotEvaluated::Error(detail) => self.configuration_error(&hook.policy, binding, detail.as_str()),
            NotEvaluated::Unknown(missing) => {
                findings.add_unevaluated(PolicyKind::Mutating, hook, binding, PolicyPart::Matching, missing);
            }
        }
    }

    fn configuration_error(&mut self, policy: &Policy, binding: Option<&Binding>, reason: &str) {
        let what = if binding.is_some() { "binding" } else { "policy" };
        self.error(policy, binding, "Forbidden", format!("failed to configure {what}: {reason}"));
    }

    /// Collects the matching policies and bindings with their params (`policyDispatcher.Dispatch`).
    fn collect<'h>(&mut self, hooks: &'h [PolicyHook], object: &Value, findings: &mut Findings) -> Vec<Invocation<'h>> {
        let mut invocations = Vec::new();
        for hook in hooks {
            let policy = &*hook.policy;
            let Some(constraints) = &policy.match_constraints else {
                self.configuration_error(policy, None, super::NO_CONSTRAINTS);
                continue;
            };
            let matched = match matches(constraints, self.request, Some(object), self.cluster) {
                Ok(Some(matched)) => matched,
                Ok(None) => continue,
                Err(reason) => {
                    self.not_evaluated(hook, None, reason, findings);
                    continue;
                }
            };
            let kind = match params::kind_of(policy, self.cluster) {
                Ok(kind) => kind,
                Err(reason) => {
                    self.not_evaluated(hook, None, reason, findings);
                    continue;
                }
            };
            for binding in &hook.bindings {
                if let Some(resources) = &binding.match_resources {
                    match matches(resources, self.request, Some(object), self.cluster) {
                        Ok(Some(_)) => {}
                        Ok(None) => continue,
                        Err(reason) => {
                            self.not_evaluated(hook, Some(binding), reason, findings);
                            continue;
                        }
                    }
                }
                if let Err(error) = self.convert(&matched, object) {
                    self.configuration_error(policy, None, error.as_str());
                    continue;
                }
                match params::collect(kind.as_ref(), binding, self.request, self.cluster) {
                    Ok(params) => invocations.extend(params.into_iter().map(|param| Invocation {
                        hook,
                        binding,
                        matched: matched.clone(),
                        param,
                    })),
                    Err(reason) => self.not_evaluated(hook, Some(binding), reason, findings),
                }
            }
        }
        invocations
    }

    /// Converts the object to the version that a policy matched.
    fn convert(&mut self, matched: &Matched, object: &Value) -> Result<(), GoError> {
        if self.versions.contains_key(&matched.kind) {
            return Ok(());
        }
        let same = matched.kind == self.request.kind;
        let convert = |object: &Value| {
            if same { Ok(object.clone()) } else { self.cluster.convert(object, &matched.resource, &matched.kind) }
        };
        let old_object = self.request.old_object.map(convert).transpose()?;
        let versioned = Versioned { object: convert(object)?, old_object, changed: false };
        self.versions.insert(matched.kind.clone(), versioned);
        Ok(())
    }

    /// `dispatchInvocations`
    fn invoke(
        &mut self,
        invocations: &[Invocation<'_>],
        object: &mut Value,
        findings: &mut Findings,
        reinvocation: &mut Reinvocation,
    ) -> Result<(), Refused> {
        if reinvocation.running && reinvocation.output.as_ref() != Some(object) {
            reinvocation.require();
        }
        let namespace = namespace_of(self.request, self.cluster)?;
        let shown = namespace.as_deref().map(namespace_object);
        let authorizers = Authorizers::new(self.request, self.cluster.authorizer());
        let mut last = None;
        for invocation in invocations {
            let mutated = self.invoke_one(invocation, shown.as_ref(), &authorizers, findings, reinvocation)?;
            if mutated {
                last = Some(invocation.matched.kind.clone());
            }
        }
        // The server writes back the version of the last mutation only.
        if let Some(versioned) = last.and_then(|kind| self.versions.get(&kind)).filter(|versioned| versioned.changed) {
            reinvocation.require();
            reinvocation.requested = true;
            let request = self.request;
            let have = versioned.object.str_at(&["apiVersion"]).unwrap_or_default();
            *object = if have == request.kind.api_version() {
                versioned.object.clone()
            } else {
                let back = self.cluster.convert(&versioned.object, &request.resource, &request.kind);
                back.map_err(|error| Refused::Internal(format!("failed to convert object: {error}")))?
            };
        }
        reinvocation.output = Some(object.clone());
        Ok(())
    }

    /// Runs one policy. Returns true if any of its mutations was attempted.
    fn invoke_one(
        &mut self,
        invocation: &Invocation<'_>,
        namespace: Option<&Value>,
        authorizers: &Authorizers,
        findings: &mut Findings,
        reinvocation: &mut Reinvocation,
    ) -> Result<bool, Refused> {
        let (policy, compiled) = (&*invocation.hook.policy, &*invocation.hook.compiled);
        let param_kind = params::kind_of(policy, self.cluster).ok().flatten();
        let typed = params::typed_kind(param_kind.as_ref(), self.cluster);
        let param = invocation.param.as_deref().map(|param| params::bare(param, typed));
        let (request, cluster, matched) = (self.request, self.cluster, &invocation.matched);
        let value = request.to_value(&matched.kind, &matched.resource);
        let Some(versioned) = self.versions.get(&matched.kind) else { return Ok(false) };
        let unknown = unknown_to(request, cluster);
        let (hook, binding) = (invocation.hook, Some(invocation.binding));
        if !compiled.match_conditions.is_empty() {
            let condition_value = request.to_value(&matched.kind, &request.resource);
            let inputs = Inputs {
                object: Some(&versioned.object),
                gaps: request.gaps.as_deref(),
                old_object: versioned.old_object.as_ref(),
                params: param.as_deref(),
                request: &condition_value,
                namespace: None,
                authorizers: Some(authorizers),
                steps: &request.steps,
            };
            let activation = Activation::new(inputs, &compiled.variables);
            match match_conditions(&activation, &compiled.match_conditions, &policy.failure_policy, unknown) {
                _ if request.steps.are_spent() => return Err(Refused::Unfinished),
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(NotDecided::Failed(reason)) => {
                    self.error(policy, Some(invocation.binding), "Invalid", reason);
                    return Ok(false);
                }
                Err(NotDecided::Unknown(dependency)) => {
                    let missing = Missing::new(dependency, request.namespace);
                    findings.add_unevaluated(PolicyKind::Mutating, hook, binding, PolicyPart::Condition, missing);
                    return Ok(false);
                }
            }
        }
        let key = invocation.key();
        if reinvocation.running && !reinvocation.again.contains(&key) {
            return Ok(false);
        }
        let before = versioned.object.clone();
        let mut failures = Vec::new();
        for (index, patch) in compiled.mutations.iter().enumerate() {
            let (CompiledPatch::Apply(expression) | CompiledPatch::Json(expression)) = patch;
            if let Some(dependency) = expression.dependencies.shared(unknown) {
                let missing = Missing::new(dependency, request.namespace);
                findings.add_unevaluated(PolicyKind::Mutating, hook, binding, PolicyPart::Mutation(index), missing);
                continue;
            }
            let Some(versioned) = self.versions.get_mut(&matched.kind) else { break };
            let inputs = Inputs {
                object: Some(&versioned.object),
                gaps: request.gaps.as_deref(),
                old_object: versioned.old_object.as_ref(),
                params: param.as_deref(),
                request: &value,
                namespace,
                authorizers: Some(authorizers),
                steps: &request.steps,
            };
            let patched = patched(patch, &inputs, invocation, cluster);
            if request.steps.are_spent() {
                return Err(Refused::Unfinished);
            }
            match patched {
                Ok(mut patched) => {
                    cluster.default(&matched.resource, &matched.kind, &mut patched)?;
                    request.steps.take(memory(&patched) as u64 / COPIED)?;
                    versioned.object = patched;
                    versioned.changed = true;
                }
                Err(MutationFailure::OfPolicy(reason)) => failures.push(reason),
                Err(MutationFailure::OfServer(refused)) => return Err(refused),
                Err(MutationFailure::Unknown(path)) => {
                    let missing = Missing::Field(path);
                    findings.add_unevaluated(PolicyKind::Mutating, hook, binding, PolicyPart::Mutation(index), missing);
                }
            }
        }
        for reason in failures {
            self.error(policy, Some(invocation.binding), "Invalid", reason);
        }
        if let Some(versioned) = self.versions.get(&matched.kind).filter(|versioned| versioned.object != before) {
            reinvocation.require();
            reinvocation.requested = true;
            findings.changes.push(Change {
                policy: policy.name.clone(),
                binding: invocation.binding.name.clone(),
                before,
                after: versioned.object.clone(),
            });
        }
        if policy.reinvoked_if_needed {
            reinvocation.invoked.insert(key);
        }
        Ok(!compiled.mutations.is_empty())
    }
}

/// `dispatchOne`: applies one mutation to an object.
fn patched(
    patch: &CompiledPatch,
    inputs: &Inputs<'_>,
    invocation: &Invocation<'_>,
    cluster: &dyn Cluster,
) -> Result<Value, MutationFailure> {
    let matched = &invocation.matched;
    let Some(types) = cluster.merge_type(&matched.resource, &matched.kind) else {
        return Err(MutationFailure::OfServer(Refused::Unavailable(format!(
            "Resource kind {} not found. There can be a delay between when CustomResourceDefinitions are created and when they are available.",
            matched.kind.text()
        ))));
    };
    let (CompiledPatch::Apply(expression) | CompiledPatch::Json(expression)) = patch;
    if let Err(error) = &expression.program {
        return Err(error.clone().into());
    }
    let activation = Activation::new(inputs.clone(), &invocation.hook.compiled.variables);
    let mut budget = BUDGET;
    let value: CelValue<'_> = match activation.evaluate(expression, &mut budget) {
        Err(OutOfBudget) => return Err(MutationFailure::OfPolicy(OUT_OF_BUDGET.to_owned())),
        Ok(Evaluation::Error(error)) => return Err(MutationFailure::OfPolicy(error)),
        Ok(Evaluation::Unknown(path)) => return Err(MutationFailure::Unknown(path)),
        Ok(Evaluation::Value(value)) => value,
    };
    let object = inputs.object.unwrap_or(&Value::Null);
    match patch {
        CompiledPatch::Apply(_) => apply::apply(&value, object, types.resolve(), inputs.steps),
        CompiledPatch::Json(_) => json_patch::apply(&value, object, inputs.steps),
    }
}
