//! The effect of admission policies and webhooks on an object.

use super::Note;
use super::json::{location_object, present};
use crate::output::excerpt::SourceLocation;
use crdx_server::policies::model::PolicyKind;
use crdx_server::webhooks::model::configuration_kind;
use crdx_value::{Map, Value};
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

    /// Returns the members `mutated`, `policies` and `webhooks` of an item in a JSON report.
    pub fn members(&self) -> Map {
        let mut members = Map::new();
        let Self { denied, warned, audited, annotations, mutated, undecided, webhooks } = self;
        if !mutated.is_empty() {
            members.insert("mutated".to_owned(), mutated.iter().map(PolicyChange::value).collect::<Vec<_>>().into());
        }
        let mut policies = Map::new();
        for (key, failures) in [("denied", denied), ("warned", warned), ("audited", audited)] {
            if !failures.is_empty() {
                policies.insert(key.to_owned(), failures.iter().map(PolicyFailure::value).collect::<Vec<_>>().into());
            }
        }
        if !annotations.is_empty() {
            let texts =
                |values: &Vec<String>| values.iter().map(|v| Value::from(v.as_str())).collect::<Vec<_>>().into();
            let annotations: Map = annotations.iter().map(|(key, values)| (key.clone(), texts(values))).collect();
            policies.insert("auditAnnotations".to_owned(), annotations.into());
        }
        if !undecided.is_empty() {
            policies
                .insert("undecided".to_owned(), undecided.iter().map(UndecidedPart::value).collect::<Vec<_>>().into());
        }
        if !policies.is_empty() {
            members.insert("policies".to_owned(), policies.into());
        }
        if !webhooks.is_empty() {
            members.insert("webhooks".to_owned(), webhooks.iter().map(Webhook::value).collect::<Vec<_>>().into());
        }
        members
    }
}

impl PolicyFailure {
    fn value(&self) -> Value {
        let Self { policy, binding, validation, expression, message, location } = self;
        let mut members =
            present(&[("policy", policy), ("binding", binding), ("expression", expression), ("message", message)]);
        if let Some(index) = validation {
            members.insert("validation".to_owned(), Value::Int(*index as i64));
        }
        if let Some(location) = location {
            members.insert("location".to_owned(), location_object(location));
        }
        members.into()
    }
}

impl PolicyChange {
    fn value(&self) -> Value {
        let mut members = present(&[("policy", &self.policy), ("binding", &self.binding)]);
        let field = |field: &FieldChange| {
            let mut members = present(&[("path", &field.path)]);
            let values = [("before", &field.before), ("after", &field.after)];
            members.extend(values.iter().filter_map(|(key, value)| Some(((*key).to_owned(), (*value).clone()?))));
            Value::from(members)
        };
        members.insert("changes".to_owned(), self.fields.iter().map(field).collect::<Vec<_>>().into());
        members.into()
    }
}

/// Formats `1 object` or `2 objects`.
pub fn counted(objects: usize) -> String {
    if objects == 1 { "1 object".to_owned() } else { format!("{objects} objects") }
}

impl Webhook {
    /// Returns a note that the webhook would be called for a number of objects.
    pub fn note(&self, objects: usize) -> Note {
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
        Note { kind, message }
    }

    fn value(&self) -> Value {
        let Self { policy_kind, configuration, name, depends_on, help } = self;
        let mut members = present(&[("configuration", configuration), ("name", name)]);
        members.insert("kind".to_owned(), configuration_kind(*policy_kind).into());
        for (key, text) in [("dependsOn", depends_on), ("help", help)] {
            members.extend(text.iter().map(|text| (key.to_owned(), Value::from(text.as_str()))));
        }
        members.into()
    }
}

impl UndecidedPart {
    fn value(&self) -> Value {
        let Self { policy, binding, message, help, decides } = self;
        let mut members = present(&[("policy", policy), ("binding", binding), ("message", message), ("help", help)]);
        members.insert("decides".to_owned(), (*decides).into());
        members.into()
    }
}
