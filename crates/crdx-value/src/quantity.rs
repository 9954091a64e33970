//! Quantities (`k8s.io/apimachinery/pkg/api/resource`): small values as an int64 and a power of ten, others as decimals
//! of any length.
//!
//! The representation is observable: only a small value without fraction digits is an integer.

mod decimal;

use crate::GoError;
use decimal::Decimal;
use std::{borrow::Cow, cmp::Ordering, fmt};

/// `kubernetes.Quantity`
#[derive(Clone, Debug)]
pub struct Quantity {
    amount: Amount,
    /// True if the quantity is formatted with powers of 1024.
    binary: bool,
    exponent_form: bool,
    /// The text that was parsed, if Go shows it instead of the canonical form.
    text: Option<Box<str>>,
}

#[derive(Clone, Debug)]
enum Amount {
    /// `value * 10^scale`
    Small(i64, i32),
    Large(Decimal),
}

const FORMAT: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMBER: &str = "unable to parse numeric part of quantity";
const NANO: i32 = -9;
const MILLI: i32 = -3;

/// The suffixes that [`Quantity::is_canonical`] knows, with the number that makes the next suffix of one.
const USUAL_SUFFIXES: [(&str, u32); 10] = [
    ("", 1000),
    ("m", 1000),
    ("k", 1000),
    ("M", 1000),
    ("G", 1000),
    ("T", 1000),
    ("Ki", 1024),
    ("Mi", 1024),
    ("Gi", 1024),
    ("Ti", 1024),
];

impl Quantity {
    /// Returns true for the text of a usual quantity that is written in its canonical form, such as `100m` or `4Gi`. Returns
    /// false if only [`Quantity::parse`] can tell.
    pub fn is_canonical(text: &str) -> bool {
        let digits = text.bytes().take_while(u8::is_ascii_digit).count();
        // Six digits are far from the limits of int64 with each suffix.
        let Some((number, suffix)) = text.split_at_checked(digits).filter(|_| digits <= 6) else { return false };
        let next = USUAL_SUFFIXES.iter().find(|(known, _)| *known == suffix).map(|(_, next)| next);
        match (number.parse::<u32>(), next) {
            (Ok(0), _) => text == "0",
            (Ok(value), Some(next)) => !number.starts_with('0') && value % next != 0,
            _ => false,
        }
    }

    /// Parses a quantity such as `1.5Gi`, `100m` or `1e3`. It keeps a text that resembles the canonical form, such as `+1`,
    /// `01` or `1E3`.
    ///
    /// # Errors
    /// Returns Go's error message.
    pub fn parse(text: &str) -> Result<Self, GoError> {
        if text.is_empty() {
            return Err(FORMAT.into());
        }
        let parts = Parts::split(text).ok_or(FORMAT)?;
        let unit = Unit::from_suffix(parts.suffix).ok_or("unable to parse quantity's suffix")?;
        let (binary, exponent_form) = (unit.base == 2, unit.exponent_form);
        let digits = (parts.number.len() + parts.fraction.len()) as i32;
        // Uses int64 for small values, based on a conservative estimate of the number of digits.
        let (precision, mantissa, scale) = if !binary {
            (18 - digits, 1_i64, unit.exponent)
        } else if parts.fraction.is_empty() {
            (15 - digits - (f64::from(unit.exponent) * 3.0 / 10.0) as i32 - 1, 1_i64 << unit.exponent, 0)
        } else {
            (-1, 1, 0)
        };
        let scale = scale.wrapping_sub(parts.fraction.len() as i32);
        if precision >= 0 && scale >= NANO {
            let digits = match (parts.number, parts.fraction) {
                (number, "") => Cow::Borrowed(number),
                (number, fraction) => Cow::Owned([number, fraction].concat()),
            };
            let given: i64 = digits.parse().map_err(|_| NUMBER)?;
            if let Some(value) = given.checked_mul(mantissa) {
                let value = if parts.negative { -value } else { value };
                let is_kept = if binary {
                    given % 8 != 0
                } else {
                    scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
                };
                let text = Some(text).filter(|text| is_kept && is_unusual(text)).map(Box::from);
                return Ok(Self { amount: Amount::Small(value, scale), binary, exponent_form, text });
            }
        }
        // Only here, a number without digits is an error; above, it is 0.
        let number = text.strip_suffix(parts.suffix).unwrap_or(text);
        if !number.bytes().any(|b| b.is_ascii_digit()) {
            return Err(NUMBER.into());
        }
        let mut amount = Decimal::parse(parts.negative, parts.number, parts.fraction);
        if binary {
            amount.multiply(1 << unit.exponent);
        } else {
            amount.shift(unit.exponent);
        }
        amount.round_up_to_nano();
        if binary {
            amount.cap(i64::MAX);
        }
        let binary = binary && !amount.is_proper_fraction();
        Ok(Self { amount: Amount::Large(amount), binary, exponent_form, text: None })
    }

    /// Rounds away from zero to thousandths; `None` if there is nothing to round (`RoundUp`).
    pub fn rounded_to_milli(&self) -> Option<Self> {
        let amount = match &self.amount {
            Amount::Small(_, MILLI..) => return None,
            Amount::Small(value, scale) => Amount::Small(scaled_small(*value, *scale, MILLI), MILLI),
            Amount::Large(decimal) => {
                let mut rounded = decimal.clone();
                rounded.round_up(MILLI.into());
                Amount::Large(rounded)
            }
        };
        Some(Self { amount, text: None, ..*self })
    }

    /// The same text for all quantities that are equal.
    pub fn in_one_form(&self) -> String {
        Self { binary: false, exponent_form: true, amount: self.amount.clone(), text: None }.to_string()
    }

    /// Creates an integer quantity.
    pub fn from_int(value: i64) -> Self {
        Self { amount: Amount::Small(value, 0), binary: false, exponent_form: true, text: None }
    }

    /// Creates a quantity of thousandths.
    pub fn from_milli(value: i64) -> Self {
        Self { amount: Amount::Small(value, MILLI), binary: false, exponent_form: false, text: None }
    }

    /// Returns true if the quantity has no fraction.
    pub fn is_whole(&self) -> bool {
        let exact = self.to_decimal();
        let mut rounded = exact.clone();
        rounded.round_up(0);
        rounded.compare(&exact).is_eq()
    }

    /// The decimal, with as many fraction digits as it is represented with (`AsDec().String()`). A number with very many
    /// zeros has an exponent instead.
    pub fn decimal_text(&self) -> String {
        self.to_decimal().to_text()
    }

    /// The integer, if the quantity is represented as one.
    pub fn as_int(&self) -> Option<i64> {
        match self.amount {
            Amount::Small(value, 0) => Some(value),
            Amount::Small(value, scale) => scale_up(value, scale),
            Amount::Large(_) => None,
        }
    }

    /// The nearest float, approximately.
    pub fn as_float(&self) -> f64 {
        let (base, exponent) = match &self.amount {
            Amount::Small(value, scale) => (*value as f64, i64::from(*scale)),
            Amount::Large(decimal) => decimal.to_float_parts(),
        };
        if exponent == 0 { base } else { base * pow10(exponent) }
    }

    /// The value rounded up to an integer (`Value`); 0 or some other number if it does not fit in 64 bits.
    pub fn value(&self) -> i64 {
        self.scaled(0)
    }

    /// The value in thousandths, rounded up (`MilliValue`); 0 or some other number if it does not fit in 64 bits.
    pub fn milli_value(&self) -> i64 {
        self.scaled(MILLI)
    }

    /// `ScaledValue`
    fn scaled(&self, exponent: i32) -> i64 {
        match &self.amount {
            Amount::Small(value, scale) => scaled_small(*value, *scale, exponent),
            Amount::Large(decimal) => decimal.scaled(exponent),
        }
    }

    /// The sign: -1, 0 or 1.
    pub fn sign(&self) -> i64 {
        match &self.amount {
            Amount::Small(value, _) => value.signum(),
            Amount::Large(decimal) => decimal.sign(),
        }
    }

    /// Compares two quantities by value.
    pub fn compare(&self, other: &Self) -> Ordering {
        match (&self.amount, &other.amount) {
            (Amount::Small(a, s), Amount::Small(b, t)) if s == t => a.cmp(b),
            _ => self.to_decimal().compare(&other.to_decimal()),
        }
    }

    /// `self + other`.
    ///
    /// # Errors
    /// Returns an error if the sum has so many digits that the server would run out of memory.
    pub fn add(&self, other: &Self) -> Result<Self, GoError> {
        let format = if self.sign() == 0 { other } else { self };
        let (binary, exponent_form) = (format.binary, format.exponent_form);
        if let (Amount::Small(a, s), Amount::Small(b, t)) = (&self.amount, &other.amount)
            && let Some((value, scale)) = add_small((*a, *s), (*b, *t))
        {
            return Ok(Self { amount: Amount::Small(value, scale), binary, exponent_form, text: None });
        }
        let sum = self.to_decimal().add(&other.to_decimal())?;
        Ok(Self { amount: Amount::Large(sum), binary, exponent_form, text: None })
    }

    /// `self - other`
    pub fn sub(&self, other: &Self) -> Result<Self, GoError> {
        if let (Amount::Small(..), Amount::Small(i64::MIN, _)) = (&self.amount, &other.amount) {
            // Go negates the minimum to itself (`int64Amount.Sub`), unless the sum does not fit in 64 bits.
            let sum = self.add(other)?;
            if matches!(sum.amount, Amount::Small(..)) {
                return Ok(sum);
            }
        }
        let amount = match &other.amount {
            Amount::Small(value, scale) => match value.checked_neg() {
                Some(value) => Amount::Small(value, *scale),
                None => Amount::Large(other.to_decimal().negated()),
            },
            Amount::Large(decimal) => Amount::Large(decimal.negated()),
        };
        self.add(&Self { amount, text: None, ..*other })
    }

    fn to_decimal(&self) -> Decimal {
        match &self.amount {
            Amount::Small(value, scale) => Decimal::from_int(*value, *scale),
            Amount::Large(decimal) => decimal.clone(),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.compare(other).is_eq()
    }
}

/// `AsScaledInt64`: `value * 10^scale` in units of `10^exponent`, rounded away from zero. What Go returns for a value that
/// does not fit depends on the number of zeros.
fn scaled_small(value: i64, scale: i32, exponent: i32) -> i64 {
    let zeros = i64::from(scale) - i64::from(exponent);
    let Ok(dropped) = u32::try_from(-zeros) else {
        let product = |factor: i64| if value == i64::MIN { 0 } else { value.wrapping_mul(factor) };
        return match zeros {
            1 => product(10),
            2 => product(100),
            3 => product(1000),
            6 => product(1_000_000),
            9 => product(1_000_000_000),
            zeros => i32::try_from(zeros).ok().and_then(|zeros| scale_up(value, zeros)).unwrap_or_default(),
        };
    };
    let Some(divisor) = 10_i64.checked_pow(dropped) else { return value.signum() };
    let rounding = if value % divisor == 0 { 0 } else { value.signum() };
    value / divisor + rounding
}

fn scale_up(value: i64, scale: i32) -> Option<i64> {
    let factor = 10_i64.checked_pow(u32::try_from(scale).ok()?);
    if value == 0 { Some(0) } else { value.checked_mul(factor?) }
}

/// The sum of two small values, at the smaller scale.
fn add_small(a: (i64, i32), b: (i64, i32)) -> Option<(i64, i32)> {
    match (a, b) {
        (_, (0, _)) => Some(a),
        ((0, _), _) => Some(b),
        ((value, scale), (other, at)) => {
            let lesser = scale.min(at);
            let value = scale_up(value, scale.checked_sub(lesser)?)?;
            Some((value.checked_add(scale_up(other, at.checked_sub(lesser)?)?)?, lesser))
        }
    }
}

/// `math.Pow10`
fn pow10(exponent: i64) -> f64 {
    match exponent {
        ..-323 => 0.0,
        309.. => f64::INFINITY,
        _ => format!("1e{exponent}").parse().unwrap_or(0.0),
    }
}

/// Returns false for a text that is in the canonical form if Go keeps it.
fn is_unusual(text: &str) -> bool {
    text.contains(['+', '.', 'e', 'E']) || text.trim_start_matches('-').starts_with('0')
}

struct Parts<'a> {
    negative: bool,
    number: &'a str,
    fraction: &'a str,
    suffix: &'a str,
}

impl<'a> Parts<'a> {
    fn split(text: &'a str) -> Option<Self> {
        let negative = text.starts_with('-');
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        let trimmed = unsigned.trim_start_matches('0');
        let (number, rest) = digits(trimmed);
        let number = if number.is_empty() { "0" } else { number };
        let (fraction, suffix) = match rest.strip_prefix('.') {
            Some(rest) => digits(rest),
            None => ("", rest),
        };
        // The suffix: optional letters, sign and digits.
        let rest = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
        let rest = rest.strip_prefix(['+', '-']).unwrap_or(rest);
        digits(rest).1.is_empty().then_some(Self { negative, number, fraction, suffix })
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

struct Unit {
    base: u8,
    exponent: i32,
    exponent_form: bool,
}

impl Unit {
    fn from_suffix(suffix: &str) -> Option<Self> {
        let unit = |base, exponent| Some(Self { base, exponent, exponent_form: false });
        match suffix {
            "n" => unit(10, -9),
            "u" => unit(10, -6),
            "m" => unit(10, -3),
            "" => unit(10, 0),
            "k" => unit(10, 3),
            "M" => unit(10, 6),
            "G" => unit(10, 9),
            "T" => unit(10, 12),
            "P" => unit(10, 15),
            "E" => unit(10, 18),
            "Ki" => unit(2, 10),
            "Mi" => unit(2, 20),
            "Gi" => unit(2, 30),
            "Ti" => unit(2, 40),
            "Pi" => unit(2, 50),
            "Ei" => unit(2, 60),
            _ => {
                let exponent: i64 = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
                Some(Self { base: 10, exponent: exponent as i32, exponent_form: true })
            }
        }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        let decimal = self.to_decimal();
        if self.binary
            && let Some((number, thousands)) = decimal.in_powers_of_1024()
        {
            let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(thousands).unwrap_or(&"");
            return write!(f, "{number}{suffix}");
        }
        let (number, exponent) = decimal.in_powers_of_1000();
        let suffix = match exponent {
            _ if self.exponent_form && exponent != 0 => format!("e{exponent}"),
            -9 => "n".to_owned(),
            -6 => "u".to_owned(),
            -3 => "m".to_owned(),
            3 => "k".to_owned(),
            6 => "M".to_owned(),
            9 => "G".to_owned(),
            12 => "T".to_owned(),
            15 => "P".to_owned(),
            18 => "E".to_owned(),
            _ => String::new(),
        };
        write!(f, "{number}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn q(text: &str) -> Quantity {
        Quantity::parse(text).expect(text)
    }

    /// Texts of `inf.Dec.String`
    #[test]
    fn decimal_texts_have_the_digits_of_the_representation() {
        let texts = [("1", "1"), ("1000m", "1.000"), ("1.50", "1.50"), ("-5m", "-0.005"), ("2k", "2000"), ("0", "0")];
        for (quantity, text) in texts {
            assert_eq!(q(quantity).decimal_text(), text, "{quantity}");
        }
        assert_eq!(q("1.5Gi").decimal_text(), "1610612736.000000000");
        assert_eq!(q("10e999999").decimal_text(), q("1e1000000").decimal_text());
        assert!(q("1e1000000").decimal_text().len() < 20);
    }

    #[test]
    fn whole_quantities_have_no_fraction() {
        for (quantity, is_whole) in [("1", true), ("1000m", true), ("1500m", false), ("1.5Gi", true), ("-1n", false)] {
            assert_eq!(q(quantity).is_whole(), is_whole, "{quantity}");
        }
        assert_eq!(Quantity::from_milli(1500), q("1.5"));
    }

    #[test]
    fn values_are_rounded_up_as_go_does() {
        let both = |text: &str| (q(text).value(), q(text).milli_value());
        assert_eq!(both("1500m"), (2, 1500));
        assert_eq!(both("-1500m"), (-2, -1500));
        assert_eq!(both("9007199254740993"), (9_007_199_254_740_993, 9_007_199_254_740_993_000));
        assert_eq!(both("9007199254740993100m"), (9_007_199_254_740_994, 9_007_199_254_740_993_100));
        assert_eq!(both("-0.5Ki"), (-512, -512_000));
        // These do not fit in 64 bits.
        assert_eq!(both("1e300"), (0, 0));
        assert_eq!(both("1000000000000000000000"), (3_875_820_019_684_212_736, 2_003_764_205_206_896_640));
    }

    #[test]
    fn usual_quantities_are_canonical_if_they_are_shown_as_they_are_written() {
        for suffix in USUAL_SUFFIXES.map(|(suffix, _)| suffix).into_iter().chain(["", "n", "Pi", "E", "x", "e3"]) {
            for number in
                ["0", "00", "1", "8", "007", "10", "999", "1000", "1001", "1024", "2048", "1500", "999999", "1000000"]
            {
                let text = format!("{number}{suffix}");
                let is_shown = Quantity::parse(&text).is_ok_and(|parsed| parsed.to_string() == text);
                let is_known = number.len() <= 6 && USUAL_SUFFIXES.iter().any(|(known, _)| *known == suffix);
                // `007` is kept, but not canonical, and zero has no suffix.
                let is_usual = is_known && (!number.starts_with('0') || text == "0");
                assert_eq!(Quantity::is_canonical(&text), is_shown && is_usual, "{text}");
            }
        }
        for text in ["", "-1", "1.5", "m", "+1", " 1", "1 "] {
            assert!(!Quantity::is_canonical(text), "{text}");
        }
    }

    /// Results of Go.
    #[test]
    fn negative_values_above_64_bits_lose_bits_before_they_are_rounded() {
        for (text, value, milli) in [
            ("-9223372036854775808", 0, 0),
            ("-9223372036854775807", 1, 1000),
            ("-9223372036854775809", -1, -1000),
            ("-12345678901234567890", -5_097_733_591, -5_097_733_592_001),
            ("-9223372036854775808.5", 1, -500),
            ("-9223372036854775808m", 0, 0),
            ("-1500.5Ki", -1_536_512, -1_536_512_000),
            ("-1e20", 0, 0),
            ("9223372036854775808", i64::MIN, 0),
        ] {
            assert_eq!((q(text).value(), q(text).milli_value()), (value, milli), "{text}");
            assert_eq!(q(text).sign(), if text.starts_with('-') { -1 } else { 1 });
        }
        assert_eq!(q("-9223372036854775808").to_string(), "-9223372036854775808");
    }

    /// Results of Go.
    #[test]
    fn the_minimum_of_64_bits_is_subtracted_as_its_negation_which_is_itself() {
        let least = Quantity::from_int(i64::MIN);
        let difference = |text: &str| q(text).sub(&least).unwrap().to_string();
        for (text, shown) in [
            ("5", "-9223372036854775803"),
            ("0", "-9223372036854775808"),
            ("5k", "-9223372036854770808"),
            ("-1", "9223372036854775807"),
            ("1.5", "9223372036854775809500m"),
            ("9223372036854775807", "18446744073709551615"),
            ("-9223372036854775808", "0"),
        ] {
            assert_eq!(difference(text), shown, "{text}");
        }
        assert_eq!(q("5").add(&least).unwrap().to_string(), "-9223372036854775803");
    }

    /// Answers of a real server.
    #[test]
    fn texts_like_the_canonical_form_are_kept() {
        for text in ["+1", "01", "1E3", "1e+3", "+1Ki", "1e0", "1.", "01Gi", "1e+300", "12e+9", "1.234", "-01", "0"] {
            assert_eq!(q(text).to_string(), text);
        }
        for (text, shown) in [
            ("1000", "1k"),
            ("1.0", "1"),
            ("+0", "0"),
            ("00", "0"),
            ("0.5", "500m"),
            ("1024Ki", "1Mi"),
            ("+1024", "+1024"),
            ("0.5Gi", "512Mi"),
            ("10e3", "10e3"),
            ("1e4", "10e3"),
        ] {
            assert_eq!(q(text).to_string(), shown, "{text}");
        }
        assert_eq!(q("+1").add(&q("01")).map(|sum| sum.to_string()), Ok("2".to_owned()));
    }

    #[test]
    fn equal_quantities_have_one_form() {
        for (one, other) in [("1Ki", "1024"), ("+1", "1000m"), ("1e3", "1k"), ("0.5", "500m"), ("1Gi", "1073741824")] {
            assert_eq!(q(one).in_one_form(), q(other).in_one_form(), "{one}");
        }
        assert_ne!(q("1e21").in_one_form(), q("1").in_one_form());
    }

    #[test]
    fn amounts_are_rounded_up_to_thousandths() {
        let rounded = |text: &str| q(text).rounded_to_milli().map(|rounded| rounded.to_string());
        for text in ["1", "1m", "1.234", "1Gi", "1e3"] {
            assert_eq!(rounded(text), None, "{text}");
        }
        for (text, shown) in [
            ("1.0001", "1001m"),
            ("1.0001234", "1001m"),
            ("-1.0001", "-1001m"),
            ("1n", "1m"),
            ("1000u", "1m"),
            ("0.1Ki", "102400m"),
            ("12345678901234567890.0001", "12345678901234567890001m"),
        ] {
            assert_eq!(rounded(text).as_deref(), Some(shown), "{text}");
        }
    }

    #[test]
    fn semver_is_parsed_compared_and_formatted() {
        for (text, shown, int) in [
            ("1.5", "1500m", None),
            ("100m", "100m", None),
            ("1Gi", "1Gi", Some(1 << 30)),
            ("1.5Gi", "1536Mi", None),
            ("2048", "2048", Some(2048)),
            ("1e3", "1e3", Some(1000)),
            ("-1k", "-1k", Some(-1000)),
            ("1E", "1E", Some(1_000_000_000_000_000_000)),
            ("12345678901234567890", "12345678901234567890", None),
            ("9Ei", "9223372036854775807", None),
            ("0.0000000001", "1n", None),
            (".5", "500m", None),
            ("1.", "1.", Some(1)),
        ] {
            let quantity = q(text);
            assert_eq!(quantity.to_string(), shown, "{text}");
            assert_eq!(quantity.as_int(), int, "{text}");
        }
        assert!(q("1000m") == q("1") && q("1Ki") == q("1024") && q("1e1000000000").compare(&q("1")).is_gt());
        assert_eq!(q("1e1000000000").compare(&q("-1e2000000000")), Ordering::Greater);
        for bad in ["", "a", "1 ", "1x", "1Kii", "--1", "1e", "1.2.3", "1i", "1e99999999999999999999"] {
            assert!(Quantity::parse(bad).is_err(), "{bad}");
        }
    }

    /// Answers of a real server.
    #[test]
    fn a_number_without_digits_is_zero_unless_it_is_less_than_nano() {
        for text in ["e3", "-e3", "e-9", ".", "-", "k", ".n", "-.Ki", "0e-12", "-0.e-10", "1.e-12", ".5e-12"] {
            assert!(Quantity::parse(text).is_ok(), "{text}");
        }
        for text in ["e-10", "-e-12", "+e-12", ".e-12", "-.e-12", "-e2147483648"] {
            assert_eq!(Quantity::parse(text).err(), Some(NUMBER.into()), "{text}");
        }
    }

    #[test]
    fn adds_and_subtracts() {
        let sum = |a: &str, b: &str| q(a).add(&q(b)).map(|s| s.to_string());
        assert_eq!(sum("1500m", "1"), Ok("2500m".to_owned()));
        assert_eq!(sum("1Gi", "1Mi"), Ok("1025Mi".to_owned()));
        assert_eq!(sum("9223372036854775807", "1"), Ok("9223372036854775808".to_owned()));
        assert_eq!(q("1").sub(&q("1.5")).map(|s| s.to_string()), Ok("-500m".to_owned()));
        assert_eq!(q("5").sub(&q("5")).map(|s| s.sign()), Ok(0));
        assert!(q("1e1000000000").add(&q("1")).is_err());
        assert_eq!(q("1500m").as_float(), 1.5);
    }
}
