//! The report about the coverage of a CRD's constraints, as text or JSON (`docs/output.md`).

use crdx_engine::report::SourceLocation;
use crdx_engine::suites::Coverage;
use crdx_engine::suites::coverage::{Constraint, ConstraintKind};
use crdx_output::paint::Paint;
use crdx_output::report::case::{Case, Outcome};
use crdx_output::report::members::location_object;
use crdx_value::{Value, object};
use std::fmt::Write as _;

/// The coverage of a version of a CRD, with source locations.
#[derive(Debug)]
pub struct CoverageReport {
    /// The constraints.
    pub coverage: Coverage,
    /// The source location of each constraint.
    pub locations: Vec<SourceLocation>,
    /// The source location of the CRD.
    pub location: SourceLocation,
}

/// Returns the CRDs whose coverage is less than `least` percent, each with a message.
pub fn below(covered: &[CoverageReport], least: u8) -> Vec<(&CoverageReport, String)> {
    let message = |report: &CoverageReport| {
        let percent = percent(report.coverage.covered());
        let Coverage { crd, version, .. } = &report.coverage;
        let source = &report.location.source;
        (percent < usize::from(least))
            .then(|| format!("the coverage of {crd} {version} ({source}) is {percent} %, less than {least} %"))
    };
    covered.iter().filter_map(|report| Some((report, message(report)?))).collect()
}

/// Returns a failed case for each CRD whose coverage is less than `least` percent.
pub fn below_cases(covered: &[CoverageReport], least: u8) -> Vec<Case> {
    let case = |(report, message): (&CoverageReport, String)| {
        let location = report.location.clone();
        let finding = super::error_finding("coverage", &location, message, None);
        let Coverage { crd, version, .. } = &report.coverage;
        let subject = format!("coverage of {crd} {version}");
        Case { subject, location, outcome: Outcome::Failed, result: "failed", findings: vec![finding] }
    };
    below(covered, least).into_iter().map(case).collect()
}

/// Returns a part of a whole in percent, rounded down; 100 if the whole is 0.
pub fn percent((part, whole): (usize, usize)) -> usize {
    (part * 100).checked_div(whole).unwrap_or(100)
}

impl CoverageReport {
    /// Formats the report as text.
    pub fn text(&self, color: bool) -> String {
        let Coverage { crd, version, constraints, .. } = &self.coverage;
        let heading = Paint::Bold.when(color, &format!("Coverage of {crd} {version}"));
        let mut text = format!("\n{heading} {}\n", Paint::Dim.when(color, &format!("({})", self.location.source)));
        for kind in ConstraintKind::ALL {
            let these = || constraints.iter().zip(&self.locations).filter(|(constraint, _)| constraint.kind == kind);
            let all = these().count();
            if all == 0 {
                continue;
            }
            let failing = these().filter(|(constraint, _)| constraint.failed > 0).count();
            let verb = if failing == 1 { "has" } else { "have" };
            let _ = writeln!(text, "  {failing} of {all} {} {verb} a failing case", kind.plural());
            for (constraint, location) in these() {
                if let Some(missing_writes) = missing(constraint) {
                    let path = if constraint.path.is_empty() { "the object" } else { &constraint.path };
                    let missing_writes = Paint::Yellow.when(color, missing_writes);
                    let _ = writeln!(
                        text,
                        "    {missing_writes}: {path} (line {}) {}",
                        location.line,
                        one_line(constraint)
                    );
                }
            }
        }
        let covered = self.coverage.covered();
        let (part, whole) = covered;
        let _ = writeln!(text, "  covered: {part} of {whole} constraints ({} %)", percent(covered));
        text
    }

    /// Formats the report as JSON.
    pub fn json(&self) -> Value {
        let covered = self.coverage.covered();
        let each = |(constraint, location): (&Constraint, &SourceLocation)| {
            object([
                ("path", Value::from(constraint.path.as_str())),
                ("type", constraint.kind.as_str().into()),
                ("text", constraint.text.as_str().into()),
                ("location", location_object(location)),
                ("passed", Value::Int(constraint.passed as i64)),
                ("failed", Value::Int(constraint.failed as i64)),
            ])
        };
        let constraints: Vec<Value> = self.coverage.constraints.iter().zip(&self.locations).map(each).collect();
        object([
            ("crd", Value::from(self.coverage.crd.as_str())),
            ("version", self.coverage.version.as_str().into()),
            ("location", location_object(&self.location)),
            ("covered", Value::Int(covered.0 as i64)),
            ("total", Value::Int(covered.1 as i64)),
            ("percent", Value::Int(percent(covered) as i64)),
            ("constraints", constraints.into()),
        ])
    }
}

/// Returns a text about the missing cases of a constraint; `None` if it is covered.
fn missing(constraint: &Constraint) -> Option<&'static str> {
    match (constraint.passed, constraint.failed) {
        (0, 0) => Some("never passed or failed"),
        (0, _) => Some("never passed"),
        (_, 0) => Some("never failed"),
        _ => None,
    }
}

/// Returns the text of a constraint in one line: a rule in quotes, shortened if it is long.
fn one_line(constraint: &Constraint) -> String {
    const MAX_CHARS: usize = 100;
    let line = constraint.text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = line.chars().take(MAX_CHARS).collect();
    if short.len() < line.len() {
        short.push('…');
    }
    if constraint.kind == ConstraintKind::Rule { format!("\"{short}\"") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_down() {
        assert_eq!([percent((2, 3)), percent((0, 0)), percent((3, 3))], [66, 100, 100]);
    }
}
