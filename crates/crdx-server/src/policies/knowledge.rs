//! The unknown parts of a cluster. Parts of policies that depend on them are reported instead of evaluated.

use super::dependencies::{Dependencies, Dependency};
use super::model::PolicyKind;
use super::request::Kind;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

/// The caller's knowledge of a cluster. By default it is complete: the server stores all objects of the cluster.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// The unknown properties of a request.
    pub unknown: Dependencies,
    /// The objects that were read from the cluster; `None` if the server stores all of them.
    pub read: Option<RwLock<Read>>,
}

/// The objects of a cluster that the server stores.
#[derive(Debug, Default)]
pub struct Read {
    namespaces: BTreeSet<String>,
    /// The Namespaces that do not exist, but may be created before the objects in them.
    missing_namespaces: BTreeSet<String>,
    params: BTreeSet<(Kind, Option<String>, Option<String>)>,
    /// The namespaces whose limit ranges the server stores.
    limit_ranges: BTreeSet<String>,
}

impl Knowledge {
    /// Creates knowledge without objects; they are added with the methods below.
    pub fn partial(unknown: Dependencies) -> Self {
        Self { unknown, read: Some(RwLock::default()) }
    }

    /// Records that the server has read the Namespace with this name from the cluster.
    pub fn record_namespace(&self, name: &str) {
        if let Some(read) = &self.read {
            read.write().unwrap_or_else(PoisonError::into_inner).namespaces.insert(name.to_owned());
        }
    }

    /// Records that the cluster has no Namespace with this name.
    pub fn record_missing_namespace(&self, name: &str) {
        if let Some(read) = &self.read {
            read.write().unwrap_or_else(PoisonError::into_inner).missing_namespaces.insert(name.to_owned());
        }
    }

    /// Returns true if the cluster has no Namespace with this name.
    pub fn misses_namespace(&self, name: &str) -> bool {
        self.read.is_some() && self.knows(|read| read.missing_namespaces.contains(name))
    }

    /// Records that the server has read the param with this name, or all params (`None`), of a kind in a namespace.
    /// Objects that were read may be absent.
    pub fn record_params(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) {
        if let Some(read) = &self.read {
            let key = (kind.clone(), namespace.map(str::to_owned), name.map(str::to_owned));
            read.write().unwrap_or_else(PoisonError::into_inner).params.insert(key);
        }
    }

    /// Records that the server has read the limit ranges of a namespace.
    pub fn record_limit_ranges(&self, namespace: &str) {
        if let Some(read) = &self.read {
            read.write().unwrap_or_else(PoisonError::into_inner).limit_ranges.insert(namespace.to_owned());
        }
    }

    /// Returns true if the limit ranges of a namespace are known.
    pub(crate) fn are_limit_ranges_known(&self, namespace: &str) -> bool {
        self.knows(|read| read.limit_ranges.contains(namespace))
    }

    /// Returns true if it is known whether the Namespace exists, and its content.
    pub fn is_namespace_known(&self, name: &str) -> bool {
        self.knows(|read| read.namespaces.contains(name))
    }

    /// Returns true if the param with this name, or all params (`None`), of a kind in a namespace are known.
    pub(crate) fn are_params_known(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) -> bool {
        let key = (kind.clone(), namespace.map(str::to_owned), name.map(str::to_owned));
        self.knows(|read| read.params.contains(&key))
    }

    /// Returns true if the server has all objects of the cluster.
    pub fn is_complete(&self) -> bool {
        self.read.is_none()
    }

    /// Returns true if the cluster serves no kind that the server does not serve.
    pub(crate) fn are_kinds_known(&self) -> bool {
        self.read.is_none()
    }

    fn knows(&self, of: impl Fn(&Read) -> bool) -> bool {
        self.read.as_ref().is_none_or(|read| of(&read.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

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
pub enum Part {
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
    pub part: Part,
    /// The unknown input.
    pub missing: Missing,
    /// True if the part could change or refuse the object. False for messages and for bindings that only warn.
    pub decides: bool,
}

/// The reason why a part of a policy cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotEvaluated {
    /// The server's message.
    Error(String),
    /// An input is unknown.
    Unknown(Missing),
}

impl From<String> for NotEvaluated {
    fn from(reason: String) -> Self {
        Self::Error(reason)
    }
}
