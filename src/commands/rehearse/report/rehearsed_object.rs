//! A stored object of a rehearsal of a CRD.

use crate::commands::rehearse::known::{AcceptKnown, KnownEffects, LOST, UNREADABLE};
use crdx_engine::rehearsal::{Edit, ObjectOutcome, RehearsalError};
use crdx_engine::report::{Identity, SourceLocation};
use crdx_input::baseline::Baseline;
use crdx_value::field::FieldError;
use std::collections::HashSet;

/// A stored object and the effect of the upgrade on it.
#[derive(Debug)]
pub struct RehearsedObject {
    /// The source location of the object.
    pub location: SourceLocation,
    /// The identity of the object.
    pub identity: Identity,
    /// The effect, or the reason why it is unknown.
    pub outcome: Result<ObjectOutcome, RehearsalError>,
    /// The source location of each error's field.
    pub locations: Vec<SourceLocation>,
    /// True if the object must be rewritten before the server accepts the new CRD.
    pub must_migrate: bool,
    /// The findings that the baseline has.
    pub known: KnownEffects,
}

impl RehearsedObject {
    /// Returns true if the object loses fields, becomes invalid, or the effect is unknown.
    pub fn breaks(&self) -> bool {
        self.outcome.as_ref().map_or(true, |outcome| !outcome.difference.lost.is_empty() || outcome.becomes_invalid())
    }

    /// Returns true if the upgrade affects the object, or the object is invalid.
    pub fn is_touched(&self) -> bool {
        self.breaks()
            || self.must_migrate
            || self.outcome.as_ref().is_ok_and(|outcome| {
                let is_read_differently = !outcome.difference.is_empty() || outcome.moved_to.is_some();
                is_read_differently || !outcome.cells.is_empty() || outcome.was_invalid
            })
    }

    /// Returns true if the object breaks only as in the baseline.
    pub fn is_known(&self) -> bool {
        let KnownEffects { lost, errors, unreadable } = &self.known;
        let has_entries = !lost.is_empty() || !errors.is_empty();
        unreadable.is_some() || has_entries && lost.iter().chain(errors).all(Option::is_some)
    }

    /// Returns true if the object breaks, except as in the baseline, or the effect is unknown.
    pub fn fails(&self) -> bool {
        self.breaks() && !self.is_known()
    }
}

/// Returns the errors of an update that changes nothing but a label, without those of the object itself.
pub fn blocking(outcome: &ObjectOutcome) -> Vec<&FieldError> {
    let Edit::Blocked(errors) = &outcome.edit else { return Vec::new() };
    let own: HashSet<String> = outcome.errors.iter().map(ToString::to_string).collect();
    errors.iter().filter(|error| !own.contains(&error.to_string())).collect()
}

impl AcceptKnown for RehearsedObject {
    fn accept(&mut self, baseline: &mut Baseline) {
        let mut entries =
            |findings: &[(&str, String)]| baseline.accept_findings(&self.identity, &self.location, findings);
        self.known = match &self.outcome {
            Ok(outcome) => {
                // A value may change, and the field is lost nevertheless.
                let lost = outcome.difference.lost.iter().map(|(path, _)| (LOST, path.clone()));
                let errors = outcome.errors.iter().chain(blocking(outcome)).filter(|_| !outcome.was_invalid);
                let errors = errors.map(|error| (error.kind.reason(), error.to_string()));
                KnownEffects {
                    lost: entries(&lost.collect::<Vec<_>>()),
                    errors: entries(&errors.collect::<Vec<_>>()),
                    unreadable: None,
                }
            }
            Err(RehearsalError::New(reason)) => {
                let unreadable = entries(&[(UNREADABLE, reason.as_str().to_owned())]).pop().flatten();
                KnownEffects { unreadable, ..KnownEffects::default() }
            }
            Err(RehearsalError::Old(_)) => KnownEffects::default(),
        };
    }
}
