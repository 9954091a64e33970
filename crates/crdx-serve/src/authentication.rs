//! Authentication with client certificates and bearer tokens (`k8s.io/apiserver/pkg/authentication`).
//!
//! A request with a valid certificate is that certificate's user, one with a known token is the token's user. A request
//! with neither is `system:anonymous`. A request whose certificate or token is not accepted is answered with 401, unless
//! the other one is.

mod certificate;
mod tokens;

use super::tls::{ClientAuthorities, TlsError};
use crdx_server::server::UserInfo;
use crdx_server::server::http::bearer_token::bearer_token;
use crdx_value::release::Release;
use http::{HeaderMap, header};
use rustls::pki_types::{CertificateDer, UnixTime};
use std::collections::HashMap;

/// Determines the users of requests, from client certificates and tokens.
#[derive(Debug)]
pub struct Authentication {
    authorities: Option<ClientAuthorities>,
    tokens: HashMap<String, UserInfo>,
    /// True if requests without credentials are accepted.
    anonymous: bool,
    /// The release, which decides about the attributes of users.
    release: Release,
}

/// The user of a client certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Peer {
    /// The client presented no certificate.
    Unknown,
    /// The user that a valid certificate names.
    User(UserInfo),
    /// The certificate is not accepted.
    Untrusted,
}

/// The request's credentials are not accepted, or it has none and needs some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unauthorized;

/// The reason why the credentials of clients cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticationError {
    /// The authorities of client certificates.
    #[error(transparent)]
    Authorities(#[from] TlsError),
    #[error(transparent)]
    Tokens(#[from] tokens::TokenFileError),
}

impl std::error::Error for Unauthorized {}

impl std::fmt::Display for Unauthorized {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Unauthorized")
    }
}

impl Authentication {
    /// Accepts certificates signed by one of the PEM certificates `client_ca`, and the tokens of a token file
    /// (`token,user,uid,"group1,group2"`, one per line). `anonymous` is true if other requests are accepted as
    /// `system:anonymous`.
    ///
    /// # Errors
    /// If `client_ca` has no certificate, or the token file cannot be parsed.
    pub fn new(
        client_ca: Option<&[u8]>,
        token_file: Option<&str>,
        anonymous: bool,
        release: Release,
    ) -> Result<Self, AuthenticationError> {
        Ok(Self {
            authorities: client_ca.map(ClientAuthorities::read).transpose()?,
            tokens: token_file.map(tokens::read).transpose()?.unwrap_or_default(),
            anonymous,
            release,
        })
    }

    /// The users of the token file, by token.
    pub fn tokens(&self) -> &HashMap<String, UserInfo> {
        &self.tokens
    }

    /// Checks the certificates that a client presented in the TLS handshake, its own first.
    pub(super) fn peer(&self, certificates: Option<&[CertificateDer<'_>]>, now: UnixTime) -> Peer {
        let (Some([own, others @ ..]), Some(authorities)) = (certificates, &self.authorities) else {
            return Peer::Unknown;
        };
        if authorities.verify(own, others, now).is_err() {
            return Peer::Untrusted;
        }
        certificate::user(own, self.release).map_or(Peer::Untrusted, Peer::User)
    }

    /// The user of a request. `issued` finds the users of tokens that the server issued.
    ///
    /// # Errors
    /// If the request is answered with 401.
    pub(super) fn user(
        &self,
        peer: &Peer,
        headers: &HeaderMap,
        issued: impl Fn(&str) -> Option<UserInfo>,
    ) -> Result<UserInfo, Unauthorized> {
        if let Peer::User(user) = peer {
            return Ok(user.clone());
        }
        let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        match authorization.and_then(bearer_token) {
            Some(token) => self.tokens.get(token).cloned().or_else(|| issued(token)).ok_or(Unauthorized),
            None if *peer == Peer::Untrusted || !self.anonymous => Err(Unauthorized),
            None => Ok(UserInfo::anonymous()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn issued(token: &str) -> Option<UserInfo> {
        (token == "issued").then(UserInfo::anonymous)
    }

    fn headers(authorization: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, HeaderValue::from_str(authorization).unwrap());
        headers
    }

    #[test]
    fn credentials_decide_who_sends_a_request() {
        let open = Authentication::new(None, Some("secret,jane,7,\"dev,ops\"\n"), true, Release::NEWEST).unwrap();
        let none = HeaderMap::new();
        let known = open.user(&Peer::Unknown, &headers("Bearer secret"), issued).unwrap();
        assert_eq!((known.username.as_str(), known.uid.as_str()), ("jane", "7"));
        assert_eq!(known.groups, ["dev", "ops", "system:authenticated"]);
        assert_eq!(open.user(&Peer::Unknown, &headers("bearer secret"), issued), Ok(known.clone()));
        assert_eq!(open.user(&Peer::Untrusted, &headers("Bearer secret"), issued), Ok(known.clone()));
        assert_eq!(open.user(&Peer::Unknown, &headers("Bearer other"), issued), Err(Unauthorized));
        assert_eq!(open.user(&Peer::Untrusted, &none, issued), Err(Unauthorized));
        assert!(open.user(&Peer::Unknown, &headers("Bearer issued"), issued).is_ok());
        let anonymous = open.user(&Peer::Unknown, &none, issued).unwrap();
        assert_eq!(anonymous.username, "system:anonymous");
        assert_eq!(anonymous.groups, ["system:unauthenticated"]);
        // Other schemes are not credentials.
        assert_eq!(open.user(&Peer::Unknown, &headers("Basic c2VjcmV0"), issued), Ok(anonymous));
        let cert = UserInfo::authenticated("admin".to_owned(), vec!["system:masters".to_owned()]);
        assert_eq!(open.user(&Peer::User(cert.clone()), &headers("Bearer secret"), issued), Ok(cert));
        let closed = Authentication::new(None, None, false, Release::NEWEST).unwrap();
        assert_eq!(closed.user(&Peer::Unknown, &none, issued), Err(Unauthorized));
    }
}
