//! HTTPS: the server's certificate, and the certificates of clients.
//!
//! As in the API server, the connection of a client with an untrusted certificate stays open, and its requests are answered
//! with 401.

use rustls::client::danger::HandshakeSignatureValid;
use rustls::crypto::WebPkiSupportedAlgorithms;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::{
    DigitallySignedStruct, DistinguishedName, Error, RootCertStore, ServerConfig, SignatureScheme,
    SupportedProtocolVersion,
};
use std::net::IpAddr;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The reason why TLS cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// The private key cannot be read.
    #[error("the private key: {0}")]
    Key(pem::Error),
    /// A certificate cannot be read.
    #[error("the certificate: {0}")]
    Certificate(pem::Error),
    #[error("there is no certificate in PEM")]
    NoCertificate,
    /// The certificate and the key do not fit together.
    #[error("the certificate and its key: {0}")]
    Pair(Error),
    /// The authorities of clients cannot be used.
    #[error(transparent)]
    Authorities(VerifierBuilderError),
    /// No certificate can be generated.
    #[error("{0}")]
    NotMade(String),
    /// The library does not support the configuration.
    #[error(transparent)]
    Library(#[from] Error),
}

/// The server's side of TLS.
#[derive(Clone)]
pub struct Tls(TlsAcceptor);

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tls")
    }
}

const VERSIONS: &[&SupportedProtocolVersion] = rustls::ALL_VERSIONS;

impl Tls {
    /// Serves with a certificate chain and its key, both in PEM. Clients are asked for a certificate.
    ///
    /// # Errors
    /// If there is no certificate or key, or they do not fit together.
    pub fn new(certificate: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates(certificate)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::Key)?;
        let provider = default_provider();
        let algorithms = provider.signature_verification_algorithms;
        let config = ServerConfig::builder_with_provider(Arc::new(provider))
            .with_protocol_versions(VERSIONS)?
            .with_client_cert_verifier(Arc::new(Requested(algorithms)))
            .with_single_cert(chain, key)
            .map_err(TlsError::Pair)?;
        Ok(Self(TlsAcceptor::from(Arc::new(config))))
    }

    pub(super) fn acceptor(&self) -> &TlsAcceptor {
        &self.0
    }
}

/// A new certificate, signed by its own key, for `localhost` and the addresses: the certificate and the key in PEM.
///
/// # Errors
/// If this machine has no source of randomness.
pub fn self_signed(addresses: &[IpAddr]) -> Result<(String, String), TlsError> {
    let names = std::iter::once("localhost".to_owned()).chain(addresses.iter().map(IpAddr::to_string));
    let made = rcgen::generate_simple_self_signed(names.collect::<Vec<_>>())
        .map_err(|error| TlsError::NotMade(error.to_string()))?;
    Ok((made.cert.pem(), made.signing_key.serialize_pem()))
}

fn certificates(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let read = read.map_err(TlsError::Certificate)?;
    if read.is_empty() { Err(TlsError::NoCertificate) } else { Ok(read) }
}

/// The authorities that sign the certificates of clients.
#[derive(Debug)]
pub(super) struct ClientAuthorities(Arc<dyn ClientCertVerifier>);

impl ClientAuthorities {
    /// Reads certificates in PEM.
    ///
    /// # Errors
    /// If there is no usable certificate.
    pub fn read(pem: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(certificates(pem)?);
        let provider = Arc::new(default_provider());
        let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider).build();
        verifier.map(Self).map_err(TlsError::Authorities)
    }

    /// Verifies the chain, the dates and the usage of a client's certificate.
    ///
    /// # Errors
    /// If the certificate is not trusted.
    pub fn verify(&self, own: &CertificateDer<'_>, others: &[CertificateDer<'_>], now: UnixTime) -> Result<(), Error> {
        self.0.verify_client_cert(own, others, now).map(|_| ())
    }
}

/// Requests a certificate and checks only that the client has its key (`tls.RequestClientCert`). [`ClientAuthorities`]
/// decides whether it is trusted.
#[derive(Debug)]
struct Requested(WebPkiSupportedAlgorithms);

impl ClientCertVerifier for Requested {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn client_auth_mandatory(&self) -> bool {
        false
    }

    fn verify_client_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.0)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.0)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_needs_its_own_key() {
        let loopback = "127.0.0.1".parse().unwrap();
        let (certificate, key) = self_signed(&[loopback]).unwrap();
        assert!(Tls::new(certificate.as_bytes(), key.as_bytes()).is_ok());
        let (_, other) = self_signed(&[loopback]).unwrap();
        let error = Tls::new(certificate.as_bytes(), other.as_bytes()).unwrap_err().to_string();
        assert!(error.starts_with("the certificate and its key: "), "{error}");
        assert_eq!(Tls::new(b"x", key.as_bytes()).unwrap_err().to_string(), "there is no certificate in PEM");
        assert!(Tls::new(certificate.as_bytes(), b"").unwrap_err().to_string().starts_with("the private key: "));
        assert_eq!(ClientAuthorities::read(b"").unwrap_err().to_string(), "there is no certificate in PEM");
    }
}
