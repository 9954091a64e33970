//! Accessors for the fields of timestamps, in UTC or a time zone, and of durations.

use super::{CallCost, Function, Overload};
use crate::value::{Duration, Error, Value, time::Clock};
use crdx_value::time_zone;

pub(crate) const FUNCTIONS: &[Overload] = &[
    utc("getFullYear", "timestamp_to_year", year),
    zoned("getFullYear", "timestamp_to_year_with_tz", year),
    utc("getMonth", "timestamp_to_month", month),
    zoned("getMonth", "timestamp_to_month_with_tz", month),
    utc("getDayOfYear", "timestamp_to_day_of_year", day_of_year),
    zoned("getDayOfYear", "timestamp_to_day_of_year_with_tz", day_of_year),
    utc("getDayOfMonth", "timestamp_to_day_of_month", day_of_month),
    zoned("getDayOfMonth", "timestamp_to_day_of_month_with_tz", day_of_month),
    utc("getDate", "timestamp_to_day_of_month_1_based", date),
    zoned("getDate", "timestamp_to_day_of_month_1_based_with_tz", date),
    utc("getDayOfWeek", "timestamp_to_day_of_week", day_of_week),
    zoned("getDayOfWeek", "timestamp_to_day_of_week_with_tz", day_of_week),
    utc("getHours", "timestamp_to_hours", hours),
    zoned("getHours", "timestamp_to_hours_with_tz", hours),
    span("getHours", "duration_to_hours", hours),
    utc("getMinutes", "timestamp_to_minutes", minutes),
    zoned("getMinutes", "timestamp_to_minutes_with_tz", minutes),
    span("getMinutes", "duration_to_minutes", minutes),
    utc("getSeconds", "timestamp_to_seconds", seconds),
    zoned("getSeconds", "timestamp_to_seconds_tz", seconds),
    span("getSeconds", "duration_to_seconds", seconds),
    utc("getMilliseconds", "timestamp_to_milliseconds", milliseconds),
    zoned("getMilliseconds", "timestamp_to_milliseconds_with_tz", milliseconds),
    span("getMilliseconds", "duration_to_milliseconds", milliseconds),
];

const fn utc(function: &'static str, id: &'static str, call: Function) -> Overload {
    Overload::member(function, id, "(timestamp) -> int", CallCost::One, call)
}

/// An accessor with a time zone.
const fn zoned(function: &'static str, id: &'static str, call: Function) -> Overload {
    Overload::member(function, id, "(timestamp, string) -> int", CallCost::One, call)
}

const fn span(function: &'static str, id: &'static str, call: Function) -> Overload {
    Overload::member(function, id, "(duration) -> int", CallCost::One, call)
}

fn year<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    part(args, |c| c.year)
}

fn month<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    part(args, |c| c.month - 1)
}

fn day_of_year<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    part(args, |c| c.day_of_year)
}

fn day_of_month<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    part(args, |c| c.day - 1)
}

fn date<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    part(args, |c| c.day)
}

fn day_of_week<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    part(args, |c| c.weekday)
}

fn hours<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    whole(args, |d| d.whole(3_600_000_000_000)).unwrap_or_else(|| part(args, |c| c.hour))
}

fn minutes<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    whole(args, |d| d.whole(60_000_000_000)).unwrap_or_else(|| part(args, |c| c.minute))
}

fn seconds<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    whole(args, |d| d.whole(1_000_000_000)).unwrap_or_else(|| part(args, |c| c.second))
}

fn milliseconds<'a>(args: &[Value<'a>]) -> Result<Value<'a>, Error> {
    whole(args, |d| d.0 / 1_000_000).unwrap_or_else(|| part(args, |c| c.millisecond))
}

/// A field of a timestamp, in UTC or the given time zone.
fn part<'a>(args: &[Value<'a>], part: fn(Clock) -> i64) -> Result<Value<'a>, Error> {
    match args {
        [Value::Timestamp(t)] => Ok(Value::Int(part(t.clock(0)))),
        [Value::Timestamp(t), Value::String(zone)] => Ok(Value::Int(part(t.clock(offset(zone, t.unix())?)))),
        _ => Err(Error::no_such_overload()),
    }
}

/// A field of a duration; `None` if the argument is not a duration.
fn whole<'a>(args: &[Value<'a>], part: fn(Duration) -> i64) -> Option<Result<Value<'a>, Error>> {
    match args {
        [Value::Duration(d)] => Some(Ok(Value::Int(part(*d)))),
        _ => None,
    }
}

/// The UTC offset of `zone` (a name or `±hh:mm`) at a point in time, in seconds.
fn offset(zone: &str, unix: i64) -> Result<i64, Error> {
    let Some((hours, minutes)) = zone.split_once(':') else {
        return time_zone::offset(zone, unix).map_err(Error::new);
    };
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    // The functions of cel-go's standard library do not check the range of the minutes.
    let minutes = if zone.starts_with('-') { minutes.wrapping_neg() } else { minutes };
    // In Go, the offset is a duration, whose nanoseconds wrap around.
    Ok(hours.wrapping_mul(60).wrapping_add(minutes).wrapping_mul(60_000_000_000) / 1_000_000_000)
}

/// `strconv.Atoi`
fn number(text: &str) -> Result<i64, Error> {
    text.parse().map_err(|_| {
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
        let reason = if is_number { "value out of range" } else { "invalid syntax" };
        Error::new(format!("strconv.Atoi: parsing {}: {reason}", crdx_value::quote::go_quote(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        library::overload,
        value::{Fuel, Timestamp},
    };

    fn hours(zone: &str) -> String {
        let t = Timestamp::parse("2024-07-01T12:30:00Z").and_then(Result::ok).expect("reads");
        let call = overload("timestamp_to_hours_with_tz").and_then(|o| o.call).expect("exists");
        call.compute(&[Value::Timestamp(t), Value::string(zone)], &Fuel::default())
            .map_or_else(|e| e.to_string(), |v| v.to_string())
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
        assert_eq!(hours("+02:60"), "15");
        assert_eq!(hours("-02:99"), "8");
        assert_eq!(hours("+02:-31"), "13");
        assert_eq!(offset("+999999999999999999:0", 0), Ok(7_208_949_328));
        assert_eq!(hours("a:1"), "strconv.Atoi: parsing \"a\": invalid syntax");
    }

    #[test]
    fn zones_are_known_until_the_last_day() {
        let last = Timestamp::parse("9999-12-31T23:59:59Z").and_then(Result::ok).expect("reads");
        let call = overload("timestamp_to_year_with_tz").and_then(|o| o.call).expect("exists");
        let year = call.compute(&[Value::Timestamp(last), Value::string("Pacific/Kiritimati")], &Fuel::default());
        assert_eq!(year.map_or_else(|e| e.to_string(), |v| v.to_string()), "10000");
    }
}
