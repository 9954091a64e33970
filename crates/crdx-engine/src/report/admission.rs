//! The effect of admission policies and webhooks on an object.

use super::{RunNote, SourceLocation};
use crdx_server::policies::model::PolicyKind;
use crdx_server::webhooks::model::configuration_kind;
use crdx_value::Value;
use std::collections::BTreeMap;

/// The effect of admission policies and webhooks on an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Admission {
    /// Failures that deny the object. The server responds with the first one; the order in which a cluster evaluates
    /// policies varies.
    pub denied: Vec<PolicyFailure>,
    /// Failures that become warnings.
    pub warned: Vec<PolicyFailure>,
    /// Failures that are recorded in the audit log.
    pub audited: Vec<PolicyFailure>,
    /// Audit annotations by key.
    pub annotations: BTreeMap<String, Vec<String>>,
    /// Changes, in the order of the policies.
    pub mutated: Vec<PolicyChange>,
    /// Parts of policies that were not evaluated.
    pub undecided: Vec<UndecidedPart>,
    /// The webhooks that would be called or may be called.
    pub webhooks: Vec<Webhook>,
}

/// A webhook that would be called or may be called for an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Webhook {
    /// The kind of webhook: validating or mutating.
    pub policy_kind: PolicyKind,
    /// The name of the configuration.
    pub configuration: String,
    /// The name of the webhook.
    pub name: String,
    /// The unknown input that determines if the webhook is called; `None` if it is called.
    pub depends_on: Option<String>,
    /// Help text: how to provide the input.
    pub help: Option<String>,
}

/// A policy that fails for an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyFailure {
    /// The policy.
    pub policy: String,
    /// The binding; empty if the policy itself is invalid.
    pub binding: String,
    /// The index of the failing validation, if a validation fails.
    pub validation: Option<usize>,
    /// The expression of the failing validation.
    pub expression: String,
    /// The message, without the names of policy and binding.
    pub message: String,
    /// The source location of the policy.
    pub location: Option<SourceLocation>,
}

/// A policy that changes an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyChange {
    /// The policy.
    pub policy: String,
    /// The binding.
    pub binding: String,
    /// The fields that the policy sets, changes and removes.
    pub fields: Vec<FieldChange>,
}

/// A field that a policy changes.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldChange {
    /// The path, as the server prints paths.
    pub path: String,
    /// The value before; `None` if the field was absent.
    pub before: Option<Value>,
    /// The value after; `None` if the field is removed.
    pub after: Option<Value>,
}

/// A part of a policy that was not evaluated because some input is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndecidedPart {
    /// The policy.
    pub policy: String,
    /// The binding; empty if this applies to all bindings of the policy.
    pub binding: String,
    /// The unknown input.
    pub message: String,
    /// Help text: how to provide the input.
    pub help: String,
    /// True if the verdict depends on it.
    pub decides: bool,
}

impl PolicyFailure {
    /// Returns the origin for messages: `validations[1] of policy "p" (policies.yaml:3): object.spec.replicas <= 5`.
    pub fn origin(&self) -> String {
        let suffix = self.location.as_ref().map_or_else(String::new, |location| format!(" ({location})"));
        let policy = format!("policy {:?}{suffix}", self.policy);
        match self.validation {
            Some(index) => format!("validations[{index}] of {policy}: {}", self.expression.trim()),
            None => policy,
        }
    }
}

impl Admission {
    /// Returns the paths that policies set, each with the name of the policy.
    pub fn set(&self) -> impl Iterator<Item = (&str, &str)> {
        self.mutated.iter().flat_map(|change| {
            let set = change.fields.iter().filter(|field| field.after.is_some());
            set.map(|field| (field.path.as_str(), change.policy.as_str()))
        })
    }

    /// Returns true if a policy removes a field.
    pub fn removes_fields(&self) -> bool {
        self.mutated.iter().flat_map(|change| &change.fields).any(|field| field.after.is_none())
    }
}

/// Formats `1 object` or `2 objects`.
pub fn counted(objects: usize) -> String {
    if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") }
}

impl Webhook {
    /// Returns a note that the webhook would be called for a number of objects.
    pub fn note(&self, objects: usize) -> RunNote {
        let Self { policy_kind, configuration, name, depends_on, help } = self;
        let (kind, effect) = match policy_kind {
            PolicyKind::Mutating => ("mutatingWebhook", "change or reject"),
            PolicyKind::Validating => ("validatingWebhook", "reject"),
        };
        let webhook = format!("webhook {name:?} of {} {configuration:?}", configuration_kind(*policy_kind));
        let them = if objects == 1 { "it" } else { "them" };
        let objects = counted(objects);
        let message = match depends_on {
            None => format!("{webhook} would be called for {objects} and may {effect} {them}; it is not called here"),
            Some(what) => {
                let help = help.as_deref().unwrap_or_default();
                format!("{webhook} may be called for {objects}: that depends on {what}, which is not known; {help}")
            }
        };
        RunNote { kind, message }
    }
}
