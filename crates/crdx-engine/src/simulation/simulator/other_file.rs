//! An object that another file has, too. The files may be for different clusters: the object is validated alone, and what the
//! server would refuse in an update of the other one is a warning.

use super::{PlacedObject, Simulator};
use crate::kubectl::Action;
use crate::report::severity::CONFLICTING_OBJECT;
use crate::report::{Diagnostic, ObjectReport, Remark, SourceLocation, Verdict};
use crate::simulation::earlier_object::EarlierObject;
use crate::simulation::simulated::{Before, Simulated};

/// The help for two files that have different objects of the same name.
const OF_DIFFERENT_CLUSTERS: &str = "if the files are for different clusters, give the directory of each with --target";

/// The object of the same name in another file.
pub(super) struct OtherFile {
    pub location: SourceLocation,
    pub stored: EarlierObject,
}

/// Sends an object as if it was the only one of its name, and then as an update of the one in another file. Returns the
/// location of the object that is stored for later inputs, if it is the other one.
pub(super) fn submit(
    simulator: &Simulator,
    object: PlacedObject<'_>,
    other: OtherFile,
) -> (Simulated, Option<SourceLocation>) {
    let OtherFile { location, stored } = other;
    let mut alone = simulator.send(object.clone(), Before::default());
    if !matches!(alone.item.verdict, Verdict::Accepted | Verdict::Decodes) {
        return (Simulated { stored, ..alone }, Some(location));
    }
    let update = simulator.send(object, Before { stored, pending: None }).item;
    let is_same = update.verdict == Verdict::Accepted && update.action == Action::Unchanged;
    alone.item.warnings.extend(refused(update, &location));
    let remark = if is_same { Remark::SameObject } else { Remark::ConflictingObject };
    alone.item.remarks.push(remark(location));
    (alone, None)
}

/// Returns a warning for each error of an update that the server would refuse.
fn refused(update: ObjectReport, other: &SourceLocation) -> Vec<Diagnostic> {
    let ObjectReport { verdict, errors, answer, .. } = update;
    if verdict != Verdict::Rejected {
        return Vec::new();
    }
    let warning = |message: &str, error: Diagnostic| Diagnostic {
        kind: CONFLICTING_OBJECT.to_owned(),
        message: format!("as an update of {other}, it would be rejected: {message}"),
        help: Some(OF_DIFFERENT_CLUSTERS.to_owned()),
        replacement: None,
        ..error
    };
    if errors.is_empty() {
        let message = answer.map(|answer| answer.message).unwrap_or_default();
        return vec![warning(&message, Diagnostic::default())];
    }
    errors.into_iter().map(|error| warning(&error.message.clone(), error)).collect()
}
