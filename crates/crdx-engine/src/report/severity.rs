//! The severity of the findings of this program, which a project may change.

use super::ObjectReport;
use crdx_value::suggest::{closest, did_you_mean};
use std::collections::BTreeMap;
use std::str::FromStr;

/// The types of findings of this program: none is the server's, and none decides a verdict or an exit code.
const TYPES: [&str; 12] = [
    DROPPED_FIELD,
    "ExpressionType",
    "Format",
    INPUT,
    "NodePortRange",
    "NotTypeChecked",
    "ParamNotFound",
    "ParamRef",
    "PolicyNotFound",
    "PublishedSchema",
    "StoredVersions",
    "Unservable",
];

/// The type of a warning about the text of an input.
pub const INPUT: &str = "Input";

/// The type of a field that would be dropped and that no error or warning names.
pub const DROPPED_FIELD: &str = "droppedField";

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Shown as an error.
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
pub struct Severities(BTreeMap<&'static str, Severity>);

impl Severities {
    /// Collects severities; the last one of a type counts.
    pub fn new(all: &[SeverityOf]) -> Self {
        Self(all.iter().map(|one| (one.kind, one.severity)).collect())
    }

    /// Returns the severity of the findings of a type, if it differs from the default.
    pub fn of(&self, kind: &str) -> Option<Severity> {
        self.0.get(kind).copied()
    }

    /// Sets the severities of the findings of an object, and removes those that are off. The verdict is not changed.
    pub fn apply(&self, item: &mut ObjectReport) {
        if self.0.is_empty() {
            return;
        }
        item.warnings.retain_mut(|warning| {
            warning.severity = self.0.get(warning.kind.as_str()).copied().or(warning.severity);
            warning.severity != Some(Severity::Off)
        });
        if let Some(severity) = self.0.get(DROPPED_FIELD) {
            item.pruned.iter_mut().for_each(|field| field.severity = Some(*severity));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Diagnostic, SourceLocation, Verdict};

    #[test]
    fn an_unknown_name_has_a_suggestion() {
        let error = |text: &str| text.parse::<SeverityOf>().unwrap_err().to_string();
        assert_eq!(error("Imput=off"), "unknown type \"Imput\"; did you mean `Input`?");
        assert_eq!(error("Input=of"), "unknown severity \"of\"; did you mean `off`?");
        assert_eq!(error("Input"), "write TYPE=SEVERITY, such as Input=note");
        // The severity of the server's messages cannot be set.
        assert!(error("Warning=off").starts_with("unknown type \"Warning\"; give one of droppedField, "));
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
        let left: Vec<_> = item.warnings.iter().map(|one| (one.kind.as_str(), one.severity)).collect();
        assert_eq!(left, [("Warning", None), ("Format", Some(Severity::Note))]);
    }
}
