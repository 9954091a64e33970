//! The parts of timestamps, in UTC or a time zone, and of durations.

use super::{Overload, Price};
use crate::cel::value::{Duration, Error, Value, time::Clock};
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::sync::LazyLock;

/// The overloads.
pub const FUNCTIONS: &[Overload] = &[
    Overload::member("getFullYear", "timestamp_to_year", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.year)
    }),
    Overload::member("getFullYear", "timestamp_to_year_with_tz", "(timestamp, string) -> int", Price::One, |args| {
        part(args, |c| c.year)
    }),
    Overload::member("getMonth", "timestamp_to_month", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.month - 1)
    }),
    Overload::member("getMonth", "timestamp_to_month_with_tz", "(timestamp, string) -> int", Price::One, |args| {
        part(args, |c| c.month - 1)
    }),
    Overload::member("getDayOfYear", "timestamp_to_day_of_year", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.day_of_year)
    }),
    Overload::member(
        "getDayOfYear",
        "timestamp_to_day_of_year_with_tz",
        "(timestamp, string) -> int",
        Price::One,
        |args| part(args, |c| c.day_of_year),
    ),
    Overload::member("getDayOfMonth", "timestamp_to_day_of_month", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.day - 1)
    }),
    Overload::member(
        "getDayOfMonth",
        "timestamp_to_day_of_month_with_tz",
        "(timestamp, string) -> int",
        Price::One,
        |args| part(args, |c| c.day - 1),
    ),
    Overload::member("getDate", "timestamp_to_day_of_month_1_based", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.day)
    }),
    Overload::member(
        "getDate",
        "timestamp_to_day_of_month_1_based_with_tz",
        "(timestamp, string) -> int",
        Price::One,
        |args| part(args, |c| c.day),
    ),
    Overload::member("getDayOfWeek", "timestamp_to_day_of_week", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.weekday)
    }),
    Overload::member(
        "getDayOfWeek",
        "timestamp_to_day_of_week_with_tz",
        "(timestamp, string) -> int",
        Price::One,
        |args| part(args, |c| c.weekday),
    ),
    Overload::member("getHours", "timestamp_to_hours", "(timestamp) -> int", Price::One, |args| part(args, |c| c.hour)),
    Overload::member("getHours", "timestamp_to_hours_with_tz", "(timestamp, string) -> int", Price::One, |args| {
        part(args, |c| c.hour)
    }),
    Overload::member("getHours", "duration_to_hours", "(duration) -> int", Price::One, |args| {
        span(args, |d| d.whole(3_600_000_000_000))
    }),
    Overload::member("getMinutes", "timestamp_to_minutes", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.minute)
    }),
    Overload::member("getMinutes", "timestamp_to_minutes_with_tz", "(timestamp, string) -> int", Price::One, |args| {
        part(args, |c| c.minute)
    }),
    Overload::member("getMinutes", "duration_to_minutes", "(duration) -> int", Price::One, |args| {
        span(args, |d| d.whole(60_000_000_000))
    }),
    Overload::member("getSeconds", "timestamp_to_seconds", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.second)
    }),
    Overload::member("getSeconds", "timestamp_to_seconds_tz", "(timestamp, string) -> int", Price::One, |args| {
        part(args, |c| c.second)
    }),
    Overload::member("getSeconds", "duration_to_seconds", "(duration) -> int", Price::One, |args| {
        span(args, |d| d.whole(1_000_000_000))
    }),
    Overload::member("getMilliseconds", "timestamp_to_milliseconds", "(timestamp) -> int", Price::One, |args| {
        part(args, |c| c.millisecond)
    }),
    Overload::member(
        "getMilliseconds",
        "timestamp_to_milliseconds_with_tz",
        "(timestamp, string) -> int",
        Price::One,
        |args| part(args, |c| c.millisecond),
    ),
    Overload::member("getMilliseconds", "duration_to_milliseconds", "(duration) -> int", Price::One, |args| {
        span(args, |d| d.0 / 1_000_000)
    }),
];

fn part<'a>(args: &[Value<'a>], part: fn(Clock) -> i64) -> Result<Value<'a>, Error> {
    match args {
        [Value::Timestamp(t)] => Ok(Value::Int(part(t.clock(0)))),
        [Value::Timestamp(t), Value::String(zone)] => Ok(Value::Int(part(t.clock(offset(zone, t.unix())?)))),
        _ => Err(Error::no_such_overload()),
    }
}

fn span<'a>(args: &[Value<'a>], part: fn(Duration) -> i64) -> Result<Value<'a>, Error> {
    match args {
        [Value::Duration(d)] => Ok(Value::Int(part(*d))),
        _ => Err(Error::no_such_overload()),
    }
}

/// Time zones come with the program: what is installed where it runs must not change its answers.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// The seconds `zone`, a name or `±hh:mm`, is ahead of UTC at a point in time.
fn offset(zone: &str, unix: i64) -> Result<i64, Error> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return named_offset(zone, unix);
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let minutes = if zone.starts_with('-') { -minutes } else { minutes };
    Ok(hours.wrapping_mul(60).wrapping_add(minutes).wrapping_mul(60).clamp(-OFFSET_LIMIT, OFFSET_LIMIT))
}

/// No clock face needs more; the server wraps around.
const OFFSET_LIMIT: i64 = 1 << 40;

/// `strconv.Atoi`
fn number(text: &str) -> Result<i64, Error> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let why = if is_number { "value out of range" } else { "invalid syntax" };
        Error::new(format!("strconv.Atoi: parsing {}: {why}", crate::value::quote::go_quote(text)))
    })
}

fn named_offset(name: &str, unix: i64) -> Result<i64, Error> {
    // The server's own zone is UTC.
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(0);
    }
    if name.contains("..") || name.starts_with(['/', '\\']) {
        return Err(Error::new("time: invalid location name"));
    }
    let unknown = || Error::new(format!("unknown time zone {name}"));
    let zone: TimeZone = ZONES.get(name).map_err(|_| unknown())?;
    // Names are files to Go: case counts.
    if zone.iana_name() != Some(name) {
        return Err(unknown());
    }
    let point = jiff::Timestamp::from_second(unix).map_err(|_| unknown())?;
    Ok(i64::from(zone.to_offset(point).seconds()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cel::{library::overload, value::Timestamp};

    fn hours(zone: &str) -> String {
        let t = Timestamp::parse("2024-07-01T12:30:00Z").and_then(Result::ok).expect("reads");
        let call = overload("timestamp_to_hours_with_tz").and_then(|o| o.call).expect("exists");
        call(&[Value::Timestamp(t), Value::string(zone)]).map_or_else(|e| e.to_string(), |v| v.to_string())
    }

    #[test]
    fn zones_are_those_of_go() {
        assert_eq!(hours("America/New_York"), "8");
        assert_eq!(hours("Europe/Berlin"), "14");
        assert_eq!(hours("-05:30"), "7");
        assert_eq!(hours("+14:00"), "2");
        assert_eq!(hours("EST"), "7");
        assert_eq!(hours("america/new_york"), "unknown time zone america/new_york");
        assert_eq!(hours("../etc"), "time: invalid location name");
        assert_eq!(hours("a:1"), "strconv.Atoi: parsing \"a\": invalid syntax");
    }
}
