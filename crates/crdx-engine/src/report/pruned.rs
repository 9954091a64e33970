//! Fields that would be dropped, and where the same or a similar field exists.

use super::{ObjectReport, Severity, SourceLocation};
use crdx_value::release::ReleaseSet;
use crdx_value::suggest;
use std::collections::HashSet;
use std::fmt::Write as _;

/// A field that would be dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedField {
    /// The path, as the server prints it.
    pub path: String,
    /// The location.
    pub location: Option<SourceLocation>,
    /// The place of the same or a similar field, if there is one.
    pub hint: Option<FieldHint>,
    /// The severity, if the settings change it.
    pub severity: Option<Severity>,
    /// The releases that report the field, if several are simulated.
    pub releases: Option<ReleaseSet>,
}

/// The place of the field that is dropped, or of a similar one, in other schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FieldHint {
    /// Other served versions of the CRD have the field.
    ServedVersions {
        /// Their names.
        versions: Vec<String>,
        /// The storage version, if it does not have the field either and no webhook converts objects.
        dropped_by: Option<String>,
    },
    /// The version of the request has the field. The storage version, whose name this is, does not.
    StorageVersion(String),
    /// A field of a Go type: its name, and the first minor version of Kubernetes that has it, newer than the simulated one.
    Since(String, u32),
    /// A field of a Go type: its name, and the last minor version of Kubernetes that had it.
    Until(String, u32),
    /// Kubernetes 1.N, for this N, knows the field of a built-in kind and does not store it.
    NotStored(u32),
    /// It is the status, which only writes of the subresource change.
    StatusSubresource,
    /// The schema has a field with this similar name.
    SimilarName(String),
}

impl PrunedField {
    /// A field that every simulated release drops, with the usual severity.
    pub fn new(path: impl Into<String>, location: SourceLocation, hint: Option<FieldHint>) -> Self {
        Self { path: path.into(), location: Some(location), hint, severity: None, releases: None }
    }

    /// Returns a sentence that says what happens to the field.
    pub fn message(&self) -> String {
        match self.hint {
            Some(FieldHint::StorageVersion(_)) => format!("field {:?} would be dropped when it is stored", self.path),
            Some(FieldHint::NotStored(_) | FieldHint::StatusSubresource) => {
                format!("field {:?} would be dropped", self.path)
            }
            _ => format!("unknown field {:?} would be dropped", self.path),
        }
    }

    /// Returns the help text of the hint, if there is one.
    pub fn help(&self) -> Option<String> {
        self.hint.as_ref().map(FieldHint::help)
    }
}

impl FieldHint {
    /// Returns the help text.
    pub fn help(&self) -> String {
        match self {
            Self::ServedVersions { versions, dropped_by } => {
                let names: Vec<String> = versions.iter().map(|name| format!("`{name}`")).collect();
                let (noun, verb) = if names.len() == 1 { ("version", "has") } else { ("versions", "have") };
                let mut text = format!("the served {noun} {} {verb} this field", names.join(", "));
                if let Some(storage) = dropped_by {
                    let _ = write!(text, "; objects are stored in `{storage}`, which does not have it");
                }
                text
            }
            Self::StorageVersion(storage) => {
                format!("objects are stored in `{storage}`, which does not have this field")
            }
            Self::Since(field, minor) => format!("`{field}` exists since Kubernetes 1.{minor}"),
            Self::Until(field, minor) => format!("`{field}` existed until Kubernetes 1.{minor}"),
            Self::NotStored(minor) => {
                format!("Kubernetes 1.{minor} does not store it, usually because its feature gate is off by default")
            }
            Self::StatusSubresource => {
                "the server ignores it here: only writes of the subresource change the status (--subresource status)"
                    .to_owned()
            }
            Self::SimilarName(name) => suggest::did_you_mean(name),
        }
    }

    /// Returns the name in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::ServedVersions { .. } => "servedVersions",
            Self::StorageVersion(_) => "storageVersion",
            Self::Since(..) => "since",
            Self::Until(..) => "until",
            Self::NotStored(_) => "notStored",
            Self::StatusSubresource => "statusSubresource",
            Self::SimilarName(_) => "similarName",
        }
    }

    /// Returns the names of versions or of the similar field, as in JSON.
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::ServedVersions { versions, .. } => versions.clone(),
            Self::StorageVersion(name) | Self::SimilarName(name) => vec![name.clone()],
            Self::StatusSubresource => Vec::new(),
            Self::Since(_, minor) | Self::Until(_, minor) | Self::NotStored(minor) => vec![format!("1.{minor}")],
        }
    }

    /// Returns the name that would correct the field.
    pub fn replacement(&self) -> Option<&str> {
        match self {
            Self::SimilarName(name) => Some(name),
            _ => None,
        }
    }
}

impl ObjectReport {
    /// Returns the fields that would be dropped and that no error or warning names.
    pub fn dropped_silently(&self) -> Vec<&PrunedField> {
        if self.pruned.is_empty() {
            return Vec::new();
        }
        let problems = self.errors.iter().chain(&self.warnings);
        let named: HashSet<&str> = problems.filter_map(|problem| problem.field.as_deref()).collect();
        let is_shown = |field: &&PrunedField| field.severity != Some(Severity::Off);
        self.pruned.iter().filter(is_shown).filter(|field| !named.contains(field.path.as_str())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Diagnostic, Verdict};

    #[test]
    fn a_hint_says_whether_the_field_would_be_stored() {
        let hint = |versions: &[&str], dropped_by: Option<&str>| {
            let versions = versions.iter().map(|name| (*name).to_owned()).collect();
            FieldHint::ServedVersions { versions, dropped_by: dropped_by.map(str::to_owned) }.help()
        };
        assert_eq!(hint(&["v2"], None), "the served version `v2` has this field");
        assert_eq!(
            hint(&["v2", "v3"], Some("v1")),
            "the served versions `v2`, `v3` have this field; objects are stored in `v1`, which does not have it"
        );
    }

    #[test]
    fn fields_that_an_error_or_a_warning_names_are_not_dropped_silently() {
        let mut item = ObjectReport::new(SourceLocation::default(), Verdict::Accepted, "");
        let field = |path: &str| PrunedField {
            path: path.to_owned(),
            location: None,
            hint: None,
            severity: None,
            releases: None,
        };
        item.pruned = vec![field("spec.a"), field("spec.b"), field("spec.c")];
        item.errors.push(Diagnostic { field: Some("spec.a".to_owned()), ..Diagnostic::default() });
        item.warnings.push(Diagnostic { field: Some("spec.b".to_owned()), ..Diagnostic::default() });
        let silent: Vec<_> = item.dropped_silently().iter().map(|field| field.path.as_str()).collect();
        assert_eq!(silent, ["spec.c"]);
    }
}
