//! Percent-encoding for the paths of requests.

use std::fmt::Write as _;

/// A path segment or query value, percent-encoded.
pub(super) fn segment(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' => out.push(char::from(byte)),
            _ => {
                // Writing to a String cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_stays_a_segment() {
        assert_eq!(segment("../x?y=1"), "..%2Fx%3Fy%3D1");
        assert_eq!(segment("stable.example.com"), "stable.example.com");
    }
}
