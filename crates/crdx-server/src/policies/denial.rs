//! Refusals of requests by policies.

use super::model::PolicyKind;
use super::request::Request;
use crdx_value::Value;
use crdx_value::steps::Spent;

/// A refusal of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// A policy denied the request.
    Denied(Box<Denial>),
    /// The namespace of the request does not exist (404).
    NamespaceNotFound(String),
    /// The server cannot handle the request now (503).
    Unavailable(String),
    /// The server failed (500, `Internal error occurred: …`).
    Internal(String),
    /// The policies need more steps than are executed for one request.
    Unfinished,
}

impl From<Spent> for Refused {
    fn from(_: Spent) -> Self {
        Self::Unfinished
    }
}

/// A denial by a policy, as the parts of its Status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The HTTP status.
    pub code: u16,
    /// `reason`
    pub reason: String,
    /// `message`
    pub message: String,
    /// `details.name`
    pub name: String,
    /// The messages of `details.causes`.
    pub causes: Vec<String>,
    /// The policy and binding that denied the request.
    pub origin: Origin,
}

/// The part of a policy to which a finding refers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The kind of policy.
    pub policy_kind: PolicyKind,
    /// The policy.
    pub policy: String,
    /// The binding; empty if the policy itself is invalid.
    pub binding: String,
    /// The index of the failed validation, if there is one.
    pub validation: Option<usize>,
    /// The expression of the validation; empty if there is none.
    pub expression: String,
    /// The message without the names of policy and binding.
    pub message: String,
}

impl Origin {
    /// Returns the message with the names of policy and binding, as in `details.causes`.
    pub fn cause(&self) -> String {
        let Self { policy, binding, message, .. } = self;
        match (self.policy_kind, binding.as_str()) {
            (PolicyKind::Validating, "") => format!("ValidatingAdmissionPolicy '{policy}' denied request: {message}"),
            (PolicyKind::Validating, _) => {
                format!("ValidatingAdmissionPolicy '{policy}' with binding '{binding}' denied request: {message}")
            }
            (PolicyKind::Mutating, "") => format!("policy \"{policy}\" denied request: {message}"),
            (PolicyKind::Mutating, _) => {
                format!("policy '{policy}' with binding '{binding}' denied request: {message}")
            }
        }
    }
}

impl Denial {
    /// Creates the denial of a validating policy.
    pub fn validating(request: &Request<'_>, object: Option<&Value>, reason: Option<&str>, origin: Origin) -> Self {
        let cause = origin.cause();
        let reason = reason.filter(|reason| !reason.is_empty()).unwrap_or("Invalid");
        let name = request.shown_name(object);
        let message = format!("{} \"{name}\" is forbidden: {cause}", request.resource.group_resource());
        let code = match reason {
            "Forbidden" => 403,
            "Unauthorized" => 401,
            "RequestEntityTooLarge" => 413,
            _ => 422,
        };
        Self { code, reason: reason.to_owned(), message, name, causes: vec![cause], origin }
    }

    /// Creates the denial of mutating policies. `errors` contains errors with their reasons and must not be empty.
    pub fn mutating(request: &Request<'_>, object: Option<&Value>, errors: Vec<(Origin, &'static str)>) -> Self {
        let causes: Vec<String> = errors.iter().map(|(origin, _)| origin.cause()).collect();
        let (origin, reason) = errors.into_iter().next().unwrap_or_default();
        Self {
            code: 403,
            reason: reason.to_owned(),
            message: causes.first().cloned().unwrap_or_default(),
            name: request.shown_name(object),
            causes,
            origin,
        }
    }
}
