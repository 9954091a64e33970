//! Prints the results of `prove --policies`.

use crate::commands::counterexample;
use crate::commands::exit::Exit;
use crate::commands::search_answers::{self, answer_text};
use crate::commands::sink::{Ending, Output, Report};
use crdx_engine::search::policies::{KindPolicies, PolicyAnswer, PolicyFailure};
use crdx_engine::search::{Answer, Effort};
use crdx_output::report::case::{Case, Finding, Level, Outcome};
use crdx_output::report::json;
use crdx_output::report::members::location_object;
use crdx_output::{Paint, TableStyle, printable};
use crdx_value::{Value, json as value_json, object};
use std::io;

/// The report of `prove --policies`.
pub struct PolicyProveReport {
    look: TableStyle,
    effort: Effort,
    has_items: bool,
    found: usize,
    none_found: usize,
    cannot_tell: usize,
    /// The exit code.
    pub exit: Exit,
}

impl PolicyProveReport {
    /// Creates a report without items.
    pub fn new(look: TableStyle, effort: Effort) -> Self {
        Self { look, effort, has_items: false, found: 0, none_found: 0, cannot_tell: 0, exit: Exit::Accepted }
    }

    fn line(&self) -> String {
        let counts =
            [(self.found, "found"), (self.none_found, "none found"), (self.cannot_tell, "cannot tell")].into_iter();
        let parts: Vec<String> =
            counts.filter(|(number, _)| *number > 0).map(|(number, words)| format!("{number} {words}")).collect();
        if parts.is_empty() { "no kind is matched".to_owned() } else { parts.join(", ") }
    }
}

impl Report for PolicyProveReport {
    type Item = KindPolicies;
    const COMMAND: &'static str = "prove";
    const KIND: &'static str = "PolicyProveReport";

    fn count(&mut self, kind: &KindPolicies) {
        let answers = kind.policies.iter().map(|policy| (&policy.answer, Exit::Rejected));
        // An object that all policies allow is as it should be.
        let allowed =
            [(&kind.allowed, Exit::Accepted)].into_iter().filter(|(answer, _)| !matches!(answer, Answer::Found(_)));
        for (answer, exit) in answers.chain(allowed) {
            let (count, exit) = match answer {
                Answer::Found(_) => (&mut self.found, exit),
                Answer::NonePossible | Answer::NoneFound => (&mut self.none_found, Exit::Accepted),
                Answer::CannotTell(_) => (&mut self.cannot_tell, Exit::CannotTell),
            };
            *count += 1;
            self.exit = self.exit.max(exit);
        }
    }

    fn json(&mut self, kind: &KindPolicies) -> impl IntoIterator<Item = String> {
        Some(value_json::to_string(&item(kind)))
    }

    fn cases(&mut self, kind: &KindPolicies) -> impl IntoIterator<Item = Case> {
        kind.policies.iter().map(|policy| case(kind, policy)).collect::<Vec<_>>()
    }

    fn text(&mut self, kind: &KindPolicies, out: &mut Output) -> io::Result<()> {
        let separator = if std::mem::replace(&mut self.has_items, true) { "\n" } else { "" };
        let head = printable::line(&title(kind)).into_owned();
        let mut text = format!("{separator}{}\n", Paint::Bold.when(self.look.color, &head));
        if !matches!(kind.allowed, Answer::Found(_)) {
            text.push_str(&answer_text("allowed by all policies", &kind.allowed, kind.tries));
        }
        for policy in &kind.policies {
            let subject = format!("{} by {}", effect(policy.failure), policy.name);
            text.push_str(&answer_text(&subject, &policy.answer, kind.tries));
        }
        out.show(&text)
    }

    fn buffers_text(&self) -> bool {
        false
    }

    fn counts_line(&self, _: &Ending) -> String {
        self.line()
    }

    fn members(&mut self, end: &Ending) -> Vec<(&'static str, Value)> {
        let summary = [("found", self.found), ("noneFound", self.none_found), ("cannotTell", self.cannot_tell)];
        vec![
            ("kubernetesVersions", json::releases(end.releases.iter())),
            ("search", json::counts([("tries", self.effort.objects)])),
            ("notes", json::notes(end.notes)),
            ("summary", json::counts(summary)),
        ]
    }

    fn end_text(&mut self, _: &Ending, out: &mut Output) -> io::Result<()> {
        out.end_of_text()?;
        out.print(&format!("{}{}\n", if self.has_items { "\n" } else { "" }, self.line()))
    }
}

fn title(kind: &KindPolicies) -> String {
    format!("{}, {}", kind.kind.kind, kind.kind.api_version())
}

fn effect(failure: PolicyFailure) -> &'static str {
    match failure {
        PolicyFailure::Denied => "denied",
        PolicyFailure::Warned => "warned about",
        PolicyFailure::Audited => "audited",
    }
}

fn item(kind: &KindPolicies) -> Value {
    let policies = kind.policies.iter().map(|policy| {
        let mut members = search_answers::members(&policy.answer);
        members.insert("policy".to_owned(), policy.name.as_str().into());
        members.insert("location".to_owned(), location_object(&policy.location));
        if matches!(policy.answer, Answer::Found(_)) {
            members.insert("effect".to_owned(), effect(policy.failure).into());
        }
        Value::Object(members)
    });
    let tries = Value::Int(i64::try_from(kind.tries).unwrap_or(i64::MAX));
    object([
        ("apiVersion", Value::from(kind.kind.api_version())),
        ("kind", kind.kind.kind.as_str().into()),
        ("tries", tries),
        ("allowed", search_answers::members(&kind.allowed).into()),
        ("policies", policies.collect::<Vec<_>>().into()),
    ])
}

/// Returns the case of a policy and a kind in a report for pipelines.
fn case(kind: &KindPolicies, policy: &PolicyAnswer) -> Case {
    let finding = |diff: Option<String>, message: String| Finding {
        level: Level::Error,
        rule: "policy".to_owned(),
        field: None,
        message,
        diff,
        replacement: None,
        known: None,
        help: None,
        location: policy.location.clone(),
    };
    let (outcome, result, findings) = match &policy.answer {
        Answer::Found(found) => {
            let message = found.details.first().cloned().unwrap_or_default();
            let message = format!("{}: {message}", effect(policy.failure));
            (Outcome::Failed, effect(policy.failure), vec![finding(Some(counterexample::text(found, 0)), message)])
        }
        Answer::NonePossible | Answer::NoneFound => (Outcome::Passed, "none found", Vec::new()),
        Answer::CannotTell(unknown) => (Outcome::CannotTell, "cannot tell", vec![finding(None, unknown.to_string())]),
    };
    let subject = format!("{} {}", policy.name, title(kind));
    Case { subject, location: policy.location.clone(), outcome, result, findings }
}
