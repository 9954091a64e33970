//! Errors, warnings, remarks and notes.

use super::{FieldHint, KnownFinding, Severity, SourceLocation};
use crdx_value::release::ReleaseSet;
use crdx_value::suggest;
use std::sync::Arc;

/// An error or a warning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostic {
    /// The server's reason (`FieldValueInvalid`), or a type of this program.
    pub kind: String,
    /// The field, if the server names one.
    pub field: Option<String>,
    /// The message.
    pub message: String,
    /// The location of the field, or of its nearest existing ancestor.
    pub location: Option<SourceLocation>,
    /// A suggestion of this program.
    pub help: Option<String>,
    /// The text with which the suggestion would replace the text at the location.
    pub replacement: Option<String>,
    /// The part of the message that is equal in every release, if known: the detail of a field error.
    pub detail: Option<String>,
    /// The severity, if the settings change it.
    pub severity: Option<Severity>,
    /// The entry of the baseline that accepts the problem.
    pub known: Option<Arc<KnownFinding>>,
    /// The releases that report the problem, if several are simulated.
    pub releases: Option<ReleaseSet>,
}

impl Diagnostic {
    /// Adds where the field exists, or a similar one.
    #[must_use]
    pub(crate) fn with_hint(self, hint: Option<&FieldHint>) -> Self {
        let replacement = hint.and_then(FieldHint::replacement).map(str::to_owned);
        Self { help: hint.map(FieldHint::help).or(self.help), replacement: replacement.or(self.replacement), ..self }
    }

    /// Adds a suggestion for the text at the problem's location, if there is one.
    #[must_use]
    pub(crate) fn with_replacement(self, replacement: Option<&str>) -> Self {
        let help = replacement.map(suggest::did_you_mean).or(self.help);
        Self { help, replacement: replacement.map(str::to_owned), ..self }
    }

    /// Returns the severity to show, if it is not that of its list: a problem that the baseline accepts is a note.
    pub fn shown_severity(&self) -> Option<Severity> {
        self.severity.or_else(|| self.known.as_ref().map(|_| Severity::Note))
    }

    /// Returns the suggestion, with the reason why the problem is accepted.
    pub fn help_text(&self) -> Option<String> {
        let known = self.known.as_ref().map(|known| known.text());
        let texts: Vec<String> = self.help.clone().into_iter().chain(known).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// Returns true if any of `releases` reports the problem; always true with a single simulated release.
    pub fn is_of(&self, releases: Option<&ReleaseSet>) -> bool {
        match (&self.releases, releases) {
            (Some(own), Some(releases)) => own.iter().any(|release| releases.iter().any(|other| other == release)),
            _ => true,
        }
    }
}

/// A remark on how one object was simulated; not counted as a warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remark {
    /// An earlier input at this location has the same object, and this one is applied after it.
    SameObject(SourceLocation),
    /// Another file has a different object of the same name at this location, and this one is not applied after it.
    ConflictingObject(SourceLocation),
    /// Objects are validated with the CRD of the same name at this location, not with this one.
    OtherDefinition(SourceLocation),
    /// Fields of the object are encrypted, and what their values decide was not checked.
    EncryptedFields,
    /// The object has `generateName` and no name, which `kubectl apply` and `kubectl replace` refuse.
    SentAsCreate,
}

impl Remark {
    /// Returns the location of the other object.
    pub fn location(&self) -> Option<&SourceLocation> {
        match self {
            Self::SameObject(location) | Self::ConflictingObject(location) | Self::OtherDefinition(location) => {
                Some(location)
            }
            Self::EncryptedFields | Self::SentAsCreate => None,
        }
    }

    /// Returns the location of the other object.
    pub fn location_mut(&mut self) -> Option<&mut SourceLocation> {
        match self {
            Self::SameObject(location) | Self::ConflictingObject(location) | Self::OtherDefinition(location) => {
                Some(location)
            }
            Self::EncryptedFields | Self::SentAsCreate => None,
        }
    }

    /// Returns the name in JSON.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::SameObject(_) => "sameObject",
            Self::ConflictingObject(_) => "conflictingObject",
            Self::OtherDefinition(_) => "otherDefinition",
            Self::EncryptedFields => "encryptedFields",
            Self::SentAsCreate => "sentAsCreate",
        }
    }

    /// Returns the text.
    pub fn message(&self) -> String {
        match self {
            Self::SameObject(first) => format!("same object as {first}, applied after it"),
            Self::ConflictingObject(other) => format!("differs from the same object at {other}"),
            Self::OtherDefinition(other) => format!("objects are validated with the CRD at {other}"),
            Self::EncryptedFields => "encrypted fields not checked".to_owned(),
            Self::SentAsCreate => "generateName, sent as kubectl create does".to_owned(),
        }
    }
}

/// A note about a run as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunNote {
    /// The type of the note in JSON.
    pub kind: &'static str,
    /// The text.
    pub message: String,
}
