//! Resolves the type and value of a YAML 1.1 scalar like `resolve.go`.
//!
//! Some results are unexpected: `y`, `on` and `NO` are booleans; `0777` and `0o777` are 511, `0b11` is 3 and `1_000` is
//! 1000, but `1:30` is a string; dates are strings; numbers out of the float64 range are strings.

use crdx_value::GoError;
use crdx_value::base64::Encoding;
use std::borrow::Cow;

/// The value of a scalar in Go's decoder.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar<'a> {
    /// `null`, `~` or an empty text.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer in the range of int64.
    Int(i64),
    /// A larger integer in the range of uint64.
    Uint(u64),
    /// Any other number, including `.inf` and `.nan`.
    Float(f64),
    Text(Cow<'a, str>),
}

const STR: &str = "tag:yaml.org,2002:str";
const BOOL: &str = "tag:yaml.org,2002:bool";
const INT: &str = "tag:yaml.org,2002:int";
const FLOAT: &str = "tag:yaml.org,2002:float";
const NULL: &str = "tag:yaml.org,2002:null";
const TIMESTAMP: &str = "tag:yaml.org,2002:timestamp";
const BINARY: &str = "tag:yaml.org,2002:binary";

/// The value of a scalar without a tag.
pub fn plain(text: &str) -> Scalar<'_> {
    let value = match text.as_bytes().first() {
        None => Some(Scalar::Null),
        Some(b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' | b'~') => word(text),
        Some(b'.') => word(text).or_else(|| fraction(text)),
        Some(b'+' | b'-' | b'0'..=b'9') => word(text).or_else(|| number(text)),
        _ => None,
    };
    value.unwrap_or(Scalar::Text(Cow::Borrowed(text)))
}

/// The value of a scalar with a tag.
///
/// # Errors
/// Returns Go's message.
pub(crate) fn tagged<'a>(tag: &str, text: &'a str) -> Result<Scalar<'a>, GoError> {
    match tag {
        BINARY => match Encoding::Standard.decode(text) {
            Ok(bytes) => Ok(Scalar::Text(Cow::Owned(crate::lossy(&bytes)))),
            Err(_) => Err("yaml: !!binary value contains invalid base64 data".into()),
        },
        TIMESTAMP if timestamp(text) => Ok(Scalar::Text(Cow::Borrowed(text))),
        BOOL | INT | FLOAT | NULL | TIMESTAMP => {
            let value = plain(text);
            let found = match &value {
                Scalar::Null => NULL,
                Scalar::Bool(_) => BOOL,
                Scalar::Int(_) | Scalar::Uint(_) => INT,
                Scalar::Float(_) => FLOAT,
                Scalar::Text(_) => STR,
            };
            match value {
                value if found == tag => Ok(value),
                Scalar::Int(i) if tag == FLOAT => Ok(Scalar::Float(i as f64)),
                _ => Err(format!("yaml: cannot decode {} `{text}` as a {}", short(found), short(tag)).into()),
            }
        }
        // `!!str`, and tags without meaning here.
        _ => Ok(Scalar::Text(Cow::Borrowed(text))),
    }
}

fn short(tag: &str) -> String {
    tag.strip_prefix(super::TAG_PREFIX).map_or_else(|| tag.to_owned(), |name| format!("!!{name}"))
}

/// Keywords, which are not strings.
fn word(text: &str) -> Option<Scalar<'static>> {
    if text.len() > 5 {
        return None;
    }
    Some(match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => Scalar::Bool(false),
        "~" | "null" | "Null" | "NULL" => Scalar::Null,
        ".nan" | ".NaN" | ".NAN" => Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => Scalar::Float(f64::NEG_INFINITY),
        _ => return None,
    })
}

fn number(text: &str) -> Option<Scalar<'static>> {
    let digits: Cow<'_, str> = if text.contains('_') { Cow::Owned(text.replace('_', "")) } else { Cow::Borrowed(text) };
    int(&digits).or_else(|| float(&digits)).or_else(|| {
        // The only remaining case is a sign after `0b`.
        let signed = digits.strip_prefix("0b")?;
        let (negative, bits) = match signed.strip_prefix('-') {
            Some(bits) => (true, bits),
            None => (false, signed.strip_prefix('+')?),
        };
        integer(negative, u64_of(bits, 2)?)
    })
}

/// `strconv.ParseInt(text, 0, 64)` or, if out of range, `ParseUint`.
fn int(text: &str) -> Option<Scalar<'static>> {
    let (sign, magnitude) = match text.as_bytes().first() {
        Some(sign @ (b'+' | b'-')) => (Some(*sign), text.get(1..)?),
        _ => (None, text),
    };
    let (radix, digits) = match magnitude.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (16, magnitude.get(2..)?),
        [b'0', b'o' | b'O', _, ..] => (8, magnitude.get(2..)?),
        [b'0', b'b' | b'B', _, ..] => (2, magnitude.get(2..)?),
        [b'0'] => return Some(Scalar::Int(0)),
        [b'0', ..] => (8, magnitude.get(1..)?),
        _ => (10, magnitude),
    };
    let value = u64_of(digits, radix)?;
    match integer(sign == Some(b'-'), value) {
        None if sign.is_none() => Some(Scalar::Uint(value)),
        found => found,
    }
}

fn integer(negative: bool, magnitude: u64) -> Option<Scalar<'static>> {
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }.map(Scalar::Int)
}

fn u64_of(digits: &str, radix: u32) -> Option<u64> {
    // `from_str_radix` accepts a sign, which is not allowed here.
    if digits.as_bytes().first()?.is_ascii_alphanumeric() { u64::from_str_radix(digits, radix).ok() } else { None }
}

/// Parses a number that begins with a point, in which `_` must be between two digits.
fn fraction(text: &str) -> Option<Scalar<'static>> {
    if !text.contains('_') {
        return float(text);
    }
    let is_digit = |part: Option<u8>| part.is_some_and(|c| c.is_ascii_digit());
    let mut parts = text.split('_').peekable();
    while let Some(part) = parts.next() {
        if let Some(next) = parts.peek()
            && !(is_digit(part.bytes().last()) && is_digit(next.bytes().next()))
        {
            return None;
        }
    }
    float(&text.replace('_', ""))
}

/// Parses digits with a point or an exponent; `None` for anything else and for numbers out of range.
fn float(text: &str) -> Option<Scalar<'static>> {
    let digits = |rest: &mut &[u8]| {
        let count = rest.iter().take_while(|c| c.is_ascii_digit()).count();
        *rest = rest.get(count..).unwrap_or_default();
        count
    };
    let mut rest = text.as_bytes();
    if let [b'+' | b'-', tail @ ..] = rest {
        rest = tail;
    }
    let whole = digits(&mut rest);
    if let [b'.', tail @ ..] = rest {
        rest = tail;
        if digits(&mut rest) == 0 && whole == 0 {
            return None;
        }
    } else if whole == 0 {
        return None;
    }
    if let [b'e' | b'E', tail @ ..] = rest {
        rest = tail;
        if let [b'+' | b'-', tail @ ..] = rest {
            rest = tail;
        }
        if digits(&mut rest) == 0 {
            return None;
        }
    }
    if !rest.is_empty() {
        return None;
    }
    text.parse::<f64>().ok().filter(|x| x.is_finite()).map(Scalar::Float)
}

/// Returns true if yaml.v2 resolves `text` as a timestamp (`parseTimestamp`), so that it must be quoted when written.
pub fn timestamp(text: &str) -> bool {
    let Some((year, rest)) = text.split_at_checked(4) else { return false };
    let Some(rest) = rest.strip_prefix('-') else { return false };
    if !year.bytes().all(|c| c.is_ascii_digit()) {
        return false;
    }
    date_and_time(year.parse().unwrap_or(0), rest).is_some()
}

/// Parses one or two digits and returns the rest.
fn short_number(text: &str) -> Option<(u32, &str)> {
    let digits = text.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at_checked(digits)?;
    Some((number.parse().ok()?, rest))
}

fn date_and_time(year: u32, text: &str) -> Option<()> {
    let (month, rest) = short_number(text)?;
    let (day, rest) = short_number(rest.strip_prefix('-')?)?;
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if !(1..=days).contains(&day) {
        return None;
    }
    match rest.as_bytes().first() {
        None => Some(()),
        Some(b'T' | b't') => {
            let rest = time(rest.get(1..)?)?;
            if rest == "Z" {
                return Some(());
            }
            match rest.as_bytes() {
                [b'+' | b'-', a, b, b':', c, d] if [a, b, c, d].iter().all(|c| c.is_ascii_digit()) => {
                    let two = |x: &u8, y: &u8| u32::from(x - b'0') * 10 + u32::from(y - b'0');
                    (two(a, b) <= 24 && two(c, d) <= 60).then_some(())
                }
                _ => None,
            }
        }
        Some(b' ') => time(rest.trim_start_matches(' '))?.is_empty().then_some(()),
        Some(_) => None,
    }
}

/// Parses a time such as `15:4:5`, with an optional fraction, and returns the rest.
fn time(text: &str) -> Option<&str> {
    let (hour, rest) = short_number(text)?;
    let (minute, rest) = short_number(rest.strip_prefix(':')?)?;
    let (second, rest) = short_number(rest.strip_prefix(':')?)?;
    if hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    Some(match rest.as_bytes() {
        [b'.' | b',', b'0'..=b'9', ..] => rest.get(1..)?.trim_start_matches(|c: char| c.is_ascii_digit()),
        _ => rest,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_kind() {
        for (text, want) in [
            ("0b-101", Some(Scalar::Int(-5))),
            ("0b+11", Some(Scalar::Int(3))),
            ("-0b+11", None),
            ("-9223372036854775808", Some(Scalar::Int(i64::MIN))),
            ("+9223372036854775808", Some(Scalar::Float(9_223_372_036_854_775_808.0))),
            ("0xFFFFFFFFFFFFFFFF", Some(Scalar::Uint(u64::MAX))),
            ("0", Some(Scalar::Int(0))),
            ("-0", Some(Scalar::Int(0))),
            ("00", Some(Scalar::Int(0))),
            ("08.5", Some(Scalar::Float(8.5))),
            ("0x-1", None),
            ("._5", None),
            (".5_1e1_0", Some(Scalar::Float(0.51e10))),
            (".5__1", None),
            (".5_", None),
            (".5e1", Some(Scalar::Float(5.0))),
            (".e1", None),
            ("+", None),
            ("é", None),
            ("1é", None),
        ] {
            assert_eq!(plain(text), want.unwrap_or(Scalar::Text(text.into())), "{text}");
        }
    }

    #[test]
    fn timestamps_as_go_parses_them() {
        for text in [
            "2001-12-14",
            "2001-1-1",
            "2004-02-29",
            "2001-12-14T1:2:3Z",
            "2001-12-14t21:59:43.10-05:00",
            "2001-12-14 21:59:43,10",
            "2001-12-14   21:59:43.123456789123",
            "2001-12-14T21:59:43+24:60",
        ] {
            assert!(timestamp(text), "{text}");
        }
        for text in [
            "2001-02-29",
            "2001-13-01",
            "2001-00-01",
            "2001-1-0",
            "2001-12-14T21:59:43",
            "2001-12-14 21:59:43Z",
            "2001-12-14T24:00:00Z",
            "2001-12-14 21:59:43 -5",
            "2001-12",
            "20011-1-1",
            "2001-é",
        ] {
            assert!(!timestamp(text), "{text}");
        }
    }
}
