//! The location in a source file that corresponds to one in rendered text.

use super::lines::Line;
use crdx_engine::report::{Excerpt, SourceLocation};
use std::sync::Arc;

/// Lines that are longer are not shown.
const MAX_LINE: usize = 400;

/// Returns the location of the line of `file` from which the rendered text was made. It marks the rendered text if the line
/// has it, and otherwise the whole line, without a column, because no text in it can be replaced.
pub fn in_line(file: &Arc<str>, line: Line<'_>, rendered: &SourceLocation) -> SourceLocation {
    let whole = SourceLocation::line(file, line.number + 1);
    let Some(excerpt) = &rendered.excerpt else { return whole };
    let marked = excerpt.line.get(excerpt.part.clone()).unwrap_or_default();
    let text = line.text;
    let trimmed = text.trim();
    let indent = text.len() - text.trim_start().len();
    let rendered_indent = excerpt.line.len() - excerpt.line.trim_start().len();
    let part = if trimmed == excerpt.line.trim() {
        let start = indent + excerpt.part.start.saturating_sub(rendered_indent);
        Some(start..start + marked.len())
    } else {
        only(text, marked).map(|start| start..start + marked.len())
    };
    let part = part.filter(|part| text.get(part.clone()).is_some());
    let column = part.as_ref().map_or(0, |part| text.get(..part.start).unwrap_or_default().chars().count() + 1);
    let part = part.unwrap_or(indent..indent + trimmed.len());
    let excerpt = (text.len() <= MAX_LINE).then(|| Excerpt { line: text.to_owned(), part });
    SourceLocation { column, excerpt, ..whole }
}

/// The position of the only occurrence of `part`.
fn only(text: &str, part: &str) -> Option<usize> {
    let mut found = text.match_indices(part).map(|(at, _)| at);
    let first = found.next().filter(|_| !part.is_empty())?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::Position;

    fn mapped(source: &str, rendered: &str, marked: &str) -> (usize, usize, String) {
        let at = rendered.find(marked).unwrap();
        let position = Position { line: 40, column: at + 1 };
        let start = Position { line: 40, column: 1 };
        let location =
            SourceLocation::part(&"chart".into(), rendered.as_bytes(), start, position, at..at + marked.len());
        let found = in_line(&"x.yaml".into(), Line { number: 6, text: source }, &location);
        let excerpt = found.excerpt.unwrap();
        (found.line, found.column, excerpt.line.get(excerpt.part).unwrap().to_owned())
    }

    #[test]
    fn the_same_text_is_marked() {
        assert_eq!(mapped("  a: xü", "      a: xü", "xü"), (7, 6, "xü".to_owned()));
        assert_eq!(mapped("  ünit: {{ .a }}", "ünit: 1", "ünit"), (7, 3, "ünit".to_owned()));
    }

    #[test]
    fn a_line_whose_text_differs_is_marked_as_a_whole() {
        assert_eq!(mapped("  a: {{ .a }} ", "a: many", "many"), (7, 0, "a: {{ .a }}".to_owned()));
        assert_eq!(mapped("a: {{ .a }}", "a: a", "a"), (7, 0, "a: {{ .a }}".to_owned()), "`a` is in the line twice");
    }
}
