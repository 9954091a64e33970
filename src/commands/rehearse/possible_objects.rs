//! The effects of an upgrade on objects that the old CRD accepts and that may not be stored: a short search, as `prove` does.

use crate::commands::search_answers::{self, short_text, version_value};
use crate::commands::terminal;
use crdx_engine::rehearsal::Releases;
use crdx_engine::report::SourceLocation;
use crdx_engine::search::upgrade::upgrade;
use crdx_engine::search::{Effort, UpgradeError, VersionUpgrade};
use crdx_output::printable;
use crdx_output::report::case::{Finding, Level};
use crdx_value::{Value, object};
use std::fmt::Write as _;

/// The answers of the search, if there was one.
#[derive(Debug, Default)]
pub struct PossibleObjects(Option<Result<Vec<VersionUpgrade>, UpgradeError>>);

impl PossibleObjects {
    /// Searches with `tries` objects for each version, unless the CRD and the release stay the same.
    pub fn search(old: Option<&Value>, new: &Value, releases: Releases, tries: u32) -> Self {
        let Some(old) = old.filter(|old| old.get("spec") != new.get("spec") || releases.old != releases.new) else {
            return Self(None);
        };
        let Some(objects) = usize::try_from(tries).ok().filter(|tries| *tries > 0) else { return Self(None) };
        let found = upgrade(old, new, releases, terminal::now(), Effort { objects, seed: 0 });
        Self(Some(found.map(|upgrade| upgrade.versions)))
    }

    fn versions(&self) -> &[VersionUpgrade] {
        match &self.0 {
            Some(Ok(versions)) => versions,
            _ => &[],
        }
    }

    /// Formats the answers as text; empty if there was no search.
    pub fn text(&self, name: &str) -> String {
        let name = printable::line(name);
        if let Some(Err(error)) = &self.0 {
            return format!("{name}\n  cannot tell: {error}\n");
        }
        self.versions().iter().fold(String::new(), |mut text, version| {
            let _ = writeln!(text, "{name}, {}", printable::line(&version.version));
            text + &short_text(version)
        })
    }

    /// Returns the answers as JSON.
    pub fn value(&self) -> Value {
        match &self.0 {
            Some(Err(error)) => object([("cannotTell", error.to_string())]),
            _ => object([("versions", Value::from(self.versions().iter().map(version_value).collect::<Vec<_>>()))]),
        }
    }

    /// Returns a note for each effect that an object shows.
    pub fn findings(&self, location: &SourceLocation) -> Vec<Finding> {
        search_answers::findings(self.versions(), Level::Note, location)
    }
}

/// Formats the answers for several CRDs as a part of a report.
pub fn section<'a>(definitions: impl Iterator<Item = (&'a str, &'a PossibleObjects)>) -> String {
    let text: String = definitions.map(|(name, possible)| possible.text(name)).collect();
    if text.is_empty() {
        text
    } else {
        format!("Objects that the old CRD accepts, stored or not (prove searches longer):\n{text}\n")
    }
}
