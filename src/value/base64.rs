//! Base64 as Go's `StdEncoding` reads and writes it: padded, line ends are skipped.

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn digit(b: u8) -> Option<u32> {
    ALPHABET.iter().position(|a| *a == b).map(|i| i as u32)
}

/// The bytes; `Err` is the offset of the first error as Go reports it.
fn read(text: &str) -> Result<Vec<u8>, usize> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let mut input = text.bytes().enumerate().filter(|(_, b)| !matches!(b, b'\r' | b'\n')).peekable();
    while input.peek().is_some() {
        let mut bits = 0;
        let mut digits = 0;
        while digits < 4 {
            let Some((at, b)) = input.next() else { return Err(text.len() - digits) };
            match digit(b) {
                Some(d) => {
                    bits = bits << 6 | d;
                    digits += 1;
                }
                None if b == b'=' && digits >= 2 => {
                    if digits == 2 {
                        match input.next() {
                            Some((_, b'=')) => {}
                            // Go names the place before.
                            Some((at, _)) => return Err(at.saturating_sub(1)),
                            None => return Err(text.len()),
                        }
                    }
                    if let Some((at, _)) = input.next() {
                        return Err(at);
                    }
                    bits <<= 6 * (4 - digits);
                    break;
                }
                None => return Err(at),
            }
        }
        let [_, bytes @ ..] = u32::to_be_bytes(bits);
        out.extend(bytes.iter().take(digits - 1));
    }
    Ok(out)
}

/// The place of the first fault, if there is one.
pub fn check(text: &str) -> Result<(), usize> {
    read(text).map(|_| ())
}

/// The bytes, unless there is a fault.
pub fn decode(text: &str) -> Option<Vec<u8>> {
    read(text).ok()
}

/// The text of bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0, |bits, b| bits << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
        for i in 0..4 {
            let digit = ALPHABET.get((bits >> (18 - 6 * i) & 63) as usize).copied().unwrap_or(b'=');
            out.push(if i <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_back_what_it_writes() {
        for bytes in [&b""[..], b"a", b"ab", b"abc", b"abcd\xff"] {
            assert_eq!(decode(&encode(bytes)).as_deref(), Some(bytes));
        }
        assert_eq!(encode(b"ab"), "YWI=");
        assert_eq!(decode("YW\nI="), Some(b"ab".to_vec()));
    }

    #[test]
    fn faults_are_told_where_go_tells_them() {
        for (text, at) in
            [("!", 0), ("YWI", 0), ("YW=I", 2), ("YQ==YQ==", 4), ("YWJjZ", 4), ("YQ=", 3), ("Y===", 1), ("YWJj\nZ", 5)]
        {
            assert_eq!(check(text), Err(at), "{text}");
        }
    }
}
