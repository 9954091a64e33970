//! Every time zone in Go's `lib/time/zoneinfo.zip` (`tests/facts/time-zones.txt`), with the UTC offset that Go's `time`
//! computes at the beginning of January and July of four years.

use crdx_cel::library::overload;
use crdx_cel::value::{Fuel, Timestamp, Value};

const YEARS: [&str; 4] = ["1970", "1985", "2005", "2024"];

/// A field of a timestamp in a time zone.
fn part(id: &str, time: &str, zone: &str) -> Result<i64, String> {
    let time = Timestamp::parse(time).unwrap().unwrap();
    let call = overload(id).and_then(|o| o.call).unwrap();
    match call.compute(&[Value::Timestamp(time), Value::string(zone)], &Fuel::default()) {
        Ok(Value::Int(part)) => Ok(part),
        Ok(other) => Err(other.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn every_time_zone_of_go_is_known() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/facts/time-zones.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let (mut wrong, mut names) = (Vec::new(), 0);
    for line in text.lines() {
        let mut words = line.split(' ');
        let zone = words.next().unwrap();
        names += 1;
        let months = YEARS.iter().flat_map(|year| ["01", "07"].map(|month| format!("{year}-{month}-01T00:00:00Z")));
        for (time, offset) in months.zip(words) {
            let parts = ["timestamp_to_hours_with_tz", "timestamp_to_minutes_with_tz", "timestamp_to_seconds_tz"];
            let clock = parts.map(|id| part(id, &time, zone));
            let expected = offset.parse::<i64>().unwrap().rem_euclid(86_400);
            match clock {
                [Ok(h), Ok(m), Ok(s)] if h * 3600 + m * 60 + s == expected => {}
                other => wrong.push(format!("{zone} {time}: {other:?}, expected {expected} s")),
            }
        }
        let other_case = zone.to_ascii_lowercase();
        if other_case != zone && part("timestamp_to_hours_with_tz", "2024-01-01T00:00:00Z", &other_case).is_ok() {
            wrong.push(format!("{other_case} is known"));
        }
    }
    assert_eq!(names, 598);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
