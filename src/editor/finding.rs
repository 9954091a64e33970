//! Turns the items of a file into findings with ranges: what `validate` prints below its table.

use super::text::Text;
use crate::output::excerpt::SourceLocation;
use crate::output::report::{Item, Problem, Verdict};
use std::ops::Range;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The server would reject the object.
    Error,
    /// The server would accept it with a warning, or `validate` warns.
    Warning,
    /// The server's response is unknown.
    Unknown,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The part of the text, in bytes.
    pub range: Range<usize>,
    /// The severity.
    pub severity: Severity,
    /// The server's reason, or a type of this program.
    pub kind: String,
    /// The message, followed by a suggestion on its own line.
    pub message: String,
    /// The text that probably belongs there.
    pub replacement: Option<String>,
}

/// The findings of a file.
pub fn findings(items: &[Item], text: &Text) -> Vec<Finding> {
    items.iter().flat_map(|item| of_item(item, text)).collect()
}

fn of_item(item: &Item, text: &Text) -> Vec<Finding> {
    let unknown = (item.verdict == Verdict::CannotTell).then(|| Finding {
        range: range(Some(&item.location), item, text),
        severity: Severity::Unknown,
        kind: "cannotTell".to_owned(),
        message: with_help(&item.reason, item.help.as_deref()),
        replacement: None,
    });
    let problem = |severity: Severity| {
        move |problem: &Problem| Finding {
            range: range(problem.location.as_ref(), item, text),
            severity,
            kind: problem.kind.clone(),
            message: with_help(&problem.message, problem.help.as_deref()),
            replacement: problem.replacement.clone(),
        }
    };
    let errors = item.errors.iter().chain(&item.hidden).map(problem(Severity::Error));
    // A rejection without field errors, such as a policy's.
    let whole = match &item.answer {
        Some(answer) if item.verdict == Verdict::Rejected && item.errors.is_empty() => Some(Finding {
            range: range(Some(&item.location), item, text),
            severity: Severity::Error,
            kind: answer.reason.clone(),
            message: answer.message.clone(),
            replacement: None,
        }),
        _ => None,
    };
    let warnings = item.warnings.iter().map(problem(Severity::Warning));
    unknown.into_iter().chain(errors).chain(whole).chain(warnings).collect()
}

fn with_help(message: &str, help: Option<&str>) -> String {
    help.map_or_else(|| message.to_owned(), |help| format!("{message}\nhelp: {help}"))
}

/// The marked part of the line, or what follows the position on it.
fn range(location: Option<&SourceLocation>, item: &Item, text: &Text) -> Range<usize> {
    let location = location.unwrap_or(&item.location);
    let start = text.offset_of(location.line, location.column);
    let part = location.excerpt.as_ref().and_then(|excerpt| excerpt.line.get(excerpt.part.clone()));
    let rest = text.content().get(start..).unwrap_or_default();
    let rest_of_line = rest.find(['\n', '\r']).unwrap_or(rest.len());
    let length = part.map_or(rest_of_line, |part| part.trim_end().len());
    start..(start + length).min(text.content().len())
}
