//! `string.format()` of cel-go's string extension library, version 2 (`ext/formatting.go`), in the locale `en_US`: `%f`
//! groups digits; `%e` prints `1.5×10⁰³` and treats its precision as a width.

use crate::value::{Error, Fuel, Value};
use crdx_value::GoError;
use crdx_value::quote::go_quote;
use crdx_value::sort::sort_by;
use std::fmt::{Display, Write as _};

/// A clause of a format string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clause {
    /// `%s`
    String,
    /// `%d`
    Decimal,
    /// `%f` with its precision.
    Fixed(u64),
    /// `%e` with its precision.
    Scientific(u64),
    /// `%b`
    Binary,
    /// `%x`, or `%X` if true.
    Hex(bool),
    /// `%o`
    Octal,
}

/// A piece of a format string: literal text or a clause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'f> {
    /// Literal text.
    Text(&'f str),
    /// A clause, which consumes the next argument.
    Clause(Clause),
}

/// Splits a format string into pieces. Like the server, it checks for a missing argument before it parses a clause.
pub struct Pieces<'f> {
    rest: &'f str,
    arguments: usize,
    taken: usize,
}

impl<'f> Pieces<'f> {
    /// Splits `format` for a call with this number of arguments.
    pub fn new(format: &'f str, arguments: usize) -> Self {
        Self { rest: format, arguments, taken: 0 }
    }

    /// The number of arguments consumed so far.
    pub fn taken(&self) -> usize {
        self.taken
    }

    fn clause(&mut self) -> Result<Clause, GoError> {
        let rest = self.rest.strip_prefix('%').unwrap_or(self.rest);
        if self.taken >= self.arguments {
            return Err(format!("index {} out of range", self.taken).into());
        }
        if rest.is_empty() {
            return Err("unexpected end of string".into());
        }
        self.taken += 1;
        let (precision, rest) = precision(rest).map_err(|reason| invalid_clause(&reason))?;
        let clause = match rest.bytes().next() {
            Some(b's') => Clause::String,
            Some(b'd') => Clause::Decimal,
            Some(b'f') => Clause::Fixed(precision),
            Some(b'e') => Clause::Scientific(precision),
            Some(b'b') => Clause::Binary,
            Some(b'x') => Clause::Hex(false),
            Some(b'X') => Clause::Hex(true),
            Some(b'o') => Clause::Octal,
            // Go indexes strings by byte.
            other => {
                let shown = char::from(other.unwrap_or(0));
                return Err(invalid_clause(&format_args!("unrecognized formatting clause \"{shown}\"")));
            }
        };
        self.rest = rest.get(1..).unwrap_or_default();
        Ok(clause)
    }
}

fn invalid_clause(reason: &dyn Display) -> GoError {
    format!("could not parse formatting clause: {reason}").into()
}

impl<'f> Iterator for Pieces<'f> {
    type Item = Result<Piece<'f>, GoError>;
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        if let Some(rest) = self.rest.strip_prefix("%%") {
            self.rest = rest;
            return Some(Ok(Piece::Text("%")));
        }
        if self.rest.starts_with('%') {
            let clause = self.clause().map(Piece::Clause);
            if clause.is_err() {
                self.rest = "";
            }
            return Some(clause);
        }
        let end = self.rest.find('%').unwrap_or(self.rest.len());
        let (text, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(Ok(Piece::Text(text)))
    }
}

fn precision(text: &str) -> Result<(u64, &str), GoError> {
    let Some(rest) = text.strip_prefix('.') else {
        return Ok((6, text));
    };
    let failed = |reason: String| format!("error while parsing precision: {reason}");
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .ok_or_else(|| failed("could not find end of precision specifier".to_owned()))?;
    let (digits, rest) = rest.split_at_checked(end).unwrap_or(("", rest));
    if let Ok(precision) = digits.parse::<i64>() {
        return Ok((precision.unsigned_abs(), rest));
    }
    let reason = if digits.is_empty() { "invalid syntax" } else { "value out of range" };
    let quoted = go_quote(digits);
    Err(failed(format!("error while converting precision to integer: strconv.Atoi: parsing {quoted}: {reason}")).into())
}

impl Clause {
    /// The error for an argument of an unsupported type.
    pub fn refusal(self, type_name: &str) -> String {
        let rule = match self {
            Self::String => {
                "string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps"
            }
            Self::Decimal => "decimal clause can only be used on integers",
            Self::Fixed(_) => "fixed-point clause can only be used on doubles",
            Self::Scientific(_) => "scientific clause can only be used on doubles",
            Self::Binary => "only integers and bools can be formatted as binary",
            Self::Hex(_) => "only integers, byte buffers, and strings can be formatted as hex",
            Self::Octal => "octal clause can only be used on integers",
        };
        format!("{rule}, was given {type_name}")
    }

    fn apply(self, value: &Value<'_>, times: &str, fuel: &Fuel) -> Result<String, FormatError> {
        match (self, value) {
            (Self::String, _) => string(value, fuel),
            (Self::Decimal, Value::Int(i)) => Ok(i.to_string()),
            (Self::Decimal, Value::Uint(u)) => Ok(u.to_string()),
            (Self::Fixed(precision), _) => {
                double(value).map(|d| fixed(d, precision)).ok_or_else(|| self.refused(value))
            }
            (Self::Scientific(width), _) => {
                double(value).map(|d| scientific(d, width, times)).ok_or_else(|| self.refused(value))
            }
            (Self::Binary, Value::Int(i)) => Ok(signed(*i, |u| format!("{u:b}"))),
            (Self::Binary, Value::Uint(u)) => Ok(format!("{u:b}")),
            (Self::Binary, Value::Bool(b)) => Ok(u8::from(*b).to_string()),
            (Self::Octal, Value::Int(i)) => Ok(signed(*i, |u| format!("{u:o}"))),
            (Self::Octal, Value::Uint(u)) => Ok(format!("{u:o}")),
            (Self::Hex(upper), _) => {
                let text = match value {
                    Value::Int(i) => signed(*i, |u| format!("{u:x}")),
                    Value::Uint(u) => format!("{u:x}"),
                    Value::String(s) => hex(s.as_bytes()),
                    Value::Bytes(b) => hex(b),
                    _ => return Err(self.refused(value)),
                };
                Ok(if upper { text.to_uppercase() } else { text })
            }
            _ => Err(self.refused(value)),
        }
    }

    fn refused(self, value: &Value<'_>) -> FormatError {
        FormatError::Unformattable(self.refusal(value.type_name()))
    }
}

fn signed(i: i64, show: impl Fn(u64) -> String) -> String {
    let text = show(i.unsigned_abs());
    if i < 0 { format!("-{text}") } else { text }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut out, b| {
        let _ = write!(out, "{b:02x}");
        out
    })
}

/// The double value of an argument: a double, or one of the strings `NaN`, `Infinity` and `-Infinity`.
fn double(value: &Value<'_>) -> Option<f64> {
    match value {
        Value::Double(d) => Some(*d),
        Value::String(s) => match &**s {
            "NaN" => Some(f64::NAN),
            "Infinity" => Some(f64::INFINITY),
            "-Infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

/// The output of Go's locale-aware printer for a number with an invalid precision.
const BAD_PRECISION: &str = "%!(NOVERB)";

fn is_bad(precision: u64) -> bool {
    precision / 10 > 1_000_000
}

fn special(d: f64) -> Option<&'static str> {
    if d.is_nan() {
        Some("NaN")
    } else if d.is_infinite() {
        Some(if d > 0.0 { "∞" } else { "-∞" })
    } else {
        None
    }
}

fn fixed(d: f64, precision: u64) -> String {
    if is_bad(precision) {
        return BAD_PRECISION.to_owned();
    }
    if let Some(text) = special(d) {
        return text.to_owned();
    }
    // The printer uses the lowest eight bits of the precision; a multiple of 256 other than 0 means as many digits as
    // necessary.
    let text = match (precision & 0xff) as usize {
        0 if precision > 0 => format!("{}", d.abs()),
        precision => format!("{:.precision$}", d.abs()),
    };
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::with_capacity(text.len() * 4 / 3 + 1);
    // Zero has no sign, but a negative number that rounds to zero does.
    if d < 0.0 {
        out.push('-');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn scientific(d: f64, width: u64, times: &str) -> String {
    if is_bad(width) {
        return BAD_PRECISION.to_owned();
    }
    let width = (width & 0xffff) as usize;
    if let Some(text) = special(d) {
        return format!("{text:>width$}");
    }
    let text = format!("{:.6e}", d.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (sign, digits) = match exponent.strip_prefix('-') {
        Some(digits) => ("⁻", digits),
        None => ("", exponent),
    };
    let raised: String = format!("{digits:0>2}")
        .chars()
        .map(|c| match c {
            '1' => '¹',
            '2' => '²',
            '3' => '³',
            '4' => '⁴',
            '5' => '⁵',
            '6' => '⁶',
            '7' => '⁷',
            '8' => '⁸',
            '9' => '⁹',
            _ => '⁰',
        })
        .collect();
    let text = format!("{}{mantissa}{times}10{sign}{raised}", if d < 0.0 { "-" } else { "" });
    format!("{text:>width$}")
}

/// `%s`
fn string(value: &Value<'_>, fuel: &Fuel) -> Result<String, FormatError> {
    // The text is copied once per level of nesting.
    let written = |text: &str| fuel.write(text.len());
    match value {
        Value::List(list) => {
            let mut out = String::from("[");
            for (i, item) in list.iter().enumerate() {
                if i > 0 {
                    out.push_str(", ");
                }
                out.push_str(&literal(&item.map_err(|e| e.to_string())?, fuel)?);
            }
            out.push(']');
            written(&out)?;
            Ok(out)
        }
        Value::Map(map) => {
            let mut entries = Vec::with_capacity(map.len());
            for key in map.keys() {
                let value = map.find(&key);
                let key = match key {
                    Value::String(s) => go_quote(&s),
                    Value::Bool(b) => b.to_string(),
                    Value::Int(i) => i.to_string(),
                    Value::Uint(u) => u.to_string(),
                    other => {
                        return Err(format!("no formatting function for map key of type {}", other.type_name()).into());
                    }
                };
                let value = value.ok_or_else(|| format!("could not find key: {key}"))?.map_err(|e| e.to_string())?;
                entries.push((key, literal(&value, fuel)?));
            }
            sort_by(&mut entries, |(a, _), (b, _)| a.cmp(b));
            let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key}:{value}")).collect();
            let out = format!("{{{}}}", entries.join(", "));
            written(&out)?;
            Ok(out)
        }
        Value::Optional(_) | Value::Opaque(_) => Err(Clause::String.refused(value)),
        _ => value
            .to_text()
            .map(|text| text.to_string())
            .map_err(|e| format!("could not convert argument {} to string", go_quote(&e.to_string())).into()),
    }
}

/// Formats an element of a list or map as a CEL literal.
fn literal(value: &Value<'_>, fuel: &Fuel) -> Result<String, FormatError> {
    fuel.visit()?;
    match value {
        Value::String(s) => {
            fuel.write(s.len())?;
            Ok(go_quote(s))
        }
        Value::Bytes(_) => string(value, fuel).map(|text| format!("b{}", go_quote(&text))),
        Value::Double(d) if d.is_finite() => Ok(format!("{d:.6}")),
        Value::Double(d) => Ok(go_quote(&crdx_value::number::format_v(*d))),
        Value::Timestamp(t) => Ok(format!("timestamp({})", go_quote(&t.to_text()))),
        Value::Duration(d) => Ok(format!("duration({})", go_quote(&d.to_text()))),
        Value::Optional(_) | Value::Opaque(_) => {
            Err(FormatError::Unformattable(format!("no formatting function for {}", value.type_name())))
        }
        _ => string(value, fuel),
    }
}

/// The reason why a value cannot be formatted.
enum FormatError {
    /// The evaluation ended.
    Fatal(Error),
    /// The value has no such format; the message of cel-go.
    Unformattable(String),
}

impl From<String> for FormatError {
    fn from(message: String) -> Self {
        Self::Unformattable(message)
    }
}

impl From<Error> for FormatError {
    fn from(error: Error) -> Self {
        Self::Fatal(error)
    }
}

/// `format.format(arguments)`
pub(super) fn format<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    format_with(args, "×", fuel)
}

/// `format` before 1.33, whose text library put narrow spaces around the multiplication sign of `%e`.
pub(super) fn format_with_spaces<'a>(args: &[Value<'a>], fuel: &Fuel) -> Result<Value<'a>, Error> {
    format_with(args, "\u{202f}×\u{202f}", fuel)
}

/// Formats a string; `times` is the multiplication sign of `%e`.
fn format_with<'a>(args: &[Value<'a>], times: &str, fuel: &Fuel) -> Result<Value<'a>, Error> {
    let [Value::String(format), Value::List(arguments)] = args else {
        return Err(Error::no_such_overload());
    };
    let mut out = String::new();
    let mut pieces = Pieces::new(format, arguments.len());
    while let Some(piece) = pieces.next() {
        match piece.map_err(Error::new)? {
            Piece::Text(text) => out.push_str(text),
            Piece::Clause(clause) => {
                let argument = pieces.taken().checked_sub(1).and_then(|index| arguments.get(index));
                let argument = argument.ok_or_else(Error::no_such_overload)??;
                let text = clause.apply(&argument, times, fuel).map_err(|error| match error {
                    FormatError::Fatal(error) => error,
                    FormatError::Unformattable(message) => Error::new(format!("error during formatting: {message}")),
                })?;
                fuel.write(text.len())?;
                out.push_str(&text);
            }
        }
    }
    fuel.string(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f(text: &'static str, arguments: Vec<Value<'static>>) -> String {
        format(&[Value::string(text), Value::list(arguments)], &Fuel::default())
            .map_or_else(|e| e.to_string(), |v| v.as_str().unwrap_or_default().to_owned())
    }

    #[test]
    fn clauses_print_as_in_the_american_locale() {
        for (text, value, out) in [
            ("%.2f", Value::Double(2.675), "2.67"),
            ("%f", Value::Double(-1_234_567.891), "-1,234,567.891000"),
            ("%f", Value::Double(-0.0), "0.000000"),
            ("%.2f", Value::Double(-0.001), "-0.00"),
            ("%.256f", Value::Double(1.5), "1.5"),
            ("%.10000019f", Value::Double(1.5), "%!(NOVERB)"),
            ("%.2e", Value::Double(-1234.5678), "-1.234568×10⁰³"),
            ("%.20e", Value::Double(1e-7), "      1.000000×10⁻⁰⁷"),
            ("%e", Value::string("-Infinity"), "    -∞"),
            ("%b", Value::Int(-5), "-101"),
            ("%X", Value::string("hé"), "68C3A9"),
            ("%o", Value::Uint(8), "10"),
            ("%%%s", Value::Bool(true), "%true"),
            (
                "%s",
                Value::list(vec![Value::Double(1.0), Value::string("a\n"), Value::Double(f64::NAN), Value::Null]),
                "[1.000000, \"a\\n\", \"NaN\", null]",
            ),
        ] {
            assert_eq!(f(text, vec![value]), out, "{text}");
        }
    }

    #[test]
    fn errors_are_those_of_cel_go() {
        for (text, error) in [
            ("%", "unexpected end of string"),
            ("%z", "could not parse formatting clause: unrecognized formatting clause \"z\""),
            ("%é", "could not parse formatting clause: unrecognized formatting clause \"Ã\""),
            (
                "%.f",
                "could not parse formatting clause: error while parsing precision: error while converting precision to integer: strconv.Atoi: parsing \"\": invalid syntax",
            ),
            ("%d", "error during formatting: decimal clause can only be used on integers, was given string"),
            ("%f", "error during formatting: fixed-point clause can only be used on doubles, was given string"),
            ("%s%s", "index 1 out of range"),
        ] {
            assert_eq!(f(text, vec![Value::string("x")]), error);
        }
    }
}
