//! Numeric identifiers (UUID, ISBN, credit card, social security number) and colours.

/// A UUID, in which each dash is optional. If `version` is given, the version digit and, from version 4, the variant
/// must match.
pub fn is_uuid(text: &str, version: Option<u8>) -> bool {
    let mut rest = text.as_bytes();
    for (i, length) in [8, 4, 4, 4, 12].into_iter().enumerate() {
        if i > 0 {
            rest = rest.strip_prefix(b"-").unwrap_or(rest);
        }
        let Some((group, after)) = rest.split_at_checked(length) else { return false };
        let first = group.first().copied().unwrap_or(0);
        let right = match (i, version) {
            (2, Some(version)) => first == version,
            (3, Some(b'4' | b'5')) => matches!(first.to_ascii_lowercase(), b'8' | b'9' | b'a' | b'b'),
            _ => true,
        };
        if !right || !group.iter().all(u8::is_ascii_hexdigit) {
            return false;
        }
        rest = after;
    }
    rest.is_empty()
}

/// The characters without spaces and dashes.
fn isbn_digits(text: &str) -> Vec<u8> {
    text.bytes().filter(|b| !matches!(b, b'\t' | b'\n' | 0xC | b'\r' | b' ' | b'-')).collect()
}

fn digit(b: u8) -> Option<u32> {
    char::from(b).to_digit(10)
}

/// Ten digits with a valid checksum; the last may be X.
pub(crate) fn is_isbn10(text: &str) -> bool {
    let digits = isbn_digits(text);
    let [head @ .., last] = digits.as_slice() else { return false };
    let last = if *last == b'X' { Some(10) } else { digit(*last) };
    let sum = (1..).zip(head).try_fold(0, |sum, (i, b)| Some(sum + i * digit(*b)?));
    match (sum, last) {
        (Some(sum), Some(last)) if head.len() == 9 => (sum + 10 * last) % 11 == 0,
        _ => false,
    }
}

/// Thirteen digits with a valid checksum.
pub(crate) fn is_isbn13(text: &str) -> bool {
    let digits = isbn_digits(text);
    let weights = [1, 3].into_iter().cycle();
    let sum = weights.zip(&digits).try_fold(0, |sum, (weight, b)| Some(sum + weight * digit(*b)?));
    digits.len() == 13 && sum.is_some_and(|sum| sum % 10 == 0)
}

/// A credit card number of a major issuer with a valid checksum; characters other than digits are ignored.
pub(crate) fn is_credit_card(text: &str) -> bool {
    let digits: Vec<u32> = text.bytes().filter_map(digit).collect();
    let issued = match digits.as_slice() {
        [4, ..] => matches!(digits.len(), 13 | 16),
        [3, 0, 0..=5, ..] | [3, 6 | 8, ..] => digits.len() == 14,
        [3, 4 | 7, ..] | [2, 1, 3, 1, ..] | [1, 8, 0, 0, ..] => digits.len() == 15,
        [5, 1..=5, ..] | [6, 0, 1, 1, ..] | [6 | 3, 5, ..] => digits.len() == 16,
        _ => false,
    };
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(i, d)| match (i % 2, d * 2) {
            (0, _) => *d,
            (_, doubled @ ..10) => doubled,
            (_, doubled) => doubled - 9,
        })
        .sum();
    issued && sum.is_multiple_of(10)
}

/// `ddd-dd-dddd`, with dashes or spaces.
pub(crate) fn is_social_security_number(text: &str) -> bool {
    text.len() == 11
        && text.bytes().enumerate().all(|(i, b)| match i {
            3 | 6 => matches!(b, b'-' | b' '),
            _ => b.is_ascii_digit(),
        })
}

/// `#rgb` or `#rrggbb`; the `#` is optional.
pub(crate) fn is_hex_color(text: &str) -> bool {
    let digits = text.strip_prefix('#').unwrap_or(text);
    matches!(digits.len(), 3 | 6) && digits.bytes().all(|b| b.is_ascii_hexdigit())
}

/// `rgb(0, 31, 255)`
pub(crate) fn is_rgb_color(text: &str) -> bool {
    let Some(inner) = text.strip_prefix("rgb(").and_then(|t| t.strip_suffix(')')) else { return false };
    let is_level = |part: &str| {
        let digits = part.trim_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        (1..=3).contains(&digits.len())
            && digits.bytes().all(|b| b.is_ascii_digit())
            && (digits.len() == 1 || !digits.starts_with('0'))
            && digits.parse::<u16>().is_ok_and(|level| level < 256)
    };
    inner.split(',').count() == 3 && inner.split(',').all(is_level)
}
