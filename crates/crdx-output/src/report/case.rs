//! An object as a test case for pipelines: its outcome and findings. All formats of [`super::pipeline`] are written
//! from cases.

use crdx_engine::report::severity::{DROPPED_FIELD, Severity};
use crdx_engine::report::{Diagnostic, FieldHint, KnownFinding, ObjectReport, SourceLocation, Verdict};
use crdx_value::release::ReleaseSet;
use std::borrow::Cow;
use std::sync::Arc;

/// One object, or one input without an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// `CronTab default/my-cron`, or the source location if the object cannot be identified.
    pub subject: String,
    /// The source location of the object.
    pub location: SourceLocation,
    /// The outcome; it agrees with the exit code.
    pub outcome: Outcome,
    /// The outcome in the words of the command, such as `rejected`.
    pub result: &'static str,
    pub findings: Vec<Finding>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Accepted, or no difference.
    Passed,
    /// Rejected, or different from what was requested.
    Failed,
    /// Skipped, with the reason.
    Skipped(String),
    /// There is no verdict.
    CannotTell,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The severity.
    pub level: Level,
    /// The rule: the server's reason (`FieldValueInvalid`), or a term of this program.
    pub rule: String,
    pub field: Option<String>,
    /// The text, which may have several lines.
    pub message: String,
    /// The difference that the text is about.
    pub diff: Option<String>,
    /// A suggestion.
    pub help: Option<String>,
    /// The text with which the suggestion would replace the text at the location.
    pub replacement: Option<String>,
    pub location: SourceLocation,
    /// The entry of the baseline that accepts the finding.
    pub known: Option<Arc<KnownFinding>>,
}

/// The outcome of an object that is rejected for errors in the baseline.
const KNOWN: &str = "rejected as in the baseline";

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The case fails.
    Error,
    Warning,
    Note,
}

impl From<Severity> for Level {
    fn from(severity: Severity) -> Self {
        match severity {
            Severity::Error => Self::Error,
            Severity::Warning => Self::Warning,
            Severity::Note | Severity::Off => Self::Note,
        }
    }
}

impl Level {
    /// Returns the name of the severity, which is also the name in SARIF.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl Finding {
    /// Formats the finding: `a.yaml:3:4: error: spec.x: Invalid value`.
    pub fn line(&self) -> String {
        self.located(&self.text())
    }

    /// Formats the finding without its difference.
    pub(crate) fn message_line(&self) -> String {
        self.located(&self.message)
    }

    fn located(&self, text: &str) -> String {
        let help = self.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
        format!("{}: {}: {text}{help}", self.location, self.level.as_str())
    }

    /// Returns the message with the difference.
    pub fn text(&self) -> Cow<'_, str> {
        match &self.diff {
            Some(diff) => Cow::Owned(format!("{}\n{}", self.message, diff.trim_end())),
            None => Cow::Borrowed(&self.message),
        }
    }
}

/// Formats a message that only some of the simulated releases report: `[1.31..1.34] …`.
fn of_releases(releases: Option<&ReleaseSet>, text: &str) -> String {
    releases.map_or_else(|| text.to_owned(), |releases| format!("[{releases}] {text}"))
}

impl Case {
    /// Returns the case of an item of `validate`.
    pub fn from_report(item: &ObjectReport) -> Self {
        let outcome = match item.verdict {
            Verdict::Rejected | Verdict::Accepted | Verdict::Decodes | Verdict::Skipped if item.fails() => {
                Outcome::Failed
            }
            Verdict::Rejected => Outcome::Skipped(KNOWN.to_owned()),
            Verdict::Accepted | Verdict::Decodes => Outcome::Passed,
            Verdict::Skipped => Outcome::Skipped(item.reason.clone()),
            Verdict::CannotTell => Outcome::CannotTell,
        };
        let found = |problem: &Diagnostic, level| Finding {
            level: problem.shown_severity().map_or(level, Level::from),
            known: problem.known.clone(),
            rule: if problem.kind.is_empty() { item.verdict.as_str().to_owned() } else { problem.kind.clone() },
            field: problem.field.clone(),
            message: of_releases(problem.releases.as_ref(), &problem.message),
            diff: None,
            replacement: problem.replacement.clone(),
            help: problem.help_text(),
            location: problem.location.clone().unwrap_or_else(|| item.location.clone()),
        };
        let mut findings: Vec<Finding> = item.errors.iter().map(|error| found(error, Level::Error)).collect();
        let cannot_tell = item.releases_with(Verdict::CannotTell);
        let unexplained = match outcome {
            Outcome::Failed if item.verdict != Verdict::Rejected => false,
            Outcome::Failed | Outcome::CannotTell => !item.errors.iter().any(|error| error.is_of(cannot_tell.as_ref())),
            Outcome::Passed | Outcome::Skipped(_) => false,
        };
        if unexplained {
            let message = item.answer.as_ref().map(|answer| answer.message.as_str()).filter(|text| !text.is_empty());
            findings.push(Finding {
                level: Level::Error,
                rule: item.verdict.as_str().to_owned(),
                field: None,
                message: of_releases(item.releases_with(item.verdict).as_ref(), message.unwrap_or(&item.reason)),
                diff: None,
                replacement: None,
                help: item.help.clone(),
                location: item.location.clone(),
                known: None,
            });
        }
        findings.extend(item.remarks.iter().map(|remark| Finding {
            level: Level::Note,
            rule: remark.as_str().to_owned(),
            field: None,
            message: remark.message(),
            diff: None,
            replacement: None,
            help: None,
            location: item.location.clone(),
            known: None,
        }));
        let hidden = |problem: &Diagnostic| Finding {
            message: of_releases(problem.releases.as_ref(), &format!("{}{}", super::HIDDEN_NOTE, problem.message)),
            ..found(problem, Level::Note)
        };
        findings.extend(item.hidden.iter().map(hidden));
        findings.extend(item.warnings.iter().map(|warning| found(warning, Level::Warning)));
        findings.extend(item.dropped_silently().into_iter().map(|field| Finding {
            level: field.severity.map_or(Level::Note, Level::from),
            rule: DROPPED_FIELD.to_owned(),
            field: Some(field.path.clone()),
            message: of_releases(field.releases.as_ref(), &field.message()),
            diff: None,
            help: field.help(),
            replacement: field.hint.as_ref().and_then(FieldHint::replacement).map(str::to_owned),
            location: field.location.clone().unwrap_or_else(|| item.location.clone()),
            known: None,
        }));
        let subject = item.called();
        let subject = if subject.is_empty() { item.location.to_string() } else { subject };
        Self { subject, location: item.location.clone(), outcome, result: item.verdict.text(), findings }
    }

    /// Returns all findings as lines of text.
    pub fn lines(&self) -> String {
        self.findings.iter().map(Finding::line).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crdx_engine::report::Identity;
    use std::sync::Arc;

    /// Returns cases with all outcomes and with texts that each format must escape.
    pub fn cases() -> Vec<Case> {
        let location =
            |line, column| SourceLocation { column, ..SourceLocation::line(&Arc::from("dir/a b,c:d%.yaml"), line) };
        let mut item = ObjectReport::new(location(1, 0), Verdict::Accepted, "");
        item.identity = Identity {
            api_version: "toys.example.com/v1".to_owned(),
            kind: "Kite".to_owned(),
            namespace: Some("default".to_owned()),
            name: "red#1".to_owned(),
        };
        item.warnings.push(Diagnostic {
            kind: "Warning".to_owned(),
            field: None,
            message: "deprecated: 100% gone]]> soon".to_owned(),
            ..Diagnostic::default()
        });
        let mut rejected = item.clone();
        rejected.verdict = Verdict::Rejected;
        rejected.warnings.clear();
        rejected.errors.push(Diagnostic {
            kind: "FieldValueInvalid".to_owned(),
            field: Some("spec.tail".to_owned()),
            message: "spec.tail: Invalid value: \"<a href='&\u{1}\r\n::error::\": no\n---\n...\nok 1".to_owned(),
            location: Some(location(7, 3)),
            ..Diagnostic::default()
        });
        let mut skipped = item.clone();
        skipped.verdict = Verdict::Skipped;
        "not a custom resource".clone_into(&mut skipped.reason);
        skipped.warnings.clear();
        let mut unread =
            ObjectReport::new(SourceLocation::source(&Arc::from("<stdin>")), Verdict::CannotTell, "no kind");
        unread.help = Some("say it".to_owned());
        [item, rejected, skipped, unread].iter().map(Case::from_report).collect()
    }

    #[test]
    fn a_case_has_the_findings_of_its_item() {
        let cases = cases();
        let outcomes: Vec<_> = cases.iter().map(|case| case.outcome.clone()).collect();
        let skipped = Outcome::Skipped("not a custom resource".to_owned());
        assert_eq!(outcomes, [Outcome::Passed, Outcome::Failed, skipped, Outcome::CannotTell]);
        assert_eq!(cases[0].lines(), "dir/a b,c:d%.yaml:1: warning: deprecated: 100% gone]]> soon");
        assert_eq!(cases[3].subject, "<stdin>");
        assert_eq!(cases[3].lines(), "<stdin>: error: no kind\nhelp: say it");
    }
}
