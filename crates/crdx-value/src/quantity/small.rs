//! Values that are an int64 and a power of ten (`amount.go`).

use super::Arithmetic;

/// `AsScaledInt64`: `value * 10^scale` in units of `10^exponent`, rounded away from zero. What Go before 1.38 returns for a
/// value that does not fit depends on the number of zeros.
pub(super) fn scaled(value: i64, scale: i32, exponent: i32, arithmetic: Arithmetic) -> i64 {
    let zeros = i64::from(scale) - i64::from(exponent);
    let Ok(dropped) = u32::try_from(-zeros) else {
        if arithmetic == Arithmetic::Bounded {
            let most = if value < 0 { i64::MIN } else { i64::MAX };
            let zeros = i32::try_from(zeros).unwrap_or(i32::MAX);
            return scale_up(value, zeros).unwrap_or(most);
        }
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

/// `positiveScaleInt64`
pub(super) fn scale_up(value: i64, scale: i32) -> Option<i64> {
    let factor = 10_i64.checked_pow(u32::try_from(scale).ok()?);
    if value == 0 { Some(0) } else { value.checked_mul(factor?) }
}

/// The sum of two small values, at the smaller scale.
pub(super) fn add(a: (i64, i32), b: (i64, i32)) -> Option<(i64, i32)> {
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
