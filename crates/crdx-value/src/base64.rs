//! Base64 like Go's `encoding/base64`.

use base64::Engine as _;
use base64::engine::general_purpose;

/// One of Go's encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// `base64.StdEncoding`
    Standard,
    /// `base64.URLEncoding`
    UrlSafe,
    /// `base64.RawURLEncoding`: no padding.
    RawUrlSafe,
}

impl Encoding {
    /// Encodes bytes.
    pub fn encode(self, bytes: &[u8]) -> String {
        match self {
            Self::Standard => general_purpose::STANDARD.encode(bytes),
            Self::UrlSafe => general_purpose::URL_SAFE.encode(bytes),
            Self::RawUrlSafe => general_purpose::URL_SAFE_NO_PAD.encode(bytes),
        }
    }

    /// Decodes text. As in Go, line breaks are skipped and unused bits are ignored.
    ///
    /// # Errors
    /// Returns the offset that Go reports (`illegal base64 data at input byte …`), which no crate reproduces.
    pub fn decode(self, text: &str) -> Result<Vec<u8>, usize> {
        let mut out = Vec::with_capacity(text.len() / 4 * 3);
        let mut input = text.bytes().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).peekable();
        while input.peek().is_some() {
            let mut bits = 0;
            let mut digits = 0;
            while digits < 4 {
                let Some((at, b)) = input.next() else {
                    if self == Self::RawUrlSafe && digits != 1 {
                        break;
                    }
                    return Err(text.len() - digits);
                };
                match self.digit(b) {
                    Some(digit) => {
                        bits = bits << 6 | digit;
                        digits += 1;
                    }
                    None if b == b'=' && digits >= 2 && self != Self::RawUrlSafe => {
                        if digits == 2 {
                            match input.next() {
                                Some((_, b'=')) => {}
                                Some((at, _)) => return Err(at.saturating_sub(1)),
                                None => return Err(text.len()),
                            }
                        }
                        if let Some((at, _)) = input.next() {
                            return Err(at);
                        }
                        break;
                    }
                    None => return Err(at),
                }
            }
            let [_, bytes @ ..] = u32::to_be_bytes(bits << (6 * (4 - digits)));
            out.extend(bytes.iter().take(digits - 1));
        }
        Ok(out)
    }

    fn digit(self, b: u8) -> Option<u32> {
        let value = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' if self == Self::Standard => 62,
            b'/' if self == Self::Standard => 63,
            b'-' if self != Self::Standard => 62,
            b'_' if self != Self::Standard => 63,
            _ => return None,
        };
        Some(u32::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::Encoding::{RawUrlSafe, Standard, UrlSafe};

    #[test]
    fn decodes_what_it_encodes() {
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"abcd\xff\xfe\xfd"] {
            for encoding in [Standard, UrlSafe, RawUrlSafe] {
                assert_eq!(encoding.decode(&encoding.encode(bytes)).as_deref(), Ok(bytes), "{encoding:?}");
            }
        }
        assert_eq!(Standard.encode(b"ab"), "YWI=");
        assert_eq!(Standard.decode("YW\nI=\r\n"), Ok(b"ab".to_vec()));
        assert_eq!(Standard.decode("YWJ="), Ok(b"ab".to_vec()));
    }

    #[test]
    fn errors_have_the_offset_of_go() {
        for (text, at) in
            [("!", 0), ("YWI", 0), ("YW=I", 2), ("YQ==YQ==", 4), ("YWJjZ", 4), ("YQ=", 3), ("Y===", 1), ("YWJj\nZ", 5)]
        {
            assert_eq!(Standard.decode(text), Err(at), "{text}");
        }
        assert_eq!(UrlSafe.decode("YW+j"), Err(2));
        assert_eq!(UrlSafe.decode("YQ=a"), Err(2));
        assert_eq!(Standard.decode("YW-j"), Err(2));
        assert_eq!(RawUrlSafe.decode("YWI="), Err(3));
        assert_eq!(RawUrlSafe.decode("YWJjZ"), Err(4));
        assert_eq!(RawUrlSafe.decode("YWJjZ\n"), Err(5));
        assert_eq!(RawUrlSafe.decode("YWI"), Ok(b"ab".to_vec()));
    }
}
