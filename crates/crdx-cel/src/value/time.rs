//! Timestamps and durations: parsing, formatting, ranges, and calendar fields in a time zone.

use super::Error;
use crdx_value::GoError;
use crdx_value::time as rfc3339;
use std::fmt::Write as _;

/// `0001-01-01T00:00:00Z`
const FIRST_SECOND: i64 = -62_135_596_800;
/// `9999-12-31T23:59:59Z`
const LAST_SECOND: i64 = 253_402_300_799;
const NANOS: i64 = 1_000_000_000;

/// A point in time, and the UTC offset it was written with, which only affects its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    seconds: i64,
    nanos: u32,
    offset: i32,
}

/// A duration in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(pub i64);

impl Timestamp {
    /// The timestamp `seconds` after the Unix epoch; an error outside the years 1 to 9999.
    pub(crate) fn from_unix(seconds: i64) -> Result<Self, Error> {
        Self::new(seconds, 0, 0)
    }

    fn new(seconds: i64, nanos: u32, offset: i32) -> Result<Self, Error> {
        if (FIRST_SECOND..=LAST_SECOND).contains(&seconds) {
            Ok(Self { seconds, nanos, offset })
        } else {
            Err(Error::new("timestamp overflow"))
        }
    }

    /// The time of a Protobuf message, whose range is not checked.
    pub fn of_message(seconds: i64, nanos: i64) -> Self {
        let seconds = seconds.wrapping_add(nanos.div_euclid(NANOS));
        Self { seconds, nanos: nanos.rem_euclid(NANOS) as u32, offset: 0 }
    }

    /// The text of `time.Time.String` in Go, such as `2020-02-29 12:00:00.5 +0000 UTC`.
    pub fn to_go_text(self) -> String {
        let text = self.to_text().replacen('T', " ", 1);
        match text.strip_suffix('Z') {
            Some(utc) => format!("{utc} +0000 UTC"),
            None => match text.len().checked_sub(6).and_then(|at| text.split_at_checked(at)) {
                Some((clock, zone)) => {
                    let zone = zone.replace(':', "");
                    format!("{clock} {zone} {zone}")
                }
                None => text,
            },
        }
    }

    /// `timestamp(text)`; `None` if it is not RFC 3339.
    pub fn parse(text: &str) -> Option<Result<Self, Error>> {
        let (t, offset) = rfc3339::parse_with_offset(text).ok()?;
        Some(Self::new(t.seconds, t.nanos, offset))
    }

    /// Seconds since the Unix epoch.
    pub fn unix(&self) -> i64 {
        self.seconds
    }

    /// Seconds and nanoseconds since the Unix epoch, for ordering.
    pub fn instant(&self) -> (i64, u32) {
        (self.seconds, self.nanos)
    }

    /// Returns true if both are the same instant, regardless of UTC offsets.
    pub(crate) fn is_same_instant(&self, other: &Self) -> bool {
        self.instant() == other.instant()
    }

    /// Returns true for Go's zero time.
    pub fn is_zero(&self) -> bool {
        self.instant() == (FIRST_SECOND, 0)
    }

    /// `self + d`
    pub fn plus(&self, d: Duration) -> Result<Self, Error> {
        let nanos = i128::from(self.seconds) * i128::from(NANOS) + i128::from(self.nanos) + i128::from(d.0);
        let seconds = nanos.div_euclid(i128::from(NANOS));
        Self::new(seconds as i64, nanos.rem_euclid(i128::from(NANOS)) as u32, self.offset)
    }

    /// `self - d`
    pub fn minus(&self, d: Duration) -> Result<Self, Error> {
        self.plus(d.negate()?)
    }

    /// `self - other`
    pub fn since(&self, other: &Self) -> Result<Duration, Error> {
        let (seconds, nanos) = (self.seconds - other.seconds, i64::from(self.nanos) - i64::from(other.nanos));
        seconds.checked_mul(NANOS).and_then(|s| s.checked_add(nanos)).map(Duration).ok_or_else(overflow)
    }

    /// The calendar fields at a UTC offset of `offset` seconds.
    pub fn clock(&self, offset: i64) -> Clock {
        let local = self.seconds + offset;
        let days = local.div_euclid(86_400);
        let (year, month, day) = rfc3339::civil_from_days(days);
        let second = local.rem_euclid(86_400);
        Clock {
            year,
            month,
            day,
            day_of_year: days - rfc3339::days_from_civil(year, 1, 1),
            // 1970-01-01 was a Thursday.
            weekday: (days + 4).rem_euclid(7),
            hour: second / 3600,
            minute: second / 60 % 60,
            second: second % 60,
            millisecond: i64::from(self.nanos) / 1_000_000,
        }
    }

    /// RFC 3339 with as many fractional digits as necessary, with the original UTC offset.
    pub fn to_text(self) -> String {
        self.format(self.offset)
    }

    /// Like [`Timestamp::to_text`], in UTC.
    pub fn to_utc_text(self) -> String {
        self.format(0)
    }

    fn format(self, offset: i32) -> String {
        let c = self.clock(i64::from(offset));
        let mut out =
            format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", c.year, c.month, c.day, c.hour, c.minute, c.second);
        if self.nanos != 0 {
            let digits = format!("{:09}", self.nanos);
            let _ = write!(out, ".{}", digits.trim_end_matches('0'));
        }
        if offset == 0 {
            out.push('Z');
        } else {
            let minutes = offset.abs() / 60;
            let _ = write!(out, "{}{:02}:{:02}", if offset < 0 { '-' } else { '+' }, minutes / 60, minutes % 60);
        }
        out
    }
}

/// Calendar date and time of day. Months and days of the month start at 1, days of the year and of the week at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Clock {
    pub year: i64,
    pub month: i64,
    pub day: i64,
    pub day_of_year: i64,
    pub weekday: i64,
    pub hour: i64,
    pub minute: i64,
    pub second: i64,
    pub millisecond: i64,
}

fn overflow() -> Error {
    Error::new("integer overflow")
}

impl Duration {
    /// The duration of a Protobuf message; the closest one if it is too long.
    pub fn of_message(seconds: i64, nanos: i64) -> Self {
        let total = i128::from(seconds) * i128::from(NANOS) + i128::from(nanos);
        Self(total.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64)
    }

    /// `-self`
    pub fn negate(self) -> Result<Self, Error> {
        self.0.checked_neg().map(Self).ok_or_else(overflow)
    }
    /// `self + other`
    pub fn plus(self, other: Self) -> Result<Self, Error> {
        self.0.checked_add(other.0).map(Self).ok_or_else(overflow)
    }
    /// `self - other`
    pub fn minus(self, other: Self) -> Result<Self, Error> {
        self.0.checked_sub(other.0).map(Self).ok_or_else(overflow)
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
        let factor: i64 = number.parse().map_err(|_| {
            format!("strconv.Atoi: parsing {}: value out of range", crdx_value::quote::go_quote(number))
        })?;
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

/// Parses a string of format `date`.
pub fn parse_date(text: &str) -> Result<Timestamp, GoError> {
    let t = rfc3339::parse_date(text)?;
    Ok(Timestamp { seconds: t.seconds, nanos: 0, offset: 0 })
}

/// Parses a string of format `date-time` (`strfmt.ParseDateTime`): RFC 3339, with or without a UTC offset.
pub(crate) fn parse_date_time(text: &str) -> Result<Timestamp, GoError> {
    if text.is_empty() {
        return Ok(Timestamp { seconds: 0, nanos: 0, offset: 0 });
    }
    if let Ok((t, offset)) = rfc3339::parse_with_offset(text) {
        return Ok(Timestamp { seconds: t.seconds, nanos: t.nanos, offset });
    }
    rfc3339::parse_local(text).map(|t| Timestamp { seconds: t.seconds, nanos: t.nanos, offset: 0 })
}

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

    #[test]
    fn timestamps_keep_their_zone_and_range() {
        let t = Timestamp::parse("2024-02-29T12:34:56.7890+05:30").and_then(Result::ok).expect("reads");
        assert_eq!(t.to_text(), "2024-02-29T12:34:56.789+05:30");
        assert_eq!(t.to_utc_text(), "2024-02-29T07:04:56.789Z");
        assert_eq!(t.to_go_text(), "2024-02-29 12:34:56.789 +0530 +0530");
        let utc = Timestamp::from_unix(0).expect("in range");
        assert_eq!(utc.to_go_text(), "1970-01-01 00:00:00 +0000 UTC");
        let c = t.clock(0);
        assert_eq!((c.day_of_year, c.weekday, c.millisecond), (59, 4, 789));
        assert!(t.plus(Duration(i64::MAX)).is_ok());
        let last = Timestamp::from_unix(LAST_SECOND).expect("in range");
        assert_eq!(last.plus(Duration(NANOS)), Err(Error::new("timestamp overflow")));
        let first = Timestamp::from_unix(FIRST_SECOND).expect("in range");
        assert_eq!(last.since(&first), Err(Error::new("integer overflow")));
    }
}
