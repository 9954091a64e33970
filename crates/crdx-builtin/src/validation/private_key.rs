//! Private keys (`parsePrivateKey` and `X509KeyPair` in Go's `crypto/tls`), to the extent that a certificate's key can
//! be compared with them. Go computes the public key of an elliptic curve; here it is the one that the private key
//! contains, as those that OpenSSL and Go write do.

use crate::validation::x509;
use crate::validation::x509::{
    BIT_STRING, CONTEXT_0, CONTEXT_1, DerReader, INTEGER, OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, without_zeros,
};

const NO_KEY: &str = "tls: failed to parse private key";
const UNKNOWN_KEY: &str = "tls: found unknown private key type in PKCS#8 wrapping";
const OTHER_TYPE: &str = "tls: private key type does not match public key type";
const OTHER_KEY: &str = "tls: private key does not match public key";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PrivateKey<'d> {
    /// The modulus and the exponent of its public key.
    Rsa(&'d [u8], &'d [u8]),
    /// The point that is its public key, if the key contains it.
    Elliptic(Option<&'d [u8]>),
    /// An Ed25519 key, whose public key is not contained.
    Ed25519,
    /// A key of a kind that TLS does not use.
    Other,
}

/// The reason why a private key in DER does not belong to the key of a certificate; `None` if it does, or if that is
/// not known.
pub(super) fn mismatch(certificate: &x509::Certificate<'_>, private: &[u8]) -> Option<&'static str> {
    let private = match read(private) {
        Ok(private) => private,
        Err(text) => return Some(text),
    };
    let matches = match (certificate.key.rsa(), certificate.key.point(), private) {
        (Some((modulus, exponent)), _, PrivateKey::Rsa(n, e)) => {
            without_zeros(n) == modulus && without_zeros(e) == exponent
        }
        (None, Some(point), PrivateKey::Elliptic(own)) => own.is_none_or(|own| own == point),
        (None, None, PrivateKey::Ed25519) if certificate.key.is_ed25519() => true,
        (None, None, _) if !certificate.key.is_ed25519() => return Some("tls: unknown public key algorithm"),
        _ => return Some(OTHER_TYPE),
    };
    (!matches).then_some(OTHER_KEY)
}

/// Reads a key as PKCS #1, PKCS #8 or SEC 1, in this order.
fn read(der: &[u8]) -> Result<PrivateKey<'_>, &'static str> {
    if let Some(key) = rsa(der) {
        return Ok(key);
    }
    match wrapped(der) {
        Some(PrivateKey::Other) => Err(UNKNOWN_KEY),
        Some(key) => Ok(key),
        None => elliptic(der).ok_or(NO_KEY),
    }
}

/// The contents of a sequence after which nothing follows.
fn sequence(der: &[u8]) -> Option<DerReader<'_>> {
    let mut outer = DerReader::new(der);
    let contents = outer.next(SEQUENCE)?;
    outer.tag().is_none().then_some(contents)
}

/// `x509.ParsePKCS1PrivateKey`: a version and eight numbers, which are not verified.
fn rsa(der: &[u8]) -> Option<PrivateKey<'_>> {
    let mut key = sequence(der)?;
    key.next(INTEGER)?;
    let (modulus, exponent) = (key.next(INTEGER)?, key.next(INTEGER)?);
    for _ in 0..6 {
        key.next(INTEGER)?;
    }
    Some(PrivateKey::Rsa(modulus.bytes(), exponent.bytes()))
}

/// `x509.ParsePKCS8PrivateKey`
fn wrapped(der: &[u8]) -> Option<PrivateKey<'_>> {
    let mut info = sequence(der)?;
    info.next(INTEGER)?;
    let mut algorithm = info.next(SEQUENCE)?;
    let id = algorithm.next(OBJECT_IDENTIFIER)?;
    let key = info.next(OCTET_STRING)?.bytes();
    match id.bytes() {
        x509::RSA => rsa(key),
        x509::ELLIPTIC => elliptic(key),
        x509::ED25519 => (DerReader::new(key).next(OCTET_STRING)?.bytes().len() == 32).then_some(PrivateKey::Ed25519),
        x509::X25519 => Some(PrivateKey::Other),
        _ => None,
    }
}

/// `x509.ParseECPrivateKey`
fn elliptic(der: &[u8]) -> Option<PrivateKey<'_>> {
    let mut key = sequence(der)?;
    let version = key.next(INTEGER)?;
    (version.bytes() == [1]).then_some(())?;
    key.next(OCTET_STRING)?;
    key.skip_optional(CONTEXT_0)?;
    if key.tag().is_none() {
        return Some(PrivateKey::Elliptic(None));
    }
    let (_, point) = key.next(CONTEXT_1)?.next(BIT_STRING)?.bytes().split_first()?;
    Some(PrivateKey::Elliptic(Some(point)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validation::x509::{ED25519, ELLIPTIC, RSA, X25519};

    fn der(tag: u8, parts: &[Vec<u8>]) -> Vec<u8> {
        let contents = parts.concat();
        [vec![tag, 0x81, u8::try_from(contents.len()).unwrap()], contents].concat()
    }

    fn algorithm(id: &[u8]) -> Vec<u8> {
        let p256 = vec![0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07];
        der(SEQUENCE, &[der(OBJECT_IDENTIFIER, &[id.to_vec()]), der(OBJECT_IDENTIFIER, &[p256])])
    }

    /// A certificate for a public key.
    fn certificate(id: &[u8], key: Vec<u8>) -> Vec<u8> {
        let (time, name) = (der(0x17, &[b"260101000000Z".to_vec()]), der(SEQUENCE, &[]));
        let key = der(SEQUENCE, &[algorithm(id), der(BIT_STRING, &[vec![0], key])]);
        let period = der(SEQUENCE, &[time.clone(), time]);
        let signed = der(SEQUENCE, &[integer(1), algorithm(RSA), name.clone(), period, name, key]);
        der(SEQUENCE, &[signed, algorithm(RSA), der(BIT_STRING, &[vec![0]])])
    }

    fn integer(value: u8) -> Vec<u8> {
        der(INTEGER, &[vec![0, value]])
    }

    fn rsa_certificate() -> Vec<u8> {
        certificate(RSA, der(SEQUENCE, &[integer(200), integer(3)]))
    }

    fn rsa_key(modulus: u8) -> Vec<u8> {
        der(SEQUENCE, &[vec![integer(0), integer(modulus), integer(3)], vec![integer(5); 6]].concat())
    }

    fn elliptic_key(point: Option<&[u8]>) -> Vec<u8> {
        let public = point.map(|point| der(CONTEXT_1, &[der(BIT_STRING, &[vec![0], point.to_vec()])]));
        let version = der(INTEGER, &[vec![1]]);
        der(SEQUENCE, &[version, der(OCTET_STRING, &[vec![7]]), public.unwrap_or_default()])
    }

    fn wrapped_key(id: &[u8], key: Vec<u8>) -> Vec<u8> {
        der(SEQUENCE, &[integer(0), algorithm(id), der(OCTET_STRING, &[key])])
    }

    fn found(certificate: &[u8], key: &[u8]) -> Option<&'static str> {
        mismatch(&x509::read_certificate(certificate).unwrap(), key)
    }

    #[test]
    fn an_rsa_key_has_the_modulus_of_the_certificate() {
        let certificate = rsa_certificate();
        for wrap in [|key| key, |key| wrapped_key(RSA, key)] {
            assert_eq!(found(&certificate, &wrap(rsa_key(200))), None);
            assert_eq!(found(&certificate, &wrap(rsa_key(201))), Some(OTHER_KEY));
        }
    }

    #[test]
    fn an_elliptic_key_that_contains_its_point_is_compared() {
        let certificate = certificate(ELLIPTIC, vec![4, 1, 2]);
        for wrap in [|key| key, |key| wrapped_key(ELLIPTIC, key)] {
            assert_eq!(found(&certificate, &wrap(elliptic_key(Some(&[4, 1, 2])))), None);
            assert_eq!(found(&certificate, &wrap(elliptic_key(Some(&[4, 1, 3])))), Some(OTHER_KEY));
            assert_eq!(found(&certificate, &wrap(elliptic_key(None))), None);
        }
    }

    /// Answers of a real server.
    #[test]
    fn a_key_of_another_kind_does_not_match() {
        let ed25519 = wrapped_key(ED25519, der(OCTET_STRING, &[vec![1; 32]]));
        let elliptic = elliptic_key(Some(&[4, 1, 2]));
        for key in [&elliptic, &ed25519] {
            assert_eq!(found(&rsa_certificate(), key), Some(OTHER_TYPE));
        }
        let own = certificate(ED25519, vec![1; 32]);
        assert_eq!((found(&own, &ed25519), found(&own, &elliptic)), (None, Some(OTHER_TYPE)));
        assert_eq!(found(&certificate(X25519, vec![1; 32]), &ed25519), Some("tls: unknown public key algorithm"));
        let unknown = wrapped_key(X25519, der(OCTET_STRING, &[vec![1; 32]]));
        assert_eq!(found(&own, &unknown), Some(UNKNOWN_KEY));
        for key in [&b""[..], &[0], &rsa_key(1)[..9], &wrapped_key(RSA, vec![1])] {
            assert_eq!(found(&own, key), Some(NO_KEY));
        }
    }
}
