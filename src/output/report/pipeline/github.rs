//! Annotations of a GitHub workflow: one line per finding, with its file and line; cases without findings are not
//! reported. GitHub shows at most ten errors and ten warnings per step as annotations and the rest in the log.

use crate::output::report::case::{Case, Level};
use std::fmt::Write as _;

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
        // GitHub cannot show a location in standard input.
        if !location.is_stdin() {
            properties.push(format!("file={}", property(&location.source.replace('\\', "/"))));
            if location.line > 0 {
                properties.push(format!("line={}", location.line));
            }
            if location.column > 0 {
                properties.push(format!("col={}", location.column));
            }
        }
        properties.push(format!("title={}", property(&format!("{}: {}", case.subject, finding.rule))));
        let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        let message = escaped(&format!("{}{help}", finding.message));
        let _ = writeln!(text, "::{command} {}::{message}", properties.join(","));
    }
    text
}

/// Escapes the message of a command as the GitHub Actions toolkit does.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of a command.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
