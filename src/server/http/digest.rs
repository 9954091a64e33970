//! Hashes and the base64 of continue tokens, which clients treat as opaque.

use ring::digest::{SHA256, SHA512, digest};
use std::fmt::Write as _;

/// The hash of a document in discovery and OpenAPI: SHA-512 in upper-case hex.
pub(in crate::server) fn of_document(text: &str) -> String {
    digest(&SHA512, text.as_bytes()).as_ref().iter().fold(String::new(), |mut out, b| {
        // Writing to a String cannot fail.
        let _ = write!(out, "{b:02X}");
        out
    })
}

/// `StorageVersionHash`: the hash of a kind's storage version.
pub(in crate::server) fn of_storage_version(group: &str, version: &str, kind: &str) -> String {
    let hash = digest(&SHA256, format!("{group}/{version}/{kind}").as_bytes());
    // Eight bytes end with one padding character.
    base64(hash.as_ref().get(..8).unwrap_or_default()).replace('-', "+").replace('_', "/") + "="
}

/// The URL-safe alphabet.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes without padding.
pub(in crate::server) fn base64(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let group = chunk.iter().fold(0_u32, |g, b| (g << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..=chunk.len() {
            let six = (group >> (18 - 6 * i)) & 63;
            out.push(char::from(ALPHABET.get(six as usize).copied().unwrap_or(b'A')));
        }
    }
    out
}

/// Decodes, or returns the position of the first wrong character.
pub(in crate::server) fn unbase64(text: &str) -> Result<Vec<u8>, usize> {
    let mut out = Vec::new();
    let (mut group, mut bits) = (0_u32, 0);
    for (i, b) in text.bytes().enumerate() {
        let six = ALPHABET.iter().position(|a| *a == b).ok_or(i)?;
        group = (group << 6) | six as u32;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((group >> bits) as u8);
            group &= (1 << bits) - 1;
        }
    }
    if text.len() % 4 == 1 { Err(text.len() - 1) } else { Ok(out) }
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
