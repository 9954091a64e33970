//! The code quality report of GitLab: a JSON array with one issue per finding, which GitLab shows in merge requests.

use super::LeftOut;
use crate::report::case::{Case, Finding, Level};
use crdx_value::hash::fnv1a;
use crdx_value::{Value, json, object};

/// Returns the text after the issues; a last issue says what was left out.
pub fn tail(left_out: &LeftOut, first: bool) -> String {
    let last = left_out.message().map(|message| {
        let location = object([("path", Value::from("stdin")), ("lines", object([("begin", Value::Int(1))]))]);
        json::to_string(&object([
            ("check_name", Value::from("leftOut")),
            ("description", message.into()),
            ("fingerprint", "kubectl-crdx-left-out".into()),
            ("location", location),
            ("severity", severity(Level::Warning).into()),
        ]))
    });
    super::joined(last.into_iter(), first) + "\n]\n"
}

/// Formats the issues of a case; `first` is true if the report has no issue yet.
pub fn case(case: &Case, first: bool) -> String {
    super::joined(case.findings.iter().map(|finding| json::to_string(&issue(case, finding))), first)
}

fn issue(case: &Case, finding: &Finding) -> Value {
    let path = super::path(&finding.location);
    // GitLab accepts no issue without a line.
    let begin = i64::try_from(super::line(&finding.location).unwrap_or(1)).unwrap_or(i64::MAX);
    let location = object([("path", Value::from(&*path)), ("lines", object([("begin", Value::Int(begin))]))]);
    object([
        ("check_name", Value::from(finding.rule.as_str())),
        ("description", format!("{}: {}", case.subject, finding.text()).into()),
        ("fingerprint", fingerprint(&path, case, finding).into()),
        ("location", location),
        ("severity", severity(finding.level).into()),
    ])
}

fn severity(level: Level) -> &'static str {
    match level {
        Level::Error => "critical",
        Level::Warning => "minor",
        Level::Note => "info",
    }
}

/// Identifies the finding in later reports, in which it may have moved to another line.
fn fingerprint(path: &str, case: &Case, finding: &Finding) -> String {
    let field = finding.field.as_deref().unwrap_or_default();
    let parts = [path, &case.subject, &finding.rule, field, &finding.message];
    let hash = |seed: u8| fnv1a([seed].into_iter().chain(parts.iter().flat_map(|part| part.bytes().chain([0]))));
    format!("{:016x}{:016x}", hash(0), hash(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::case::tests::cases;
    use crate::report::pipeline::PipelineFormat;
    use crate::report::pipeline::tests::report;
    use std::collections::BTreeSet;

    #[test]
    fn every_issue_has_a_place_a_severity_and_a_fingerprint_of_its_own() {
        let issues: serde_json::Value = serde_json::from_str(&report(PipelineFormat::Gitlab)).unwrap();
        let issues = issues.as_array().unwrap();
        let severities: Vec<_> = issues.iter().map(|issue| issue["severity"].as_str().unwrap()).collect();
        assert_eq!(severities, ["minor", "critical", "critical"]);
        assert_eq!(issues[1]["location"], serde_json::json!({"path": "dir/a b,c:d%.yaml", "lines": {"begin": 7}}));
        let fingerprints: BTreeSet<_> = issues.iter().map(|issue| issue["fingerprint"].to_string()).collect();
        assert_eq!(fingerprints.len(), 3);
    }

    #[test]
    fn a_finding_that_moves_keeps_its_fingerprint() {
        let mut case = cases().into_iter().find(|case| case.findings.len() == 1).unwrap();
        let fingerprint = |case: &Case| issue(case, &case.findings[0]).get("fingerprint").cloned();
        let before = fingerprint(&case);
        case.findings[0].location.line += 5;
        assert_eq!(fingerprint(&case), before);
    }
}
