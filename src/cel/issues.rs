//! Problems found in an expression and how cel-go words them: `ERROR: <input>:1:6: …` with the source line and a caret.

use std::fmt::Write as _;

/// The maximum number of errors that are kept; later ones are only counted.
const MAX_ISSUES: usize = 100;
/// A source line longer than this (in bytes) is not shown.
const MAX_SNIPPET: usize = 16384;

/// A place: line from 1 on, column from 0 on; both -1 for nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The line.
    pub line: i32,
    /// The column, in code points.
    pub column: i32,
}

impl Location {
    /// No place in the source.
    pub const NONE: Self = Self { line: -1, column: -1 };
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// Where.
    pub location: Location,
    /// What.
    pub message: String,
}

/// All problems of one expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issues {
    source: String,
    kept: Vec<Issue>,
    count: usize,
}

impl Issues {
    /// None yet.
    pub fn new(source: &str) -> Self {
        Self { source: source.to_owned(), kept: Vec::new(), count: 0 }
    }

    /// Adds a problem at a place.
    pub fn report_at(&mut self, location: Location, message: impl Into<String>) {
        self.count += 1;
        if self.kept.len() < MAX_ISSUES {
            self.kept.push(Issue { location, message: message.into() });
        }
    }

    /// Adds a problem at a code point offset.
    pub fn report(&mut self, offset: i32, message: impl Into<String>) {
        let location = self.locate(offset);
        self.report_at(location, message);
    }

    /// Whether there are no errors.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Those that were kept, in the order they were found.
    pub fn as_slice(&self) -> &[Issue] {
        &self.kept
    }

    /// Line and column of a code point offset.
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

    /// cel-go's text: sorted by place, one block each.
    pub fn display(&self) -> String {
        let mut sorted: Vec<&Issue> = self.kept.iter().collect();
        sorted.sort_by_key(|issue| issue.location);
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
