//! Validates numbers: bounds, multiples and formats (`kube-openapi/pkg/validation/validate/values.go`).
//!
//! Bounds are converted to the type of the number: for an int64, a fractional bound loses its fraction, so `multipleOf:
//! 0.1` with `type: number` and an integer value has the factor 0. A bound outside the range of the type is an error
//! for every value.

use super::report::{Outcome, Report, ValuePath};
use crate::field::BadValue;
use crate::pipeline::compiled::{Checks, Type};
use crate::value::{Value, number};

/// The largest float up to which every integer has an exact float representation.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// `swag.IsFloat64AJSONInteger`: within 2^53 and, up to a tolerance, integral.
pub fn is_integral(x: f64) -> bool {
    if !(-MAX_SAFE..=MAX_SAFE).contains(&x) {
        return false;
    }
    let rounded = x.round();
    x == rounded || rounded != 0.0 && (x - rounded).abs() < 1e-9 * rounded.abs()
}

/// A float in decimal notation without exponent, like `strconv.FormatFloat(x, 'f', -1, 64)`.
fn digits(x: f64) -> String {
    format!("{x}")
}

/// Returns true if a number is in the range of the schema's type and format.
fn fits(text: &str, checks: &Checks) -> bool {
    if !checks.number_ranges {
        true
    } else if checks.types.is_just(Type::Integer) {
        if checks.format == "int32" { text.parse::<i32>().is_ok() } else { text.parse::<i64>().is_ok() }
    } else if checks.types.is_just(Type::Number) && checks.format == "float" {
        text.parse::<f32>().is_ok_and(f32::is_finite)
    } else {
        true
    }
}

fn unfit(what: &str, checks: &Checks, path: &ValuePath<'_>) -> String {
    let name = checks.types.joined();
    let format = checks.format.as_str();
    let formats: &[&str] = if name == "integer" { &["int32", "int64"] } else { &["float", "double"] };
    if formats.contains(&format) {
        format!("{what} value must be of type {name} with format {format} in {path}")
    } else {
        format!("{what} value must be of type {name} (default format) in {path}")
    }
}

/// Validates a number.
pub fn check(v: &Value, checks: &Checks, path: &ValuePath<'_>, report: &Report, out: &mut Outcome) {
    out.passed += 1;
    let (int, float, text) = match v {
        Value::Int(i) => (Some(*i), *i as f64, i.to_string()),
        Value::Float(x) => (None, *x, digits(*x)),
        _ => return,
    };
    if !fits(&text, checks) {
        out.fail(report.unplaced(path, unfit("Checked", checks, path)));
    }
    // Converts a bound to the type of the value, or to a float if it is out of range for the schema's type.
    let native = |bound: f64, what: &str, out: &mut Outcome| {
        let fits = fits(&digits(bound), checks);
        if !fits {
            out.fail(report.unplaced(path, unfit(what, checks, path)));
        }
        int.filter(|_| fits).map(|i| (i, number::to_int64(bound)))
    };
    let shown = if int.is_some() { v.clone() } else { Value::Float(float) };
    if let Some(factor) = checks.multiple_of {
        let (complaint, bad) = match native(factor, "MultipleOf", out) {
            Some((_, factor @ ..=0)) => (Some(not_positive(path, &factor.to_string())), Value::Int(factor)),
            Some((i, factor)) => ((i % factor != 0).then(|| not_multiple(path, &factor.to_string())), shown.clone()),
            None if factor <= 0.0 => (Some(not_positive(path, &number::format_v(factor))), Value::Float(factor)),
            None => {
                let multiple = if factor < 1.0 { 1.0 / factor * float } else { float / factor };
                ((!is_integral(multiple)).then(|| not_multiple(path, &number::format_v(factor))), Value::Float(float))
            }
        };
        if let Some(text) = complaint {
            out.fail(report.invalid(path, BadValue::Value(bad), text));
        }
    }
    if let Some(max) = checks.maximum {
        let exclusive = checks.exclusive_maximum;
        let (exceeds, bound, bad) = match native(max, "Maximum boundary", out) {
            Some((i, max)) => (i > max || exclusive && i == max, max.to_string(), shown.clone()),
            None => (float > max || exclusive && float == max, number::format_v(max), Value::Float(float)),
        };
        if exceeds {
            let relation = if exclusive { "less than" } else { "less than or equal to" };
            out.fail(report.invalid(
                path,
                BadValue::Value(bad),
                format!("{path} in body should be {relation} {bound}"),
            ));
        }
    }
    if let Some(min) = checks.minimum {
        let exclusive = checks.exclusive_minimum;
        let (exceeds, bound, bad) = match native(min, "Minimum boundary", out) {
            Some((i, min)) => (i < min || exclusive && i == min, min.to_string(), shown),
            None => (float < min || exclusive && float == min, number::format_v(min), Value::Float(float)),
        };
        if exceeds {
            let relation = if exclusive { "greater than" } else { "greater than or equal to" };
            out.fail(report.invalid(
                path,
                BadValue::Value(bad),
                format!("{path} in body should be {relation} {bound}"),
            ));
        }
    }
}

fn not_positive(path: &ValuePath<'_>, factor: &str) -> String {
    format!("factor MultipleOf declared for {path} must be positive: {factor}")
}

fn not_multiple(path: &ValuePath<'_>, factor: &str) -> String {
    format!("{path} in body should be a multiple of {factor}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_floats_are_integers() {
        assert!(is_integral(3.0) && is_integral(-1e3) && is_integral(1.000_000_000_1) && is_integral(0.0));
        assert!(!is_integral(1.5) && !is_integral(1e16) && !is_integral(1e-12));
    }
}
