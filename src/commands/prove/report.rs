//! Prints the results of `prove`.

use super::{ProveError, Proved};
use crate::commands::counterexample;
use crate::commands::exit::Exit;
use crate::commands::sink::{Ending, Output, Report};
use crdx_engine::report::Identity;
use crdx_engine::search::{Answer, Effort, Question, Upgrade, VersionUpgrade};
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::json;
use crdx_output::{Paint, TableStyle, printable};
use crdx_value::{Value, json as value_json, object};
use std::fmt::Write as _;
use std::io;

/// The maximum number of details of one answer.
const MAX_DETAILS: usize = 5;

/// What `prove` prints for each CRD.
pub struct ProveReport {
    look: TableStyle,
    effort: Effort,
    /// True if an item was written.
    has_items: bool,
    counts: Counts,
    /// The exit code.
    pub exit: Exit,
}

/// The number of answers of each kind.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    found: usize,
    none_possible: usize,
    none_found: usize,
    cannot_tell: usize,
    rejected: usize,
}

impl Counts {
    fn add(&mut self, proved: &Proved) {
        match &proved.result {
            Err(ProveError::Removed) => self.rejected += 1,
            Err(ProveError::Upgrade(_)) => self.cannot_tell += 1,
            Ok(upgrade) if is_rejected(upgrade) => self.rejected += 1,
            Ok(upgrade) => {
                for (_, answer) in upgrade.versions.iter().flat_map(|version| &version.answers) {
                    *match answer {
                        Answer::Found(_) => &mut self.found,
                        Answer::NonePossible => &mut self.none_possible,
                        Answer::NoneFound => &mut self.none_found,
                        Answer::CannotTell(_) => &mut self.cannot_tell,
                    } += 1;
                }
            }
        }
    }

    fn line(self) -> String {
        let counts = [
            (self.rejected, "rejected or removed"),
            (self.found, "found"),
            (self.none_possible, "none possible"),
            (self.none_found, "none found"),
            (self.cannot_tell, "cannot tell"),
        ];
        let parts: Vec<String> = counts
            .iter()
            .filter(|(number, _)| *number > 0)
            .map(|(number, words)| format!("{number} {words}"))
            .collect();
        parts.join(", ")
    }
}

impl Report for ProveReport {
    type Item = Proved;
    const COMMAND: &'static str = "prove";
    const KIND: &'static str = "ProveReport";

    fn count(&mut self, proved: &Proved) {
        self.counts.add(proved);
        let exit = match &proved.result {
            Err(ProveError::Removed) => Exit::Rejected,
            Err(ProveError::Upgrade(_)) => Exit::CannotTell,
            Ok(upgrade) => exit_of(upgrade),
        };
        self.exit = self.exit.max(exit);
    }

    fn json(&mut self, proved: &Proved) -> impl IntoIterator<Item = String> {
        Some(value_json::to_string(&item(proved)))
    }

    fn cases(&mut self, proved: &Proved) -> impl IntoIterator<Item = Case> {
        Some(case(proved))
    }

    fn text(&mut self, proved: &Proved, out: &mut Output) -> io::Result<()> {
        let separator = if std::mem::replace(&mut self.has_items, true) { "\n" } else { "" };
        out.show(&(separator.to_owned() + &self.text_item(proved)))
    }

    fn buffers_text(&self) -> bool {
        false
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.counts.line()
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        let Counts { found, none_possible, none_found, cannot_tell, rejected } = self.counts;
        let search = json::counts([("tries", self.effort.objects)]);
        let summary = [
            ("rejected", rejected),
            ("found", found),
            ("nonePossible", none_possible),
            ("noneFound", none_found),
            ("cannotTell", cannot_tell),
        ];
        vec![
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("search", search),
            ("notes", json::notes(end.notes)),
            ("summary", json::counts(summary)),
        ]
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        out.end_of_text()?;
        out.print(&format!("{}{}\n", if self.has_items { "\n" } else { "" }, self.counts.line()))
    }
}

impl ProveReport {
    /// Creates a report without items.
    pub fn new(look: TableStyle, effort: Effort) -> Self {
        Self { look, effort, has_items: false, counts: Counts::default(), exit: Exit::Accepted }
    }

    fn text_item(&self, proved: &Proved) -> String {
        let name = printable::line(&proved.name).into_owned();
        let head = |text: String| Paint::Bold.when(self.look.color, &text).clone() + "\n";
        let upgrade = match &proved.result {
            Err(error) => return head(format!("{name}: {error}")),
            Ok(upgrade) if is_rejected(upgrade) => {
                return head(format!("{name}: the server would reject the CRD: {}", upgrade.answer.body.message()));
            }
            Ok(upgrade) => upgrade,
        };
        let mut text = String::new();
        for (index, version) in upgrade.versions.iter().enumerate() {
            text.push_str(if index == 0 { "" } else { "\n" });
            text.push_str(&head(format!("{name}, {}", printable::line(&version.version))));
            for (question, answer) in &version.answers {
                text.push_str(&answer_text(*question, answer, version));
            }
        }
        text
    }
}

fn is_rejected(upgrade: &Upgrade) -> bool {
    upgrade.answer.code >= 400
}

fn exit_of(upgrade: &Upgrade) -> Exit {
    let answers = || upgrade.versions.iter().flat_map(|version| &version.answers).map(|(_, answer)| answer);
    if answers().any(|answer| matches!(answer, Answer::CannotTell(_))) {
        Exit::CannotTell
    } else if is_rejected(upgrade) || answers().any(|answer| matches!(answer, Answer::Found(_))) {
        Exit::Rejected
    } else {
        Exit::Accepted
    }
}

/// Returns the effect as a phrase.
fn phrase(question: Question) -> &'static str {
    match question {
        Question::CreateRejected => "create rejected",
        Question::UpdateRejected => "update rejected",
        Question::Pruned => "value dropped",
        Question::Defaulted => "defaulted differently",
        Question::Printed => "printed differently",
    }
}

fn answer_text(question: Question, answer: &Answer, version: &VersionUpgrade) -> String {
    let phrase = phrase(question);
    match answer {
        Answer::NonePossible => format!("  {phrase}: none possible\n"),
        Answer::NoneFound => format!("  {phrase}: none found in {} tries\n", version.accepted),
        Answer::CannotTell(unknown) => format!("  {phrase}: cannot tell: {unknown}\n"),
        Answer::Found(found) => {
            let mut text = format!("  {phrase}: found\n");
            for detail in found.details.iter().take(MAX_DETAILS) {
                let _ = writeln!(text, "    {}", printable::line(detail));
            }
            if found.details.len() > MAX_DETAILS {
                let _ = writeln!(text, "    and {} more", found.details.len() - MAX_DETAILS);
            }
            text.push_str(&counterexample::text(found, 6));
            text
        }
    }
}

/// Returns an item of the JSON report.
fn item(proved: &Proved) -> Value {
    let identity =
        Identity { kind: "CustomResourceDefinition".to_owned(), name: proved.name.clone(), ..Identity::default() };
    let mut members = json::identified(&identity, &proved.location);
    match &proved.result {
        Err(error) => {
            let key = if matches!(error, ProveError::Removed) { "removed" } else { "cannotTell" };
            members.insert(key.to_owned(), error.to_string().into());
        }
        Ok(upgrade) => {
            if is_rejected(upgrade) {
                members.insert("rejected".to_owned(), upgrade.answer.body.message().into());
            }
            let versions: Vec<Value> = upgrade.versions.iter().map(version_value).collect();
            members.insert("versions".to_owned(), versions.into());
        }
    }
    Value::Object(members)
}

fn version_value(version: &VersionUpgrade) -> Value {
    let effects: Vec<Value> =
        version.answers.iter().map(|(question, answer)| effect_value(*question, answer)).collect();
    let tries = Value::Int(i64::try_from(version.accepted).unwrap_or(i64::MAX));
    object([("version", Value::from(version.version.as_str())), ("tries", tries), ("effects", effects.into())])
}

fn effect_value(question: Question, answer: &Answer) -> Value {
    let result = match answer {
        Answer::Found(_) => "found",
        Answer::NonePossible => "nonePossible",
        Answer::NoneFound => "noneFound",
        Answer::CannotTell(_) => "cannotTell",
    };
    let mut value = object([("effect", Value::from(question.as_str())), ("result", result.into())]);
    let Some(members) = value.as_object_mut() else { return value };
    match answer {
        Answer::Found(found) => {
            members.extend(counterexample::members(found));
        }
        Answer::CannotTell(unknown) => {
            members.insert("reason".to_owned(), unknown.to_string().into());
        }
        Answer::NonePossible | Answer::NoneFound => {}
    }
    value
}

/// Returns the case of a CRD in a report for pipelines.
fn case(proved: &Proved) -> Case {
    let finding = |level, rule: &str, message: String, diff: Option<String>| Finding {
        level,
        rule: rule.to_owned(),
        field: None,
        message,
        diff,
        replacement: None,
        known: None,
        help: None,
        location: proved.location.clone(),
    };
    let mut findings = Vec::new();
    let (outcome, result) = match &proved.result {
        Err(error) => {
            findings.push(finding(Level::Error, "prove", error.to_string(), None));
            let is_removed = matches!(error, ProveError::Removed);
            if is_removed { (Outcome::Failed, "removed") } else { (Outcome::CannotTell, "cannot tell") }
        }
        Ok(upgrade) => {
            if is_rejected(upgrade) {
                findings.push(finding(Level::Error, "rejected", upgrade.answer.body.message().to_owned(), None));
            }
            for version in &upgrade.versions {
                for (question, answer) in &version.answers {
                    let Answer::Found(found) = answer else { continue };
                    let message = format!("{}: {}", version.version, phrase(*question));
                    findings.push(finding(
                        Level::Error,
                        question.as_str(),
                        message,
                        Some(counterexample::text(found, 0)),
                    ));
                }
            }
            match exit_of(upgrade) {
                Exit::Accepted => (Outcome::Passed, "no change found"),
                Exit::Rejected | Exit::Differs => (Outcome::Failed, "changed"),
                Exit::CannotTell => (Outcome::CannotTell, "cannot tell"),
            }
        }
    };
    let subject = format!("CustomResourceDefinition {}", proved.name);
    Case { subject, location: proved.location.clone(), outcome, result, findings }
}
