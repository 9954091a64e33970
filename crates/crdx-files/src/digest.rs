//! Hashes of files.

use sha2::{Digest as _, Sha256};
use std::fmt::Write as _;

/// The number of characters of a hash.
pub(crate) const LENGTH: usize = 64;

/// Returns the SHA-256 hash in lower-case hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(LENGTH), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Returns true if a text has the form of a hash.
pub fn is_sha256(text: &str) -> bool {
    text.len() == LENGTH && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_the_one_of_other_programs() {
        let abc = sha256(b"abc");
        assert_eq!(abc, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert!(is_sha256(&abc) && !is_sha256("abc") && !is_sha256(&abc.to_uppercase()));
    }
}
