//! Time zones, from the database that Go embeds.

use crate::GoError;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use std::sync::LazyLock;

/// The time zone database is bundled with the program, so that results do not depend on the system.
static ZONES: LazyLock<TimeZoneDatabase> = LazyLock::new(TimeZoneDatabase::bundled);

/// Checks a name (`time.LoadLocation`).
///
/// # Errors
/// Returns Go's message for a name that is no time zone.
pub fn check(name: &str) -> Result<(), GoError> {
    offset(name, 0).map(drop)
}

/// The UTC offset of a time zone in seconds, at a time in seconds since 1970.
///
/// # Errors
/// Returns Go's message for a name that is no time zone.
pub fn offset(name: &str, unix: i64) -> Result<i64, GoError> {
    // The server's local time zone is UTC.
    if matches!(name, "" | "UTC" | "Local") {
        return Ok(0);
    }
    if name.contains("..") || name.starts_with(['/', '\\']) {
        return Err("time: invalid location name".into());
    }
    let unknown = || GoError::from(format!("unknown time zone {name}"));
    let zone: TimeZone = ZONES.get(name).map_err(|_| unknown())?;
    // Go looks up time zones as file names, so the names are case-sensitive.
    if zone.iana_name() != Some(name) {
        return Err(unknown());
    }
    // jiff's range ends one day before the maximum CEL timestamp; the UTC offset is the same on both days.
    let unix = unix.clamp(jiff::Timestamp::MIN.as_second(), jiff::Timestamp::MAX.as_second());
    let point = jiff::Timestamp::from_second(unix).map_err(|_| unknown())?;
    Ok(i64::from(zone.to_offset(point).seconds()))
}
