//! The parts of a report for people have a maximum size: nobody reads more, and services cut or refuse longer logs (GitLab keeps
//! 4 MiB of a job). `-o json` has everything.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The maximum size of the table.
pub const TABLE: usize = 2 << 20;
/// The maximum size of the details, and of other messages.
pub const MESSAGES: usize = 1 << 20;
/// The maximum number of errors, and of warnings, of one object that are shown.
pub const PROBLEMS: usize = 1000;

/// A part of a report. Whole lines are shown up to its maximum size, and the others are counted.
#[derive(Debug)]
pub struct Bounded {
    /// The number of bytes that may follow.
    left: usize,
    /// The number of lines that were left out.
    left_out: usize,
}

impl Bounded {
    /// A part of at most `most` bytes.
    pub fn new(most: usize) -> Self {
        Self { left: most, left_out: 0 }
    }

    /// Returns what is shown of the next text.
    pub fn take<'a>(&mut self, text: &'a str) -> Cow<'a, str> {
        if self.left_out == 0 && text.len() <= self.left {
            self.left -= text.len();
            return Cow::Borrowed(text);
        }
        let fitting = if self.left_out == 0 { beginning(text, self.left) } else { "" };
        self.left = 0;
        let kept = match fitting.rfind('\n') {
            Some(end) => text.get(..=end).unwrap_or_default(),
            None => "",
        };
        self.left_out += text.get(kept.len()..).unwrap_or_default().lines().count();
        if kept.is_empty() && !fitting.is_empty() {
            // A single line is too long.
            return Cow::Owned(format!("{fitting}…\n"));
        }
        Cow::Borrowed(kept)
    }

    /// Returns a line with the number of lines that were left out, and counts from zero again.
    pub fn note(&mut self) -> String {
        match std::mem::take(&mut self.left_out) {
            0 => String::new(),
            1 => "and 1 more line: -o json has everything\n".to_owned(),
            n => format!("and {n} more lines: -o json has everything\n"),
        }
    }
}

/// Returns the longest beginning of a text with at most `most` bytes.
pub fn beginning(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.get(..end.unwrap_or_default()).unwrap_or_default()
}

/// Returns the first lines of a text, and says how many are left out.
pub fn first_lines(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut lines = text.lines();
    for line in lines.by_ref() {
        if kept.len() + line.len() > limit {
            break;
        }
        kept.extend([line, "\n"]);
    }
    // The line that did not fit is left out, too.
    let left = lines.count() + 1;
    let _ = write!(kept, "… {left} more line{}", if left == 1 { "" } else { "s" });
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_lines_are_shown_and_the_others_are_counted() {
        let mut part = Bounded::new(10);
        assert_eq!(part.take("ab\n"), "ab\n");
        assert_eq!(part.take("cd\nef\ngh\nij\n"), "cd\nef\n");
        assert_eq!(part.take("k\n"), "");
        assert_eq!(part.note(), "and 3 more lines: -o json has everything\n");
        assert_eq!(part.note(), "");
        let mut part = Bounded::new(6);
        assert_eq!(part.take("ééééé\nx\n"), "ééé…\n");
        assert_eq!(part.note(), "and 2 more lines: -o json has everything\n");
        let mut part = Bounded::new(3);
        assert_eq!((part.take("abc"), part.note()), ("abc".into(), String::new()));
    }

    #[test]
    fn the_first_lines_are_kept() {
        assert_eq!(first_lines("a\nb\nc", 10), "a\nb\nc");
        assert_eq!(first_lines("a\nbb\nccc\nd\n", 5), "a\nbb\n… 2 more lines");
    }
}
