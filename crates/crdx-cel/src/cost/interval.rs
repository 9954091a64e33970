//! Intervals of costs and sizes. Arithmetic saturates at `u64::MAX`.

/// A closed interval from `min` to `max`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Interval {
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: u64,
}

impl Interval {
    /// 0
    pub const ZERO: Self = Self::fixed(0);
    /// The empty interval, the neutral element of unions.
    pub(super) const NOTHING: Self = Self::new(u64::MAX, 0);
    /// Any value.
    pub(crate) const UNKNOWN: Self = Self::new(0, u64::MAX);

    /// The interval from `min` to `max`.
    pub const fn new(min: u64, max: u64) -> Self {
        Self { min, max }
    }

    /// The interval that contains only `value`.
    pub const fn fixed(value: u64) -> Self {
        Self::new(value, value)
    }

    pub(super) const fn add(self, other: Self) -> Self {
        Self::new(self.min.saturating_add(other.min), self.max.saturating_add(other.max))
    }

    pub(super) const fn multiply(self, other: Self) -> Self {
        Self::new(self.min.saturating_mul(other.min), self.max.saturating_mul(other.max))
    }

    /// Multiplies by a factor and rounds up.
    pub(super) fn scale(self, factor: f64) -> Self {
        Self::new(scale(self.min, factor), scale(self.max, factor))
    }

    pub(super) fn union(self, other: Self) -> Self {
        Self::new(self.min.min(other.min), self.max.max(other.max))
    }
}

/// 2^64
const TOO_LARGE: f64 = 18_446_744_073_709_551_616.0;

fn scale(value: u64, factor: f64) -> u64 {
    let value = value as f64;
    if value > 0.0 && factor > 0.0 && value > TOO_LARGE / factor {
        return u64::MAX;
    }
    let scaled = (value * factor).ceil();
    if scaled >= TOO_LARGE { u64::MAX } else { scaled as u64 }
}

/// Multiplies by a fraction and rounds up; an unknown size stays unknown (`scale` since cel-go 0.33).
pub(super) fn scale_exactly(value: u64, numerator: u64, denominator: u64) -> u64 {
    if value == u64::MAX {
        return u64::MAX;
    }
    let product = u128::from(value) * u128::from(numerator);
    u64::try_from(product.div_ceil(u128::from(denominator))).unwrap_or(u64::MAX)
}

/// Divides and rounds up. Like Go's conversion, a result that is too large becomes 2^63.
pub(super) fn divide(value: u64, by: u64) -> u64 {
    let quotient = (value as f64 / by as f64).ceil();
    if quotient >= TOO_LARGE || quotient.is_nan() { 1 << 63 } else { quotient as u64 }
}
