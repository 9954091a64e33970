//! Validates numbers: bounds, multiples and formats (`kube-openapi/pkg/validation/validate/values.go`).
//!
//! Bounds are converted to the type of the number: for an int64, a fractional bound loses its fraction, so `multipleOf:
//! 0.1` with `type: number` and an integer value has the factor 0. A bound outside the range of the type is an error
//! for every value.

use super::report::{ErrorReporter, ValidationOutcome, ValuePath};
use crate::pipeline::compiled::{Checks, Type};
use crdx_value::field::BadValue;
use crdx_value::{Value, number};

/// The largest float up to which every integer has an exact float representation.
const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// `swag.IsFloat64AJSONInteger`: within 2^53 and, up to a tolerance, integral.
pub(crate) fn is_integral(x: f64) -> bool {
    if !(-MAX_SAFE..=MAX_SAFE).contains(&x) {
        return false;
    }
    let rounded = x.round();
    x == rounded || rounded != 0.0 && (x - rounded).abs() < 1e-9 * rounded.abs()
}

/// Returns true if an int64 is in the range of the schema's type and format.
fn int_fits(i: i64, checks: &Checks) -> bool {
    !checks.number_ranges
        || !checks.types.is_just(Type::Integer)
        || checks.format != "int32"
        || i32::try_from(i).is_ok()
}

/// Returns true if a float is in the range of the schema's type and format.
fn float_fits(x: f64, checks: &Checks) -> bool {
    if !checks.number_ranges {
        true
    } else if checks.types.is_just(Type::Integer) {
        let is_in_range = if checks.format == "int32" {
            (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&x)
        } else {
            // The digits of the smallest int64, -9223372036854776000, are out of range.
            x.abs() < i64::MAX as f64
        };
        x.fract() == 0.0 && is_in_range
    } else if checks.types.is_just(Type::Number) && checks.format == "float" {
        // The decimal digits are rounded, not the float64.
        format!("{x}").parse::<f32>().is_ok_and(f32::is_finite)
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
pub fn check(v: &Value, checks: &Checks, path: &ValuePath<'_>, report: &ErrorReporter, out: &mut ValidationOutcome) {
    out.passed += 1;
    let (int, float, fits) = match v {
        Value::Int(i) => (Some(*i), *i as f64, int_fits(*i, checks)),
        Value::Float(x) => (None, *x, float_fits(*x, checks)),
        _ => return,
    };
    if !fits {
        out.fail(report.unplaced(path, unfit("Checked", checks, path)));
    }
    // Converts a bound to the type of the value, or to a float if it is out of range for the schema's type.
    let native = |bound: f64, what: &str, out: &mut ValidationOutcome| {
        let fits = float_fits(bound, checks);
        if !fits {
            out.fail(report.unplaced(path, unfit(what, checks, path)));
        }
        int.filter(|_| fits).map(|i| (i, number::to_int64(bound)))
    };
    if let Some(factor) = checks.multiple_of {
        let (complaint, bad) = match native(factor, "MultipleOf", out) {
            Some((_, factor @ ..=0)) => (Some(not_positive(path, &factor.to_string())), Value::Int(factor)),
            Some((i, factor)) => ((i % factor != 0).then(|| not_multiple(path, &factor.to_string())), v.clone()),
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
    let outside = |native: Option<(i64, i64)>, bound: f64, relation: &str, out: &mut ValidationOutcome| {
        let (bound, bad) = match native {
            Some((_, bound)) => (bound.to_string(), v.clone()),
            None => (number::format_v(bound), Value::Float(float)),
        };
        out.fail(report.invalid(path, BadValue::Value(bad), format!("{path} in body should be {relation} {bound}")));
    };
    if let Some(max) = checks.maximum {
        let exclusive = checks.exclusive_maximum;
        let native = native(max, "Maximum boundary", out);
        let exceeds = match native {
            Some((i, max)) => i > max || exclusive && i == max,
            None => float > max || exclusive && float == max,
        };
        if exceeds {
            outside(native, max, if exclusive { "less than" } else { "less than or equal to" }, out);
        }
    }
    if let Some(min) = checks.minimum {
        let exclusive = checks.exclusive_minimum;
        let native = native(min, "Minimum boundary", out);
        let exceeds = match native {
            Some((i, min)) => i < min || exclusive && i == min,
            None => float < min || exclusive && float == min,
        };
        if exceeds {
            outside(native, min, if exclusive { "greater than" } else { "greater than or equal to" }, out);
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
    use crate::pipeline::testing::node;

    #[test]
    fn floats_are_in_range_if_their_digits_can_be_parsed() {
        let check = |schema: &str, can_be_parsed: fn(&str) -> bool| {
            let node = node(schema);
            for x in [0.0, -0.0, 1.5, 2_147_483_647.0, 2_147_483_648.0, -2_147_483_648.0, -2_147_483_649.0, 1e300] {
                for x in [x, x * 4_294_967_296.0] {
                    assert_eq!(float_fits(x, &node.checks), can_be_parsed(&format!("{x}")), "{schema} {x}");
                }
            }
        };
        check(r#"{"type":"integer","format":"int32"}"#, |digits| digits.parse::<i32>().is_ok());
        check(r#"{"type":"integer","format":"int64"}"#, |digits| digits.parse::<i64>().is_ok());
    }

    #[test]
    fn whole_floats_are_integers() {
        assert!(is_integral(3.0) && is_integral(-1e3) && is_integral(1.000_000_000_1) && is_integral(0.0));
        assert!(!is_integral(1.5) && !is_integral(1e16) && !is_integral(1e-12));
    }
}
