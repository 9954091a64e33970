//! The unknown parts of a cluster. Parts of policies that depend on them are reported instead of evaluated.

use super::dependencies::Dependency;
use super::model::PolicyKind;
use super::request::Kind;
use crdx_value::GoError;

/// An unknown input of policies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The user that sends the request.
    User,
    /// The answers of `authorizer`.
    Authorizer,
    /// A Namespace object.
    Namespace {
        /// The name of the Namespace.
        name: String,
        /// The labels that a selector reads; empty if an expression reads `namespaceObject`.
        labels: Vec<String>,
    },
    /// The definition of a kind of params.
    ParamKind(Kind),
    /// Part of the object, by its path: the server may set or change it. Empty for the whole object.
    Field(String),
    /// Params.
    Param {
        /// The kind of the params.
        kind: Kind,
        /// The namespace of the params; `None` for a cluster-scoped kind.
        namespace: Option<String>,
        /// The name of the param; `None` if a selector selects params.
        name: Option<String>,
    },
}

impl Missing {
    /// Converts a dependency of a request in `namespace`.
    pub fn new(dependency: Dependency, namespace: &str) -> Self {
        match dependency {
            Dependency::User => Self::User,
            Dependency::Authorizer => Self::Authorizer,
            Dependency::Namespace => Self::Namespace { name: namespace.to_owned(), labels: Vec::new() },
            Dependency::Field(path) => Self::Field(path),
        }
    }
}

/// A part of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PolicyPart {
    /// The decision if the policy matches, and with which params.
    Matching,
    /// One of `matchConditions`.
    Condition,
    /// The expression of `validations[N]`.
    Validation(usize),
    /// The message expression of `validations[N]`.
    Message(usize),
    /// One of `auditAnnotations`.
    AuditAnnotation,
    /// The expression of `mutations[N]`.
    Mutation(usize),
}

/// A part of a policy that was not evaluated because an input is unknown.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnevaluatedPart {
    /// The kind of policy.
    pub policy_kind: PolicyKind,
    /// The policy.
    pub policy: String,
    /// The binding; empty if this applies to all bindings of the policy.
    pub binding: String,
    /// The part.
    pub part: PolicyPart,
    /// The unknown input.
    pub missing: Missing,
    /// True if the part could change or refuse the object. False for messages and for bindings that only warn.
    pub decides: bool,
}

/// The reason why a part of a policy cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotEvaluated {
    /// The server's message.
    Error(GoError),
    /// An input is unknown.
    Unknown(Missing),
}

impl From<String> for NotEvaluated {
    fn from(reason: String) -> Self {
        Self::Error(reason.into())
    }
}

impl From<GoError> for NotEvaluated {
    fn from(reason: GoError) -> Self {
        Self::Error(reason)
    }
}
