//! The Reviewdog Diagnostic Format (`rdjson`): one diagnostic per finding, which reviewdog posts to the review of a change.

use super::LeftOut;
use crate::report::case::{Case, Finding, Level};
use crdx_engine::report::SourceLocation;
use crdx_value::{Map, Value, json, object};

/// Returns the text before the diagnostics.
pub fn head() -> String {
    let source = object([("name", Value::from("kubectl-crdx")), ("url", env!("CARGO_PKG_REPOSITORY").into())]);
    format!("{{\"source\":{},\"diagnostics\":[", json::to_string(&source))
}

/// Returns the text after the diagnostics; a last diagnostic says what was left out.
pub fn tail(left_out: &LeftOut, first: bool) -> String {
    let last = left_out.message().map(|message| {
        let location = object([("path", "stdin")]);
        json::to_string(&object([
            ("location", location),
            ("message", message.into()),
            ("severity", severity(Level::Warning).into()),
        ]))
    });
    super::joined(last.into_iter(), first) + "\n]}\n"
}

/// Formats the diagnostics of a case; `first` is true if the report has none yet.
pub fn case(case: &Case, first: bool) -> String {
    super::joined(case.findings.iter().map(|finding| json::to_string(&diagnostic(case, finding))), first)
}

fn diagnostic(case: &Case, finding: &Finding) -> Value {
    let mut message = format!("{}: {}", case.subject, finding.text());
    if let Some(help) = &finding.help {
        message.push_str("\nhelp: ");
        message.push_str(help);
    }
    let range = range(&finding.location);
    let mut location = Map::from([("path".to_owned(), Value::from(&*super::path(&finding.location)))]);
    location.extend(range.clone().map(|range| ("range".to_owned(), range)));
    let mut members = Map::from([
        ("code".to_owned(), object([("value", finding.rule.as_str())])),
        ("location".to_owned(), location.into()),
        ("message".to_owned(), message.into()),
        ("severity".to_owned(), severity(finding.level).into()),
    ]);
    if let (Some(range), Some(text)) = (range, super::replacement(finding)) {
        let suggestion = object([("range", range), ("text", text.into())]);
        members.insert("suggestions".to_owned(), vec![suggestion].into());
    }
    members.into()
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "ERROR",
        Level::Warning => "WARNING",
        Level::Note => "INFO",
    }
}

/// The place in the file: columns count bytes from 1, and the end is after the last byte.
fn range(location: &SourceLocation) -> Option<Value> {
    let line = i64::try_from(super::line(location)?).ok()?;
    let position = |column: Option<usize>| {
        let column = column.and_then(|column| Some(("column", Value::Int(i64::try_from(column + 1).ok()?))));
        object([("line", Value::Int(line))].into_iter().chain(column))
    };
    let part = location.excerpt.as_ref().map(|excerpt| excerpt.part.clone());
    let start = position(part.as_ref().map(|part| part.start));
    let end = part.map(|part| ("end", position(Some(part.end))));
    Some(object([("start", start)].into_iter().chain(end)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::pipeline::PipelineFormat;
    use crate::report::pipeline::tests::report;
    use std::sync::Arc;

    #[test]
    fn diagnostics_are_json() {
        let report: serde_json::Value = serde_json::from_str(&report(PipelineFormat::Rdjson)).unwrap();
        let diagnostics = report["diagnostics"].as_array().unwrap();
        assert_eq!(diagnostics.len(), 3);
        assert_eq!((&diagnostics[0]["severity"], &diagnostics[1]["severity"]), (&"WARNING".into(), &"ERROR".into()));
        assert_eq!(diagnostics[1]["location"]["path"], "dir/a b,c:d%.yaml");
        assert_eq!(diagnostics[2]["location"], serde_json::json!({"path": "stdin"}));
    }

    #[test]
    fn columns_count_bytes_and_a_suggestion_replaces_them() {
        let at = crdx_text::Position { line: 2, column: 5 };
        let location = SourceLocation::part(&Arc::from("a.yaml"), "\né: \"imge\"\n".as_bytes(), at, at, 5..11);
        let finding = Finding {
            level: Level::Error,
            rule: "FieldValueInvalid".to_owned(),
            field: None,
            message: "unknown".to_owned(),
            diff: None,
            help: None,
            replacement: Some("image".to_owned()),
            known: None,
            location,
        };
        let range = range(&finding.location).unwrap();
        assert_eq!(json::to_string(&range), r#"{"end":{"column":11,"line":2},"start":{"column":5,"line":2}}"#);
        assert_eq!(super::super::replacement(&finding).as_deref(), Some("\"image\""));
    }
}
