//! TLS with the certificate authorities of a webhook configuration or of this machine.

use crdx_value::GoError;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::io;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connects to a webhook whose certificate must be valid for `server_name`. `ca_bundle` is PEM; if it is empty, the
/// certificate authorities of this machine are used.
///
/// # Errors
/// Returns the message of Go's TLS client, as far as it is known.
pub(super) async fn connect(
    stream: TcpStream,
    server_name: &str,
    ca_bundle: &[u8],
) -> Result<TlsStream<TcpStream>, GoError> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier::new(ca_bundle, provider)?))
        .with_no_client_auth();
    let name = ServerName::try_from(server_name.to_owned()).map_err(|_| "invalid URL")?;
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.map_err(|error| go_error(&error, server_name))
}

/// Verifies certificates as Go does: a certificate that is itself in the bundle needs no issuer.
#[derive(Debug)]
struct Verifier {
    trusted: Vec<CertificateDer<'static>>,
    chains: Arc<WebPkiServerVerifier>,
}

impl Verifier {
    fn new(ca_bundle: &[u8], provider: Arc<CryptoProvider>) -> Result<Self, GoError> {
        let trusted: Vec<CertificateDer<'static>> = if ca_bundle.trim_ascii().is_empty() {
            rustls_native_certs::load_native_certs().certs
        } else {
            CertificateDer::pem_slice_iter(ca_bundle).filter_map(Result::ok).collect()
        };
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(trusted.iter().cloned());
        // `rest.TLSConfigFor`
        let unusable = "unable to load root certificates: unable to parse bytes as PEM block";
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        Ok(Self { trusted, chains: chains.map_err(|_| unusable)? })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if self.trusted.iter().any(|trusted| trusted == end_entity) {
            verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
            return Ok(ServerCertVerified::assertion());
        }
        self.chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls12_signature(message, certificate, signature)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chains.verify_tls13_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chains.supported_verify_schemes()
    }
}

fn go_error(error: &io::Error, server_name: &str) -> GoError {
    let unverified = |reason: String| format!("tls: failed to verify certificate: x509: {reason}");
    let message = match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        // Go reports a CA certificate that is used as a server certificate in the same way.
        Some(Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::Other(_))) => {
            unverified("certificate signed by unknown authority".to_owned())
        }
        Some(Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => unverified(format!("certificate is not valid for {server_name}")),
        Some(Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. })) => {
            unverified("certificate has expired or is not yet valid".to_owned())
        }
        Some(Error::InvalidCertificate(other)) => unverified(other.to_string()),
        Some(Error::InvalidMessage(_)) => "http: server gave HTTP response to HTTPS client".to_owned(),
        Some(other) => other.to_string(),
        None if error.kind() == io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
        None => error.to_string(),
    };
    message.into()
}
