//! The report a person reads: a table with a line per object, then what is wrong with each, then one summary line.

use super::{Item, Problem, Summary, Verdict};
use crate::output::excerpt::{self, Grade};
use crate::output::{Aligned, Cell, Paint};

/// More different reasons than this are not told apart.
const MOST_REASONS: usize = 100;

/// What goes where.
#[derive(Clone, Copy, Debug, Default)]
pub struct Style {
    /// Whether colours may be used.
    pub color: bool,
    /// Only what is not accepted, and no summary.
    pub quiet: bool,
}

/// Builds the report while objects are judged.
#[derive(Debug)]
pub struct TextReport {
    style: Style,
    table: Aligned,
    rows: usize,
    /// What could not be told for one and the same reason: the first item and how many there are.
    alike: Vec<(Item, usize)>,
}

impl TextReport {
    /// An empty report.
    pub fn new(style: Style) -> Self {
        Self { style, table: Aligned::new(style.color), rows: 0, alike: Vec::new() }
    }

    /// The next row. Gives table text when enough rows have come to align them.
    pub fn row(&mut self, item: &Item) -> Option<String> {
        if self.style.quiet && matches!(item.verdict, Verdict::Accepted | Verdict::Skipped) {
            return None;
        }
        if self.rows == 0 {
            let titles = ["PLACE", "KIND", "NAME", "ACTION", "PRUNED", "DEFAULTED", "WARNINGS", "VERDICT"];
            self.table.push(titles.iter().map(|t| Cell::painted(t, Paint::Bold)).collect());
        }
        self.rows += 1;
        self.table.push(cells(item));
        self.table.batch()
    }

    /// The rows that are still held.
    pub fn rest(&mut self) -> String {
        self.table.flush()
    }

    /// What is wrong with an item, with its places; empty when nothing is.
    pub fn details(&mut self, item: &Item) -> String {
        let mut text = String::new();
        let color = self.style.color;
        if item.verdict == Verdict::Rejected {
            text.push_str(&Paint::Bold.when(color, &heading(item)));
            text.push('\n');
        }
        for error in &item.errors {
            text.push_str(&problem(Grade::Error, error, item, color));
        }
        if item.verdict == Verdict::CannotTell && item.errors.is_empty() {
            if item.spot.excerpt.is_some() || item.identity.kind.is_empty() {
                text.push_str(&excerpt::render(Grade::Error, &item.reason, &item.spot, item.help.as_deref(), color));
            } else {
                self.count(item);
            }
        }
        if !self.style.quiet || item.verdict != Verdict::Accepted {
            for warning in &item.warnings {
                text.push_str(&problem(Grade::Warning, warning, item, color));
            }
        }
        text
    }

    /// Counts an item with the others that have its reason.
    fn count(&mut self, item: &Item) {
        let alike = |(known, _): &(Item, usize)| known.reason == item.reason && known.help == item.help;
        match self.alike.iter().position(alike) {
            Some(at) => self.alike.iter_mut().skip(at).take(1).for_each(|(_, count)| *count += 1),
            // A message for each would not be read.
            None if self.alike.len() < MOST_REASONS => self.alike.push((item.clone(), 1)),
            None => {}
        }
    }

    /// What several items have in common, once all of them came.
    pub fn common_details(&self) -> String {
        let messages = self.alike.iter().map(|(item, count)| {
            let message = match count {
                1 => format!("{}: {}", named(item), item.reason),
                n => format!("{n} objects, the first of them {}: {}", named(item), item.reason),
            };
            excerpt::render(Grade::Error, &message, &item.spot, item.help.as_deref(), self.style.color)
        });
        messages.collect::<Vec<_>>().join("\n")
    }

    /// The last line.
    pub fn summary(&self, summary: &Summary) -> String {
        if self.style.quiet { String::new() } else { summary_line(summary, self.style.color) }
    }
}

/// The row of an item.
fn cells(item: &Item) -> Vec<Cell> {
    let or_dash = |text: &str| Cell::from(if text.is_empty() { "-" } else { text });
    let judged = matches!(item.verdict, Verdict::Accepted | Verdict::Rejected);
    let count = |n: usize| Cell::from(if judged { n.to_string() } else { "-".to_owned() });
    let place = if item.spot.line > 0 {
        format!("{}:{}", item.spot.source, item.spot.line)
    } else {
        item.spot.source.to_string()
    };
    vec![
        Cell::from(place),
        or_dash(&item.identity.kind),
        or_dash(&item.identity.full_name()),
        Cell::from(if judged { item.action.word() } else { "-" }),
        count(item.pruned.len()),
        count(item.defaulted.len()),
        Cell::from(item.warnings.len().to_string()),
        Cell::painted(verdict(item), paint(item.verdict)),
    ]
}

fn paint(verdict: Verdict) -> Paint {
    match verdict {
        Verdict::Accepted => Paint::Green,
        Verdict::Rejected => Paint::Red,
        Verdict::Skipped => Paint::Dim,
        Verdict::CannotTell => Paint::Yellow,
    }
}

/// The last cell: the verdict and, in few words, why.
fn verdict(item: &Item) -> String {
    match item.verdict {
        Verdict::Accepted => "accepted".to_owned(),
        Verdict::Rejected => match item.errors.len() {
            0 | 1 => "rejected, 1 error".to_owned(),
            n => format!("rejected, {n} errors"),
        },
        Verdict::Skipped => format!("skipped, {}", item.reason),
        // What could not be read is told in full below.
        Verdict::CannotTell if item.identity.kind.is_empty() => "cannot tell".to_owned(),
        Verdict::CannotTell => format!("cannot tell: {}", item.reason),
    }
}

/// `CronTab default/my-cron would be rejected (422 Invalid)`
fn heading(item: &Item) -> String {
    let answer = item.answer.as_ref().map_or_else(String::new, |a| match a.reason.as_str() {
        "" => format!(" ({})", a.code),
        reason => format!(" ({} {reason})", a.code),
    });
    format!("{} would be rejected{answer}:", named(item))
}

fn named(item: &Item) -> String {
    let name = item.called();
    if name.is_empty() { "An object".to_owned() } else { name }
}

fn problem(grade: Grade, problem: &Problem, item: &Item, color: bool) -> String {
    excerpt::render(grade, &problem.message, problem.spot.as_ref().unwrap_or(&item.spot), None, color)
}

/// `7 objects: 4 accepted, 2 rejected, 1 skipped; 3 warnings`
fn summary_line(summary: &Summary, color: bool) -> String {
    let Summary { accepted, rejected, skipped, cannot_tell, warnings } = *summary;
    let total = accepted + rejected + skipped + cannot_tell;
    let fates = [
        (accepted, "accepted", Verdict::Accepted),
        (rejected, "rejected", Verdict::Rejected),
        (skipped, "skipped", Verdict::Skipped),
        (cannot_tell, "cannot tell", Verdict::CannotTell),
    ];
    let counts: Vec<String> = fates
        .iter()
        .filter(|(n, _, _)| *n > 0)
        .map(|(n, word, verdict)| paint(*verdict).when(color, &format!("{n} {word}")))
        .collect();
    let mut line = plural(total, "object");
    if !counts.is_empty() {
        line.push_str(": ");
        line.push_str(&counts.join(", "));
    }
    if warnings > 0 {
        line.push_str("; ");
        line.push_str(&plural(warnings, "warning"));
    }
    line.push('\n');
    line
}

fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::excerpt::Spot;
    use crate::output::report::{Answer, Identity};
    use crate::text::Position;
    use std::sync::Arc;

    fn rejected() -> Item {
        let source = Arc::from("a.yaml");
        let text = b"kind: CronTab\nspec: 1\n";
        let start = Position { line: 1, column: 1 };
        let mut item = Item::new(Spot::line(&source, 1), Verdict::Rejected, "");
        item.identity = Identity {
            api_version: "stable.example.com/v1".to_owned(),
            kind: "CronTab".to_owned(),
            namespace: Some("default".to_owned()),
            name: "x".to_owned(),
        };
        item.answer = Some(Answer { code: 422, reason: "Invalid".to_owned(), message: String::new() });
        item.errors.push(Problem {
            kind: "FieldValueTypeInvalid".to_owned(),
            field: Some("spec".to_owned()),
            message: "spec: Invalid value".to_owned(),
            spot: Some(Spot::part(&source, text, start, Position { line: 2, column: 7 }, 20..21)),
        });
        item
    }

    #[test]
    fn a_rejected_object_has_a_row_and_its_errors() {
        let mut report = TextReport::new(Style::default());
        assert_eq!(report.row(&rejected()), None);
        assert_eq!(
            report.rest(),
            "PLACE      KIND      NAME        ACTION   PRUNED   DEFAULTED   WARNINGS   VERDICT\n\
             a.yaml:1   CronTab   default/x   create   0        0           0          rejected, 1 error\n"
        );
        assert_eq!(
            report.details(&rejected()),
            "CronTab default/x would be rejected (422 Invalid):\nerror: spec: Invalid value\n --> a.yaml:2:7\n  |\n2 | spec: 1\n  |       ^\n"
        );
    }

    #[test]
    fn quiet_leaves_out_what_is_fine() {
        let mut report = TextReport::new(Style { quiet: true, color: false });
        report.row(&Item::new(Spot::default(), Verdict::Accepted, ""));
        assert_eq!(report.rest(), "");
        report.row(&rejected());
        assert!(report.rest().contains("rejected"));
    }

    #[test]
    fn the_summary_counts() {
        let summary = Summary { accepted: 1, rejected: 2, warnings: 1, ..Summary::default() };
        assert_eq!(summary_line(&summary, false), "3 objects: 1 accepted, 2 rejected; 1 warning\n");
    }
}
