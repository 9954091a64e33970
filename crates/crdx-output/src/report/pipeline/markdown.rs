//! Markdown for a job summary or a comment on a pull request: a line of counts, a table of the objects that need
//! attention, and the findings of each, folded. Names and messages are shown as code, in which neither Markdown nor HTML
//! nor a mention has an effect.

use super::super::case::{Case, Outcome};
use crate::bounded::first_lines;
use crate::printable;
use crdx_engine::report::RunNote;
use std::collections::HashMap;
use std::fmt::Write as _;

/// The maximum size in bytes. GitHub accepts comments of 65,536 characters.
const MAX_BYTES: usize = 60 << 10;
/// The maximum size of the table.
const MAX_TABLE: usize = 20 << 10;
/// The maximum size of the details of one row.
const MAX_DETAILS: usize = 12 << 10;
/// The maximum size of the notes.
const MAX_NOTES: usize = 4 << 10;
/// The maximum length of a message in the table, in characters.
const MAX_MESSAGE: usize = 200;
/// The maximum length of a name, a location or the line of counts, in characters.
const MAX_NAME: usize = 400;
/// The number of objects that are named in the details of several with equal findings.
const MAX_NAMES: usize = 20;

/// The rows by rank: cases that fail come first.
#[derive(Debug, Default)]
pub struct Rows {
    ranks: [Rank; 3],
    /// The rank and index of the row of equal findings.
    known: HashMap<String, (usize, usize)>,
}

#[derive(Debug, Default)]
struct Rank {
    rows: Vec<Row>,
    /// The size of the rows.
    bytes: usize,
    /// The number of cases without a row, because there are too many.
    cut: usize,
}

/// The cases with equal findings.
#[derive(Debug)]
struct Row {
    case: Case,
    /// The number of other cases, and the first of them.
    others: usize,
    names: Vec<String>,
}

impl Rows {
    /// Adds a case, unless it passed without a finding.
    pub fn add(&mut self, case: &Case) {
        let rank = match case.outcome {
            Outcome::Failed => 0,
            Outcome::CannotTell => 1,
            Outcome::Passed if !case.findings.is_empty() => 2,
            Outcome::Passed | Outcome::Skipped(_) => return,
        };
        let key = key(case);
        if let Some((rank, index)) = self.known.get(&key)
            && let Some(row) = self.ranks.get_mut(*rank).and_then(|rank| rank.rows.get_mut(*index))
        {
            row.others += 1;
            if row.names.len() < MAX_NAMES {
                row.names.push(format!("{} ({})", case.subject, case.location));
            }
            return;
        }
        let Some(rows) = self.ranks.get_mut(rank) else { return };
        // More than this is never printed.
        if rows.bytes > MAX_BYTES {
            rows.cut += 1;
            return;
        }
        // No more than this is printed of a row.
        rows.bytes += key.len().min(MAX_DETAILS) + case.subject.len().min(MAX_NAME);
        self.known.insert(key, (rank, rows.rows.len()));
        rows.rows.push(Row { case: case.clone(), others: 0, names: Vec::new() });
    }

    /// Formats the report.
    pub fn text(&self, command: &str, counts: &str, notes: &[RunNote]) -> String {
        let mut text = format!("### kubectl crdx {command}\n\n**{}**\n", escaped(&shortened(counts.trim(), MAX_NAME)));
        let rows = || self.ranks.iter().flat_map(|rank| &rank.rows);
        let all = rows().count() + self.ranks.iter().map(|rank| rank.cut).sum::<usize>();
        if all > 0 {
            text.push_str("\n| Result | Object | Location | Finding |\n|---|---|---|---|\n");
        }
        let mut shown = 0;
        for row in rows() {
            let line = row.line();
            if text.len() + line.len() > MAX_TABLE {
                break;
            }
            text.push_str(&line);
            shown += 1;
        }
        let notes = folded_notes(notes);
        let mut detailed = 0;
        for row in rows().take(shown) {
            let details = row.details();
            if text.len() + details.len() + notes.len() + 500 > MAX_BYTES {
                break;
            }
            text.push_str(&details);
            detailed += 1;
        }
        text.push_str(&notes);
        if detailed < all {
            let _ = writeln!(
                text,
                "\nThis report has at most {} KB: {} of {all} rows and the details of {} are left out. \
                 Without `-o markdown`, `kubectl crdx {command}` prints everything.",
                MAX_BYTES >> 10,
                all - shown,
                all - detailed
            );
        }
        text
    }
}

impl Row {
    /// Formats the row of the table.
    fn line(&self) -> String {
        let Case { subject, location, findings, .. } = &self.case;
        let message = findings.first().map_or("", |finding| &finding.message);
        let first_line = message.lines().next().unwrap_or_default();
        let more_lines = if message.lines().nth(1).is_some() && first_line.len() < MAX_MESSAGE { "…" } else { "" };
        let message = shortened(first_line, MAX_MESSAGE) + more_lines;
        let more = findings.len().saturating_sub(1);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let others = match self.others {
            0 => String::new(),
            1 => " and 1 more object".to_owned(),
            n => format!(" and {n} more objects"),
        };
        let finding = if message.is_empty() { String::new() } else { code(&message) };
        let location = code(&location.to_string());
        format!("| {} | {}{others} | {location} | {finding}{more} |\n", self.case.result, code(subject))
    }

    /// Formats the findings, folded.
    fn details(&self) -> String {
        let Case { subject, findings, result, .. } = &self.case;
        let mut text = format!("\n<details><summary>{result}: {}</summary>\n", code(subject));
        let messages: Vec<String> = findings.iter().map(super::super::case::Finding::message_line).collect();
        text.push_str(&fenced("text", &messages.join("\n")));
        for diff in findings.iter().filter_map(|finding| finding.diff.as_ref()) {
            text.push_str(&fenced("diff", diff));
        }
        if !self.names.is_empty() {
            let rest = self.others - self.names.len();
            let rest = if rest > 0 { format!("\n… and {rest} more") } else { String::new() };
            let _ = write!(text, "\nThe same holds for:\n{}", fenced("text", &(self.names.join("\n") + &rest)));
        }
        text.push_str("\n</details>\n");
        text
    }
}

/// Returns what cases with equal findings share; a difference is never equal to that of another object.
fn key(case: &Case) -> String {
    let mut key = format!("{:?}\n", case.outcome);
    for finding in &case.findings {
        let (help, diff) = (finding.help.as_deref().unwrap_or_default(), finding.diff.as_deref().unwrap_or_default());
        key.extend([finding.level.as_str(), "\n", &finding.rule, "\n", &finding.message, "\n", help, "\n", diff, "\n"]);
    }
    key
}

fn folded_notes(notes: &[RunNote]) -> String {
    let lines: Vec<String> = notes.iter().map(|note| format!("note: {}", note.message)).collect();
    match lines.join("\n") {
        lines if lines.is_empty() => lines,
        lines => {
            let lines = first_lines(&lines, MAX_NOTES);
            format!("\n<details><summary>Notes</summary>\n{}\n</details>\n", fenced("text", &lines))
        }
    }
}

/// Formats a block whose fence is longer than any row of backticks in the text, so that nothing in it ends the block.
fn fenced(language: &str, text: &str) -> String {
    let text = first_lines(&printable::text(text), MAX_DETAILS);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("\n{fence}{language}\n{}\n{fence}\n", text.trim_end())
}

/// Formats one line as code in a table or a summary.
fn code(text: &str) -> String {
    format!("<code>{}</code>", escaped(&shortened(text, MAX_NAME)))
}

/// Returns the first characters of a text.
fn shortened(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Escapes everything that is special in Markdown or HTML. An entity is never taken for syntax.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in printable::line(text).chars() {
        match c {
            // In text that is not code, a name after it would be notified.
            '@' => out.push_str("&#64;&#8203;"),
            '&' | '<' | '>' | '"' | '\'' | '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '#' => {
                let _ = write!(out, "&#{};", u32::from(c));
            }
            c => out.push(c),
        }
    }
    // These would become links.
    out.replace("://", "&#58;//").replace("www.", "www&#46;")
}

#[cfg(test)]
mod tests {
    use super::super::super::case::tests::cases;
    use super::*;

    fn report(cases: &[Case]) -> String {
        let mut rows = Rows::default();
        for case in cases {
            rows.add(case);
        }
        rows.text("validate", "4 objects", &[])
    }

    #[test]
    fn objects_that_fail_come_first_and_details_are_folded() {
        let text = report(&cases());
        let result: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(' ').next()).collect();
        assert_eq!(result, ["Result", "rejected", "cannot", "accepted"]);
        assert_eq!(text.matches("<details>").count(), 3);
        assert_eq!(text.matches("</details>").count(), 3);
        assert!(text.starts_with("### kubectl crdx validate\n\n**4 objects**\n\n| Result "), "{text}");
    }

    #[test]
    fn nothing_in_a_name_or_message_is_markdown_or_html_or_a_mention() {
        let mut case = cases().remove(1);
        "Kite a|b` <img src=x> **b** [c](d) @org/team #1 www.e.org https://e.org\n| x |".clone_into(&mut case.subject);
        let hostile = format!("{}\n```\n</details>\n@user <script>", "`".repeat(7));
        case.findings[0].message.clone_from(&hostile);
        case.findings[0].diff = Some("-~~~~\n+`````\n".to_owned());
        let text = report(&[case]);
        let outside: Vec<&str> = {
            let mut inside: Option<String> = None;
            text.lines()
                .filter(|line| {
                    let ticks: String = line.chars().take_while(|c| *c == '`').collect();
                    match &inside {
                        None if ticks.len() >= 3 => inside = Some(ticks),
                        Some(fence) if *line == fence => inside = None,
                        None => return true,
                        Some(_) => {}
                    }
                    false
                })
                .collect()
        };
        assert!(outside.contains(&"</details>"), "{text}");
        for line in outside {
            let own = ["<details>", "</details>", "<summary>", "</summary>", "<code>", "</code>"];
            let rest = own.iter().fold(line.to_owned(), |line, tag| line.replace(tag, ""));
            assert!(!rest.contains(['<', '`', '[', '@']) && !rest.contains("://") && !rest.contains("www."), "{line}");
            assert!(!line.starts_with('|') || line.matches('|').count() == 5, "{line}");
        }
        assert!(text.contains("\n````````text\n"), "the fence is longer than any in the text: {text}");
    }

    #[test]
    fn equal_findings_have_one_row() {
        let mut all = vec![cases().remove(1)];
        for i in 0..41 {
            let mut case = cases().remove(1);
            case.subject = format!("Kite default/{i}");
            all.push(case);
        }
        let text = report(&all);
        assert!(text.contains("</code> and 41 more objects | "), "{text}");
        assert!(text.contains("\nKite default/0 (dir/a b,c:d%.yaml:1)\n") && text.contains("\n… and 21 more\n"));
        assert_eq!(text.matches("<details>").count(), 1);
    }

    #[test]
    fn a_long_report_says_what_is_left_out() {
        let case = |i: usize| {
            let mut case = cases().remove(1);
            case.findings[0].message = format!("spec.x: {i} {}", "é\n".repeat(300));
            case
        };
        let text = report(&(0..10_000).map(case).collect::<Vec<_>>());
        assert!(text.len() <= MAX_BYTES, "{}", text.len());
        assert!(text.trim_end().lines().last().unwrap().contains(" of 10000 rows and the details of "), "{text}");
        let mut huge = cases().remove(1);
        huge.subject = "x".repeat(1 << 20);
        huge.findings[0].message = "another".to_owned();
        let text = report(&[huge, cases().remove(1)]);
        assert_eq!(text.matches("\n| rejected | ").count(), 2, "a long name does not hide other rows");
        let long = case(0).findings.remove(0).message.repeat(100);
        let kept = first_lines(&long, 1000);
        assert!(kept.len() < 1100 && kept.ends_with(" more lines"), "{kept}");
    }
}
