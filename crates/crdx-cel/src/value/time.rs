//! Timestamps: parsing, formatting, ranges, and calendar fields in a time zone.

use super::Error;
use crdx_value::GoError;
use crdx_value::duration::Duration;
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
        self.plus(d.negate().ok_or_else(overflow)?)
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

pub(crate) fn overflow() -> Error {
    Error::new("integer overflow")
}

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
