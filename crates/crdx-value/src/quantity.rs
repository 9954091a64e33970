//! Quantities (`k8s.io/apimachinery/pkg/api/resource`): small values as an int64 and a power of ten, others as decimals.
//!
//! The representation is observable: only a small value without fraction digits is an integer.

mod decimal;
mod parse;
mod small;

use crate::GoError;
use crate::release::{Minor, V1_38};
use decimal::Decimal;
use std::{cmp::Ordering, fmt};

/// `kubernetes.Quantity`
#[derive(Clone, Debug)]
pub struct Quantity {
    amount: Amount,
    /// True if the quantity is formatted with powers of 1024.
    binary: bool,
    exponent_form: bool,
    /// The text that was parsed, if Go shows it instead of the canonical form.
    text: Option<Box<str>>,
    arithmetic: Arithmetic,
}

/// The largest integer whose thousandths fit in 64 bits (`MaxMilliValue`).
pub const MAX_MILLI_VALUE: i64 = i64::MAX / 1000;

/// How a release computes with quantities. A result has the later one of its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Arithmetic {
    /// Before 1.38: decimals have any number of digits, integers that do not fit in 64 bits wrap, and an exponent without a
    /// suffix is not shown.
    Unbounded,
    /// Since 1.38: decimals have a limited number of digits, integers saturate, and each exponent is shown.
    Bounded,
}

impl Arithmetic {
    fn of(release: Minor) -> Self {
        if release >= V1_38 { Self::Bounded } else { Self::Unbounded }
    }
}

#[derive(Clone, Debug)]
enum Amount {
    /// `value * 10^scale`
    Small(i64, i32),
    Large(Decimal),
}

const MILLI: i32 = -3;

impl Quantity {
    /// Rounds away from zero to thousandths; `None` if there is nothing to round (`RoundUp`).
    pub fn rounded_to_milli(&self) -> Option<Self> {
        let amount = match &self.amount {
            Amount::Small(_, MILLI..) => return None,
            Amount::Small(value, scale) => Amount::Small(small::scaled(*value, *scale, MILLI, self.arithmetic), MILLI),
            Amount::Large(decimal) if self.is_bounded() && decimal.exponent() >= MILLI.into() => return None,
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
        Self { binary: false, exponent_form: true, amount: self.amount.clone(), text: None, ..*self }.to_string()
    }

    /// Creates an integer quantity.
    pub fn from_int(value: i64) -> Self {
        Self { exponent_form: true, ..Self::small(value, 0) }
    }

    /// Creates a quantity of thousandths.
    pub fn from_milli(value: i64) -> Self {
        Self::small(value, MILLI)
    }

    fn small(value: i64, scale: i32) -> Self {
        let amount = Amount::Small(value, scale);
        Self { amount, binary: false, exponent_form: false, text: None, arithmetic: Arithmetic::Unbounded }
    }

    fn is_bounded(&self) -> bool {
        self.arithmetic == Arithmetic::Bounded
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
            Amount::Small(value, scale) => small::scale_up(value, scale),
            Amount::Large(_) => None,
        }
    }

    /// The nearest float, approximately.
    pub fn as_float(&self) -> f64 {
        let (base, exponent) = match &self.amount {
            Amount::Small(value, scale) => (*value as f64, i64::from(*scale)),
            Amount::Large(decimal) => decimal.to_float_parts(),
        };
        // Before 1.38, 0 times infinity is not a number.
        let is_base = exponent == 0 || (base == 0.0 && self.is_bounded());
        if is_base { base } else { base * pow10(exponent) }
    }

    /// The value rounded up to an integer (`Value`). If it does not fit in 64 bits, the nearest number that does; before 1.38,
    /// 0 or some other number.
    pub fn value(&self) -> i64 {
        self.scaled(0)
    }

    /// The value in thousandths, rounded up (`MilliValue`), which fits in 64 bits as that of [`Quantity::value`] does.
    pub fn milli_value(&self) -> i64 {
        self.scaled(MILLI)
    }

    /// `ScaledValue`
    fn scaled(&self, exponent: i32) -> i64 {
        match &self.amount {
            Amount::Small(value, scale) => small::scaled(*value, *scale, exponent, self.arithmetic),
            Amount::Large(decimal) if self.is_bounded() => decimal.saturated(exponent),
            Amount::Large(decimal) => decimal.wrapped(exponent),
        }
    }

    /// Returns true if the value, rounded up, fits in 64 bits.
    pub fn fits_int(&self) -> bool {
        self.compare(&Self::from_int(i64::MIN)).is_ge() && self.compare(&Self::from_int(i64::MAX)).is_le()
    }

    /// Returns true if this is more than a product.
    pub fn exceeds_product(&self, one: &Self, other: &Self) -> bool {
        self.to_decimal().compare(&one.to_decimal().times(&other.to_decimal())).is_gt()
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
        let arithmetic = self.arithmetic.max(other.arithmetic);
        let sum = |amount| Self { amount, text: None, arithmetic, ..*format };
        if let (Amount::Small(a, s), Amount::Small(b, t)) = (&self.amount, &other.amount)
            && let Some((value, scale)) = small::add((*a, *s), (*b, *t))
        {
            return Ok(sum(Amount::Small(value, scale)));
        }
        let (mut a, mut b) = (self.to_decimal(), other.to_decimal());
        if arithmetic == Arithmetic::Bounded {
            a.round_for_sum_with(&b);
            b.round_for_sum_with(&a);
        }
        Ok(sum(Amount::Large(a.add(&b)?)))
    }

    /// `self - other`
    pub fn sub(&self, other: &Self) -> Result<Self, GoError> {
        if let (Arithmetic::Unbounded, Amount::Small(..), Amount::Small(i64::MIN, _)) =
            (self.arithmetic.max(other.arithmetic), &self.amount, &other.amount)
        {
            // Before 1.38, Go negates the minimum to itself (`int64Amount.Sub`), unless the sum does not fit in 64 bits.
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

/// `math.Pow10`
fn pow10(exponent: i64) -> f64 {
    match exponent {
        ..-323 => 0.0,
        309.. => f64::INFINITY,
        _ => format!("1e{exponent}").parse().unwrap_or(0.0),
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(text) = &self.text {
            return f.write_str(text);
        }
        let decimal = self.to_decimal();
        let mut exponent_form = self.exponent_form;
        if self.binary
            && let Some((number, thousands)) = decimal.in_powers_of_1024()
        {
            let suffix = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"].get(thousands);
            if suffix.is_some() || !self.is_bounded() {
                return write!(f, "{number}{}", suffix.unwrap_or(&""));
            }
            exponent_form = true;
        }
        let (number, exponent) = decimal.in_powers_of_1000();
        f.write_str(&number)?;
        match exponent {
            0 => Ok(()),
            _ if exponent_form => write!(f, "e{exponent}"),
            -9 => f.write_str("n"),
            -6 => f.write_str("u"),
            -3 => f.write_str("m"),
            3 => f.write_str("k"),
            6 => f.write_str("M"),
            9 => f.write_str("G"),
            12 => f.write_str("T"),
            15 => f.write_str("P"),
            18 => f.write_str("E"),
            _ if self.is_bounded() => write!(f, "e{exponent}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests;
