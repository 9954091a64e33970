//! Annotations of a GitHub workflow: one line per finding, with its file and line, and one per reason why objects
//! are skipped; other cases without findings are not reported. GitHub shows at most ten errors and ten warnings per step as annotations and the rest in the log.

use super::LeftOut;
use crate::printable;
use crate::report::case::{Case, Level};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// The maximum number of notices about skipped objects.
const MAX_NOTICES: usize = 20;

/// Formats the notices about skipped objects, given as kinds and reasons with the numbers of objects. Without them, a run that skips
/// everything would look like one that accepts everything. The last annotation says what was left out.
pub fn tail(skipped: &BTreeMap<(String, String), usize>, left_out: &LeftOut) -> String {
    let mut text = String::new();
    for ((kind, reason), count) in skipped.iter().take(MAX_NOTICES) {
        let objects = if *count == 1 { "1 object was".to_owned() } else { format!("{count} objects were") };
        let _ = writeln!(text, "::notice title=skipped::{}", escaped(&format!("{kind}: {objects} skipped: {reason}")));
    }
    if let Some(more) = skipped.len().checked_sub(MAX_NOTICES).filter(|more| *more > 0) {
        let _ =
            writeln!(text, "::notice title=skipped::objects were skipped of {more} more kinds or for other reasons");
    }
    if let Some(message) = left_out.message() {
        let command = if left_out.failed > 0 { "error" } else { "notice" };
        let _ = writeln!(text, "::{command} title=left out::{}", escaped(&message));
    }
    text
}

/// Formats the annotations of a case.
pub fn case(case: &Case) -> String {
    let mut text = String::new();
    for finding in &case.findings {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let mut properties = Vec::new();
        let location = &finding.location;
        let mut message = finding.text().into_owned();
        // GitHub cannot show a location in standard input.
        if let Some((file, is_exact)) = location.file() {
            let file = file.replace('\\', "/");
            properties.push(format!("file={}", property(file.strip_prefix("./").unwrap_or(&file))));
            if is_exact && location.line > 0 {
                properties.push(format!("line={}", location.line));
            }
            if is_exact && location.column > 0 {
                properties.push(format!("col={}", location.column));
            }
            if !is_exact {
                let _ = write!(message, "\nat {location}");
            }
        }
        properties.push(format!("title={}", property(&format!("{}: {}", case.subject, finding.rule))));
        let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        let message = escaped(&format!("{message}{help}"));
        let _ = writeln!(text, "::{command} {}::{message}", properties.join(","));
    }
    text
}

/// Escapes the message of a command as the GitHub Actions toolkit does. Line breaks are kept, other control characters are
/// made visible.
fn escaped(text: &str) -> String {
    let text = text.replace("\r\n", "\n");
    printable::text(&text).replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
