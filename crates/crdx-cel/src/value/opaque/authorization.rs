//! The types behind `authorizer` (`k8s.io/apiserver/pkg/cel/library/authz.go`).

use std::fmt;
use std::sync::Arc;

/// The user whose access is checked, and the authorizer.
#[derive(Clone)]
pub struct AuthorizationSubject {
    /// The user whose access is checked.
    pub user: Arc<User>,
    /// The authorizer that decides.
    pub authorizer: Arc<dyn Authorizer>,
}

impl fmt::Debug for AuthorizationSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subject").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A user and the user's groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The groups.
    pub groups: Vec<String>,
}

impl User {
    /// The user of a service account, with the groups that the server adds.
    pub fn service_account(namespace: &str, name: &str) -> Self {
        Self {
            name: format!("system:serviceaccount:{namespace}:{name}"),
            groups: vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")],
        }
    }
}

/// Decides if a user may perform a request.
pub trait Authorizer: Send + Sync {
    /// Decides about one request.
    fn authorize(&self, user: &User, attributes: &Attributes<'_>) -> Decision;
}

/// The attributes of a request to authorize (`authorizer.Attributes`).
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a> {
    /// The verb: `get`, `create`, …
    pub verb: &'a str,
    /// The path or resource.
    pub access: Access<'a>,
}

/// The path or resource of a request to authorize.
#[derive(Clone, Copy, Debug)]
pub enum Access<'a> {
    /// A non-resource URL path.
    Path(&'a str),
    /// A resource.
    Resource(&'a ResourceCheck),
}

/// The decision of an authorizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The outcome.
    pub verdict: Verdict,
    /// The reason; the error message if the authorizer failed.
    pub reason: String,
}

/// The outcome of an authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Allowed.
    Allow,
    /// Denied.
    Deny,
    /// The authorizer neither allows nor denies the request, so it is not allowed.
    NoOpinion,
    /// The authorizer failed.
    Failed,
}

/// `authorizer.path(…)`
#[derive(Clone, Debug)]
pub struct PathCheck {
    /// The user and the authorizer.
    pub subject: AuthorizationSubject,
    /// The path.
    pub path: String,
}

/// `authorizer.group(…).resource(…)` with the attributes set on it.
#[derive(Clone, Debug)]
pub struct ResourceCheck {
    /// The user and the authorizer.
    pub subject: AuthorizationSubject,
    /// The group.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// The subresource; empty if not set.
    pub subresource: String,
    /// The namespace; empty if not set.
    pub namespace: String,
    /// The name; empty if not set.
    pub name: String,
}
