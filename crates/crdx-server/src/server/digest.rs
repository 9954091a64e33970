//! Hashes of documents and storage versions.

use crdx_value::base64::Encoding;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};
use std::fmt::Write as _;

/// The hash of a discovery or OpenAPI document: SHA-512 in upper-case hexadecimal.
pub(in crate::server) fn of_document(text: &str) -> String {
    hexadecimal(&Sha512::digest(text.as_bytes())).to_ascii_uppercase()
}

/// The hash of a certificate in DER: SHA-256 in hexadecimal.
pub(in crate::server) fn of_certificate(certificate: &[u8]) -> String {
    hexadecimal(&Sha256::digest(certificate))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut out, b| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// `StorageVersionHash`: the hash of a kind in its storage version.
pub(in crate::server) fn of_storage_version(group: &str, version: &str, kind: &str) -> String {
    let hash = Sha256::digest(format!("{group}/{version}/{kind}").as_bytes());
    Encoding::Standard.encode(hash.get(..8).unwrap_or_default())
}

/// HMAC with SHA-256.
pub(in crate::server) fn hmac(key: &str, text: &str) -> Vec<u8> {
    // A key of any length is valid.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key.as_bytes()) else { return Vec::new() };
    mac.update(text.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_versions_hash_as_the_server_does() {
        assert_eq!(of_storage_version("example.com", "v1", "Foo"), "4XyhoHMtUhg=");
        assert_eq!(of_storage_version("example.com", "v2beta1", "Bar"), "EGekFKI+NHo=");
    }

    /// RFC 4231, test case 2, and `printf '' | sha512sum`.
    #[test]
    fn hashes_are_those_of_the_standards() {
        let hex = |bytes: Vec<u8>| {
            bytes.iter().fold(String::new(), |mut text, byte| {
                let _ = write!(text, "{byte:02x}");
                text
            })
        };
        assert_eq!(
            hex(hmac("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert!(of_document("").starts_with("CF83E1357EEFB8BDF1542850D66D8007"));
    }
}
