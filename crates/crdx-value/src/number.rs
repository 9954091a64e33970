//! Formats numbers like Go.

use super::Value;
use std::fmt::Write as _;

/// Appends the digits of an integer.
pub fn write_int(out: &mut String, i: i64) {
    out.push_str(itoa::Buffer::new().format(i));
}

/// The shortest decimal number that parses to a float.
struct ShortestDecimal {
    is_negative: bool,
    digits: String,
    /// The decimal exponent of the first digit.
    exponent: i32,
}

/// If two shortest representations are equally near, Go chooses the one with the even last digit, and Rust the larger
/// one.
fn settle_tie(x: f64, digits: &mut String) {
    let exact = format!("{:.*e}", digits.len() + 20, x);
    let exact: String = exact.split('e').next().unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
    let Some((head, tail)) = exact.split_at_checked(digits.len()) else { return };
    let is_tie = tail.strip_prefix('5').is_some_and(|rest| rest.bytes().all(|c| c == b'0'));
    let is_even = head.bytes().last().is_some_and(|c| c % 2 == 0);
    if is_tie && is_even && head != digits && head.parse::<u64>().ok() != digits.parse().ok() {
        head.clone_into(digits);
    }
}

impl ShortestDecimal {
    /// The shortest digits of `x`, which must be finite.
    fn of(x: f64) -> Self {
        let text = format!("{:e}", x.abs());
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let mut digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
        if digits.len() >= 15 {
            settle_tie(x.abs(), &mut digits);
        }
        Self { is_negative: x.is_sign_negative(), digits, exponent: exponent.parse().unwrap_or(0) }
    }

    fn sign(&self) -> String {
        if self.is_negative { "-".to_owned() } else { String::new() }
    }

    /// The number without an exponent.
    fn plain(&self) -> String {
        let digits = self.digits.as_str();
        let mut out = self.sign();
        if let Ok(exponent) = usize::try_from(self.exponent) {
            let (whole, fraction) = digits.split_at_checked(exponent + 1).unwrap_or((digits, ""));
            out.push_str(whole);
            out.extend(std::iter::repeat_n('0', exponent + 1 - whole.len()));
            if !fraction.is_empty() {
                out.push('.');
                out.push_str(fraction);
            }
        } else {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', self.exponent.unsigned_abs() as usize - 1));
            out.push_str(digits);
        }
        out
    }

    /// The number with an exponent of at least `min_width` digits.
    fn scientific(&self, min_width: usize) -> String {
        let mut out = self.sign();
        let mut chars = self.digits.chars();
        out.extend(chars.next());
        let rest = chars.as_str();
        if !rest.is_empty() {
            out.push('.');
            out.push_str(rest);
        }
        out.push('e');
        out.push(if self.exponent < 0 { '-' } else { '+' });
        let _ = write!(out, "{:0min_width$}", self.exponent.unsigned_abs());
        out
    }
}

fn special(x: f64) -> Option<&'static str> {
    if x.is_nan() {
        Some("NaN")
    } else if x.is_infinite() {
        Some(if x > 0.0 { "+Inf" } else { "-Inf" })
    } else {
        None
    }
}

/// `fmt.Sprintf("%v", x)`, the same as [`format_g`].
pub fn format_v(x: f64) -> String {
    format_g(x)
}

/// `strconv.FormatFloat(x, 'g', -1, 64)`: the shortest representation, with an exponent below 1e-4 and from 1e6
/// (`1e+06`, `1e-05`).
pub fn format_g(x: f64) -> String {
    if let Some(text) = special(x) {
        return text.to_owned();
    }
    let decimal = ShortestDecimal::of(x);
    if (-4..6).contains(&decimal.exponent) { decimal.plain() } else { decimal.scientific(2) }
}

/// Formats a float like `encoding/json`: with an exponent below 1e-6 and from 1e21 (`1e-7`, `1e+21`).
pub fn format_json(x: f64) -> String {
    let magnitude = x.abs();
    let decimal = ShortestDecimal::of(x);
    if magnitude != 0.0 && !(1e-6..1e21).contains(&magnitude) {
        decimal.scientific(if decimal.exponent < 0 { 1 } else { 2 })
    } else {
        decimal.plain()
    }
}

/// The value of a float after a round trip through JSON: an integer if it is written as one.
pub fn to_value(x: f64) -> Value {
    if x.fract() == 0.0 && x.abs() < 1e19 {
        // Below 2^53, every integral float is written without exponent.
        if x.abs() < 9_007_199_254_740_992.0 {
            return Value::Int(x as i64);
        }
        if let Ok(i) = format_json(x).parse() {
            return Value::Int(i);
        }
    }
    Value::Float(x)
}

/// `int64(x)` on amd64: the fraction is dropped, and values out of range become the smallest integer.
pub fn to_int64(x: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&x) { x as i64 } else { i64::MIN }
}

/// An integer as Go converts it to a signed type of this many bits: the upper bits are lost.
pub fn to_signed(number: i64, bits: u32) -> i64 {
    let lost = i64::BITS.saturating_sub(bits);
    number.wrapping_shl(lost).wrapping_shr(lost)
}

/// An integer as Go converts it to an unsigned type of this many bits: the upper bits are lost.
pub fn to_unsigned(number: i64, bits: u32) -> i64 {
    let lost = u64::BITS.saturating_sub(bits);
    (number as u64).wrapping_shl(lost).wrapping_shr(lost) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_formatted_like_go() {
        for (x, v, json) in [
            (1.0, "1", "1"),
            (-0.0, "-0", "-0"),
            (1.5, "1.5", "1.5"),
            (100_000.0, "100000", "100000"),
            (1_234_567.5, "1.2345675e+06", "1234567.5"),
            (1e20, "1e+20", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "1e-05", "0.00001"),
            (1.25e-7, "1.25e-07", "1.25e-7"),
            (1_705_482_441_686_518.2, "1.7054824416865182e+15", "1705482441686518.2"),
            (1.797_693_134_862_315_7e308, "1.7976931348623157e+308", "1.7976931348623157e+308"),
        ] {
            assert_eq!(format_v(x), v);
            assert_eq!(format_json(x), json);
        }
    }

    #[test]
    fn integers_lose_their_upper_bits() {
        assert_eq!(
            [8, 16, 32, 64].map(|bits| to_signed((1 << 40) + 0x8080_8080, bits)),
            [-128, -32_640, -2_139_062_144, (1 << 40) + 0x8080_8080]
        );
        assert_eq!([8, 16, 32, 64].map(|bits| to_unsigned(-1, bits)), [0xff, 0xffff, 0xffff_ffff, -1]);
    }
}
