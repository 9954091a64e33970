//! Numbers: comparison across types, conversion with Go's limits, and formatting as in Go.

use super::Value;
use std::cmp::Ordering;

/// The order of two numbers; `None` for NaN and for values that are not numbers.
pub fn compare(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
        (Value::Uint(a), Value::Uint(b)) => Some(a.cmp(b)),
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Int(a), Value::Uint(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        (Value::Uint(a), Value::Int(b)) => Some(i128::from(*a).cmp(&i128::from(*b))),
        // As in Go, the integer is rounded to a double: 2^53 and 2^53 + 1 compare equal.
        (Value::Double(a), Value::Int(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Int(a), Value::Double(b)) => (*a as f64).partial_cmp(b),
        (Value::Double(a), Value::Uint(b)) => a.partial_cmp(&(*b as f64)),
        (Value::Uint(a), Value::Double(b)) => (*a as f64).partial_cmp(b),
        _ => None,
    }
}

/// `int(d)`: truncates; `None` if the magnitude is 2^63 or more.
pub(crate) fn double_to_int(d: f64) -> Option<i64> {
    (d > i64::MIN as f64 && d < i64::MAX as f64).then_some(d as i64)
}

/// `uint(d)`: truncates; `None` below 0 and from 2^64.
pub(crate) fn double_to_uint(d: f64) -> Option<u64> {
    (0.0..18_446_744_073_709_551_616.0).contains(&d).then_some(d as u64)
}

/// `strconv.ParseUint(text, 10, 64)`
pub(crate) fn parse_uint(text: &str) -> Option<u64> {
    if text.starts_with('+') { None } else { text.parse().ok() }
}

/// Removes underscores between digits; `None` if an underscore is elsewhere (`underscoreOK` in Go).
fn without_underscores(text: &str) -> Option<String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let hex = unsigned.starts_with("0x") || unsigned.starts_with("0X");
    let (mut after_digit, mut after_underscore) = (hex, false);
    for letter in unsigned.chars().skip(if hex { 2 } else { 0 }) {
        let digit = letter.is_digit(if hex { 16 } else { 10 });
        if letter == '_' && !after_digit || after_underscore && !digit {
            return None;
        }
        (after_digit, after_underscore) = (digit, letter == '_');
    }
    (!after_underscore).then(|| text.replace('_', ""))
}

/// `strconv.ParseFloat(text, 64)`
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    if text.contains('_') {
        return parse_double(&without_underscores(text)?);
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if let Some(hex) = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X")) {
        let magnitude = parse_hex(hex)?;
        return Some(if text.starts_with('-') { -magnitude } else { magnitude });
    }
    let lower = unsigned.to_ascii_lowercase();
    if lower == "nan" {
        // Go does not parse a signed NaN.
        return (unsigned.len() == text.len()).then_some(f64::NAN);
    }
    let value: f64 = text.parse().ok()?;
    (value.is_finite() || lower == "inf" || lower == "infinity").then_some(value)
}

/// Parses a hexadecimal float such as `1.8p3`; the exponent is required.
fn parse_hex(text: &str) -> Option<f64> {
    let (mantissa, exponent) = text.split_once(['p', 'P'])?;
    if !exponent.strip_prefix(['+', '-']).unwrap_or(exponent).bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let exponent: i32 = exponent.parse::<i64>().ok()?.clamp(-100_000, 100_000) as i32;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut value = 0.0_f64;
    for c in whole.chars() {
        value = value * 16.0 + f64::from(c.to_digit(16)?);
    }
    let mut scale = 1.0 / 16.0;
    for c in fraction.chars() {
        value += f64::from(c.to_digit(16)?) * scale;
        scale /= 16.0;
    }
    let value = value * 2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2);
    value.is_finite().then_some(value)
}

/// `strconv.ParseBool`
pub fn parse_bool(text: &str) -> Option<bool> {
    match text {
        "1" | "t" | "T" | "TRUE" | "true" | "True" => Some(true),
        "0" | "f" | "F" | "FALSE" | "false" | "False" => Some(false),
        _ => None,
    }
}

/// `%g`: the shortest representation, with an exponent below 1e-4 and from 1e6.
pub fn format_g(d: f64) -> String {
    if !d.is_finite() {
        return crdx_value::number::format_v(d);
    }
    let text = format!("{d:e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if (-4..6).contains(&exponent) {
        format!("{d}")
    } else {
        format!("{mantissa}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_separate_digits() {
        for (text, value) in
            [("1_000.5", 1000.5), ("1e1_0", 1e10), ("00_1.5", 1.5), ("0x_1p3", 8.0), ("-0x1_0p2", -64.0)]
        {
            assert_eq!(parse_double(text), Some(value), "{text}");
        }
        for text in ["1__0", "_1", "1_", "1_.5", "1._5", "1_e5", "0b_1", "0_b1", "+_1", "in_f"] {
            assert_eq!(parse_double(text), None, "{text}");
        }
    }

    #[test]
    fn doubles_are_formatted_and_parsed_like_go() {
        for (d, text) in [
            (100_000.0, "100000"),
            (1e6, "1e+06"),
            (1_234_567.5, "1.2345675e+06"),
            (0.0001, "0.0001"),
            (1e-5, "1e-05"),
            (-0.0, "-0"),
            (f64::NEG_INFINITY, "-Inf"),
        ] {
            assert_eq!(format_g(d), text);
        }
        assert_eq!(parse_double("-0x1.8p1"), Some(-3.0));
        assert_eq!(parse_double("1e400"), None);
        assert_eq!(parse_double("+nan"), None);
        assert_eq!(parse_double("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(parse_uint("+1"), None);
    }

    #[test]
    fn numbers_compare_across_types() {
        let cases = [
            (Value::Int(-1), Value::Uint(1), Some(Ordering::Less)),
            (Value::Int(1), Value::Double(1.5), Some(Ordering::Less)),
            (Value::Uint(u64::MAX), Value::Int(i64::MAX), Some(Ordering::Greater)),
            (Value::Double(f64::NAN), Value::Int(1), None),
        ];
        for (a, b, order) in cases {
            assert_eq!(compare(&a, &b), order);
        }
        assert_eq!(double_to_int(9.3e18), None);
        assert_eq!(double_to_uint(-0.5), None);
    }
}
