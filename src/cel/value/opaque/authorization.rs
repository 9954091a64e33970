//! The values behind `authorizer` (`k8s.io/apiserver/pkg/cel/library/authz.go`).

use std::fmt;
use std::sync::Arc;

/// Who is asked about, and who answers.
#[derive(Clone)]
pub struct Subject {
    /// The user.
    pub user: Arc<User>,
    /// Answers the checks.
    pub authorizer: Arc<dyn Authorizer>,
}

impl fmt::Debug for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A user and its groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The groups.
    pub groups: Vec<String>,
}

impl User {
    /// The user of a service account, with the groups the server gives it.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")],
        }
    }
}

/// Decides whether a user may do something.
pub trait Authorizer: Send + Sync {
    /// The decision about one request.
    fn authorize(&self, user: &User, attributes: &Attributes<'_>) -> Decision;
}

/// What a user would do (`authorizer.Attributes`).
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// The verb: `get`, `create`, …
    pub verb: &'a str,
    /// What it is done to.
    pub access: Access<'a>,
}

/// What a user would do something to.
#[derive(Clone, Copy, Debug)]
pub enum Access<'a> {
    /// A URL path outside the resources.
    Path(&'a str),
    /// A resource.
    Resource(&'a ResourceCheck),
}

/// What an authorizer decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The outcome.
    pub verdict: Verdict,
    /// Why; the text of the error if it failed.
    pub reason: String,
}

/// The outcome of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed.
    Allow,
    /// Denied.
    Deny,
    /// This authorizer does not know, so nobody allowed it.
    NoOpinion,
    /// The authorizer failed.
    Failed,
}

/// `authorizer.path(…)`
#[derive(Clone, Debug)]
pub struct PathCheck {
    /// Who is asked about.
    pub subject: Subject,
    /// The path.
    pub path: String,
}

/// `authorizer.group(…).resource(…)` and what is set on it.
#[derive(Clone, Debug)]
pub struct ResourceCheck {
    /// Who is asked about.
    pub subject: Subject,
    /// The group.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// The subresource, or empty.
    pub subresource: String,
    /// The namespace, or empty.
    pub namespace: String,
    /// The name, or empty.
    pub name: String,
}
