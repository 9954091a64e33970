//! Prints the results of `prove`.

use super::{ProveError, Proved};
use crate::commands::exit::Exit;
use crate::commands::search_answers::{self, answer_text, phrase, version_value};
use crate::commands::sink::{Ending, Output, Report};
use crdx_engine::report::Identity;
use crdx_engine::search::{Answer, Effort, Upgrade};
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::json;
use crdx_output::{Paint, TableStyle, printable};
use crdx_value::{Value, json as value_json};
use std::io;

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
                text.push_str(&answer_text(phrase(*question), answer, version.accepted));
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

/// Returns the case of a CRD in a report for pipelines.
fn case(proved: &Proved) -> Case {
    let finding = |rule: &str, message: String| Finding {
        level: Level::Error,
        rule: rule.to_owned(),
        field: None,
        message,
        diff: None,
        replacement: None,
        known: None,
        help: None,
        location: proved.location.clone(),
    };
    let mut findings = Vec::new();
    let (outcome, result) = match &proved.result {
        Err(error) => {
            findings.push(finding("prove", error.to_string()));
            let is_removed = matches!(error, ProveError::Removed);
            if is_removed { (Outcome::Failed, "removed") } else { (Outcome::CannotTell, "cannot tell") }
        }
        Ok(upgrade) => {
            if is_rejected(upgrade) {
                findings.push(finding("rejected", upgrade.answer.body.message().to_owned()));
            }
            findings.extend(search_answers::findings(&upgrade.versions, Level::Error, &proved.location));
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
