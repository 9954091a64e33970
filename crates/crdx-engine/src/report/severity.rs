//! The severity of the findings of this program, which a project may change.

use super::ObjectReport;
use crdx_value::suggest::{closest, did_you_mean};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The types of findings of this program: none is the server's, and none decides a verdict.
const TYPES: [&str; 48] = [
    "AvoidableTransition",
    "BooleanField",
    "ConditionsList",
    CONFLICTING_OBJECT,
    "DeadRule",
    "DefaultViolatesRule",
    DROPPED_FIELD,
    "DurationField",
    "EnumValueName",
    "ExcessiveCost",
    "ExpressionType",
    "FailingMessage",
    "FieldName",
    "FloatField",
    "Format",
    "ImpliedRule",
    "ImpossibleBranch",
    "ImpossibleValue",
    INPUT,
    "IntegerFormat",
    JOINED_DOCUMENTS,
    "ListTypeMissing",
    "LostField",
    "MapOfObjects",
    "MissingDescription",
    "MissingSpec",
    "NodePortRange",
    "NotTypeChecked",
    "NullableField",
    "ParamNotFound",
    "ParamRef",
    "PhaseField",
    "PolicyNotFound",
    "PublishedSchema",
    "ReferenceGroup",
    "ReferenceName",
    "RequiredDefault",
    "RequiredStatus",
    "StatusSubresource",
    "StoredVersions",
    "TimeName",
    "Unbounded",
    "UnchangedUpdate",
    UNKNOWN_FIELD_MANAGERS,
    "Unsatisfiable",
    "UnsatisfiableRule",
    "Unservable",
    "VersionDifference",
];

/// The type of a warning about the text of an input.
pub const INPUT: &str = "Input";

/// Returns true for the types of findings about the text of an input.
pub fn is_of_input(kind: &str) -> bool {
    [INPUT, JOINED_DOCUMENTS].contains(&kind)
}

/// The type of an error that an update of the same object in another file would have.
pub const CONFLICTING_OBJECT: &str = "ConflictingObject";

/// The type of an error about a document that may be several, because the line `---` between them is missing.
pub const JOINED_DOCUMENTS: &str = "JoinedDocuments";

/// The type of a field that would be dropped and that no error or warning names.
pub const DROPPED_FIELD: &str = "droppedField";

/// The type of a warning about fields that an apply removes or keeps, depending on unknown field managers.
pub const UNKNOWN_FIELD_MANAGERS: &str = "UnknownFieldManagers";

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Shown as an error, which makes a run fail.
    Error,
    /// Shown as a warning.
    Warning,
    /// Shown as a note.
    Note,
    /// Not shown.
    Off,
}

impl Severity {
    /// All severities, the most severe one first.
    pub const ALL: [Self; 4] = [Self::Error, Self::Warning, Self::Note, Self::Off];

    /// Returns the name in JSON and in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
            Self::Off => "off",
        }
    }
}

/// The severity of the findings of one type, `TYPE=SEVERITY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeverityOf {
    /// The type.
    pub kind: &'static str,
    /// The severity.
    pub severity: Severity,
}

/// A text is not `TYPE=SEVERITY`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SeverityError {
    /// There is no `=`.
    #[error("write TYPE=SEVERITY, such as Input=note")]
    NoSeverity,
    /// The type is unknown, or the server's.
    #[error("unknown type {0:?}; {1}")]
    UnknownType(String, String),
    /// The severity is unknown.
    #[error("unknown severity {0:?}; {1}")]
    UnknownSeverity(String, String),
}

impl FromStr for SeverityOf {
    type Err = SeverityError;

    fn from_str(text: &str) -> Result<Self, SeverityError> {
        let (kind, severity) = text.split_once('=').ok_or(SeverityError::NoSeverity)?;
        let help = |word: &str, known: &[&'static str]| {
            closest(word, known.iter().copied())
                .map_or_else(|| format!("give one of {}", known.join(", ")), did_you_mean)
        };
        let unknown_type = || SeverityError::UnknownType(kind.to_owned(), help(kind, &TYPES));
        let kind = TYPES.into_iter().find(|known| *known == kind).ok_or_else(unknown_type)?;
        let unknown = || {
            let names = Severity::ALL.map(Severity::as_str);
            SeverityError::UnknownSeverity(severity.to_owned(), help(severity, &names))
        };
        let severity = Severity::ALL.into_iter().find(|known| known.as_str() == severity).ok_or_else(unknown)?;
        Ok(Self { kind, severity })
    }
}

/// The severities that differ from the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Severities {
    by_type: BTreeMap<&'static str, Severity>,
    /// True if warnings without another severity are errors, those of the server, too.
    warnings_are_errors: bool,
}

impl Severities {
    /// Collects severities; the last one of a type counts.
    pub fn new(all: &[SeverityOf]) -> Self {
        let by_type = all.iter().map(|one| (one.kind, one.severity)).collect();
        Self { by_type, warnings_are_errors: false }
    }

    /// Makes warnings without another severity errors, as `--warnings-as-errors` of kubectl does.
    #[must_use]
    pub fn with_warnings_as_errors(self, warnings_are_errors: bool) -> Self {
        Self { warnings_are_errors, ..self }
    }

    /// Returns the severity of the findings of a type, if it differs from the default.
    pub fn of(&self, kind: &str) -> Option<Severity> {
        self.by_type.get(kind).copied()
    }

    /// Sets the severities of the findings of an object, and removes those that are off. The verdict is not changed.
    pub fn apply(&self, item: &mut ObjectReport) {
        if *self == Self::default() {
            return;
        }
        item.warnings.retain_mut(|warning| {
            let severity = self.by_type.get(warning.kind.as_str()).copied().or(warning.severity);
            warning.severity = match severity {
                None | Some(Severity::Warning) if self.warnings_are_errors => Some(Severity::Error),
                severity => severity,
            };
            warning.severity != Some(Severity::Off)
        });
        if let Some(severity) = self.by_type.get(DROPPED_FIELD) {
            item.pruned.iter_mut().for_each(|field| field.severity = Some(*severity));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Diagnostic, PrunedField, SourceLocation, Summary, Verdict};

    #[test]
    fn an_unknown_name_has_a_suggestion() {
        let error = |text: &str| text.parse::<SeverityOf>().unwrap_err().to_string();
        assert_eq!(error("Imput=off"), "unknown type \"Imput\"; did you mean `Input`?");
        assert_eq!(error("Input=of"), "unknown severity \"of\"; did you mean `off`?");
        assert_eq!(error("Input"), "write TYPE=SEVERITY, such as Input=note");
        // The severity of the server's messages cannot be set.
        assert!(
            error("Warning=off")
                .starts_with("unknown type \"Warning\"; give one of AvoidableTransition, BooleanField, ")
        );
        for (name, severity) in ["error", "warning", "note", "off"].iter().zip(Severity::ALL) {
            assert_eq!(format!("Format={name}").parse(), Ok(SeverityOf { kind: "Format", severity }));
            assert_eq!(severity.as_str(), *name);
        }
    }

    #[test]
    fn only_findings_of_the_type_change() {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        let warning = |kind: &str| Diagnostic { kind: kind.to_owned(), ..Diagnostic::default() };
        item.warnings = vec![warning("Warning"), warning("Input"), warning("Format")];
        let severities = ["Input=off", "Format=error", "Format=note"].map(|text| text.parse().unwrap());
        Severities::new(&severities).apply(&mut item);
        let left = |item: &ObjectReport| -> Vec<_> {
            item.warnings.iter().map(|one| (one.kind.clone(), one.severity)).collect()
        };
        assert_eq!(left(&item), [("Warning".to_owned(), None), ("Format".to_owned(), Some(Severity::Note))]);
        assert!(!item.fails_by_severity());
        Severities::default().with_warnings_as_errors(true).apply(&mut item);
        let severities: Vec<_> = left(&item).into_iter().map(|(_, severity)| severity).collect();
        assert_eq!(severities, [Some(Severity::Error), Some(Severity::Note)], "a note stays a note");
        assert!(item.fails_by_severity());
    }

    #[test]
    fn an_error_by_severity_fails_without_a_rejection() {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        item.pruned.push(PrunedField::new("spec.a", SourceLocation::default(), None));
        assert!(!item.fails_by_severity());
        Severities::new(&["droppedField=error".parse().unwrap()]).apply(&mut item);
        assert!(item.fails_by_severity());
        let mut summary = Summary::default();
        summary.add(&item);
        item.verdict = Verdict::Rejected;
        summary.add(&item);
        assert_eq!((summary.failed, summary.accepted, summary.rejected), (1, 1, 1));
    }
}
