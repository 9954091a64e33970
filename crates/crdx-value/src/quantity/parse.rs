//! The texts of quantities (`ParseQuantity`).

use super::{Amount, Arithmetic, Decimal, Quantity};
use crate::GoError;
use crate::release::Minor;
use std::borrow::Cow;

const FORMAT: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
pub(super) const NUMBER: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";
const NANO: i32 = -9;

/// The most significant digits since 1.38 (`maxSignificantDigits`).
const MAX_DIGITS: usize = 29;

/// The most significant digits before a suffix such as `Ki` since 1.38 (`maxBinarySISignificantDigits`).
const MAX_BINARY_DIGITS: usize = 70;

/// The most digits of an int64. Only since 1.38 can a text have all of them.
const INT64_DIGITS: i32 = 19;

/// The suffixes that [`Quantity::is_canonical`] knows, with the number that makes the next suffix of one.
pub(super) const USUAL_SUFFIXES: [(&str, u32); 10] = [
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

    /// Parses a quantity such as `1.5Gi`, `100m` or `1e3` as the server of a release does. It keeps a text that resembles the
    /// canonical form, such as `+1`, `01` or `1E3`.
    ///
    /// # Errors
    /// Returns Go's error message.
    pub fn parse(text: &str, release: Minor) -> Result<Self, GoError> {
        if text.is_empty() {
            return Err(FORMAT.into());
        }
        let arithmetic = Arithmetic::of(release);
        let parts = Parts::split(text).ok_or(FORMAT)?;
        let unit = Unit::from_suffix(parts.suffix).ok_or(SUFFIX)?;
        match parts.small(text, &unit, arithmetic) {
            Some(quantity) => Ok(quantity),
            None => parts.large(text, &unit, arithmetic),
        }
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

    /// The quantity as an int64, if a conservative estimate of the number of digits allows it.
    fn small(&self, text: &str, unit: &Unit, arithmetic: Arithmetic) -> Option<Quantity> {
        let Unit { binary, exponent, exponent_form } = *unit;
        let length = (self.number.len() + self.fraction.len()) as i32;
        let (precision, mantissa, scale) = if !binary {
            let most = if arithmetic == Arithmetic::Bounded { INT64_DIGITS } else { INT64_DIGITS - 1 };
            (most - length, 1, exponent)
        } else if self.fraction.is_empty() {
            (15 - length - (f64::from(exponent) * 3.0 / 10.0) as i32 - 1, 1_i128 << exponent, 0)
        } else {
            return None;
        };
        let scale = scale.wrapping_sub(self.fraction.len() as i32);
        if precision < 0 || scale < NANO {
            return None;
        }
        let digits = match (self.number, self.fraction) {
            (number, "") => Cow::Borrowed(number),
            (number, fraction) => Cow::Owned([number, fraction].concat()),
        };
        let given: i128 = digits.parse().ok()?;
        let value = given * mantissa;
        let value = if self.negative && (mantissa == 1 || i64::try_from(value).is_ok()) { -value } else { value };
        let value = i64::try_from(value).ok()?;
        let is_kept = if binary {
            given % 8 != 0
        } else {
            length < INT64_DIGITS && scale % 3 == 0 && !digits.ends_with("000") && !digits.starts_with('0')
        };
        let text = Some(text).filter(|text| is_kept && is_unusual(text)).map(Box::from);
        Some(Quantity { amount: Amount::Small(value, scale), binary, exponent_form, text, arithmetic })
    }

    /// The quantity as a decimal. Only here, a number without digits is an error; as an int64, it is 0.
    fn large(&self, text: &str, unit: &Unit, arithmetic: Arithmetic) -> Result<Quantity, GoError> {
        let Unit { binary, exponent, exponent_form } = *unit;
        let number = text.strip_suffix(self.suffix).unwrap_or(text);
        if !number.bytes().any(|b| b.is_ascii_digit()) {
            return Err(NUMBER.into());
        }
        let mut amount = Decimal::parse(self.negative, self.number, self.fraction);
        match arithmetic {
            Arithmetic::Unbounded => {
                if binary {
                    amount.multiply(1 << exponent)
                } else {
                    amount.shift(exponent)
                }
                amount.round_up_to_nano();
                amount.fill_to_nano();
            }
            Arithmetic::Bounded => {
                if binary {
                    amount.round_to_digits(MAX_BINARY_DIGITS);
                    amount.multiply(1 << exponent);
                } else if exponent == i32::MIN {
                    return Err(SUFFIX.into());
                } else {
                    amount.round_to_digits(MAX_DIGITS);
                    amount.shift(exponent);
                    amount.limit_exponent();
                }
                amount.round_up_to_nano();
            }
        }
        if binary {
            amount.cap(i64::MAX);
        }
        let binary = binary && !amount.is_proper_fraction();
        Ok(Quantity { amount: Amount::Large(amount), binary, exponent_form, text: None, arithmetic })
    }
}

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

struct Unit {
    /// True for a power of two, false for a power of ten.
    binary: bool,
    exponent: i32,
    exponent_form: bool,
}

impl Unit {
    fn from_suffix(suffix: &str) -> Option<Self> {
        let unit = |base, exponent| Some(Self { binary: base == 2, exponent, exponent_form: false });
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
                Some(Self { binary: false, exponent: exponent as i32, exponent_form: true })
            }
        }
    }
}
