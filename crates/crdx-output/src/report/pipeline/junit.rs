//! JUnit XML for Jenkins, GitLab and others: one test case per object. The findings of a failed case are its failure,
//! the warnings of a passed case its output. Only elements and attributes of Jenkins' schema are used, so the class
//! name contains the file name, and the texts contain line numbers.

use super::{LeftOut, Totals};
use crate::markup::escaped;
use crate::report::case::{Case, Outcome};
use std::fmt::Write as _;

/// Formats the text after the cases. The counts at the beginning are those of all cases; the last case replaces those that
/// were left out, and fails if one of them does, because some programs count the elements.
pub fn tail(left_out: &LeftOut) -> String {
    let case = left_out.message().map_or_else(String::new, |message| {
        let message = escaped(&message);
        let result = match left_out.failed {
            0 => "<skipped/>".to_owned(),
            _ => format!("<failure message=\"{message}\" type=\"more\">{message}</failure>"),
        };
        format!("    <testcase name=\"{message}\" classname=\"kubectl-crdx\">\n      {result}\n    </testcase>\n")
    });
    case + "  </testsuite>\n</testsuites>\n"
}

/// Formats the opening elements with their counts.
pub fn head(totals: &Totals) -> String {
    let Totals { command, cases, failed, skipped, unknown, .. } = totals;
    let counts = format!("tests=\"{cases}\" failures=\"{failed}\" errors=\"{unknown}\"");
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <testsuites name=\"kubectl-crdx\" {counts}>\n  \
         <testsuite name=\"kubectl-crdx {command}\" {counts} skipped=\"{skipped}\">\n"
    )
}

/// Formats a case.
pub fn case(case: &Case) -> String {
    let source = escaped(&case.location.source);
    let mut text = format!("    <testcase name=\"{}\" classname=\"{source}\"", escaped(&case.subject));
    let first = case.findings.first();
    // The text of the element contains the remaining lines.
    let message = first.and_then(|finding| finding.message.lines().next()).map_or_else(String::new, escaped);
    let kind = first.map_or_else(String::new, |finding| escaped(&finding.rule));
    let lines = escaped(&case.lines());
    let inner = match &case.outcome {
        Outcome::Failed => format!("<failure message=\"{message}\" type=\"{kind}\">{lines}</failure>"),
        Outcome::CannotTell => format!("<error message=\"{message}\" type=\"{kind}\">{lines}</error>"),
        Outcome::Skipped(reason) => format!("<skipped message=\"{}\"/>", escaped(reason)),
        Outcome::Passed if lines.is_empty() => {
            text.push_str("/>\n");
            return text;
        }
        Outcome::Passed => format!("<system-out>{lines}</system-out>"),
    };
    let _ = write!(text, ">\n      {inner}\n    </testcase>\n");
    text
}
