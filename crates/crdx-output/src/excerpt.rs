//! Formats a message with the source line to which it refers.

use super::printable;
use annotate_snippets::{AnnotationKind, Level, Origin, Renderer, Snippet};
use crdx_engine::report::{Severity, SourceLocation};
use crdx_value::release::ReleaseSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageSeverity {
    /// `error`
    Error,
    /// `warning`
    Warning,
    /// `note`
    Note,
}

impl From<Severity> for MessageSeverity {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Note | Severity::Off => Self::Note,
        }
    }
}

/// Formats a message, its source line and help.
pub fn render(
    severity: MessageSeverity,
    message: &str,
    location: &SourceLocation,
    help: Option<&str>,
    color: bool,
) -> String {
    render_of(severity, None, message, location, help, color)
}

/// As [`render`], for a message of some of the simulated releases: `error[1.31..1.34]: …`.
pub(crate) fn render_of(
    severity: MessageSeverity,
    releases: Option<&ReleaseSet>,
    message: &str,
    location: &SourceLocation,
    help: Option<&str>,
    color: bool,
) -> String {
    let (message, source) = (printable::text(message), printable::line(&location.source));
    let level = match severity {
        MessageSeverity::Error => Level::ERROR,
        MessageSeverity::Warning => Level::WARNING,
        MessageSeverity::Note => Level::NOTE,
    };
    let releases = releases.map(ToString::to_string);
    let title = level.primary_title(&*message);
    let title = match &releases {
        Some(releases) => title.id(releases.as_str()),
        None => title,
    };
    let mut group = match &location.excerpt {
        Some(excerpt) => title.element(
            Snippet::source(excerpt.line.as_str())
                .line_start(location.line.max(1))
                .path(&*source)
                .annotation(AnnotationKind::Primary.span(excerpt.part.clone())),
        ),
        None => title.element(Origin::path(printable::line(&location.to_string()).into_owned())),
    };
    if let (Some(origin), Some(_)) = (&location.origin, &location.excerpt) {
        group = group.element(Level::NOTE.message(format!("made from {}", printable::line(origin))));
    }
    if let Some(line) = &location.rendered_line {
        group = group.element(Level::NOTE.message(format!("in the rendered line `{}`", printable::line(line))));
    }
    if let Some(help) = help {
        group = group.element(Level::HELP.message(printable::text(help).into_owned()));
    }
    let renderer = if color { Renderer::styled() } else { Renderer::plain() };
    let mut text = renderer.term_width(120).render(&[group]);
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::Position;
    use std::sync::Arc;

    const FIRST: Position = Position { line: 1, column: 1 };

    #[test]
    fn a_message_shows_its_line() {
        let start = Position { line: 3, column: 1 };
        let at = Position { line: 4, column: 13 };
        let location = SourceLocation::part(&Arc::from("dir/a.yaml"), b"spec:\n  replicas: many\n", start, at, 18..22);
        let text = render(MessageSeverity::Error, "spec.replicas: Invalid value", &location, Some("try 3"), false);
        assert_eq!(
            text,
            "error: spec.replicas: Invalid value\n --> dir/a.yaml:4:13\n  |\n4 |   replicas: many\n  |             ^^^^\n  |\n  = help: try 3\n"
        );
    }

    #[test]
    fn the_file_behind_a_place_is_shown_beside_it() {
        let location =
            SourceLocation::line(&Arc::from("<stdin>"), 12).made_from(Some(&"chart/templates/x.yaml".into()));
        assert_eq!(location.to_string(), "<stdin>:12 (chart/templates/x.yaml)");
        let text = render(MessageSeverity::Error, "no", &location, None, false);
        assert_eq!(text, "error: no\n--> <stdin>:12 (chart/templates/x.yaml)\n");
        let location =
            SourceLocation::at(&Arc::from("<stdin>"), b"a: 1\n", FIRST, FIRST).made_from(Some(&"x.yaml".into()));
        let text = render(MessageSeverity::Error, "no", &location, None, false);
        assert_eq!(text, "error: no\n --> <stdin>:1:1\n  |\n1 | a: 1\n  | ^\n  |\n  = note: made from x.yaml\n");
    }

    #[test]
    fn a_message_without_a_line_still_names_its_source() {
        let text =
            render(MessageSeverity::Warning, "empty", &SourceLocation::source(&Arc::from("a.yaml")), None, false);
        assert_eq!(text, "warning: empty\n--> a.yaml\n");
    }
}
