//! Schedules of `CronJob`s (`github.com/robfig/cron/v3`, `parser.go`), with the messages of that parser.

use crdx_cel::library::check_time_zone;
use crdx_cel::value::Duration;
use crdx_value::GoError;
use crdx_value::quote::go_quote;

/// The range and the names of a field.
struct Bounds {
    min: u64,
    max: u64,
    names: &'static [&'static str],
    /// The number of the first name.
    first: u64,
}

const fn numbers(min: u64, max: u64) -> Bounds {
    Bounds { min, max, names: &[], first: 0 }
}

/// Minute, hour, day of the month, month and day of the week.
const FIELDS: [Bounds; 5] = [
    numbers(0, 59),
    numbers(0, 23),
    numbers(1, 31),
    Bounds {
        min: 1,
        max: 12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
        first: 1,
    },
    Bounds { min: 0, max: 6, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"], first: 0 },
];

const DESCRIPTORS: &[&str] = &["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/// Checks a schedule.
///
/// # Errors
/// Returns the parser's message.
pub fn check(schedule: &str) -> Result<(), GoError> {
    let mut rest = schedule;
    if schedule.starts_with("TZ=") || schedule.starts_with("CRON_TZ=") {
        let (_, zoned) = schedule.split_once('=').unwrap_or_default();
        let Some((zone, fields)) = zoned.split_once(' ') else {
            // The parser panics; the server reports this text.
            return Err(format!("invalid schedule format: {schedule}").into());
        };
        check_time_zone(zone).map_err(|error| format!("provided bad location {zone}: {error}"))?;
        rest = fields.trim();
    }
    if rest.starts_with('@') {
        return descriptor(rest);
    }
    let fields: Vec<&str> = rest.split_whitespace().collect();
    if fields.len() != FIELDS.len() {
        return Err(format!("expected exactly 5 fields, found {}: [{}]", fields.len(), fields.join(" ")).into());
    }
    fields.iter().zip(&FIELDS).try_for_each(|(field, bounds)| {
        field.split(',').filter(|range| !range.is_empty()).try_for_each(|range| check_range(range, bounds))
    })
}

fn descriptor(text: &str) -> Result<(), GoError> {
    if DESCRIPTORS.contains(&text) {
        return Ok(());
    }
    let Some(duration) = text.strip_prefix("@every ") else {
        return Err(format!("unrecognized descriptor: {text}").into());
    };
    match Duration::parse(duration) {
        Some(_) => Ok(()),
        None => Err(format!("failed to parse duration {text}: {}", duration_error(duration)).into()),
    }
}

/// The message of Go's `time.ParseDuration`
fn duration_error(text: &str) -> String {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let number = unsigned.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let starts_with_number = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    if !starts_with_number || unsigned.starts_with(". ") {
        format!("time: invalid duration {}", go_quote(text))
    } else if number.is_empty() {
        format!("time: missing unit in duration {}", go_quote(text))
    } else {
        let unit: String = number.chars().take_while(|c| *c != '.' && !c.is_ascii_digit()).collect();
        let is_known = matches!(unit.as_str(), "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h");
        if is_known {
            format!("time: invalid duration {}", go_quote(text))
        } else {
            format!("time: unknown unit {} in duration {}", go_quote(&unit), go_quote(text))
        }
    }
}

/// `getRange`: `number`, `number-number`, `*` and `?`, each with an optional `/step`
fn check_range(text: &str, bounds: &Bounds) -> Result<(), GoError> {
    let mut parts = text.split('/');
    let range = parts.next().unwrap_or_default();
    let (step, more) = (parts.next(), parts.next());
    let limits: Vec<&str> = range.split('-').collect();
    let (start, mut end) = match limits.as_slice() {
        [] | ["*" | "?", ..] => (bounds.min, bounds.max),
        [only] => {
            let start = number_or_name(only, bounds)?;
            (start, start)
        }
        [start, end] => (number_or_name(start, bounds)?, number_or_name(end, bounds)?),
        [start, ..] => {
            number_or_name(start, bounds)?;
            return Err(format!("too many hyphens: {text}").into());
        }
    };
    if more.is_some() {
        return Err(format!("too many slashes: {text}").into());
    }
    let step = match step {
        Some(step) => {
            let step = number(step)?;
            if limits.len() == 1 {
                end = bounds.max;
            }
            step
        }
        None => 1,
    };
    let (min, max) = (bounds.min, bounds.max);
    if start < min {
        Err(format!("beginning of range ({start}) below minimum ({min}): {text}").into())
    } else if end > max {
        Err(format!("end of range ({end}) above maximum ({max}): {text}").into())
    } else if start > end {
        Err(format!("beginning of range ({start}) beyond end of range ({end}): {text}").into())
    } else if step == 0 {
        Err(format!("step of range should be a positive number: {text}").into())
    } else {
        Ok(())
    }
}

fn number_or_name(text: &str, bounds: &Bounds) -> Result<u64, GoError> {
    let lowercase = text.to_lowercase();
    match (bounds.first..).zip(bounds.names).find(|(_, name)| **name == lowercase) {
        Some((number, _)) => Ok(number),
        None => number(text),
    }
}

fn number(text: &str) -> Result<u64, GoError> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    if let Ok(number) = text.parse::<i64>() {
        u64::try_from(number).map_err(|_| format!("negative number ({number}) not allowed: {text}").into())
    } else {
        let reason = if is_number { "value out of range" } else { "invalid syntax" };
        Err(format!("failed to parse int from {text}: strconv.Atoi: parsing {}: {reason}", go_quote(text)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schedules_have_five_fields_or_a_descriptor() {
        for valid in ["*/5 1-3,7 ? JAN-mar Sun", "@hourly", "@every 1h30m", "TZ=UTC 0 0 * * *", "0 0 1 1 0"] {
            assert_eq!(check(valid), Ok(()), "{valid}");
        }
        for (schedule, error) in [
            ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
            ("60 * * * *", "end of range (60) above maximum (59): 60"),
            ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
            ("5-1 * * * *", "beginning of range (5) beyond end of range (1): 5-1"),
            ("a * * * *", "failed to parse int from a: strconv.Atoi: parsing \"a\": invalid syntax"),
            ("*/0 * * * *", "step of range should be a positive number: */0"),
            ("@often", "unrecognized descriptor: @often"),
            ("TZ=Nowhere 0 0 * * *", "provided bad location Nowhere: unknown time zone Nowhere"),
        ] {
            assert_eq!(check(schedule), Err(error.into()));
        }
    }
}
