//! The user that sends a request.

use std::collections::BTreeMap;

/// The user that sends a request (`user.Info`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserInfo {
    /// The name.
    pub username: String,
    /// The UID; empty if there is none.
    pub uid: String,
    /// The groups, in order.
    pub groups: Vec<String>,
    /// Additional attributes from the authenticator.
    pub extra: BTreeMap<String, Vec<String>>,
}

const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const ANONYMOUS: &str = "system:anonymous";

impl UserInfo {
    /// Creates the user info of an impersonated user, with the default groups of a service account if `groups` is
    /// empty, and with `system:authenticated` (`endpoints/filters/impersonation`).
    pub fn authenticated(username: String, mut groups: Vec<String>) -> Self {
        if groups.is_empty()
            && let Some((namespace, _)) =
                username.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'))
        {
            groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")];
        }
        let anonymous = username == ANONYMOUS;
        let has = |wanted: &str| groups.iter().any(|group| group == wanted);
        if anonymous && !has(UNAUTHENTICATED) {
            groups.push(UNAUTHENTICATED.to_owned());
        } else if !anonymous && !has(AUTHENTICATED) && !has(UNAUTHENTICATED) {
            groups.push(AUTHENTICATED.to_owned());
        }
        Self { username, uid: String::new(), groups, extra: BTreeMap::new() }
    }
}

impl UserInfo {
    /// The user of requests without credentials.
    pub fn anonymous() -> Self {
        Self::authenticated(ANONYMOUS.to_owned(), Vec::new())
    }

    /// Returns true for the user of requests without credentials.
    pub fn is_anonymous(&self) -> bool {
        self.username == ANONYMOUS
    }
}

/// The administrator that kubeadm creates.
impl Default for UserInfo {
    fn default() -> Self {
        Self {
            username: "kubernetes-admin".to_owned(),
            uid: String::new(),
            groups: vec!["system:masters".to_owned(), "system:authenticated".to_owned()],
            extra: BTreeMap::new(),
        }
    }
}
