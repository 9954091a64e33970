//! The parts of a cluster that a simulation does not know. Parts of policies that depend on them are reported instead
//! of evaluated.

use super::dependencies::{Dependencies, Dependency};
use super::model::PolicyKind;
use super::request::Kind;
use std::collections::BTreeSet;
use std::sync::{PoisonError, RwLock};

/// The caller's knowledge of a cluster. By default it is complete: the server stores all objects that exist.
#[derive(Debug, Default)]
pub struct Knowledge {
    /// The unknown properties of a request.
    pub unknown: Dependencies,
    /// The objects that were read from the cluster; `None` if the server stores all of them.
    pub read: Option<RwLock<Read>>,
}

/// The parts of a cluster that a server stores as the cluster has them.
#[derive(Debug, Default)]
pub struct Read {
    namespaces: BTreeSet<String>,
    params: BTreeSet<(Kind, Option<String>, Option<String>)>,
}

impl Knowledge {
    /// Knowledge of nothing but what is reported with the methods below.
    pub fn partial(unknown: Dependencies) -> Self {
        Self { unknown, read: Some(RwLock::default()) }
    }

    /// Reports that the server stores the Namespace of that name as the cluster has it.
    pub fn learn_namespace(&self, name: &str) {
        if let Some(read) = &self.read {
            read.write().unwrap_or_else(PoisonError::into_inner).namespaces.insert(name.to_owned());
        }
    }

    /// Reports that the server stores the param of that name, or all params (`None`), of a kind in a namespace, if there
    /// are any.
    pub fn learn_params(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) {
        if let Some(read) = &self.read {
            let key = (kind.clone(), namespace.map(str::to_owned), name.map(str::to_owned));
            read.write().unwrap_or_else(PoisonError::into_inner).params.insert(key);
        }
    }

    /// Whether a Namespace is known.
    pub fn knows_namespace(&self, name: &str) -> bool {
        self.knows(|read| read.namespaces.contains(name))
    }

    /// Whether the param of that name, or all params (`None`), of a kind in a namespace are known.
    pub fn knows_params(&self, kind: &Kind, namespace: Option<&str>, name: Option<&str>) -> bool {
        let key = (kind.clone(), namespace.map(str::to_owned), name.map(str::to_owned));
        self.knows(|read| read.params.contains(&key))
    }

    /// Whether a kind that the server does not serve is one that the cluster does not serve.
    pub fn knows_kinds(&self) -> bool {
        self.read.is_none()
    }

    fn knows(&self, of: impl Fn(&Read) -> bool) -> bool {
        self.read.as_ref().is_none_or(|read| of(&read.read().unwrap_or_else(PoisonError::into_inner)))
    }
}

/// An unknown input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The user that sends the request.
    User,
    /// The answers of `authorizer`.
    Authorizer,
    /// A Namespace object.
    Namespace {
        /// Its name.
        name: String,
        /// The labels that a selector reads; empty where an expression reads `namespaceObject`.
        labels: Vec<String>,
    },
    /// The definition of a kind of params.
    ParamKind(Kind),
    /// Params.
    Param {
        /// Their kind.
        kind: Kind,
        /// Their namespace; `None` for a cluster-scoped kind.
        namespace: Option<String>,
        /// Their name; `None` where a selector finds them.
        name: Option<String>,
    },
}

impl Missing {
    /// The missing objects for a request in `namespace`.
    pub fn of(dependency: Dependency, namespace: &str) -> Self {
        match dependency {
            Dependency::User => Self::User,
            Dependency::Authorizer => Self::Authorizer,
            Dependency::Namespace => Self::Namespace { name: namespace.to_owned(), labels: Vec::new() },
        }
    }
}

/// A part of a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Whether it matches, or with which params.
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

/// A part of a policy that was not evaluated because something is not known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnevaluatedPart {
    /// The kind of policy.
    pub policy_kind: PolicyKind,
    /// The policy.
    pub policy: String,
    /// The binding; empty if this concerns the policy with every binding.
    pub binding: String,
    /// The part.
    pub part: Part,
    /// The unknown input.
    pub missing: Missing,
    /// Whether the part could change or refuse the object; a message or a binding that only warns could not.
    pub decides: bool,
}

/// Why a part of a policy cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotEvaluated {
    /// The server's words.
    Error(String),
    /// Something is not known.
    Unknown(Missing),
}

impl From<String> for NotEvaluated {
    fn from(why: String) -> Self {
        Self::Error(why)
    }
}
