//! Reports for pipelines, with one [`Case`] per object. [`sarif`] is for code scanning, [`junit`] and [`tap`] for test
//! results, [`github`] for annotations of a workflow, [`markdown`] for people who review a change.

pub mod github;
pub mod junit;
pub mod markdown;
pub mod sarif;
pub mod tap;

use super::case::{Case, Outcome};
use crdx::report::RunNote;
use std::collections::{BTreeMap, BTreeSet};

/// The format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Sarif,
    /// JUnit XML
    Junit,
    /// Workflow commands of GitHub Actions
    Github,
    /// TAP version 14
    Tap,
    Markdown,
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

/// Builds a report: the texts of all [`case`](Self::case)s go between [`head`](Self::head) and [`tail`](Self::tail).
#[derive(Debug)]
pub struct Report {
    format: Format,
    totals: Totals,
    /// The number of findings so far.
    findings: usize,
    /// The kinds of skipped objects and the reasons, with the numbers of objects; of GitHub's format only.
    skipped: BTreeMap<(String, String), usize>,
    /// The rows; of Markdown only.
    rows: markdown::Rows,
}

impl Report {
    /// Creates the report of a command without cases.
    pub fn new(format: Format, command: &'static str) -> Self {
        let totals = Totals { command, ..Totals::default() };
        Self { format, totals, findings: 0, skipped: BTreeMap::new(), rows: markdown::Rows::default() }
    }

    /// Formats the next case.
    pub fn case(&mut self, case: &Case) -> String {
        self.totals.cases += 1;
        match &case.outcome {
            Outcome::Passed => {}
            Outcome::Failed => self.totals.failed += 1,
            Outcome::Skipped(reason) => {
                self.totals.skipped += 1;
                if self.format == Format::Github {
                    let kind = case.subject.split(' ').next().unwrap_or_default();
                    *self.skipped.entry((kind.to_owned(), reason.clone())).or_default() += 1;
                }
            }
            Outcome::CannotTell => self.totals.unknown += 1,
        }
        self.totals.rules.extend(case.findings.iter().map(|finding| finding.rule.clone()));
        let first = self.findings == 0;
        self.findings += case.findings.len();
        match self.format {
            Format::Sarif => sarif::case(case, first),
            Format::Junit => junit::case(case),
            Format::Github => github::case(case),
            Format::Tap => tap::case(case, self.totals.cases),
            Format::Markdown => {
                self.rows.add(case);
                String::new()
            }
        }
    }

    /// Returns the text before the cases.
    pub fn head(&self) -> String {
        match self.format {
            Format::Sarif => sarif::head(&self.totals),
            Format::Junit => junit::head(&self.totals),
            Format::Github | Format::Markdown => String::new(),
            Format::Tap => tap::head(&self.totals),
        }
    }

    /// Returns the text after the cases. `counts` is the command's line of counts.
    pub fn tail(&self, counts: &str, notes: &[RunNote]) -> String {
        match self.format {
            Format::Sarif => sarif::TAIL.to_owned(),
            Format::Junit => junit::TAIL.to_owned(),
            Format::Github => github::tail(&self.skipped),
            Format::Tap => String::new(),
            Format::Markdown => self.rows.text(self.totals.command, counts, notes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::case::tests::cases;
    use super::*;

    /// Returns a report with cases of all outcomes.
    pub fn report(format: Format) -> String {
        let mut report = Report::new(format, "validate");
        let body: String = cases().iter().map(|case| report.case(case)).collect();
        report.head() + &body + &report.tail("", &[])
    }

    #[test]
    fn annotations_cannot_be_broken_out_of() {
        assert_eq!(
            report(Format::Github),
            "::warning file=dir/a b%2Cc%3Ad%25.yaml,line=1,title=Kite default/red#1%3A Warning::deprecated: 100%25 gone]]> soon\n\
             ::error file=dir/a b%2Cc%3Ad%25.yaml,line=7,col=3,title=Kite default/red#1%3A FieldValueInvalid::spec.tail: Invalid value: \"<a href='&\\u0001%0A::error::\": no%0A---%0A...%0Aok 1\n\
             ::error title=<stdin>%3A cannotTell::no kind%0Ahelp: say it\n\
             ::notice title=skipped::Kite: 1 object was skipped: not a custom resource\n"
        );
    }

    #[test]
    fn tap_has_a_plan_and_diagnostics() {
        let text = report(Format::Tap);
        assert!(text.starts_with("TAP version 14\n1..4\nok 1 - Kite default/red\\#1\n"), "{text}");
        assert!(text.contains("\nok 3 - Kite default/red\\#1 # SKIP not a custom resource\n"), "{text}");
        let starts = |word: &str| text.lines().filter(|line| line.starts_with(word)).count();
        // A line break in a message must not start a line of TAP.
        assert_eq!((starts("ok"), starts("not ok"), starts(" ")), (2, 2, text.lines().count() - 6));
    }

    #[test]
    fn sarif_is_json() {
        let log: serde_json::Value = serde_json::from_str(&report(Format::Sarif)).unwrap();
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
        let text = report(Format::Junit);
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
