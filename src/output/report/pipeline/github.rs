//! Annotations of a GitHub workflow: one line a finding, at its file and line. What is fine is not in it; GitHub shows at
//! most ten errors and ten warnings of a step as annotations, the rest stands in its log.

use crate::output::report::case::{Case, Level};
use std::fmt::Write as _;

/// The annotations of a case.
pub fn case(case: &Case) -> String {
    let mut text = String::new();
    for finding in &case.findings {
        let command = match finding.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "notice",
        };
        let mut properties = Vec::new();
        let spot = &finding.spot;
        // What came on standard input is in no file that GitHub could show.
        if !spot.is_stdin() {
            properties.push(format!("file={}", property(&spot.source.replace('\\', "/"))));
            if spot.line > 0 {
                properties.push(format!("line={}", spot.line));
            }
            if spot.column > 0 {
                properties.push(format!("col={}", spot.column));
            }
        }
        properties.push(format!("title={}", property(&format!("{}: {}", case.subject, finding.rule))));
        let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        let message = escaped(&format!("{}{help}", finding.message));
        let _ = writeln!(text, "::{command} {}::{message}", properties.join(","));
    }
    text
}

/// As the toolkit of GitHub Actions escapes the message of a command.
fn escaped(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// As it escapes a property.
fn property(text: &str) -> String {
    escaped(text).replace(':', "%3A").replace(',', "%2C")
}
