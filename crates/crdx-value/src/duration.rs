//! Durations (`time.Duration`): parsing, formatting and arithmetic.

use crate::GoError;

const NANOS: i64 = 1_000_000_000;

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

impl Duration {
    /// The duration of a Protobuf message; the closest one if it is too long.
    pub fn of_message(seconds: i64, nanos: i64) -> Self {
        let total = i128::from(seconds) * i128::from(NANOS) + i128::from(nanos);
        Self(total.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    /// `-self`; `None` if it is too long.
    pub fn negate(self) -> Option<Self> {
        self.0.checked_neg().map(Self)
    }

    /// `self + other`; `None` if it is too long.
    pub fn plus(self, other: Self) -> Option<Self> {
        self.0.checked_add(other.0).map(Self)
    }

    /// `self - other`; `None` if it is too long.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }

    /// `time.ParseDuration` (`1h30m`, `-1.5s`, `0`); `None` if the text is invalid.
    pub fn parse(text: &str) -> Option<Self> {
        let (negative, mut rest) = match text.as_bytes().first()? {
            b'-' => (true, text.get(1..)?),
            b'+' => (false, text.get(1..)?),
            _ => (false, text),
        };
        if rest == "0" {
            return Some(Self(0));
        }
        if rest.is_empty() {
            return None;
        }
        let mut total = 0_u64;
        while !rest.is_empty() {
            let (whole, after) = digits(rest);
            let mut value = if whole.is_empty() { 0 } else { whole.parse::<u64>().ok().filter(|v| *v <= LIMIT)? };
            rest = after;
            let mut fraction = "";
            if let Some(after) = rest.strip_prefix('.') {
                (fraction, rest) = digits(after);
            }
            if whole.is_empty() && fraction.is_empty() {
                return None;
            }
            let end = rest.find(|c: char| c == '.' || c.is_ascii_digit()).unwrap_or(rest.len());
            let (name, after) = rest.split_at_checked(end)?;
            rest = after;
            let unit: u64 = match name {
                "ns" => 1,
                "us" | "µs" | "μs" => 1_000,
                "ms" => 1_000_000,
                "s" => 1_000_000_000,
                "m" => 60_000_000_000,
                "h" => 3_600_000_000_000,
                _ => return None,
            };
            value = value.checked_mul(unit).filter(|v| *v <= LIMIT)?;
            if !fraction.is_empty() {
                value += fraction_of(fraction, unit);
                if value > LIMIT {
                    return None;
                }
            }
            total = total.checked_add(value).filter(|t| *t <= LIMIT)?;
        }
        match (negative, total) {
            (true, LIMIT) => Some(Self(i64::MIN)),
            (true, total) => i64::try_from(total).ok().map(|t| Self(-t)),
            (false, total) => i64::try_from(total).ok().map(Self),
        }
    }

    /// The duration in seconds as a float.
    pub fn seconds(self) -> f64 {
        (self.0 / NANOS) as f64 + (self.0 % NANOS) as f64 / 1e9
    }

    /// The number of whole units, computed via a float as in Go.
    pub fn whole(self, unit_nanos: i64) -> i64 {
        let (whole, rest) = (self.0 / unit_nanos, self.0 % unit_nanos);
        (whole as f64 + rest as f64 / unit_nanos as f64) as i64
    }

    /// `string(self)`: `5400.5s`
    pub fn to_text(self) -> String {
        format!("{}s", self.seconds())
    }

    /// Go's format: `1h30m0.5s`
    pub fn to_go_text(self) -> String {
        let nanos = self.0.unsigned_abs();
        let sign = if self.0 < 0 { "-" } else { "" };
        let scaled = |unit: u64, digits: usize| {
            let fraction = format!("{:0digits$}", nanos % unit);
            let fraction = fraction.trim_end_matches('0');
            let whole = nanos / unit;
            if fraction.is_empty() { whole.to_string() } else { format!("{whole}.{fraction}") }
        };
        if nanos == 0 {
            return "0s".to_owned();
        }
        if nanos < 1_000 {
            return format!("{sign}{nanos}ns");
        }
        if nanos < 1_000_000 {
            return format!("{sign}{}µs", scaled(1_000, 3));
        }
        if nanos < 1_000_000_000 {
            return format!("{sign}{}ms", scaled(1_000_000, 6));
        }
        let minutes = nanos / 60_000_000_000;
        let rest = nanos % 60_000_000_000;
        let fraction = format!("{:09}", rest % 1_000_000_000);
        let fraction = fraction.trim_end_matches('0');
        let mut seconds = (rest / 1_000_000_000).to_string();
        if !fraction.is_empty() {
            seconds = format!("{seconds}.{fraction}");
        }
        match (minutes / 60, minutes % 60) {
            (0, 0) => format!("{sign}{seconds}s"),
            (0, m) => format!("{sign}{m}m{seconds}s"),
            (h, m) => format!("{sign}{h}h{m}m{seconds}s"),
        }
    }
}

/// One more than the maximum number of nanoseconds of a duration.
const LIMIT: u64 = 1 << 63;

fn digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Go's `float64(fraction) * (float64(unit) / scale)`.
fn fraction_of(fraction: &str, unit: u64) -> u64 {
    let (mut value, mut scale) = (0_u64, 1.0_f64);
    for digit in fraction.bytes().map(|b| u64::from(b - b'0')) {
        let Some(next) = value.checked_mul(10).and_then(|v| v.checked_add(digit)).filter(|v| *v < 1 << 63) else {
            break;
        };
        value = next;
        scale *= 10.0;
    }
    (value as f64 * (unit as f64 / scale)) as u64
}

/// Parses a string of format `duration` (`strfmt.ParseDuration`): a Go duration, or the sum of every `number unit`
/// found anywhere in the text.
///
/// # Errors
/// Returns the message of the server.
pub fn parse_format_duration(text: &str) -> Result<Duration, GoError> {
    if let Some(d) = Duration::parse(text) {
        return Ok(d);
    }
    let mut total = 0_i64;
    let mut found = false;
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (number, after) = digits(rest.get(start..).unwrap_or_default());
        let unit_text = after.trim_start_matches(['\t', '\n', '\u{c}', '\r', ' ']);
        let end = unit_text.find(|c: char| !(c.is_ascii_alphabetic() || c == 'µ')).unwrap_or(unit_text.len());
        let Some((unit, after_unit)) = unit_text.split_at_checked(end).filter(|(unit, _)| !unit.is_empty()) else {
            rest = after;
            continue;
        };
        rest = after_unit;
        let factor: i64 = number
            .parse()
            .map_err(|_| format!("strconv.Atoi: parsing {}: value out of range", crate::quote::go_quote(number)))?;
        let unit = unit.to_lowercase();
        for (names, nanos) in UNITS {
            for (i, name) in names.iter().enumerate() {
                if unit == *name || (i + 1 == names.len() && unit.starts_with(name)) {
                    found = true;
                    total = total.wrapping_add(factor.wrapping_mul(*nanos));
                }
            }
        }
    }
    if found { Ok(Duration(total)) } else { Err(format!("unable to parse {text} as duration").into()) }
}

const UNITS: &[(&[&str], i64)] = &[
    (&["ns", "nano"], 1),
    (&["us", "µs", "micro"], 1_000),
    (&["ms", "milli"], 1_000_000),
    (&["s", "sec"], NANOS),
    (&["m", "min"], 60 * NANOS),
    (&["h", "hr", "hour"], 3600 * NANOS),
    (&["d", "day"], 24 * 3600 * NANOS),
    (&["w", "wk", "week"], 7 * 24 * 3600 * NANOS),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed_and_formatted_like_go() {
        for (text, nanos, go, cel) in [
            ("1h30m0.5s", 5_400_500_000_000, "1h30m0.5s", "5400.5s"),
            ("-1.5s", -1_500_000_000, "-1.5s", "-1.5s"),
            ("0", 0, "0s", "0s"),
            (".5ms", 500_000, "500µs", "0.0005s"),
            ("1us", 1_000, "1µs", "0.000001s"),
            ("2562047h47m16.854775807s", i64::MAX, "2562047h47m16.854775807s", "9223372036.854776s"),
            ("-2562047h47m16.854775808s", i64::MIN, "-2562047h47m16.854775808s", "-9223372036.854776s"),
        ] {
            let d = Duration::parse(text);
            assert_eq!(d, Some(Duration(nanos)), "{text}");
            assert_eq!(d.map(Duration::to_go_text).as_deref(), Some(go));
            assert_eq!(d.map(Duration::to_text).as_deref(), Some(cel));
        }
        for bad in ["", "1", "1d", "h", "1h ", "-", ".s", "2562047h47m16.854775808s", "1 h"] {
            assert_eq!(Duration::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn format_durations_are_found_anywhere() {
        assert_eq!(parse_format_duration("P1D"), Ok(Duration(86_400 * NANOS)));
        assert_eq!(parse_format_duration("2 weeks"), Ok(Duration(14 * 86_400 * NANOS)));
        assert_eq!(parse_format_duration("1d12h"), Ok(Duration(36 * 3600 * NANOS)));
        assert!(parse_format_duration("5 hrx").is_err());
    }
}
