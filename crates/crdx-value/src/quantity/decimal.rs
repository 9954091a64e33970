//! Decimals of any length (`gopkg.in/inf.v0`), limited to the operations that quantities need.

use crate::GoError;
use std::cmp::Ordering;
use std::iter;

/// `± digits * 10^exponent`; the digits have no leading zeros, and zero has no digits.
#[derive(Clone, Debug)]
pub(super) struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i64,
}

/// The maximum number of digits. With more digits, the server would compute for minutes.
const MAX_DIGITS: i64 = 1_000_000;

/// How many digits the finer operand of a sum may have below those of the other one since 1.38 (`maxScaleGap`).
const MAX_SCALE_GAP: i64 = 29;

/// The most digits of an integer that is formatted with powers of 1024. Go formats any, which takes it long.
const MAX_BINARY_DIGITS: usize = 1000;

/// The greatest multiple of three in an int32.
const MAX_SHOWN_EXPONENT: i64 = i32::MAX as i64 - 1;

/// The most zeros at the end of [`Decimal::to_text`].
const MAX_ZEROS: usize = 1000;

impl Decimal {
    pub(super) fn parse(negative: bool, number: &str, fraction: &str) -> Self {
        let digits = number.bytes().chain(fraction.bytes()).map(|b| b - b'0').collect();
        Self { negative, digits, exponent: -(fraction.len() as i64) }.trimmed()
    }

    pub(super) fn from_int(value: i64, scale: i32) -> Self {
        let text = value.unsigned_abs().to_string();
        let mut decimal = Self::parse(value < 0, &text, "");
        decimal.exponent = i64::from(scale);
        decimal
    }

    fn trimmed(mut self) -> Self {
        let zeros = self.digits.iter().take_while(|d| **d == 0).count();
        self.digits.drain(..zeros);
        self
    }

    /// The power of ten of the last digit.
    pub(super) fn exponent(&self) -> i64 {
        self.exponent
    }

    pub(super) fn sign(&self) -> i64 {
        match (self.digits.is_empty(), self.negative) {
            (true, _) => 0,
            (_, true) => -1,
            _ => 1,
        }
    }

    pub(super) fn negated(&self) -> Self {
        Self { negative: !self.negative, ..self.clone() }
    }

    pub(super) fn shift(&mut self, exponent: i32) {
        self.exponent += i64::from(exponent);
    }

    pub(super) fn multiply(&mut self, factor: u64) {
        let mut carry = 0_u128;
        for digit in self.digits.iter_mut().rev() {
            let product = u128::from(*digit) * u128::from(factor) + carry;
            *digit = (product % 10) as u8;
            carry = product / 10;
        }
        let mut front: Vec<u8> = carry.to_string().bytes().map(|b| b - b'0').collect();
        front.append(&mut self.digits);
        self.digits = front;
        *self = std::mem::replace(self, Self { negative: false, digits: Vec::new(), exponent: 0 }).trimmed();
    }

    /// Keeps the exponent in the range of an int32.
    pub(super) fn limit_exponent(&mut self) {
        self.exponent = self.exponent.min(i32::MAX.into());
    }

    /// Rounds away from zero to a number of significant digits (`decFromDigits`).
    pub(super) fn round_to_digits(&mut self, most: usize) {
        if let Some(extra) = self.digits.len().checked_sub(most) {
            self.round_up(self.exponent + extra as i64);
        }
    }

    /// Rounds the finer operand of a sum away from zero, if it has more digits than the result may have (`boundScaleGap`).
    pub(super) fn round_for_sum_with(&mut self, other: &Self) {
        if !self.digits.is_empty() && !other.digits.is_empty() {
            self.round_up(other.exponent - MAX_SCALE_GAP);
        }
    }

    /// Rounds a number that is not 0 away from zero to nine fraction digits.
    pub(super) fn round_up_to_nano(&mut self) {
        if !self.digits.is_empty() {
            self.round_up(-9);
        }
    }

    /// Adds the zeros of nine fraction digits, which the server before 1.38 always stores.
    pub(super) fn fill_to_nano(&mut self) {
        let missing = self.exponent + 9;
        if !self.digits.is_empty() && (1..1000).contains(&missing) {
            self.digits.resize(self.digits.len() + missing as usize, 0);
            self.exponent = -9;
        }
    }

    /// Rounds away from zero to a multiple of `10^exponent`.
    pub(super) fn round_up(&mut self, exponent: i64) {
        let extra = exponent - self.exponent;
        if extra > 0 {
            let kept = self.digits.len().saturating_sub(usize::try_from(extra).unwrap_or(usize::MAX));
            let rest = self.digits.split_off(kept);
            self.exponent = exponent;
            if rest.iter().any(|d| *d != 0) {
                self.increment();
            }
        }
    }

    fn increment(&mut self) {
        for digit in self.digits.iter_mut().rev() {
            if *digit < 9 {
                *digit += 1;
                return;
            }
            *digit = 0;
        }
        self.digits.insert(0, 1);
    }

    pub(super) fn cap(&mut self, most: i64) {
        let cap = Self::from_int(most, 0);
        if compare_magnitudes(self, &cap).is_gt() {
            *self = Self { negative: self.negative, ..cap };
        }
    }

    /// Returns true if the value is strictly between -1 and 1 and not 0.
    pub(super) fn is_proper_fraction(&self) -> bool {
        !self.digits.is_empty() && compare_magnitudes(self, &Self::from_int(1, 0)).is_lt()
    }

    pub(super) fn compare(&self, other: &Self) -> Ordering {
        self.sign().cmp(&other.sign()).then_with(|| {
            let order = compare_magnitudes(self, other);
            if self.negative { order.reverse() } else { order }
        })
    }

    pub(super) fn add(&self, other: &Self) -> Result<Self, GoError> {
        if self.digits.is_empty() {
            return Ok(other.clone());
        }
        if other.digits.is_empty() {
            return Ok(self.clone());
        }
        let exponent = self.exponent.min(other.exponent);
        let aligned = |d: &Self| {
            let zeros = d.exponent - exponent;
            if zeros > MAX_DIGITS {
                return Err(GoError::from("quantity has too many digits"));
            }
            let mut digits = d.digits.clone();
            digits.resize(digits.len() + zeros as usize, 0);
            digits.reverse();
            Ok(digits)
        };
        let (a, b) = (aligned(self)?, aligned(other)?);
        let (negative, mut digits) = if self.negative == other.negative {
            (self.negative, add_digits(&a, &b))
        } else if compare_magnitudes(self, other).is_ge() {
            (self.negative, subtract_digits(&a, &b))
        } else {
            (other.negative, subtract_digits(&b, &a))
        };
        digits.reverse();
        Ok(Self { negative, digits, exponent }.trimmed())
    }

    /// The product, in a time that is proportional to that of the numbers of digits.
    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = vec![0_u32; self.digits.len() + other.digits.len()];
        for (i, a) in self.digits.iter().rev().enumerate() {
            let mut carry = 0;
            for (place, b) in product.iter_mut().skip(i).zip(other.digits.iter().rev().copied().chain(iter::repeat(0)))
            {
                let sum = *place + u32::from(*a) * u32::from(b) + carry;
                *place = sum % 10;
                carry = sum / 10;
            }
        }
        let digits = product.into_iter().rev().map(|digit| digit as u8).collect();
        let exponent = self.exponent + other.exponent;
        Self { negative: self.negative != other.negative, digits, exponent }.trimmed()
    }

    /// The digits as a float, and the power of ten to multiply by.
    pub(super) fn to_float_parts(&self) -> (f64, i64) {
        let text: String = self.digits.iter().map(|d| char::from(b'0' + d)).collect();
        let base: f64 = text.parse().unwrap_or(0.0);
        (if self.negative { -base } else { base }, self.exponent)
    }

    /// The value in units of `10^exponent`, rounded away from zero, or the nearest int64 (`scaledValue` since 1.38).
    pub(super) fn saturated(&self, exponent: i32) -> i64 {
        let mut rounded = self.clone();
        rounded.round_up(exponent.into());
        let zeros = usize::try_from(rounded.exponent - i64::from(exponent)).unwrap_or(usize::MAX);
        let most = if self.negative { i64::MIN } else { i64::MAX };
        match rounded.digits.len() {
            0 => 0,
            length if length.saturating_add(zeros) > 20 => most,
            length => {
                rounded.digits.resize(length + zeros, 0);
                let number = rounded.digits.iter().fold(0, |number, digit| number * 10 + i128::from(*digit));
                i64::try_from(if self.negative { -number } else { number }).unwrap_or(most)
            }
        }
    }

    /// The value in units of `10^exponent`, as Go computes it before 1.38 (`scaledValue` in `scale_int.go`): digits above 64 bits are
    /// lost, of a negative value before others are dropped, and a remainder adds one, to a negative value, too.
    pub(super) fn wrapped(&self, exponent: i32) -> i64 {
        // Go compares a value with the maximum of 64 bits before it takes its fast path, but not with the minimum.
        const FAST_DIGITS: i64 = 19;
        let dropped = i64::from(exponent) - self.exponent;
        if self.negative && (1..FAST_DIGITS).contains(&dropped) {
            let divisor = u32::try_from(dropped).map_or(1, |dropped| 10_i64.saturating_pow(dropped));
            let all = (lowest_bits(&self.digits) as i64).wrapping_neg();
            return all / divisor + i64::from(all % divisor != 0);
        }
        let kept = match usize::try_from(dropped) {
            Ok(dropped) => self.digits.len().saturating_sub(dropped),
            Err(_) => self.digits.len(),
        };
        let (whole, rest) = self.digits.split_at_checked(kept).unwrap_or_default();
        let zeros = u32::try_from(-dropped.min(0)).unwrap_or(u32::MAX);
        let magnitude = 10_u64.checked_pow(zeros).map_or(0, |factor| lowest_bits(whole).wrapping_mul(factor)) as i64;
        // Of a negative value, Go rounds down before it adds one.
        if self.negative {
            return magnitude.wrapping_neg();
        }
        magnitude.wrapping_add(i64::from(rest.iter().any(|digit| *digit != 0)))
    }

    fn whole_text(digits: &[u8], negative: bool) -> String {
        let text: String = digits.iter().map(|d| char::from(b'0' + d)).collect();
        match (text.is_empty(), negative) {
            (true, _) => "0".to_owned(),
            (_, true) => format!("-{text}"),
            _ => text,
        }
    }

    /// The integer and power of 1024 for the binary format, if the value is an integer of at least 1024.
    pub(super) fn in_powers_of_1024(&self) -> Option<(String, usize)> {
        let mut digits = Some(self.digits.clone()).filter(|digits| !digits.is_empty())?;
        if self.exponent < 0 {
            let kept = digits.len().saturating_sub(usize::try_from(-self.exponent).ok()?);
            if digits.split_off(kept).iter().any(|d| *d != 0) {
                return None;
            }
        } else {
            let length = digits.len().saturating_add(usize::try_from(self.exponent).ok()?);
            digits.resize(Some(length).filter(|length| *length <= MAX_BINARY_DIGITS)?, 0);
        }
        let one = Self { negative: false, digits, exponent: 0 };
        if one.digits.len() > MAX_BINARY_DIGITS || compare_magnitudes(&one, &Self::from_int(1024, 0)).is_lt() {
            return None;
        }
        let (mut digits, mut power) = (one.digits, 0);
        while let Some(quotient) = divided_by_1024(&digits) {
            digits = quotient;
            power += 1;
        }
        Some((Self::whole_text(&digits, self.negative), power))
    }

    /// The text of `inf.Dec`, but with an exponent if it would end with very many zeros.
    pub(super) fn to_text(&self) -> String {
        let sign = if self.sign() < 0 { "-" } else { "" };
        let mut digits: String = self.digits.iter().map(|digit| char::from(b'0' + digit)).collect();
        let Ok(fraction) = usize::try_from(-self.exponent) else {
            let significant = digits.trim_end_matches('0');
            let zeros = digits.len() - significant.len() + usize::try_from(self.exponent).unwrap_or(usize::MAX / 2);
            return match significant {
                "" => "0".to_owned(),
                _ if zeros > MAX_ZEROS => format!("{sign}{significant}e{zeros}"),
                _ => format!("{sign}{significant}{}", "0".repeat(zeros)),
            };
        };
        let digits_of_one = fraction + 1;
        if digits.len() < digits_of_one {
            digits.insert_str(0, &"0".repeat(digits_of_one - digits.len()));
        }
        if fraction > 0 {
            digits.insert(digits.len() - fraction, '.');
        }
        format!("{sign}{digits}")
    }

    /// The integer and power of ten, a multiple of three, for the decimal format.
    pub(super) fn in_powers_of_1000(&self) -> (String, i64) {
        let mut digits = self.digits.clone();
        let mut exponent = self.exponent;
        while digits.last() == Some(&0) {
            digits.pop();
            exponent += 1;
        }
        if digits.is_empty() {
            return ("0".to_owned(), 0);
        }
        let shown = (exponent - exponent.rem_euclid(3)).min(MAX_SHOWN_EXPONENT);
        let zeros = exponent - shown;
        digits.resize(digits.len() + zeros as usize, 0);
        (Self::whole_text(&digits, self.negative), shown)
    }
}

/// The quotient, if there is no remainder.
fn divided_by_1024(digits: &[u8]) -> Option<Vec<u8>> {
    let mut remainder = 0;
    let quotient = digits.iter().map(|digit| {
        let dividend = remainder * 10 + u32::from(*digit);
        remainder = dividend % 1024;
        (dividend / 1024) as u8
    });
    let quotient: Vec<u8> = quotient.skip_while(|digit| *digit == 0).collect();
    (remainder == 0).then_some(quotient)
}

/// The lowest 64 bits of an integer.
fn lowest_bits(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |value: u64, digit| value.wrapping_mul(10).wrapping_add(u64::from(*digit)))
}

fn compare_magnitudes(a: &Decimal, b: &Decimal) -> Ordering {
    match (a.digits.is_empty(), b.digits.is_empty()) {
        (true, true) => return Ordering::Equal,
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        _ => {}
    }
    let top = |d: &Decimal| d.digits.len() as i64 + d.exponent;
    top(a).cmp(&top(b)).then_with(|| {
        let longest = a.digits.len().max(b.digits.len());
        let padded = |d: &Decimal, i: usize| d.digits.get(i).copied().unwrap_or(0);
        (0..longest).map(|i| padded(a, i).cmp(&padded(b, i))).find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    })
}

/// Adds digits, least significant digit first.
fn add_digits(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(a.len().max(b.len()) + 1);
    let mut carry = 0;
    for i in 0..a.len().max(b.len()) {
        let sum = a.get(i).copied().unwrap_or(0) + b.get(i).copied().unwrap_or(0) + carry;
        out.push(sum % 10);
        carry = sum / 10;
    }
    out.push(carry);
    out
}

/// Subtracts digits, least significant digit first; `a` must not be less than `b`.
fn subtract_digits(a: &[u8], b: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(a.len());
    let mut borrow = 0;
    for (i, digit) in a.iter().enumerate() {
        let take = b.get(i).copied().unwrap_or(0) + borrow;
        let (digit, next) = if *digit >= take { (digit - take, 0) } else { (digit + 10 - take, 1) };
        out.push(digit);
        borrow = next;
    }
    out
}
