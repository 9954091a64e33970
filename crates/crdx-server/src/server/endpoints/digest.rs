//! Hashes of documents and storage versions.

use crdx_value::base64::Encoding;
use ring::digest::{SHA256, SHA512, digest};
use ring::hmac::{self, HMAC_SHA256, Key};
use std::fmt::Write as _;

/// The hash of a discovery or OpenAPI document: SHA-512 in upper-case hexadecimal.
pub(in crate::server) fn of_document(text: &str) -> String {
    digest(&SHA512, text.as_bytes()).as_ref().iter().fold(String::new(), |mut out, b| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{b:02X}");
        out
    })
}

/// `StorageVersionHash`: the hash of a kind in its storage version.
pub(in crate::server) fn of_storage_version(group: &str, version: &str, kind: &str) -> String {
    let hash = digest(&SHA256, format!("{group}/{version}/{kind}").as_bytes());
    Encoding::Standard.encode(hash.as_ref().get(..8).unwrap_or_default())
}

/// HMAC with SHA-256.
pub(in crate::server) fn hmac(key: &str, text: &str) -> Vec<u8> {
    hmac::sign(&Key::new(HMAC_SHA256, key.as_bytes()), text.as_bytes()).as_ref().to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_versions_hash_as_the_server_does() {
        assert_eq!(of_storage_version("example.com", "v1", "Foo"), "4XyhoHMtUhg=");
        assert_eq!(of_storage_version("example.com", "v2beta1", "Bar"), "EGekFKI+NHo=");
    }
}
