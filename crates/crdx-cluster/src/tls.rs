//! Help texts for TLS errors.

use rustls::{AlertDescription, CertificateError, Error};
use std::io;

/// Returns the help for an error with a TLS error among its causes.
pub fn help(error: &(dyn std::error::Error + 'static)) -> Option<&'static str> {
    let mut at = Some(error);
    while let Some(cause) = at {
        if let Some(tls) = cause.downcast_ref::<Error>() {
            return of(tls);
        }
        // The `source` of an error of input or output skips the error inside it.
        let inner = cause.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        at = inner.map(|inner| inner as &(dyn std::error::Error + 'static)).or_else(|| cause.source());
    }
    None
}

fn of(error: &Error) -> Option<&'static str> {
    match error {
        Error::InvalidCertificate(invalid) => Some(match invalid {
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                "the certificate of the server has expired: renew it; or the clock of this machine is wrong"
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                "the clock of this machine may be wrong: check it, and the certificate of the server"
            }
            CertificateError::Revoked => "the certificate of the server was revoked: it needs a new one",
            CertificateError::UnknownIssuer => {
                "give the authority that signed the certificate of the server with --certificate-authority or in the kubeconfig"
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                "use a name of the certificate with --server or --tls-server-name"
            }
            _ => "check the certificate of the server, and --certificate-authority",
        }),
        Error::AlertReceived(
            AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::CertificateRequired
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => Some(
            "the server rejects the client certificate: log in again, or choose other credentials with --context or --user",
        ),
        _ => None,
    }
}
