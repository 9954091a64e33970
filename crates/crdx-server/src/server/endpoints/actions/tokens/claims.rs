//! The claims of a service account token (`pkg/serviceaccount/claims.go`), and the user whom it authenticates.

use crate::server::digest;
use crate::server::http::user::UserInfo;
use crdx_value::base64::Encoding;
use crdx_value::{Map, Value, json, object};
use std::collections::BTreeMap;

/// The claims of a token.
pub(super) struct Claims<'c> {
    pub issuer: &'c str,
    pub audiences: &'c [Value],
    pub namespace: &'c str,
    /// The name and UID of the service account.
    pub account: (&'c str, &'c str),
    /// The object to which the token is bound, and the node of a pod.
    pub bound: Vec<&'c Reference>,
    /// Seconds since 1970.
    pub now: i64,
    /// Seconds since 1970.
    pub expires: i64,
    /// Seconds since 1970.
    pub warn_after: Option<i64>,
    /// The ID of the token.
    pub id: String,
}

/// A claim about an object: the name of the claim, and the name and UID of the object.
#[derive(Debug)]
pub(super) struct Reference(pub &'static str, pub String, pub String);

fn reference(name: &str, uid: &str) -> Value {
    object([("name", name), ("uid", uid)].into_iter().filter(|(_, text)| !text.is_empty()))
}

impl Claims<'_> {
    /// The signed token.
    pub fn token(&self, key: &str) -> String {
        let mut kubernetes = Map::from([
            ("namespace".to_owned(), Value::from(self.namespace)),
            ("serviceaccount".to_owned(), reference(self.account.0, self.account.1)),
        ]);
        for Reference(claim, name, uid) in &self.bound {
            kubernetes.insert((*claim).to_owned(), reference(name, uid));
        }
        if let Some(time) = self.warn_after {
            kubernetes.insert("warnafter".to_owned(), Value::Int(time));
        }
        let claims = object([
            ("aud", Value::Array(self.audiences.to_vec())),
            ("exp", Value::Int(self.expires)),
            ("iat", Value::Int(self.now)),
            ("iss", self.issuer.into()),
            ("jti", self.id.as_str().into()),
            ("kubernetes.io", Value::Object(kubernetes)),
            ("nbf", Value::Int(self.now)),
            ("sub", self.username().into()),
        ]);
        let header = object([("alg", "HS256"), ("typ", "JWT")]);
        let part = |value: &Value| Encoding::RawUrlSafe.encode(json::to_string(value).as_bytes());
        let signed = format!("{}.{}", part(&header), part(&claims));
        let signature = digest::hmac(key, &signed);
        format!("{signed}.{}", Encoding::RawUrlSafe.encode(&signature))
    }

    fn username(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.namespace, self.account.0)
    }

    /// The user (`ServiceAccountInfo.UserInfo`).
    pub fn user(&self) -> UserInfo {
        let groups = vec!["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{}", self.namespace)];
        let mut extra = BTreeMap::new();
        let mut add = |key: &str, text: String| extra.insert(format!("authentication.kubernetes.io/{key}"), vec![text]);
        add("credential-id", format!("JTI={}", self.id));
        for Reference(claim, name, uid) in self.bound.iter().filter(|bound| matches!(bound.0, "pod" | "node")) {
            add(&format!("{claim}-name"), name.clone());
            if !uid.is_empty() {
                add(&format!("{claim}-uid"), uid.clone());
            }
        }
        UserInfo { uid: self.account.1.to_owned(), extra, ..UserInfo::authenticated(self.username(), groups) }
    }
}
