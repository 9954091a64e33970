//! Formats durations for humans (`k8s.io/apimachinery/pkg/util/duration`).

use crate::time::Timestamp;

const SECOND: i64 = 1_000_000_000;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// The age of a timestamp in a table; `<unknown>` for a missing or zero timestamp.
pub fn age(since: Option<Timestamp>, now: Timestamp) -> String {
    match since {
        Some(since) if !since.is_zero() => human(between(since, now)),
        _ => "<unknown>".to_owned(),
    }
}

/// Nanoseconds between two timestamps, limited to Go's maximum duration (292 years).
fn between(from: Timestamp, to: Timestamp) -> i64 {
    let seconds = i128::from(to.seconds) - i128::from(from.seconds);
    let nanos = seconds * i128::from(SECOND) + i128::from(to.nanos) - i128::from(from.nanos);
    i64::try_from(nanos).unwrap_or(if nanos < 0 { i64::MIN } else { i64::MAX })
}

/// `HumanDuration`: two to three significant figures (`5m30s`, `3h`, `2d5h`, `4y10d`). Up to two seconds in the future
/// are formatted as `0s`.
pub fn human(nanos: i64) -> String {
    let seconds = nanos / SECOND;
    let pair = |large: i64, unit: char, small: i64, small_unit: char| {
        if small == 0 { format!("{large}{unit}") } else { format!("{large}{unit}{small}{small_unit}") }
    };
    let (minutes, hours, days) = (seconds / 60, seconds / HOUR, seconds / DAY);
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => pair(minutes, 'm', seconds % 60, 's'),
        600..10_800 => format!("{minutes}m"),
        _ if hours < 8 => pair(hours, 'h', minutes % 60, 'm'),
        _ if hours < 48 => format!("{hours}h"),
        _ if days < 8 => pair(days, 'd', hours % 24, 'h'),
        _ if days < 2 * 365 => format!("{days}d"),
        _ if days < 8 * 365 => pair(days / 365, 'y', days % 365, 'd'),
        _ => format!("{}y", days / 365),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_formatted_like_kubectl() {
        for (seconds, text) in [
            (-2, "<invalid>"),
            (-1, "0s"),
            (0, "0s"),
            (119, "119s"),
            (120, "2m"),
            (599, "9m59s"),
            (600, "10m"),
            (3 * HOUR - 1, "179m"),
            (3 * HOUR, "3h"),
            (3 * HOUR + 60, "3h1m"),
            (8 * HOUR + 60, "8h"),
            (2 * DAY - 1, "47h"),
            (2 * DAY, "2d"),
            (8 * DAY - 1, "7d23h"),
            (8 * DAY, "8d"),
            (2 * 365 * DAY, "2y"),
            (2 * 365 * DAY + DAY, "2y1d"),
            (8 * 365 * DAY, "8y"),
        ] {
            assert_eq!(human(seconds * SECOND), text);
        }
        assert_eq!(age(None, Timestamp::default()), "<unknown>");
    }
}
