//! A location in an input, with its source line.

use crdx_text::Position;
use crdx_text::documents::Chunk;
use std::ops::Range;
use std::sync::Arc;

/// The maximum length in bytes of a source line that is shown; for longer lines, only the position is shown.
const MAX_LINE_LENGTH: usize = 400;

/// The source name of standard input.
pub const STDIN: &str = "<stdin>";

/// A location in an input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLocation {
    /// The file name as given by the user, or `<stdin>`.
    pub source: Arc<str>,
    /// The line, from 1; 0 when only the source is known.
    pub line: usize,
    /// The column, from 1, in characters; 0 when only the line is known.
    pub column: usize,
    /// The source line, if it can be shown.
    pub excerpt: Option<Excerpt>,
    /// The file from which the document was rendered (Helm's `# Source:`).
    pub origin: Option<Arc<str>>,
    /// The rendered line, if no line of the source is known from which it was made.
    pub rendered_line: Option<Arc<str>>,
}

/// A source line with a marked part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line without its line break.
    pub line: String,
    /// The marked part, in bytes.
    pub part: Range<usize>,
}

impl SourceLocation {
    /// The location of a whole source.
    pub fn source(source: &Arc<str>) -> Self {
        Self { source: Arc::clone(source), ..Self::default() }
    }

    /// Returns the same location in a document rendered from `origin`.
    #[must_use]
    pub fn made_from(self, origin: Option<&Arc<str>>) -> Self {
        Self { origin: origin.cloned(), ..self }
    }

    /// Returns the same location without excerpt.
    #[must_use]
    pub fn without_excerpt(&self) -> Self {
        let Self { source, line, column, excerpt: _, origin, rendered_line: _ } = self;
        let (source, origin) = (Arc::clone(source), origin.clone());
        Self { source, line: *line, column: *column, excerpt: None, origin, rendered_line: None }
    }

    /// Returns the location with the line of the rendered text, for which no line of the source is known.
    #[must_use]
    pub fn rendered_as(self, rendered: &Self) -> Self {
        let line = rendered.excerpt.as_ref().map(|excerpt| excerpt.line.trim().into());
        Self { rendered_line: line, ..self }
    }

    /// The file for an annotation, and true if line and column are those of the file. Of a stream it is the file or template
    /// from which the document was rendered; `None` if that is unknown.
    pub fn file(&self) -> Option<(&str, bool)> {
        // The output of kustomize has the name of its directory, and is rendered from the kustomization in it.
        let is_rendered = |origin: &&Arc<str>| {
            self.is_stdin() || origin.strip_prefix(&*self.source).is_some_and(|rest| rest.starts_with(['/', '\\']))
        };
        match self.origin.as_ref().filter(is_rendered) {
            Some(origin) => Some((origin, false)),
            None => (!self.is_stdin()).then_some((&self.source, true)),
        }
    }

    /// Returns true if the source is standard input.
    pub(crate) fn is_stdin(&self) -> bool {
        &*self.source == STDIN
    }

    /// The location of a line.
    pub fn line(source: &Arc<str>, line: usize) -> Self {
        Self { source: Arc::clone(source), line, ..Self::default() }
    }

    /// The location of the bytes `part` of `text`, which begins at `start` in `source`. The part begins at `at` and is
    /// marked up to the end of its first line.
    pub fn part(source: &Arc<str>, text: &[u8], start: Position, at: Position, part: Range<usize>) -> Self {
        let from = part.start.min(text.len());
        // Longer lines are not shown, so their beginning is not needed.
        let near = from.saturating_sub(MAX_LINE_LENGTH + 1);
        let line_end = text.get(near..from).and_then(|before| before.iter().rposition(|b| *b == b'\n'));
        let line_start = match line_end {
            Some(i) => Some(near + i + 1),
            None => (near == 0).then_some(0),
        };
        let excerpt = line_start.and_then(|line_start| excerpt(text, start, line_start, from, part.end));
        Self { source: Arc::clone(source), line: at.line, column: at.column, excerpt, ..Self::default() }
    }

    /// Returns the location `position` in `source`, for a text that begins at `start`.
    pub fn at(source: &Arc<str>, text: &[u8], start: Position, position: Position) -> Self {
        let mut breaks = text.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(at, _)| at + 1);
        let line_start = match position.line.saturating_sub(start.line) {
            0 => 0,
            lines_before => breaks.nth(lines_before - 1).unwrap_or(text.len()),
        };
        Self::in_line(source, text, start, position, line_start)
    }

    /// Returns the location `position` of the text of a document in `source`.
    pub fn in_chunk(source: &Arc<str>, chunk: &Chunk, position: Position) -> Self {
        Self::in_line(source, &chunk.text, chunk.start, position, chunk.line_start(position))
    }

    fn in_line(source: &Arc<str>, text: &[u8], start: Position, position: Position, line_start: usize) -> Self {
        let line = text.get(line_start..).unwrap_or_default();
        // Longer lines are not shown, so the place in them is not needed.
        let line = line.get(..=MAX_LINE_LENGTH).unwrap_or(line);
        let from = line_start + byte_of(line, position.column.saturating_sub(1));
        Self {
            source: Arc::clone(source),
            line: position.line,
            column: position.column,
            excerpt: excerpt(text, start, line_start, from, from + 1),
            ..Self::default()
        }
    }
}

/// Returns the byte offset of character `column` (from 0) in `line`.
fn byte_of(line: &[u8], column: usize) -> usize {
    let boundaries = line.iter().enumerate().filter(|(_, b)| (**b & 0xc0) != 0x80 && **b != b'\n');
    boundaries.map(|(i, _)| i).nth(column).unwrap_or_else(|| line.iter().take_while(|b| **b != b'\n').count())
}

/// Returns the line at `line_start` with the part `from..to` marked; `None` for a long line, or if `text` contains only
/// the end of the line.
fn excerpt(text: &[u8], start: Position, line_start: usize, from: usize, to: usize) -> Option<Excerpt> {
    if line_start == 0 && start.column > 1 {
        return None;
    }
    let line = text.get(line_start..)?;
    let line = line.get(..=MAX_LINE_LENGTH).unwrap_or(line);
    let length = line.iter().position(|b| *b == b'\n').unwrap_or(line.len());
    let line = line.get(..length).filter(|line| line.len() <= MAX_LINE_LENGTH)?;
    let (from, to) = (from.checked_sub(line_start)?.min(length), to.saturating_sub(line_start).min(length));
    // A part ends with a whole character.
    let is_end = |at: &usize| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
    let to = (to..length).find(is_end).unwrap_or(length);
    // Offsets refer to the text as shown, in which bytes that are not UTF-8 are replaced.
    let shown = |part: Option<&[u8]>| String::from_utf8_lossy(part.unwrap_or_default()).into_owned();
    let (before, part) = (shown(line.get(..from)), shown(line.get(from..to.max(from))));
    let whole = format!("{before}{part}{}", shown(line.get(to.max(from)..)));
    let end = (before.len() + part.len()).max(before.len() + 1).min(whole.len().max(before.len()));
    let end = (end..=whole.len()).find(|i| whole.is_char_boundary(*i)).unwrap_or(whole.len());
    Some(Excerpt { part: before.len()..end, line: whole })
}

impl std::fmt::Display for SourceLocation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.source)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if self.line > 0 && self.column > 0 {
            write!(f, ":{}", self.column)?;
        }
        match &self.origin {
            Some(origin) => write!(f, " ({origin})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::Syntax;

    const FIRST: Position = Position { line: 1, column: 1 };

    #[test]
    fn a_spot_counts_lines_and_characters() {
        let text = "a: 1\nü: 'x'\nc: |\n  long\n";
        let source = Arc::from("f");
        let start = Position { line: 10, column: 1 };
        let part = text.find("'x'").unwrap()..text.find("long").unwrap();
        let location = SourceLocation::part(&source, text.as_bytes(), start, Position { line: 11, column: 4 }, part);
        assert_eq!(location.to_string(), "f:11:4");
        assert_eq!(location.excerpt, Some(Excerpt { line: "ü: 'x'".to_owned(), part: 4..7 }));
        assert_eq!(
            SourceLocation::at(&source, text.as_bytes(), start, Position { line: 11, column: 4 }).excerpt.unwrap().part,
            4..5
        );
        let wide = SourceLocation::at(&source, "a: ü".as_bytes(), FIRST, Position { line: 1, column: 4 });
        assert_eq!(wide.excerpt, Some(Excerpt { line: "a: ü".to_owned(), part: 3..5 }), "a whole character");
        // A position past the end refers to the end.
        assert_eq!(SourceLocation::part(&source, b"a", FIRST, FIRST, 5..9).excerpt.unwrap().part, 1..1);
        assert_eq!(SourceLocation::at(&source, b"a", FIRST, Position { line: 7, column: 3 }).to_string(), "f:7:3");
    }

    #[test]
    fn a_document_finds_its_lines() {
        let source = Arc::from("f");
        let start = Position { line: 10, column: 1 };
        for text in ["", "a", "a: 1\nü: 'x'\n", "a\n\nb\nc"] {
            let chunk = Chunk::new(text.as_bytes().to_vec(), start, Syntax::Yaml);
            for (line, column) in [(10, 1), (10, 3), (11, 1), (11, 4), (12, 1), (13, 1), (20, 5)] {
                let at = Position { line, column };
                let expected = SourceLocation::at(&source, text.as_bytes(), start, at);
                assert_eq!(SourceLocation::in_chunk(&source, &chunk, at), expected, "{text:?} {line}:{column}");
            }
        }
    }

    #[test]
    fn a_line_that_is_not_utf8_is_shown_as_far_as_it_can_be() {
        let location = SourceLocation::part(&Arc::from("f"), b"\xff: \xfe!", FIRST, FIRST, 3..4);
        assert_eq!(location.excerpt, Some(Excerpt { line: "\u{fffd}: \u{fffd}!".to_owned(), part: 5..8 }));
    }

    #[test]
    fn a_line_that_begins_elsewhere_is_not_shown() {
        let start = Position { line: 1, column: 5 };
        let location = SourceLocation::part(&Arc::from("f"), b"{}\n{}", start, start, 0..2);
        assert_eq!((location.to_string().as_str(), location.excerpt), ("f:1:5", None));
    }
}
