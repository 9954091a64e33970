//! The user that sends a request.

use crate::server::digest;
use crdx_value::release::{Release, V1_32};
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
/// The attribute that identifies the credential of a user.
const CREDENTIAL_ID: &str = "authentication.kubernetes.io/credential-id";

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
    /// The user of a client certificate in DER, with the attribute that identifies it in newer releases
    /// (`CommonNameUserConversion` in `k8s.io/apiserver/pkg/authentication/request/x509`).
    pub fn of_certificate(username: String, groups: Vec<String>, certificate: &[u8], release: Release) -> Self {
        let mut extra = BTreeMap::new();
        if release.minor() >= V1_32 {
            extra.insert(CREDENTIAL_ID.to_owned(), vec![format!("X509SHA256={}", digest::of_certificate(certificate))]);
        }
        Self { extra, ..Self::authenticated(username, groups) }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_identifies_the_credential_in_newer_releases() {
        let extra = |release: &str| {
            let release = release.parse().unwrap();
            let user = UserInfo::of_certificate("a".to_owned(), vec!["g".to_owned()], b"abc", release);
            assert_eq!(user.groups, ["g", "system:authenticated"]);
            user.extra
        };
        // The hash of `abc` in FIPS 180-2.
        let id = "X509SHA256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(extra("1.32"), BTreeMap::from([(CREDENTIAL_ID.to_owned(), vec![id.to_owned()])]));
        assert_eq!(extra("1.31"), BTreeMap::new());
    }
}
