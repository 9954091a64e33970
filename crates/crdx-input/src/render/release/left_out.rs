//! The releases that are not rendered, and what the user can do about each.

use super::super::repository_url;
use super::super::values::ValuesError;
use super::by_name::NameError;
use crdx_engine::documents::{Document, Note, Stop};
use crdx_engine::report::SourceLocation;
use crdx_text::Position;
use std::sync::Arc;

/// A release whose objects are not known.
#[derive(Debug)]
pub struct LeftOutRelease {
    /// Its name with its namespace, and the reason, for the note at the end of a run.
    pub summary: String,
    /// The message about the object.
    pub note: Note,
    name: String,
    namespace: Option<String>,
}

/// The reason why a release is not rendered.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotRendered {
    #[error("the source of its chart: {0}")]
    Source(NameError),
    #[error("its HelmChart: {0}")]
    Chart(NameError),
    #[error("the source of its chart is of another kind than GitRepository, HelmRepository and OCIRepository")]
    UnknownSource,
    #[error(transparent)]
    Values(#[from] ValuesError),
    #[error("it has postRenderers")]
    PostRenderers,
    #[error("the version {1:?} of its chart {0} is not a range of versions")]
    NotARange(String, String),
    #[error("ref.semverFilter of its chart {0} is not a regular expression")]
    NotAFilter(String),
    #[error("its chart is in another repository: {0}")]
    AnotherRepository(String),
    #[error("its chart is in the repository {0}, which may be this one or another one")]
    UnknownRepository(String),
    #[error("{0} is no chart of this repository")]
    NotHere(String),
    #[error("its chart is not here: kubectl crdx fetch --charts {0}")]
    NotFetched(String),
    #[error("no version {range} of its chart is here: kubectl crdx fetch --charts {url}VERSION")]
    NoVersion { url: String, range: String },
}

impl LeftOutRelease {
    pub fn new(document: &Document, reason: &NotRendered) -> Self {
        let text = |member: &str| document.value.str_at(&["metadata", member]).unwrap_or_default();
        let name = text("name");
        let namespace = Some(text("namespace")).filter(|own| !own.is_empty()).or(document.namespace.as_deref());
        let (name, namespace) = (name.to_owned(), namespace.map(str::to_owned));
        let full = namespace.as_ref().map_or_else(|| name.clone(), |namespace| format!("{namespace}/{name}"));
        let note = Note {
            source: Arc::clone(&document.source),
            position: Some(document.position()),
            message: format!("the objects of the HelmRelease {full} are not known: {reason}"),
            hint: Some(reason.hint()),
            chunk: Some(Arc::clone(&document.chunk)),
            stop: Stop::Never,
            is_joined: false,
            refusal: None,
        };
        Self { summary: format!("{full} ({reason})"), note, name, namespace }
    }

    /// Moves the message to the file from which the object was rendered, if it was. `map` returns the location in a file for one of an
    /// object with a name and a namespace.
    pub fn map(&mut self, map: impl Fn(&SourceLocation, &str, Option<&str>) -> Option<SourceLocation>) {
        let line = self.note.position.map_or(0, |position| position.line);
        let location = SourceLocation::line(&self.note.source, line);
        if let Some(mapped) = map(&location, &self.name, self.namespace.as_deref()) {
            self.note.position = (mapped.line > 0).then_some(Position { line: mapped.line, column: 1 });
            (self.note.source, self.note.chunk) = (mapped.source, None);
        }
    }
}

impl NotRendered {
    fn hint(&self) -> String {
        let text = match self {
            Self::Source(NameError::Missing(_)) | Self::Chart(NameError::Missing(_)) => {
                "add the file that has it to the paths"
            }
            Self::Source(NameError::Several(_))
            | Self::Chart(NameError::Several(_))
            | Self::Values(ValuesError::Several(_)) => "validate each cluster on its own: --target",
            Self::Values(ValuesError::Elsewhere(_)) => {
                "add a ConfigMap to the paths; for a Secret, render the release yourself and validate the output of \
                 `helm template`, or leave the file out with --ignore"
            }
            Self::NotFetched(url) => return format!("download it: kubectl crdx fetch --charts {url}"),
            Self::NoVersion { url, range } => {
                return format!("download a version {range}: kubectl crdx fetch --charts {url}VERSION");
            }
            Self::UnknownRepository(url) => {
                return repository_url::hint(url);
            }
            Self::AnotherRepository(_)
            | Self::UnknownSource
            | Self::PostRenderers
            | Self::Values(ValuesError::TargetPath(_)) => {
                "render the release yourself and validate the output, or leave the file out with --ignore"
            }
            Self::Values(_) | Self::NotARange(..) | Self::NotAFilter(_) | Self::NotHere(_) => "correct the release",
        };
        text.to_owned()
    }
}
