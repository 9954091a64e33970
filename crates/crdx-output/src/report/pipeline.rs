//! Reports for pipelines, with one [`Case`] per object. [`sarif`] is for code scanning, [`junit`] and [`tap`] for test
//! results, [`github`] for annotations of a workflow, [`gitlab`] for merge requests, [`rdjson`] for reviewdog, [`markdown`] for people
//! who review a change.

mod github;
mod gitlab;
mod junit;
mod markdown;
mod rdjson;
mod sarif;
mod tap;

use super::case::{Case, Finding, Level, Outcome};
use crate::bounded::{beginning, first_lines};
use crdx_engine::report::{RunNote, SourceLocation};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum size of one case, in all formats; the first finding is always in it.
const CASE: usize = 256 << 10;
/// The maximum length of a message, a difference or a field.
const TEXT: usize = 16 << 10;
/// The maximum length of a name.
const NAME: usize = 1 << 10;
/// The parts of a finding besides its texts.
const FINDING: usize = 300;
/// The maximum number of results: GitHub refuses SARIF with more.
const RESULTS: usize = 25_000;

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PipelineFormat {
    Sarif,
    /// JUnit XML
    Junit,
    /// Workflow commands of GitHub Actions
    Github,
    /// TAP version 14
    Tap,
    Markdown,
    /// GitLab's code quality
    Gitlab,
    /// reviewdog's JSON
    Rdjson,
}

/// The totals of a report, which most formats contain at the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The command, for example `validate`.
    pub command: &'static str,
    /// The number of cases.
    pub cases: usize,
    /// The number of failed cases.
    pub failed: usize,
    /// The number of skipped cases.
    pub skipped: usize,
    /// The number of cases with an unknown verdict.
    pub unknown: usize,
    /// The rules of all findings.
    pub rules: BTreeSet<String>,
}

/// The findings that a report leaves out, because it would be too large.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// The number of cases.
    pub cases: usize,
    /// The number of them that failed, or whose verdict is unknown.
    pub failed: usize,
    /// The number of their findings.
    pub findings: usize,
}

impl LeftOut {
    fn add(&mut self, case: &Case) {
        self.cases += 1;
        self.failed += usize::from(matches!(case.outcome, Outcome::Failed | Outcome::CannotTell));
        self.findings += case.findings.len();
    }

    /// Says what is left out; `None` if nothing is.
    pub fn message(&self) -> Option<String> {
        let Self { cases, failed, findings } = *self;
        let plural = |n: usize, word: &str| if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") };
        let (objects, findings) = (plural(cases, "more object"), plural(findings, "finding"));
        (cases > 0).then(|| {
            format!("the report would be too large with {objects}, {failed} of them rejected or without a verdict, and their {findings}: -o json has everything")
        })
    }
}

/// Builds a report: the texts of all [`case`](Self::case)s go between [`head`](Self::head) and [`tail`](Self::tail).
#[derive(Debug)]
pub struct PipelineReport {
    format: PipelineFormat,
    totals: Totals,
    /// The number of findings so far.
    findings: usize,
    /// The size of the cases so far.
    length: usize,
    left_out: LeftOut,
    /// The kinds of skipped objects and the reasons, with the numbers of objects; of GitHub's format only.
    skipped: BTreeMap<(String, String), usize>,
    /// The rows; of Markdown only.
    rows: markdown::Rows,
}

impl PipelineReport {
    /// Creates the report of a command without cases.
    pub fn new(format: PipelineFormat, command: &'static str) -> Self {
        let totals = Totals { command, ..Totals::default() };
        let (skipped, rows) = (BTreeMap::new(), markdown::Rows::default());
        Self { format, totals, findings: 0, length: 0, left_out: LeftOut::default(), skipped, rows }
    }

    /// The maximum size of all cases. Annotations are in a log, like text for people; services accept 10 MB of the formats
    /// for programs.
    fn most(&self) -> usize {
        match self.format {
            PipelineFormat::Sarif | PipelineFormat::Junit | PipelineFormat::Gitlab | PipelineFormat::Rdjson => 8 << 20,
            PipelineFormat::Github | PipelineFormat::Tap => 1 << 20,
            // It has its own limits.
            PipelineFormat::Markdown => usize::MAX,
        }
    }

    /// Formats the next case. If the report would be too large with it, it is only counted; TAP then has its line.
    pub fn case(&mut self, case: &Case) -> String {
        self.totals.cases += 1;
        match &case.outcome {
            Outcome::Passed => {}
            Outcome::Failed => self.totals.failed += 1,
            Outcome::Skipped(reason) => {
                self.totals.skipped += 1;
                if self.format == PipelineFormat::Github {
                    let kind = beginning(case.subject.split(' ').next().unwrap_or_default(), NAME);
                    *self.skipped.entry((kind.to_owned(), reason.clone())).or_default() += 1;
                }
            }
            Outcome::CannotTell => self.totals.unknown += 1,
        }
        self.totals.rules.extend(case.findings.iter().map(|finding| finding.rule.clone()));
        if self.format == PipelineFormat::Markdown {
            self.rows.add(case);
            return String::new();
        }
        let bounded = bounded(case);
        let text = match self.format {
            PipelineFormat::Sarif => sarif::case(&bounded, self.findings == 0),
            PipelineFormat::Gitlab => gitlab::case(&bounded, self.findings == 0),
            PipelineFormat::Rdjson => rdjson::case(&bounded, self.findings == 0),
            PipelineFormat::Junit => junit::case(&bounded),
            PipelineFormat::Github => github::case(&bounded),
            PipelineFormat::Tap | PipelineFormat::Markdown => tap::case(&bounded, self.totals.cases),
        };
        let has_too_many = self.format == PipelineFormat::Sarif && self.findings + bounded.findings.len() > RESULTS;
        if self.length + text.len() > self.most() || has_too_many {
            self.left_out.add(case);
            return if self.format == PipelineFormat::Tap {
                tap::short(case, self.totals.cases)
            } else {
                String::new()
            };
        }
        self.length += text.len();
        self.findings += bounded.findings.len();
        text
    }

    /// Returns the text before the cases.
    pub fn head(&self) -> String {
        match self.format {
            PipelineFormat::Sarif => sarif::head(&self.totals),
            PipelineFormat::Gitlab => "[".to_owned(),
            PipelineFormat::Rdjson => rdjson::head(),
            PipelineFormat::Junit => junit::head(&self.totals),
            PipelineFormat::Github | PipelineFormat::Markdown => String::new(),
            PipelineFormat::Tap => tap::head(&self.totals),
        }
    }

    /// Returns the text after the cases. `counts` is the command's line of counts.
    pub fn tail(&self, counts: &str, notes: &[RunNote]) -> String {
        match self.format {
            PipelineFormat::Sarif => sarif::tail(&self.left_out),
            PipelineFormat::Gitlab => gitlab::tail(&self.left_out, self.findings == 0),
            PipelineFormat::Rdjson => rdjson::tail(&self.left_out, self.findings == 0),
            PipelineFormat::Junit => junit::tail(&self.left_out),
            PipelineFormat::Github => github::tail(&self.skipped, &self.left_out),
            PipelineFormat::Tap => self.left_out.message().map_or_else(String::new, |message| format!("# {message}\n")),
            PipelineFormat::Markdown => self.rows.text(self.totals.command, counts, notes),
        }
    }
}

/// The elements of a JSON array, one in a line; `first` is true if the array has none yet.
fn joined(elements: impl Iterator<Item = String>, first: bool) -> String {
    let mut text = String::new();
    for (i, element) in elements.enumerate() {
        text.push_str(if first && i == 0 { "\n" } else { ",\n" });
        text.push_str(&element);
    }
    text
}

/// The path of a file in the repository, or `stdin`.
fn path(location: &SourceLocation) -> String {
    let Some((path, _)) = location.file() else { return "stdin".to_owned() };
    let path = path.replace('\\', "/");
    path.strip_prefix("./").map_or_else(|| path.clone(), str::to_owned)
}

/// The line, if it is one of the file.
fn line(location: &SourceLocation) -> Option<usize> {
    (location.line > 0 && location.file().is_none_or(|(_, is_exact)| is_exact)).then_some(location.line)
}

/// The text that replaces the one at the location of a finding, as its suggestion says. A quoted one stays quoted.
fn replacement(finding: &Finding) -> Option<String> {
    let new = finding.replacement.as_ref()?;
    let excerpt = finding.location.excerpt.as_ref()?;
    let old = excerpt.line.get(excerpt.part.clone())?;
    let quote = old.get(..1).filter(|quote| matches!(*quote, "\"" | "'")).unwrap_or_default();
    Some(format!("{quote}{new}{quote}"))
}

/// Returns a case of bounded size: names and texts are shortened, and after the first findings the others are counted.
fn bounded(case: &Case) -> Cow<'_, Case> {
    let name = case.subject.len() + case.location.source.len();
    let length = |finding: &Finding| {
        let texts = [&finding.field, &finding.diff, &finding.help].into_iter().flatten().map(String::len);
        FINDING + name + finding.location.source.len() + finding.message.len() + texts.sum::<usize>()
    };
    let total: usize = case.findings.iter().map(length).sum();
    if total <= CASE && case.subject.len() <= NAME && case.findings.iter().all(|finding| length(finding) <= TEXT) {
        return Cow::Borrowed(case);
    }
    let subject = shortened(&case.subject, NAME);
    let mut findings: Vec<Finding> = Vec::new();
    let mut left = CASE;
    for finding in &case.findings {
        let finding = Finding {
            message: shortened(&finding.message, TEXT),
            field: finding.field.as_deref().map(|field| shortened(field, NAME)),
            diff: finding.diff.as_deref().map(|diff| first_lines(diff, TEXT)),
            help: finding.help.as_deref().map(|help| shortened(help, TEXT)),
            ..finding.clone()
        };
        let length = length(&finding).saturating_sub(case.subject.len()) + subject.len();
        if length > left && !findings.is_empty() {
            break;
        }
        left = left.saturating_sub(length);
        findings.push(finding);
    }
    let more = case.findings.len() - findings.len();
    if more > 0 {
        findings.push(left_out(more, &case.location));
    }
    Cow::Owned(Case { subject, findings, ..case.clone() })
}

/// Returns a finding that replaces further ones of an object.
fn left_out(count: usize, location: &SourceLocation) -> Finding {
    let findings = if count == 1 { "finding" } else { "findings" };
    Finding {
        level: Level::Note,
        rule: "more".to_owned(),
        field: None,
        message: format!("and {count} more {findings}: -o json has everything"),
        diff: None,
        help: None,
        replacement: None,
        known: None,
        location: location.without_excerpt(),
    }
}

/// Returns the beginning of a text.
fn shortened(text: &str, most: usize) -> String {
    let shown = beginning(text, most);
    if shown.len() < text.len() { format!("{shown}…") } else { shown.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::super::case::tests::cases;
    use super::*;

    /// Returns a report with cases of all outcomes.
    pub fn report(format: PipelineFormat) -> String {
        let mut report = PipelineReport::new(format, "validate");
        let body: String = cases().iter().map(|case| report.case(case)).collect();
        report.head() + &body + &report.tail("", &[])
    }

    /// A report with many failed cases of one kind, in this format.
    fn large(format: PipelineFormat, cases: usize, change: impl Fn(&mut Case)) -> String {
        let mut report = PipelineReport::new(format, "validate");
        let mut case = super::super::case::tests::cases().remove(1);
        change(&mut case);
        let body: String = (0..cases).map(|_| report.case(&case)).collect();
        report.head() + &body + &report.tail("", &[])
    }

    #[test]
    fn annotations_are_bounded() {
        let text = large(PipelineFormat::Github, 20_000, |_| ());
        assert!(text.len() < (1 << 20) + 1000, "{}", text.len());
        let last = text.lines().last().unwrap();
        let shown = text.lines().count() - 1;
        let more = 20_000 - shown;
        let want = format!(
            "::error title=left out::the report would be too large with {more} more objects, {more} of them rejected or without a verdict, and their {more} findings: -o json has everything"
        );
        assert_eq!(last, want);
    }

    #[test]
    fn sarif_is_bounded_and_valid() {
        for (cases, change) in [(60_000, 0), (30_000, 10_000)] {
            let text =
                large(PipelineFormat::Sarif, cases, |case| case.findings[0].message.push_str(&"x".repeat(change)));
            let log: serde_json::Value = serde_json::from_str(&text).unwrap();
            let results = log["runs"][0]["results"].as_array().unwrap().len();
            assert!(results <= 25_000 && text.len() < 9 << 20, "{results} {}", text.len());
            let notice = &log["runs"][0]["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"];
            assert!(notice.as_str().unwrap().contains(&format!("{} more objects", cases - results)), "{notice}");
        }
    }

    #[test]
    fn junit_is_bounded_and_counts_all() {
        let text = large(PipelineFormat::Junit, 60_000, |_| ());
        assert!(text.len() < 9 << 20);
        let document = roxmltree::Document::parse(&text).unwrap();
        let suite = document.root_element().first_element_child().unwrap();
        assert_eq!((suite.attribute("tests"), suite.attribute("failures")), (Some("60000"), Some("60000")));
        let last = suite.last_element_child().unwrap();
        assert!(last.first_element_child().unwrap().has_tag_name("failure"), "{last:?}");
        let shown = suite.children().filter(|child| child.has_tag_name("testcase")).count() - 1;
        assert!(last.attribute("name").unwrap().contains(&format!(" {} more objects", 60_000 - shown)));
    }

    #[test]
    fn tap_is_bounded_and_has_a_line_for_each_case() {
        let text = large(PipelineFormat::Tap, 20_000, |_| ());
        assert!(text.len() < 2 << 20, "{}", text.len());
        assert_eq!(text.lines().filter(|line| line.starts_with("not ok ")).count(), 20_000);
        assert!(text.ends_with(" findings: -o json has everything\n"));
    }

    #[test]
    fn a_case_is_bounded() {
        for format in [
            PipelineFormat::Github,
            PipelineFormat::Sarif,
            PipelineFormat::Junit,
            PipelineFormat::Tap,
            PipelineFormat::Gitlab,
            PipelineFormat::Rdjson,
        ] {
            let text = large(format, 1, |case| {
                case.subject = "s".repeat(1 << 16);
                case.findings[0].message = "é".repeat(20_000);
                case.findings = vec![case.findings[0].clone(); 100];
            });
            assert!(text.len() < 1 << 20, "{format:?} {}", text.len());
            assert!(text.contains("more findings: -o json has everything"), "{format:?}");
        }
    }

    #[test]
    fn annotations_cannot_be_broken_out_of() {
        assert_eq!(
            report(PipelineFormat::Github),
            "::warning file=dir/a b%2Cc%3Ad%25.yaml,line=1,title=Kite default/red#1%3A Warning::deprecated: 100%25 gone]]> soon\n\
             ::error file=dir/a b%2Cc%3Ad%25.yaml,line=7,col=3,title=Kite default/red#1%3A FieldValueInvalid::spec.tail: Invalid value: \"<a href='&\\u0001%0A::error::\": no%0A---%0A...%0Aok 1\n\
             ::error title=<stdin>%3A cannotTell::no kind%0Ahelp: say it\n\
             ::notice title=skipped::Kite: 1 object was skipped: not a custom resource\n"
        );
    }

    #[test]
    fn tap_has_a_plan_and_diagnostics() {
        let text = report(PipelineFormat::Tap);
        assert!(text.starts_with("TAP version 14\n1..4\nok 1 - Kite default/red\\#1\n"), "{text}");
        assert!(text.contains("\nok 3 - Kite default/red\\#1 # SKIP not a custom resource\n"), "{text}");
        let starts = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
        // A line break in a message must not start a line of TAP.
        assert_eq!((starts("ok"), starts("not ok"), starts(" ")), (2, 2, text.lines().count() - 6));
    }

    #[test]
    fn sarif_is_json() {
        let log: serde_json::Value = serde_json::from_str(&report(PipelineFormat::Sarif)).unwrap();
        let run = &log["runs"][0];
        assert_eq!(run["results"].as_array().unwrap().len(), 3);
        let location = &run["results"][1]["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "dir/a%20b,c:d%25.yaml");
        assert_eq!(location["region"]["startColumn"], 3);
        let ids: Vec<_> = run["tool"]["driver"]["rules"].as_array().unwrap().iter().map(|rule| &rule["id"]).collect();
        assert_eq!(ids, ["FieldValueInvalid", "Warning", "cannotTell"]);
    }

    #[test]
    fn junit_counts() {
        let text = report(PipelineFormat::Junit);
        let document = roxmltree::Document::parse(&text).unwrap();
        let suite = document.root_element().first_element_child().unwrap();
        let number = |name: &str| suite.attribute(name).unwrap();
        assert_eq!([number("tests"), number("failures"), number("errors"), number("skipped")], ["4", "1", "1", "1"]);
        let count = |name: &str| suite.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!([count("testcase"), count("failure"), count("error"), count("skipped")], [4, 1, 1, 1]);
        let failure = suite.descendants().find(|node| node.has_tag_name("failure")).unwrap();
        assert!(failure.text().unwrap().contains("<a href='&\\u0001"), "{failure:?}");
    }
}
