//! Timestamps in RFC 3339 format, and the dates and local times of string formats: parsed like
//! `time.Parse(time.RFC3339, …)` with its error messages, and formatted like `metav1.Time`.
//!
//! Go's parser is more lenient than the standard: it accepts a one-digit hour, and a comma before the fraction.

use super::number;
use crate::GoError;

/// A point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
    /// Nanoseconds within the second, 0 to 999,999,999.
    pub nanos: u32,
}

/// Go's zero time, at the beginning of year 1.
const ZERO_SECONDS: i64 = -62_135_596_800;

impl Timestamp {
    /// Returns true for Go's zero time, 0001-01-01T00:00:00Z.
    pub fn is_zero(self) -> bool {
        self.seconds == ZERO_SECONDS && self.nanos == 0
    }
}

const RFC3339: &str = "2006-01-02T15:04:05Z07:00";
/// `metav1.RFC3339Micro`
const MICRO: &str = "2006-01-02T15:04:05.000000Z07:00";
const LOCAL: &str = "2006-01-02T15:04:05";
const DATE: &str = "2006-01-02";

struct LayoutReader<'a> {
    layout: &'static str,
    whole: &'a str,
    rest: &'a str,
}

impl LayoutReader<'_> {
    fn mismatch(&self, layout_element: &str) -> GoError {
        let (whole, rest) = (quote(self.whole), quote(self.rest));
        format!("parsing time {whole} as {}: cannot parse {rest} as {}", quote(self.layout), quote(layout_element))
            .into()
    }
    fn failure(&self, message: &str) -> GoError {
        format!("parsing time {}{message}", quote(self.whole)).into()
    }
    fn byte(&self, at: usize) -> Option<u8> {
        self.rest.as_bytes().get(at).copied()
    }
    fn digit(&self, at: usize) -> Option<i64> {
        self.byte(at).filter(u8::is_ascii_digit).map(|b| i64::from(b - b'0'))
    }
    /// Advances by a number of bytes that are known to be ASCII.
    fn advance(&mut self, bytes: usize) -> Result<(), GoError> {
        self.rest = self.rest.get(bytes..).ok_or_else(|| self.mismatch(""))?;
        Ok(())
    }
    fn literal(&mut self, c: char) -> Result<(), GoError> {
        let mut text = [0; 4];
        self.rest = self.rest.strip_prefix(c).ok_or_else(|| self.mismatch(c.encode_utf8(&mut text)))?;
        Ok(())
    }
    fn two_digits(&mut self, element: &str) -> Result<i64, GoError> {
        let (Some(tens), Some(ones)) = (self.digit(0), self.digit(1)) else { return Err(self.mismatch(element)) };
        self.advance(2)?;
        Ok(tens * 10 + ones)
    }
    /// Parses an hour, for which Go accepts a single digit, too.
    fn hour(&mut self) -> Result<i64, GoError> {
        if let (Some(hour), None) = (self.digit(0), self.digit(1)) {
            self.advance(1)?;
            return Ok(hour);
        }
        self.two_digits("15")
    }
    fn year(&mut self) -> Result<i64, GoError> {
        let digits: Option<Vec<i64>> = (0..4).map(|i| self.digit(i)).collect();
        let year = digits.ok_or_else(|| self.mismatch("2006"))?.into_iter().fold(0, |n, d| n * 10 + d);
        self.advance(4)?;
        Ok(year)
    }
    fn fraction(&mut self) -> Result<u32, GoError> {
        if !matches!(self.byte(0), Some(b'.' | b',')) || self.digit(1).is_none() {
            return Ok(0);
        }
        let digits = (1..self.rest.len()).take_while(|i| self.digit(*i).is_some()).count();
        let mut nanos = 0;
        for i in 1..=9 {
            nanos = nanos * 10 + if i <= digits { self.digit(i).unwrap_or(0) as u32 } else { 0 };
        }
        self.advance(digits + 1)?;
        Ok(nanos)
    }
    /// Parses a separator and six digits, the first of which may be a sign because Go uses `atoi`.
    fn micros(&mut self) -> Result<u32, GoError> {
        const ELEMENT: &str = ".000000";
        let bytes = self.rest.as_bytes().get(..ELEMENT.len());
        let Some([b'.' | b',', sign, digits @ ..]) = bytes else { return Err(self.mismatch(ELEMENT)) };
        let (negative, first) = match sign {
            b'0'..=b'9' => (false, i64::from(sign - b'0')),
            b'+' | b'-' => (*sign == b'-', 0),
            _ => return Err(self.mismatch(ELEMENT)),
        };
        if !digits.iter().all(u8::is_ascii_digit) {
            return Err(self.mismatch(ELEMENT));
        }
        let micros = digits.iter().fold(first, |n, d| n * 10 + i64::from(d - b'0'));
        if negative && micros > 0 {
            return Err(self.failure(": fractional second out of range"));
        }
        self.advance(ELEMENT.len())?;
        Ok(micros as u32 * 1000)
    }
    fn zone(&mut self) -> Result<i64, GoError> {
        if let Some(rest) = self.rest.strip_prefix('Z') {
            self.rest = rest;
            return Ok(0);
        }
        if self.rest.len() < 6 || self.byte(3) != Some(b':') {
            return Err(self.mismatch("Z07:00"));
        }
        let two = |at| Some(self.digit(at)? * 10 + self.digit(at + 1)?);
        let (hour, minute) = (two(1), two(4));
        if hour.is_some_and(|h| h > 24) {
            return Err(self.failure(": time zone offset hour out of range"));
        }
        if hour.is_some() && minute.is_some_and(|m| m > 60) {
            return Err(self.failure(": time zone offset minute out of range"));
        }
        let offset = match (self.byte(0), hour, minute) {
            (Some(b'+'), Some(h), Some(m)) => (h * 60 + m) * 60,
            (Some(b'-'), Some(h), Some(m)) => -(h * 60 + m) * 60,
            _ => return Err(self.mismatch("Z07:00")),
        };
        self.advance(6)?;
        Ok(offset)
    }
}

/// Parses RFC 3339.
///
/// # Errors
/// Returns Go's message.
pub fn parse(text: &str) -> Result<Timestamp, GoError> {
    parse_with_offset(text).map(|(t, _)| t)
}

/// Like [`parse`], and also returns the UTC offset in seconds.
///
/// # Errors
/// Returns Go's message.
pub fn parse_with_offset(text: &str) -> Result<(Timestamp, i32), GoError> {
    read(text, RFC3339)
}

/// Parses RFC 3339 with exactly six fractional digits, like `metav1.MicroTime`.
///
/// # Errors
/// Returns Go's message.
pub fn parse_micro(text: &str) -> Result<Timestamp, GoError> {
    read(text, MICRO).map(|(t, _)| t)
}

/// Parses `2006-01-02T15:04:05`, without time zone.
///
/// # Errors
/// Returns Go's message.
pub fn parse_local(text: &str) -> Result<Timestamp, GoError> {
    read(text, LOCAL).map(|(t, _)| t)
}

/// Parses `2006-01-02`.
///
/// # Errors
/// Returns Go's message.
pub fn parse_date(text: &str) -> Result<Timestamp, GoError> {
    read(text, DATE).map(|(t, _)| t)
}

fn read(text: &str, layout: &'static str) -> Result<(Timestamp, i32), GoError> {
    let mut r = LayoutReader { layout, whole: text, rest: text };
    let year = r.year()?;
    r.literal('-')?;
    let month = r.two_digits("01")?;
    if !(1..=12).contains(&month) {
        return Err(r.failure(": month out of range"));
    }
    r.literal('-')?;
    let day = r.two_digits("02")?;
    let (mut hour, mut minute, mut second, mut nanos, mut offset) = (0, 0, 0, 0, 0);
    if layout != DATE {
        r.literal('T')?;
        hour = r.hour()?;
        if hour >= 24 {
            return Err(r.failure(": hour out of range"));
        }
        r.literal(':')?;
        minute = r.two_digits("04")?;
        if minute >= 60 {
            return Err(r.failure(": minute out of range"));
        }
        r.literal(':')?;
        second = r.two_digits("05")?;
        if second >= 60 {
            return Err(r.failure(": second out of range"));
        }
        nanos = if layout == MICRO { r.micros()? } else { r.fraction()? };
        if layout != LOCAL {
            offset = r.zone()?;
        }
    }
    if !r.rest.is_empty() {
        return Err(r.failure(&format!(": extra text: {}", quote(r.rest))));
    }
    if day < 1 || day > days_in(year, month) {
        return Err(r.failure(": day out of range"));
    }
    let seconds = days_from_civil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
    Ok((Timestamp { seconds, nanos }, offset as i32))
}

/// Formats a timestamp as `2006-01-02T15:04:05Z`, without fraction.
pub fn format(t: Timestamp) -> String {
    let (year, month, day) = civil_from_days(t.seconds.div_euclid(86_400));
    let second = t.seconds.rem_euclid(86_400);
    let mut out = String::with_capacity("2006-01-02T15:04:05Z".len());
    if year < 0 {
        out.push('-');
    }
    let year = year.abs();
    if year > 9999 {
        number::write_int(&mut out, year / 100);
    } else {
        write_two_digits(&mut out, year / 100);
    }
    write_two_digits(&mut out, year % 100);
    let rest = [('-', month), ('-', day), ('T', second / 3600), (':', second / 60 % 60), (':', second % 60)];
    for (separator, number) in rest {
        out.push(separator);
        write_two_digits(&mut out, number);
    }
    out.push('Z');
    out
}

/// Appends a number below 100.
fn write_two_digits(out: &mut String, number: i64) {
    let digit = |number: i64| char::from(b'0' + number as u8);
    out.push(digit(number / 10));
    out.push(digit(number % 10));
}

/// Formats a timestamp as `2006-01-02T15:04:05.000000Z`, like `metav1.MicroTime`.
pub fn format_micro(t: Timestamp) -> String {
    let text = format(t);
    format!("{}.{:06}Z", text.trim_end_matches('Z'), t.nanos / 1000)
}

/// Formats a timestamp as `Sun, 06 Nov 1994 08:49:37 UTC`, which is RFC 1123 in Go and the format of HTTP headers.
pub fn rfc_1123(seconds: i64) -> String {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_from_days(days);
    let name = |names: &[&'static str], at: i64| {
        usize::try_from(at).ok().and_then(|at| names.get(at).copied()).unwrap_or_default()
    };
    format!(
        "{}, {day:02} {} {year:04} {:02}:{:02}:{:02} UTC",
        name(&DAYS, days.rem_euclid(7)),
        name(&MONTHS, month - 1),
        rest / 3600,
        rest / 60 % 60,
        rest % 60
    )
}

/// The number of days in a month.
pub(crate) fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// The number of days since 1970-01-01 in the proleptic Gregorian calendar. Years start in March here, so that the leap
/// day is the last day.
pub fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The year, month and day at a number of days after 1970-01-01.
pub fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day_of_year - (153 * shifted + 2) / 5 + 1)
}

/// The quoting of Go's package `time`: bytes that are not ASCII, and control characters, are written as `\xNN`.
fn quote(s: &str) -> String {
    use std::fmt::Write as _;
    let mut out = String::from('"');
    for b in s.bytes() {
        match b {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(b));
            }
            b' '..=0x7f => out.push(char::from(b)),
            _ => {
                let _ = write!(out, "\\x{b:02x}");
            }
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes() {
        for (text, normal) in [
            ("2024-02-29T23:59:59Z", "2024-02-29T23:59:59Z"),
            ("2024-01-01T00:30:00+01:00", "2023-12-31T23:30:00Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("1969-12-31T1:02:03,5Z", "1969-12-31T01:02:03Z"),
            ("0000-01-01T00:00:00+01:00", "-0001-12-31T23:00:00Z"),
        ] {
            assert_eq!(parse(text).map(format), Ok(normal.to_owned()), "{text}");
        }
        assert_eq!(parse("1970-01-01T00:00:01.25Z"), Ok(Timestamp { seconds: 1, nanos: 250_000_000 }));
        assert!(parse("0001-01-01T00:00:00Z").is_ok_and(Timestamp::is_zero));
    }

    #[test]
    fn errors_are_those_of_go() {
        for (text, error) in [
            (
                "yesterday",
                r#"parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006""#,
            ),
            (
                "2024-1-01T00:00:00Z",
                r#"parsing time "2024-1-01T00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse "1-01T00:00:00Z" as "01""#,
            ),
            (
                "2024-01-01 00:00:00Z",
                r#"parsing time "2024-01-01 00:00:00Z" as "2006-01-02T15:04:05Z07:00": cannot parse " 00:00:00Z" as "T""#,
            ),
            ("2024-02-30T00:00:00Z", r#"parsing time "2024-02-30T00:00:00Z": day out of range"#),
            ("2024-13-30T00:00:00Z", r#"parsing time "2024-13-30T00:00:00Z": month out of range"#),
            (
                "2024-01-01T00:00:00",
                r#"parsing time "2024-01-01T00:00:00" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "Z07:00""#,
            ),
            ("2024-01-01T00:00:00Zé", r#"parsing time "2024-01-01T00:00:00Z\xc3\xa9": extra text: "\xc3\xa9""#),
        ] {
            assert_eq!(parse(text), Err(error.into()));
        }
    }

    #[test]
    fn micro_times_require_six_fractional_digits() {
        assert_eq!(parse_micro("1970-01-01T00:00:01.250000Z"), Ok(Timestamp { seconds: 1, nanos: 250_000_000 }));
        let layout = r#"as "2006-01-02T15:04:05.000000Z07:00": cannot parse"#;
        for (text, rest, element) in [
            ("1970-01-01T00:00:01Z", "Z", ".000000"),
            ("1970-01-01T00:00:01.12345Z", ".12345Z", ".000000"),
            ("1970-01-01T00:00:01.1234567Z", "7Z", "Z07:00"),
        ] {
            assert_eq!(
                parse_micro(text),
                Err(format!(r#"parsing time "{text}" {layout} "{rest}" as "{element}""#).into()),
                "{text}"
            );
        }
    }

    #[test]
    fn http_dates_are_formatted() {
        assert_eq!(rfc_1123(784_111_777), "Sun, 06 Nov 1994 08:49:37 UTC");
        assert_eq!(rfc_1123(0), "Thu, 01 Jan 1970 00:00:00 UTC");
    }
}
