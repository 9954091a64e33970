//! Certificates and keys of Secrets (`warningsForSecret`, and `X509KeyPair` in Go's `crypto/tls`).

use super::Warnings;
use crate::validation::field_value::FieldValue;
use crate::validation::{pem, private_key, x509};
use crdx_value::GoError;
use crdx_value::Value;

pub(super) fn secret(warnings: &mut Warnings, object: &FieldValue<'_, '_>, _: Option<&Value>) {
    if object.child("type").text() != "kubernetes.io/tls" {
        return;
    }
    let data = object.child("data");
    let (certificate, key) = (data.child("tls.crt").bytes(), data.child("tls.key").bytes());
    if let Err(error) = key_pair(&certificate, &key) {
        warnings.add(error);
    }
}

/// `tls.X509KeyPair`: only the first certificate is parsed.
fn key_pair(certificate: &[u8], key: &[u8]) -> Result<(), GoError> {
    let certificate =
        first_block(certificate, |label| label == b"CERTIFICATE").map_err(|labels| no_certificate(&labels))?;
    let key = first_block(key, is_key).map_err(|labels| no_key(&labels))?;
    let certificate = x509::read_certificate(&certificate).ok_or_else(|| x509::certificate_error(&certificate))?;
    private_key::mismatch(&certificate, &key).map_or(Ok(()), |text| Err(text.into()))
}

fn is_key(label: &[u8]) -> bool {
    label == b"PRIVATE KEY" || label.ends_with(b" PRIVATE KEY")
}

/// The contents of the first block that is accepted, or the labels of all blocks.
fn first_block(text: &[u8], accepts: impl Fn(&[u8]) -> bool) -> Result<Vec<u8>, Vec<String>> {
    let (mut rest, mut labels) = (text, Vec::new());
    while let Some((block, after)) = pem::decode(rest) {
        if accepts(block.label) {
            return Ok(block.contents);
        }
        labels.push(String::from_utf8_lossy(block.label).into_owned());
        rest = after;
    }
    Err(labels)
}

fn no_certificate(labels: &[String]) -> String {
    match labels {
        [] => "tls: failed to find any PEM data in certificate input".to_owned(),
        [one] if one.ends_with("PRIVATE KEY") => {
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may have been switched".to_owned()
        }
        all => format!("tls: failed to find \"CERTIFICATE\" PEM block in certificate input after skipping PEM blocks of the following types: [{}]", all.join(" ")),
    }
}

fn no_key(labels: &[String]) -> String {
    match labels {
        [] => "tls: failed to find any PEM data in key input".to_owned(),
        [one] if one == "CERTIFICATE" => {
            "tls: found a certificate rather than a key in the PEM for the private key".to_owned()
        }
        all => format!(
            "tls: failed to find PEM block with type ending in \"PRIVATE KEY\" in key input after skipping PEM blocks of the following types: [{}]",
            all.join(" ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::created;
    use crdx_value::base64::Encoding;

    fn warning(certificate: &str, key: &str) -> Vec<String> {
        let encoded = |text: &str| Encoding::Standard.encode(text.as_bytes());
        let data = format!(r#"{{"tls.crt":"{}","tls.key":"{}"}}"#, encoded(certificate), encoded(key));
        created("", "Secret", &format!(r#"{{"type":"kubernetes.io/tls","data":{data}}}"#), "1.37")
    }

    #[test]
    fn both_parts_are_in_pem() {
        let block = |label: &str| format!("-----BEGIN {label}-----\nAA==\n-----END {label}-----\n");
        let (certificate, key) = (block("CERTIFICATE"), block("RSA PRIVATE KEY"));
        assert_eq!(warning(&certificate, &key), ["x509: malformed certificate"]);
        assert_eq!(warning("", ""), ["tls: failed to find any PEM data in certificate input"]);
        assert_eq!(warning(&certificate, "x"), ["tls: failed to find any PEM data in key input"]);
        assert!(warning(&key, &certificate)[0].contains("PEM inputs may have been switched"));
        assert_eq!(
            warning(&certificate, &certificate),
            ["tls: found a certificate rather than a key in the PEM for the private key"]
        );
        assert!(warning(&block("A"), &key)[0].ends_with("of the following types: [A]"));
    }
}
