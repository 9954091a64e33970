//! The effects of policies on a request besides admission or refusal.

use super::denial::Origin;
use super::knowledge::{Missing, PolicyPart, UnevaluatedPart};
use super::model::{Binding, FailurePolicy, PolicyKind};
use super::source::PolicyHook;
use crdx_value::Value;
use std::collections::BTreeMap;

/// The effects of policies on a request besides admission or refusal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The policies that changed the object, in their order.
    pub changes: Vec<Change>,
    /// All denials; the server responds with the first one.
    pub denials: Vec<Origin>,
    /// Failures of bindings with the action Warn; [`warning_text`] formats the header.
    pub warnings: Vec<Origin>,
    /// Failures of bindings with the action Audit.
    pub audits: Vec<Origin>,
    /// Audit annotations by key (`policy/key`).
    pub annotations: BTreeMap<String, Vec<String>>,
    /// Parts that were not evaluated because an input is unknown.
    pub unevaluated: Vec<UnevaluatedPart>,
    /// The webhooks that would be called or may be called.
    pub webhooks: Vec<WebhookMatch>,
}

/// A webhook that would be called or may be called for the object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebhookMatch {
    /// The kind of webhook: validating or mutating.
    pub policy_kind: PolicyKind,
    /// The name of the configuration.
    pub configuration: String,
    /// The name of the webhook.
    pub webhook: String,
    /// The unknown input that determines if it is called; `None` if it is called.
    pub missing: Option<Missing>,
}

/// A policy that changed the object.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The policy.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// The object before the change, in the version that the policy matched.
    pub before: Value,
    /// The object after the change.
    pub after: Value,
}

impl Findings {
    /// Adds a part that was not evaluated, unless it is already present. Without a binding, the part applies to all
    /// bindings of the policy.
    pub(super) fn add_unevaluated(
        &mut self,
        policy_kind: PolicyKind,
        hook: &PolicyHook,
        binding: Option<&Binding>,
        part: PolicyPart,
        missing: Missing,
    ) {
        let policy = &*hook.policy;
        let denies = |binding: &Binding| binding.validation_actions.iter().any(|action| action == "Deny");
        let decides = match (policy_kind, part, &missing) {
            (_, PolicyPart::Message(_), _) => false,
            (PolicyKind::Mutating, ..) | (_, PolicyPart::AuditAnnotation, _) => true,
            // Missing params may be a configuration error, which denies the request independent of the actions.
            (_, _, Missing::Param { .. } | Missing::ParamKind(_)) if policy.failure_policy != FailurePolicy::Ignore => {
                true
            }
            _ if !policy.audit_annotations.is_empty() => true,
            _ => binding.map_or_else(|| hook.bindings.iter().any(|binding| denies(binding)), denies),
        };
        let binding = binding.map(|binding| binding.name.clone()).unwrap_or_default();
        let unevaluated = UnevaluatedPart { policy_kind, policy: policy.name.clone(), binding, part, missing, decides };
        if !self.unevaluated.contains(&unevaluated) {
            self.unevaluated.push(unevaluated);
        }
    }

    /// Adds the findings of another plugin.
    pub fn append(&mut self, other: Self) {
        let Self { changes, denials, warnings, audits, annotations, unevaluated, webhooks } = other;
        self.changes.extend(changes);
        self.denials.extend(denials);
        self.warnings.extend(warnings);
        self.audits.extend(audits);
        self.annotations.extend(annotations);
        self.unevaluated.extend(unevaluated);
        self.webhooks.extend(webhooks);
    }
}

/// Formats the text of the `Warning` header of a failed validation.
pub(crate) fn warning_text(origin: &Origin) -> String {
    let Origin { policy, binding, message, .. } = origin;
    format!("Validation failed for ValidatingAdmissionPolicy '{policy}' with binding '{binding}': {message}")
}
