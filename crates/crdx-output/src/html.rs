//! An HTML report: one self-contained file for light and dark mode. Its only script filters the objects and opens those
//! that are kept as compressed data; the content security policy allows that script by its hash and no other. The page is also well-formed XML, so that tests can
//! parse it.
//!
//! The rows and details of objects are added one by one. The text before and between them contains counts and is
//! written at the end, by [`Page`].

use super::bounded::{PROBLEMS, beginning};
use super::excerpt::MessageSeverity;
pub use super::markup::escaped;
use crdx_engine::report::{Diagnostic, ObjectReport, RunNote, SourceLocation, Verdict};
use crdx_value::release::ReleaseSet;
use std::fmt::Write as _;

/// The style sheet.
const STYLE: &str = include_str!("html/style.css");

/// The maximum length of a message.
const MESSAGE: usize = 16 << 10;

/// The end of the page.
pub const TAIL: &str = concat!("</main>\n<script>\n", include_str!("html/page.js"), "</script>\n</body>\n</html>\n");

/// The filter controls, which the script makes visible.
pub const FILTER: &str = "<p class=\"filter\" hidden=\"hidden\"><input type=\"search\" placeholder=\"Filter by text\" \
    aria-label=\"Filter by text\"/> <select aria-label=\"Filter by verdict\"><option value=\"\">all verdicts</option>\
    </select> <output></output></p>\n<p class=\"empty\" id=\"no-match\" hidden=\"hidden\">Nothing matches the filter. \
    <button type=\"button\">Clear the filter</button></p>\n<noscript><p class=\"about\">Without JavaScript, groups of \
    objects cannot be opened.</p></noscript>\n";

/// The SHA-256 of the script for the content security policy; `tests/cli/pages.rs` compares it with the script.
const SCRIPT: &str = "sha256-0DcRabWLbKvtngCFD3IvZmbf0eaz2RvDsMCFw4NHkHM=";

/// The severity of an element, which selects its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colour {
    /// Success.
    Good,
    /// An error.
    Bad,
    /// Needs attention.
    Unsure,
    /// No severity.
    Plain,
}

impl Colour {
    /// Returns the CSS class.
    pub fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Bad => "bad",
            Self::Unsure => "unsure",
            Self::Plain => "plain",
        }
    }

    /// Returns the severity of a verdict.
    pub fn for_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Accepted | Verdict::Decodes => Self::Good,
            Verdict::Rejected => Self::Bad,
            Verdict::Skipped => Self::Plain,
            Verdict::CannotTell => Self::Unsure,
        }
    }
}

/// The head of a page.
#[derive(Clone, Debug)]
pub struct Page<'a> {
    /// The command, for example `validate`.
    pub command: &'a str,
    /// The simulated releases.
    pub releases: &'a ReleaseSet,
    /// The result in one sentence.
    pub headline: &'a str,
    /// The severity of the result.
    pub colour: Colour,
    /// The number of objects by result.
    pub shares: &'a [Count],
    /// Other counts.
    pub facts: &'a [Count],
}

/// A count, its label and its severity.
pub type Count = (usize, &'static str, Colour);

impl Page<'_> {
    /// Formats the start of the page, up to the headline and the counts.
    pub fn head(&self) -> String {
        let Self { command, releases, headline, colour, shares, facts } = self;
        let mut text = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src '{SCRIPT}'\"/>\n\
             <title>kubectl crdx {command}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n\
             <header>\n<p class=\"command\">kubectl crdx {command}</p>\n<h1 class=\"{}\">{}</h1>\n",
            colour.class(),
            escaped(headline),
        );
        let some = |counts: &[Count]| counts.iter().copied().filter(|(n, ..)| *n > 0).collect::<Vec<_>>();
        let (shares, facts) = (some(shares), some(facts));
        if !shares.is_empty() {
            text.push_str("<div class=\"share\">");
            for (n, _, colour) in &shares {
                let _ = write!(text, "<i class=\"{}\" style=\"flex:{n}\"></i>", colour.class());
            }
            text.push_str("</div>\n");
        }
        text.push_str("<ul class=\"counts\">");
        for (n, words, colour) in shares.iter().chain(&facts) {
            let _ = write!(text, "<li class=\"{}\"><b>{n}</b> {}</li>", colour.class(), escaped(words));
        }
        text.push_str("</ul>\n");
        let _ = writeln!(
            text,
            "<p class=\"about\">The response of Kubernetes {}, simulated by kubectl-crdx {}</p>\n</header>",
            releases,
            env!("CARGO_PKG_VERSION")
        );
        text
    }
}

/// The columns shown on a narrow screen.
const ESSENTIAL: [&str; 4] = ["Verdict", "Next write", "Name", "Location"];

/// Formats the `<th>` cells of a table that may be scrolled.
pub fn table_head(titles: &[&str]) -> String {
    let title = |title: &&str| {
        let class = if ESSENTIAL.contains(title) { "" } else { " class=\"extra\"" };
        format!("<th{class}>{}</th>", escaped(title))
    };
    let cells: Vec<String> = titles.iter().map(title).collect();
    format!("<div class=\"table\"><table>\n<thead><tr>{}</tr></thead>\n<tbody>\n", cells.concat())
}

/// The end of a table.
pub const TABLE_TAIL: &str = "</tbody>\n</table></div>\n";

/// The objects of a page that are shown when the reader opens them.
#[derive(Debug)]
pub struct Group {
    /// The properties that the objects share besides the verdict.
    pub label: String,
    /// The number of objects.
    pub count: usize,
    verdict: &'static str,
    colour: Colour,
}

impl Group {
    /// Returns a group without objects.
    pub fn new(label: &str, verdict: &'static str, colour: Colour) -> Self {
        Self { label: label.to_owned(), count: 0, verdict, colour }
    }

    /// Formats the heading of the group with this index, and the table that the script fills.
    pub fn heading(&self, index: usize, titles: &[&str]) -> String {
        let Self { label, count, verdict, colour } = self;
        format!(
            "<details class=\"group {}\" data-group=\"{index}\" data-verdict=\"{verdict}\"><summary>{} {} <b>{}</b></summary>\n{}{TABLE_TAIL}\
             <p class=\"more\" hidden=\"hidden\"><button type=\"button\"></button></p></details>\n",
            colour.class(),
            badge(verdict, *colour),
            escaped(label),
            plural(*count, "object"),
            table_head(titles),
        )
    }
}

/// Formats compressed objects of the group with this index.
pub fn block(index: usize, data: &str) -> String {
    format!("<template data-group=\"{index}\">{data}</template>\n")
}

/// Formats a note about objects whose details are left out, or that are left out themselves.
pub fn left_out(details: usize, objects: usize) -> String {
    let mut text = String::new();
    for (count, of) in [(details, "with the details of all objects: those of"), (objects, "with all objects:")] {
        if count > 0 {
            let objects = plural(count, "object");
            let verb = if count == 1 && of.ends_with("objects:") { "is" } else { "are" };
            let _ = writeln!(
                text,
                "<p class=\"about\">The page would be too large {of} {objects} {verb} left out. -o json has them.</p>"
            );
        }
    }
    text
}

/// Formats what is said instead of an empty table.
pub fn empty(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<p class=\"empty\">{}</p>\n", escaped(text)) }
}

/// Formats the notes about a run.
pub fn notes(notes: &[RunNote]) -> String {
    let note =
        |note: &RunNote| format!("<div class=\"message unsure\"><p><b>note</b> {}</p></div>\n", escaped(&note.message));
    let notes: Vec<String> = notes.iter().map(note).collect();
    if notes.is_empty() { String::new() } else { format!("<section class=\"notes\">\n{}</section>\n", notes.concat()) }
}

/// Formats text in a coloured box.
pub fn badge(words: &str, colour: Colour) -> String {
    format!("<span class=\"badge {}\">{}</span>", colour.class(), escaped(words))
}

/// Formats a number in a table cell, grey if it is 0.
pub fn number(n: usize) -> String {
    if n == 0 {
        "<td class=\"number none extra\">0</td>".to_owned()
    } else {
        format!("<td class=\"number extra\">{n}</td>")
    }
}

/// Formats a message and its source line.
pub fn message(severity: MessageSeverity, text: &str, location: Option<&SourceLocation>, help: Option<&str>) -> String {
    message_of(severity, None, text, location, help)
}

/// Formats a message that only some of the simulated releases report.
fn message_of(
    severity: MessageSeverity,
    releases: Option<&ReleaseSet>,
    text: &str,
    location: Option<&SourceLocation>,
    help: Option<&str>,
) -> String {
    let (word, colour) = match severity {
        MessageSeverity::Error => ("error", Colour::Bad),
        MessageSeverity::Warning => ("warning", Colour::Unsure),
        MessageSeverity::Note => ("note", Colour::Plain),
    };
    let shown = beginning(text, MESSAGE);
    let cut = if shown.len() < text.len() { "…" } else { "" };
    let word = releases.map_or_else(|| word.to_owned(), |releases| format!("{word} {releases}"));
    let mut out = format!("<div class=\"message {}\"><p><b>{word}</b> {}{cut}</p>", colour.class(), escaped(shown));
    if let Some(location) = location {
        let _ = write!(out, "<p class=\"place\">{}</p>", escaped(&location.to_string()));
        if let Some(excerpt) = &location.excerpt {
            let part = |range| escaped(excerpt.line.get(range).unwrap_or_default());
            let indent = excerpt.line.len() - excerpt.line.trim_start().len();
            let _ = write!(
                out,
                "<pre><code><i>{:>4}</i> {}<mark>{}</mark>{}</code></pre>",
                location.line,
                part(indent.min(excerpt.part.start)..excerpt.part.start),
                part(excerpt.part.clone()),
                part(excerpt.part.end..excerpt.line.len()),
            );
        }
    }
    if let Some(help) = help {
        let _ = write!(out, "<p class=\"help\"><b>help</b> {}</p>", escaped(help));
    }
    out.push_str("</div>\n");
    out
}

/// Formats the verdict of each release, if several are simulated.
pub fn by_release(item: &ObjectReport) -> String {
    let verdicts = item.verdicts();
    let badges = verdicts
        .iter()
        .map(|(verdict, releases)| badge(&format!("{} {releases}", verdict.text()), Colour::for_verdict(*verdict)));
    let badges: Vec<String> = badges.collect();
    if badges.is_empty() { String::new() } else { format!("<p class=\"about\">{}</p>\n", badges.join(" ")) }
}

/// Formats an error or warning of an item.
fn problem(severity: MessageSeverity, problem: &Diagnostic, item: &ObjectReport) -> String {
    let location = Some(problem.location.as_ref().unwrap_or(&item.location));
    let severity = problem.shown_severity().map_or(severity, MessageSeverity::from);
    message_of(severity, problem.releases.as_ref(), &problem.message, location, problem.help_text().as_deref())
}

/// Formats the first problems, and says how many more there are.
fn first_problems(severity: MessageSeverity, all: &[Diagnostic], item: &ObjectReport) -> String {
    let mut text: String = all.iter().take(PROBLEMS).map(|one| problem(severity, one, item)).collect();
    if let Some(more) = all.len().checked_sub(PROBLEMS).filter(|more| *more > 0) {
        let _ = writeln!(text, "<p class=\"about\">and {more} more: -o json has everything</p>");
    }
    text
}

/// Formats the errors and warnings of an item.
pub fn problems(item: &ObjectReport) -> String {
    let mut text = first_problems(MessageSeverity::Error, &item.errors, item);
    if !item.hidden.is_empty() {
        text.push_str("<p class=\"about\">After these, the server would also report:</p>\n");
    }
    text.push_str(&first_problems(MessageSeverity::Error, &item.hidden, item));
    let cannot_tell = item.releases_with(Verdict::CannotTell);
    if item.verdict == Verdict::CannotTell && !item.errors.iter().any(|error| error.is_of(cannot_tell.as_ref())) {
        let help = item.help.as_deref();
        text.push_str(&message_of(
            MessageSeverity::Error,
            cannot_tell.as_ref(),
            &item.reason,
            Some(&item.location),
            help,
        ));
    }
    text.push_str(&first_problems(MessageSeverity::Warning, &item.warnings, item));
    text
}

/// Formats a unified diff with colours.
pub fn diff(text: &str) -> String {
    let mut out = "<pre class=\"diff\"><code>".to_owned();
    for line in text.lines().filter(|line| !line.starts_with("--- LIVE/") && !line.starts_with("+++ MERGED/")) {
        let class = match line.bytes().next() {
            Some(b'+') if line.ends_with("  # default") => "added default",
            Some(b'+') => "added",
            Some(b'-') => "removed",
            Some(b'!') => "pruned",
            Some(b'@') => "hunk",
            _ => "same",
        };
        // A block element: a line break after it would add an empty line.
        let _ = write!(out, "<span class=\"{class}\">{}</span>", escaped(line));
    }
    out.push_str("</code></pre>\n");
    out
}

/// Removes the common indentation of all lines except the first.
pub fn dedented(text: &str) -> String {
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = text.lines().skip(1).filter(|line| !line.trim().is_empty()).map(|line| indent(&line)).min();
    let mut lines = text.lines().enumerate().map(|(i, line)| match (i, common) {
        (0, _) | (_, None) => line.trim_start(),
        (_, Some(common)) => line.get(common..).unwrap_or_default(),
    });
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |text, line| text + "\n" + line)
}

/// Formats `1 object` or `2 objects`.
pub fn plural(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}
