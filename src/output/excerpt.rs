//! A message under the source line it speaks of.

use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use std::ops::Range;
use std::sync::Arc;

/// Lines longer than this (in bytes) are named but not shown.
const LONGEST_LINE: usize = 400;

/// A place in an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spot {
    /// The file's name as it was given, or `<stdin>`.
    pub source: Arc<str>,
    /// From 1; 0 when only the source is known.
    pub line: usize,
    /// From 1, in characters; 0 when only the line is known.
    pub column: usize,
    /// The line itself, when it can be shown.
    pub excerpt: Option<Excerpt>,
}

/// A source line and the part of it that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, without its end.
    pub line: String,
    /// The part, in bytes.
    pub part: Range<usize>,
}

impl Spot {
    /// A whole source.
    pub fn source(source: &Arc<str>) -> Self {
        Self { source: Arc::clone(source), ..Self::default() }
    }

    /// A line of a source.
    pub fn line(source: &Arc<str>, line: usize) -> Self {
        Self { source: Arc::clone(source), line, ..Self::default() }
    }

    /// The part `part` (bytes) of `text`, a text whose first line is line `first_line` of `source`. The part ends at
    /// the end of its first line.
    pub fn within(source: &Arc<str>, text: &str, first_line: usize, part: Range<usize>) -> Self {
        let start = floor(text, part.start);
        let before = text.get(..start).unwrap_or_default();
        let line = first_line + before.bytes().filter(|b| *b == b'\n').count();
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        let from_line = text.get(line_start..).unwrap_or_default();
        let whole = from_line.lines().next().unwrap_or_default();
        let (from, to) = (start - line_start, floor(text, part.end.max(start)) - line_start);
        let excerpt = (whole.len() <= LONGEST_LINE && from <= whole.len()).then(|| Excerpt {
            line: whole.to_owned(),
            part: from..to.clamp(from, whole.len()).max((from + 1).min(whole.len())),
        });
        let column = text.get(line_start..start).map_or(0, |s| s.chars().count()) + 1;
        Self { source: Arc::clone(source), line, column, excerpt }
    }
}

/// The nearest character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl std::fmt::Display for Spot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.line > 0 && self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        Ok(())
    }
}

/// How grave a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// `error`
    Error,
    /// `warning`
    Warning,
}

/// A message, the line it speaks of, and what can be done.
pub fn render(grade: Grade, message: &str, spot: &Spot, help: Option<&str>, color: bool) -> String {
    let level = match grade {
        Grade::Error => Level::ERROR,
        Grade::Warning => Level::WARNING,
    };
    let title = level.primary_title(message);
    let mut group = match &spot.excerpt {
        Some(excerpt) => title.element(
            Snippet::source(excerpt.line.as_str())
                .line_start(spot.line.max(1))
                .path(&*spot.source)
                .annotation(AnnotationKind::Primary.span(excerpt.part.clone())),
        ),
        None => title.element(Origin::path(spot.to_string())),
    };
    if let Some(help) = help {
        group = group.element(Level::HELP.message(help));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.term_width(120).render(&[group]);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spot_counts_lines_and_characters() {
        let text = "a: 1\r\nü: 'x'\r\nc: |\n  long\n";
        let spot = Spot::within(&Arc::from("f"), text, 10, text.find("'x'").unwrap()..text.find("c:").unwrap());
        assert_eq!(spot.to_string(), "f:11:4");
        assert_eq!(spot.excerpt, Some(Excerpt { line: "ü: 'x'".to_owned(), part: 4..7 }));
        // Past the end is the end.
        assert_eq!(Spot::within(&Arc::from("f"), "a", 1, 5..9).to_string(), "f:1:2");
    }

    #[test]
    fn a_message_shows_its_line() {
        let spot = Spot::within(&Arc::from("dir/a.yaml"), "spec:\n  replicas: many\n", 3, 18..22);
        let text = render(Grade::Error, "spec.replicas: Invalid value", &spot, Some("try 3"), false);
        assert_eq!(
            text,
            "error: spec.replicas: Invalid value\n --> dir/a.yaml:4:13\n  |\n4 |   replicas: many\n  |             ^^^^\n  |\n  = help: try 3\n"
        );
    }

    #[test]
    fn a_message_without_a_line_still_names_its_source() {
        let text = render(Grade::Warning, "empty", &Spot::source(&Arc::from("a.yaml")), None, false);
        assert_eq!(text, "warning: empty\n--> a.yaml\n");
    }
}
