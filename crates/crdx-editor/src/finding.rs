//! Turns the results for a file into findings with ranges: what `validate`, `lint` and `test` print.

use super::check::{Checked, Tested};
use super::fix::{self, Fix};
use super::text::Text;
use crdx_engine::lint::advice::advice;
use crdx_engine::lint::breaking::evidence::LocatedChange;
use crdx_engine::lint::check::Linted;
use crdx_engine::report::severity::DROPPED_FIELD;
use crdx_engine::report::{self, Diagnostic, FieldHint, ObjectReport, SourceLocation, Verdict};
use crdx_engine::simulation::identity::FieldLocator as _;
use crdx_engine::simulation::object::Object;
use crdx_engine::suites::suite::SuiteError;
use crdx_output::report::case::Outcome;
use crdx_text::Position;
use crdx_text::documents::Chunks;
use crdx_value::release::ReleaseSet;
use std::ops::Range;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The server would reject the object, or a case of a suite fails.
    Error,
    /// The server would accept it with a warning, or a command warns.
    Warning,
    /// The server's response is unknown.
    Unknown,
    /// A suggestion.
    Hint,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The part of the text, in bytes.
    pub range: Range<usize>,
    pub severity: Severity,
    /// The server's reason, or a type of this program.
    pub kind: String,
    /// The message, followed by a suggestion on its own line.
    pub message: String,
    /// The change that corrects it.
    pub fix: Option<Fix>,
}

/// The findings of a file.
pub fn findings(checked: &Checked, text: &Text) -> Vec<Finding> {
    let mut all: Vec<Finding> = checked.items.iter().flat_map(|item| of_item(item, text)).collect();
    all.extend(checked.linted.iter().flat_map(|(object, linted)| of_linted(object, linted, text)));
    match &checked.suite {
        None => {}
        Some(Ok(tested)) => all.extend(of_suite(tested, text)),
        Some(Err(error)) => all.push(of_suite_error(error, text)),
    }
    all
}

/// Returns the severity for one of the settings; `None` if the finding is not shown.
fn shown(severity: report::Severity) -> Option<Severity> {
    match severity {
        report::Severity::Error => Some(Severity::Error),
        report::Severity::Warning => Some(Severity::Warning),
        report::Severity::Note => Some(Severity::Hint),
        report::Severity::Off => None,
    }
}

fn of_item(item: &ObjectReport, text: &Text) -> Vec<Finding> {
    // Without a kind, the text itself cannot be read.
    let is_unreadable = item.identity.kind.is_empty();
    let in_own_lines = |message: &str| {
        if is_unreadable { in_file(message, item.location.line, text) } else { message.to_owned() }
    };
    let unknown = (item.verdict == Verdict::CannotTell).then(|| {
        let reason = in_own_lines(&item.reason);
        Finding {
            range: range(&item.location, text),
            severity: if is_unreadable { Severity::Error } else { Severity::Unknown },
            kind: if is_unreadable { "unreadable" } else { "cannotTell" }.to_owned(),
            message: with_help(reason, item.help.as_deref()),
            fix: None,
        }
    });
    let problem = |severity: Severity| {
        move |problem: &Diagnostic| {
            let range = range(problem.location.as_ref().unwrap_or(&item.location), text);
            let message = on(problem.releases.as_ref(), in_own_lines(&problem.message));
            Finding {
                severity,
                kind: problem.kind.clone(),
                message: with_help(message, problem.help.as_deref()),
                fix: problem.replacement.as_ref().and_then(|new| fix::replacement(text, range.clone(), new)),
                range,
            }
        }
    };
    let errors = item.errors.iter().chain(&item.hidden).map(problem(Severity::Error));
    // A rejection without field errors, such as a policy's.
    let whole = match &item.answer {
        Some(answer) if item.verdict == Verdict::Rejected && item.errors.is_empty() => Some(Finding {
            range: range(&item.location, text),
            severity: Severity::Error,
            kind: answer.reason.clone(),
            message: answer.message.clone(),
            fix: None,
        }),
        _ => None,
    };
    let warnings = item.warnings.iter().filter_map(|warning| {
        let severity = warning.severity.map_or(Some(Severity::Warning), shown)?;
        Some(problem(severity)(warning))
    });
    // Without a setting, a dropped field that is neither an error nor a warning is not shown.
    let dropped = item.dropped_silently().into_iter().filter_map(|field| {
        let range = range(field.location.as_ref().unwrap_or(&item.location), text);
        let new = field.hint.as_ref().and_then(FieldHint::replacement);
        Some(Finding {
            severity: shown(field.severity?)?,
            kind: DROPPED_FIELD.to_owned(),
            message: with_help(on(field.releases.as_ref(), field.message()), field.help().as_deref()),
            fix: new.and_then(|new| fix::replacement(text, range.clone(), new)),
            range,
        })
    });
    unknown.into_iter().chain(errors).chain(whole).chain(warnings).chain(dropped).collect()
}

/// Returns a message about the document at `line`, with line numbers of the file: kubectl counts lines from the start of
/// a document, which an editor does not show.
fn in_file(message: &str, line: usize, text: &Text) -> String {
    let chunks = Chunks::new(text.content().as_bytes()).map_while(Result::ok);
    let start = chunks.map(|chunk| chunk.start.line).take_while(|start| *start <= line).last().unwrap_or(1);
    let Some((before, after)) = message.split_once("yaml: line ") else { return message.to_owned() };
    let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
    let (digits, rest) = after.split_at(end);
    match digits.parse::<usize>() {
        Ok(number) => format!("{before}yaml: line {}{rest}", number + start - 1),
        Err(_) => message.to_owned(),
    }
}

/// The response of the server, limits for costs, and breaking changes.
fn of_linted(object: &Object, linted: &Linted, text: &Text) -> Vec<Finding> {
    let mut all = of_item(&linted.item, text);
    let locator = object.finder();
    let several = linted.costs.len() > 1;
    let advice = linted.costs.iter().flat_map(|(schema, _)| advice(schema, several));
    all.extend(advice.map(|advice| Finding {
        range: range(&locator.field(&advice.crd_field), text),
        severity: Severity::Hint,
        kind: "cost".to_owned(),
        fix: fix::limits(object, &advice, text),
        message: advice.message,
    }));
    all.extend(linted.breaking.iter().map(|LocatedChange { change, location, .. }| Finding {
        range: range(location, text),
        severity: Severity::Warning,
        kind: format!("breaking/{}", change.kind.as_str()),
        message: with_help(
            format!("breaking: {}: {}", change.path, change.detail),
            Some(change.ratcheting.text()).filter(|words| !words.is_empty()).as_deref(),
        ),
        fix: None,
    }));
    all
}

/// The failed cases of a suite. A failure that occurs on several servers is reported once.
fn of_suite(tested: &Tested, text: &Text) -> Vec<Finding> {
    let mut all: Vec<(Finding, Vec<String>)> = Vec::new();
    for run in &tested.runs {
        let cases = run.cases.iter().flatten().map(|(index, _)| Some(*index)).chain(std::iter::repeat(None));
        for (case, index) in run.pipeline().into_iter().zip(cases) {
            let severity = if case.outcome == Outcome::CannotTell { Severity::Unknown } else { Severity::Error };
            for found in case.findings {
                let finding = Finding {
                    range: range(&found.location, text),
                    severity,
                    message: with_help(found.text().into_owned(), found.help.as_deref()),
                    kind: found.rule,
                    fix: index.and_then(|index| accepting(tested, index, text)),
                };
                match all.iter_mut().find(|(known, _)| *known == finding) {
                    Some((_, servers)) => servers.push(run.server()),
                    None => all.push((finding, vec![run.server()])),
                }
            }
        }
    }
    let several = tested.runs.len() > 1;
    let failures = all.into_iter().map(|(finding, servers)| {
        let message =
            if several { format!("{}\n({})", finding.message, servers.join("; ")) } else { finding.message.clone() };
        Finding { message, ..finding }
    });
    let at = |position: Position| line_from(position, text);
    let severity = shown(tested.warnings);
    let warnings = tested.suite.warnings.iter().filter_map(|warning| {
        Some(Finding {
            range: at(warning.position),
            severity: severity?,
            kind: "suite".to_owned(),
            message: warning.message.clone(),
            fix: None,
        })
    });
    let problems = tested.problems.iter().map(|problem| Finding {
        range: at(Position { line: 1, column: 1 }),
        severity: Severity::Unknown,
        kind: "suite".to_owned(),
        message: problem.clone(),
        fix: None,
    });
    failures.chain(warnings).chain(problems).collect()
}

/// The fix that accepts the server's answer in a case.
fn accepting(tested: &Tested, index: usize, text: &Text) -> Option<Fix> {
    let cases = tested.runs.iter().flat_map(|run| run.cases.iter().flatten());
    let outcomes: Vec<_> = cases.filter(|(own, _)| *own == index).map(|(_, outcome)| outcome).collect();
    fix::accept(&tested.suite, index, &outcomes, text)
}

fn of_suite_error(error: &SuiteError, text: &Text) -> Finding {
    Finding {
        range: line_from(error.position.unwrap_or(Position { line: 1, column: 1 }), text),
        severity: Severity::Unknown,
        kind: "suite".to_owned(),
        message: error.message.clone(),
        fix: None,
    }
}

fn with_help(message: String, help: Option<&str>) -> String {
    match help {
        Some(help) => format!("{message}\nhelp: {help}"),
        None => message,
    }
}

/// The message with the releases that report it, where several are simulated.
fn on(releases: Option<&ReleaseSet>, message: String) -> String {
    match releases {
        Some(releases) => format!("{message}\nKubernetes {releases}"),
        None => message,
    }
}

/// The marked part of the line, or what follows the position on it.
fn range(location: &SourceLocation, text: &Text) -> Range<usize> {
    let whole = line_from(Position { line: location.line, column: location.column }, text);
    let part = location.excerpt.as_ref().and_then(|excerpt| excerpt.line.get(excerpt.part.clone()));
    let end = part.map_or(whole.end, |part| (whole.start + part.trim_end().len()).min(text.content().len()));
    whole.start..end
}

/// The line from a position on.
fn line_from(position: Position, text: &Text) -> Range<usize> {
    let start = text.offset_of(position.line, position.column);
    let rest = text.content().get(start..).unwrap_or_default();
    start..start + rest.find(['\n', '\r']).unwrap_or(rest.len())
}
