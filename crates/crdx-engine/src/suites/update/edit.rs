//! Edits the lines of a suite in block style.

use crate::suites::suite::{Case, Suite};
use crdx_text::Position;
use crdx_value::sort::sort_by_key;

/// The fields of a case.
const FIELDS: &[&str] = &[
    "name",
    "initial",
    "updated",
    "applied",
    "initialCRDPatches",
    "expected",
    "expectedError",
    "expectedStatusError",
    "expectedWarnings",
    "force",
];

/// The lines of a text, and the lines that replace some of them.
#[derive(Clone)]
pub struct Editor {
    lines: Vec<String>,
    /// Replacements of the lines from `start` to before `end`; sorted by `finish`.
    replaced: Vec<Replaced>,
    ending: &'static str,
}

#[derive(Clone)]
struct Replaced {
    start: usize,
    end: usize,
    text: String,
}

/// The lines of a field: the key is on the first line, the value ends before line `end`.
struct FieldLines {
    start: usize,
    end: usize,
    /// The column of the key, from 0.
    indent: usize,
}

impl Editor {
    pub fn new(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let ending = if text.contains("\r\n") { "\r\n" } else { "\n" };
        Self { lines: text.split_inclusive('\n').map(str::to_owned).collect(), replaced: Vec::new(), ending }
    }

    fn line(&self, index: usize) -> &str {
        self.lines.get(index).map_or("", |line| line.trim_end_matches(['\n', '\r']))
    }

    /// Returns the lines of a field of a case; `None` if the case does not have the field, or the field shares lines
    /// with others.
    fn entry(&self, suite: &Suite, case: &Case, key: &str) -> Option<FieldLines> {
        let Position { line, column } = suite.key_position(&format!("{}.{key}", case.path))?;
        let (start, indent) = (line.checked_sub(1)?, column.checked_sub(1)?);
        let before: String = self.line(start).chars().take(indent).collect();
        if !before.chars().all(|c| c == ' ' || c == '-') {
            return None;
        }
        let is_below = |line: &str| {
            let spaces = line.len() - line.trim_start_matches(' ').len();
            spaces > indent || (spaces == indent && (line.trim_start().starts_with("- ") || line.trim() == "-"))
        };
        let mut end = start + 1;
        for (index, line) in self.lines.iter().enumerate().skip(start + 1) {
            let is_blank = line.trim().is_empty();
            if !is_blank && !is_below(line) {
                break;
            }
            if !is_blank {
                end = index + 1;
            }
        }
        Some(FieldLines { start, end, indent })
    }

    /// Sets a field. `value` returns the text after the colon and the lines below it, for a given indentation.
    pub fn set(
        &mut self,
        suite: &Suite,
        case: &Case,
        key: &str,
        value: impl FnOnce(usize) -> (String, String),
    ) -> bool {
        if let Some(entry) = self.entry(suite, case, key) {
            let first = (entry.start + 1..entry.end).map(|index| self.line(index)).find(|line| !line.trim().is_empty());
            let spaces = first.map(|line| line.len() - line.trim_start().len());
            let (head, below) = value(spaces.unwrap_or(entry.indent + 2).max(entry.indent + 1));
            let head = self.head(suite, case, key, &entry, &head);
            let text = self.with_ending(&format!("{head}\n{below}"));
            self.replaced.push(Replaced { start: entry.start, end: entry.end, text });
            return true;
        }
        let entries = FIELDS.iter().filter_map(|key| self.entry(suite, case, key));
        let Some(last) = entries.max_by_key(|entry| entry.start) else { return false };
        // If the field exists but shares its line with others, it cannot be set.
        if suite.key_position(&format!("{}.{key}", case.path)).is_some() {
            return false;
        }
        let (head, below) = value(last.indent + 2);
        let text = self.with_ending(&format!("{:1$}{key}:{head}\n{below}", "", last.indent));
        self.replaced.push(Replaced { start: last.end, end: last.end, text });
        true
    }

    /// Returns the first line of a field with a new value, followed by the old comment.
    fn head(&self, suite: &Suite, case: &Case, key: &str, entry: &FieldLines, value: &str) -> String {
        let line = self.line(entry.start);
        let key_end = entry.indent + suite.key_length(&format!("{}.{key}", case.path)).unwrap_or(key.len());
        let up_to_key: String = line.chars().take(key_end).collect();
        let tail: String = line.chars().skip(key_end).collect();
        let old = tail.trim_start().strip_prefix(':').unwrap_or_default().trim_start();
        if value.trim() == "|" && old.starts_with('|') && !old.starts_with(|c: char| c.is_ascii_digit()) {
            return line.to_owned();
        }
        let comment = if entry.end == entry.start + 1 { comment(old) } else { "" };
        format!("{up_to_key}:{value}{}{comment}", if comment.is_empty() { "" } else { " " })
    }

    /// Removes a field; the first field of a list item cannot be removed.
    pub fn remove(&mut self, suite: &Suite, case: &Case, key: &str) -> bool {
        let Some(entry) = self.entry(suite, case, key) else { return false };
        let is_first = self.line(entry.start).trim_start().starts_with("- ");
        if !is_first {
            self.replaced.push(Replaced { start: entry.start, end: entry.end, text: String::new() });
        }
        !is_first
    }

    fn with_ending(&self, text: &str) -> String {
        text.replace('\n', self.ending)
    }

    /// Returns the text with all changes.
    pub fn finish(mut self) -> String {
        sort_by_key(&mut self.replaced, |one| (one.start, one.end));
        let mut out = String::new();
        let mut next = 0;
        for one in &self.replaced {
            out.extend(self.lines.get(next..one.start).unwrap_or_default().iter().map(String::as_str));
            if !out.is_empty() && !out.ends_with('\n') {
                out.push_str(self.ending);
            }
            out.push_str(&one.text);
            next = one.end.max(next);
        }
        out.extend(self.lines.get(next..).unwrap_or_default().iter().map(String::as_str));
        out
    }
}

/// Returns the comment after a single-line scalar.
fn comment(value: &str) -> &str {
    let end = match value.chars().next() {
        Some(quote @ ('"' | '\'')) => {
            let inner = value.get(1..).unwrap_or_default();
            let mut escaped = false;
            let closing = inner.char_indices().find(|(_, c)| {
                let closes = *c == quote && !escaped;
                escaped = quote == '"' && *c == '\\' && !escaped;
                closes
            });
            // A doubled quote is an escaped quote; the last quote ends the scalar.
            let last = if quote == '\'' {
                inner.rfind("' #").or_else(|| inner.rfind('\''))
            } else {
                closing.map(|(at, _)| at)
            };
            last.map_or(value.len(), |at| at + 2)
        }
        _ => 0,
    };
    let rest = value.get(end..).unwrap_or_default();
    let found = if rest.starts_with('#') { Some(0) } else { rest.find(" #").map(|at| at + 1) };
    found.and_then(|at| rest.get(at..)).unwrap_or_default()
}
