//! Errors in an expression, formatted like cel-go's: `ERROR: <input>:1:6: …` with the source line and a caret.

use crdx_value::sort::sort_by_key;
use std::fmt::Write as _;

/// The maximum number of errors that are stored; further errors are only counted.
const MAX_ISSUES: usize = 100;
/// Source lines longer than this, in bytes, are not shown.
const MAX_SNIPPET: usize = 16384;

/// A source location: 1-based line and 0-based column; both -1 for an error without location.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The line number, starting at 1.
    pub line: i32,
    /// The column in code points, starting at 0.
    pub column: i32,
}

impl Location {
    /// The location of an error without location.
    pub const NONE: Self = Self { line: -1, column: -1 };
}

/// One error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The location of the error.
    pub location: Location,
    /// The error message.
    pub message: String,
}

/// The errors of one expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issues {
    source: String,
    list: Vec<Issue>,
    count: usize,
}

impl std::error::Error for Issues {}

impl std::fmt::Display for Issues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.display())
    }
}

impl Issues {
    /// Creates an empty collection of errors for a source text.
    pub fn new(source: &str) -> Self {
        Self { source: source.to_owned(), list: Vec::new(), count: 0 }
    }

    /// Adds an error at a location.
    pub(crate) fn report_at(&mut self, location: Location, message: impl Into<String>) {
        self.count += 1;
        if self.list.len() < MAX_ISSUES {
            self.list.push(Issue { location, message: message.into() });
        }
    }

    /// Adds an error at a code point offset.
    pub fn report(&mut self, offset: i32, message: impl Into<String>) {
        let location = self.locate(offset);
        self.report_at(location, message);
    }

    /// Returns true if there are no errors.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The stored errors, in the order they were reported.
    pub fn as_slice(&self) -> &[Issue] {
        &self.list
    }

    /// Converts a code point offset to line and column.
    pub fn locate(&self, offset: i32) -> Location {
        let (mut line, mut start) = (1, 0);
        for (position, c) in (0i32..).zip(self.source.chars()) {
            if position >= offset {
                break;
            }
            if c == '\n' {
                line += 1;
                start = position + 1;
            }
        }
        Location { line, column: offset - start }
    }

    /// Formats the errors like cel-go: sorted by location, one block each.
    pub fn display(&self) -> String {
        let mut sorted: Vec<&Issue> = self.list.iter().collect();
        sort_by_key(&mut sorted, |issue| issue.location);
        let mut out = String::new();
        for (at, issue) in sorted.iter().enumerate() {
            if at > 0 {
                out.push('\n');
            }
            self.display_one(issue, &mut out);
        }
        if self.count > MAX_ISSUES {
            let _ = write!(out, "\n{} more errors were truncated", self.count - MAX_ISSUES);
        }
        out
    }

    fn display_one(&self, issue: &Issue, out: &mut String) {
        let Location { line, column } = issue.location;
        let _ = write!(out, "ERROR: <input>:{line}:{}: {}", column + 1, issue.message);
        let Some(snippet) = usize::try_from(line - 1).ok().and_then(|index| self.source.split('\n').nth(index)) else {
            return;
        };
        if self.source.is_empty() || snippet.len() > MAX_SNIPPET {
            return;
        }
        let snippet = snippet.replace('\t', " ");
        let _ = write!(out, "\n | {snippet}\n | ");
        let mut rest = snippet.chars();
        for c in rest.by_ref().take(usize::try_from(column).unwrap_or(0)) {
            out.push(if c.is_ascii() { '.' } else { '\u{ff0e}' });
        }
        out.push(if rest.next().is_none_or(|c| c.is_ascii()) { '^' } else { '\u{ff3e}' });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_get_wide_dots() {
        let mut issues = Issues::new("'é' &");
        issues.report(4, "bad");
        assert_eq!(issues.display(), "ERROR: <input>:1:5: bad\n | 'é' &\n | .．..^");
    }

    #[test]
    fn more_than_a_hundred_are_counted() {
        let mut issues = Issues::new("x");
        for _ in 0..102 {
            issues.report(0, "bad");
        }
        assert!(issues.display().ends_with("\n2 more errors were truncated"));
    }
}
