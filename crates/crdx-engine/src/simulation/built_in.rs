//! The parts of the simulation that only built-in kinds have: the objects of the cluster on which Services depend, the changes that the server
//! makes to an object, and the limits for its size in Protobuf.

mod changes;
pub mod service_allocations;
pub(super) mod service_families;
pub(super) mod size;
pub(super) mod unknown_objects;

use super::resource::SimulatedResource;
use super::served::deprecation;
use super::submit::send::Submission;
use crate::report::{Action, FieldHint, ObjectReport, PrunedField, Verdict};
use crdx_server::policies::findings::Findings;
use crdx_types::table;
use crdx_value::Value;
use std::collections::HashSet;

/// Completes the item of an object that was sent.
pub(super) fn complete(
    item: &mut ObjectReport,
    submission: &Submission<'_>,
    sent: &Value,
    findings: Option<&Findings>,
) {
    let Submission { context, server, locator, .. } = *submission;
    warn_of_deprecation(item, submission);
    if submission.resource.is_built_in("", "Service") {
        service_allocations::report_unreadable(sent, submission.cluster);
        if submission.absent.is_some() {
            if context.served.service_ranges.is_empty() {
                service_families::explain(item, sent, submission.cluster, server.release());
            }
            if item.verdict != Verdict::Rejected {
                item.warnings.extend(service_allocations::unusual_node_ports(sent, context.served.node_ports, locator));
            }
        }
    }
    if item.verdict == Verdict::Accepted && submission.resource.is_typed() {
        let shows_update = context.updates.compares.is_some() && item.action != Action::Create;
        if let Some(object) = item.object.as_mut().filter(|_| !shows_update) {
            changes::remove_generated(&item.identity.kind, object, sent);
        }
        compare(item, submission, sent, findings);
        size::check(item, sent);
    }
}

/// Puts the server's warning about a deprecated version at the apiVersion.
fn warn_of_deprecation(item: &mut ObjectReport, submission: &Submission<'_>) {
    let (SimulatedResource::BuiltIn(resource), minor) =
        (submission.resource, submission.server.release().minor().number().into())
    else {
        return;
    };
    let row = table::table().kind(&item.identity.api_version, resource.kind, minor);
    if let Some(warning) = row.and_then(|row| deprecation(row, &item.identity, minor, submission.locator)) {
        item.warnings.retain(|other| other.message != warning.message);
        item.warnings.insert(0, warning);
    }
}

/// Compares an accepted object with the one that was sent: adds the defaults of a new object, and the fields that are not
/// stored although their type has them.
fn compare(item: &mut ObjectReport, submission: &Submission<'_>, sent: &Value, findings: Option<&Findings>) {
    let Some(object) = &item.object else { return };
    let changes::Changes { defaulted, mut dropped } = changes::compare(object, sent);
    // An existing object has more than defaults.
    item.defaulted = if item.action == Action::Create { defaulted } else { Vec::new() };
    // A policy may have removed fields.
    if findings.is_some_and(|findings| !findings.changes.is_empty()) {
        return;
    }
    let known: HashSet<&str> = item.pruned.iter().map(|known| known.path.as_str()).collect();
    dropped.retain(|path| !known.contains(path.as_str()));
    let hint = FieldHint::NotStored(submission.server.release().minor().number().into());
    let fields = dropped.into_iter().map(|path| {
        let location = submission.locator.name(&path);
        PrunedField::new(path, location, Some(hint.clone()))
    });
    item.pruned.extend(fields);
}
