//! The Test Anything Protocol, version 14: one line per object, followed by its findings as YAML.

use super::Totals;
use crate::printable;
use crate::report::case::{Case, Finding, Outcome};
use crdx_text::yaml::write::to_string;
use crdx_value::{Map, Value};
use std::fmt::Write as _;

/// Formats the version and the plan.
pub fn head(totals: &Totals) -> String {
    format!("TAP version 14\n1..{}\n", totals.cases)
}

/// Formats the test point of a case without a description.
pub fn short(case: &Case, number: usize) -> String {
    let skip = if matches!(case.outcome, Outcome::Skipped(_)) { " # SKIP" } else { "" };
    format!("{} {number}{skip}\n", ok(case))
}

fn ok(case: &Case) -> &'static str {
    match case.outcome {
        Outcome::Passed | Outcome::Skipped(_) => "ok",
        Outcome::Failed | Outcome::CannotTell => "not ok",
    }
}

/// Formats the test point of a case; `number` starts at 1.
pub fn case(case: &Case, number: usize) -> String {
    let ok = ok(case);
    let mut text = format!("{ok} {number} - {}", escaped(&case.subject));
    if let Outcome::Skipped(reason) = &case.outcome {
        let _ = write!(text, " # SKIP {}", escaped(reason));
    }
    text.push('\n');
    let location = [("source", Value::from(&*case.location.source)), ("line", Value::Int(case.location.line as i64))];
    let mut diagnostics: Map = location.map(|(key, value)| (key.to_owned(), value)).into();
    if !case.findings.is_empty() {
        diagnostics.insert("findings".to_owned(), case.findings.iter().map(finding).collect::<Vec<_>>().into());
    }
    text.push_str("  ---\n");
    for line in to_string(&Value::Object(diagnostics)).lines() {
        let _ = writeln!(text, "  {line}");
    }
    text.push_str("  ...\n");
    text
}

fn finding(finding: &Finding) -> Value {
    let text = finding.text();
    let texts = [
        ("severity", Some(finding.level.as_str())),
        ("type", Some(finding.rule.as_str())),
        ("field", finding.field.as_deref()),
        ("message", Some(&text)),
        ("help", finding.help.as_deref()),
    ];
    let mut members: Map =
        texts.iter().filter_map(|(key, text)| Some(((*key).to_owned(), Value::from((*text)?)))).collect();
    members.insert("at".to_owned(), finding.location.to_string().into());
    members.into()
}

/// Escapes a description, which is one line; `#` would begin a directive.
fn escaped(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    printable::line(&line).replace('\\', "\\\\").replace('#', "\\#")
}
