//! Completes the report of the answer to a request.

use super::dropped_status;
use super::send::{Answer, Submission};
use crate::kubectl::request::RequestOptions;
use crate::kubectl::written_metadata::hide_bookkeeping;
use crate::kubectl::{FieldValidation, Operation};
use crate::report::{Diagnostic, Identity, ObjectReport, Verdict};
use crate::simulation::admission::admitted;
use crate::simulation::built_in::{self, unknown_objects};
use crate::simulation::context::SimulationContext;
use crate::simulation::earlier_object::EarlierObject;
use crate::simulation::kubectl_errors;
use crate::simulation::simulated::Simulated;
use crdx_value::Value;
use std::sync::Arc;

/// Returns the item of an answer, and the object of an accepted create for later inputs of the same name.
/// `status` is the one that was sent, if it may be dropped.
pub fn of_answer(
    submission: &Submission<'_>,
    (answer, status): (Answer, Option<&Value>),
    identity: Identity,
) -> Simulated {
    let Submission { context, server, resource, address, locator, .. } = *submission;
    let Answer { mut response, action, before, sent } = answer;
    let findings = response.trace.policies.take();
    let unknown = response.trace.take_unknown();
    let mut item = resource.read(response, identity, locator, server.release());
    item.action = action;
    item.before = context.updates.compares.and(before);
    let stored = keep(submission, &item, sent.as_ref());
    if let Some(sent) = sent.as_ref().filter(|_| !resource.is_defined()) {
        built_in::complete(&mut item, submission, sent, findings.as_deref());
    }
    unknown_objects::leave_open(&mut item, context, &unknown, submission.cluster);
    admitted(&mut item, findings, context.admission);
    item.hidden = hidden_errors(submission, &item);
    dropped_status::report(&mut item, status, resource, locator);
    // Otherwise only pruned fields and those that policies remove are shown as they were sent.
    let has_removed = || item.admission.as_ref().is_some_and(|admission| admission.removes_fields());
    let is_changed = || !item.pruned.is_empty() || has_removed();
    let shows_sent =
        context.updates.compares.is_some_and(|options| options.keeps_sent || is_changed()) && item.answer.is_some();
    item.sent = if shows_sent { locator.object() } else { None };
    if context.request_options.table
        && resource.is_defined()
        && item.table.is_none()
        && let Some(object) = &item.object
    {
        let objects = std::slice::from_ref(object);
        item.table = server.table_of(address.definition(), address.version(), objects, context.request_options.now);
    }
    Simulated { item, stored }
}

/// Keeps the object of an accepted create for later inputs with the same name.
fn keep(submission: &Submission<'_>, item: &ObjectReport, sent: Option<&Value>) -> EarlierObject {
    let Submission { context, .. } = *submission;
    let is_create = submission.absent.is_some_and(Operation::is_create);
    let Some(object) = item.object.as_ref().filter(|_| !submission.target().name.is_empty()) else {
        return EarlierObject::None;
    };
    match (sent, submission.text()) {
        (_, Some(text)) if is_create => EarlierObject::put(context.store, object, Some(text)),
        (Some(sent), None) if is_create && submission.is_reproducible => keep_sent(context, sent.clone()),
        _ => EarlierObject::put(context.store, object, None),
    }
}

/// Keeps an object without text, so that it can be created again.
fn keep_sent(context: SimulationContext<'_>, mut sent: Value) -> EarlierObject {
    if let Some(metadata) = sent.get_mut("metadata").and_then(Value::as_object_mut) {
        // An object with a UID is one that a server has stored.
        metadata.remove("uid");
    }
    EarlierObject::put(context.store, &sent, None)
}

/// Returns true if an object was refused because of unknown fields, before other validation.
fn refuses_unknown_fields(item: &ObjectReport, request_options: RequestOptions) -> bool {
    // A patch with unknown fields is invalid (422).
    request_options.level == FieldValidation::Strict
        && !item.pruned.is_empty()
        && item.answer.as_ref().is_some_and(|answer| matches!(answer.code, 400 | 422))
        && item.errors.iter().all(|error| item.pruned.iter().any(|unknown| error.field.as_ref() == Some(&unknown.path)))
}

/// Returns the errors that the server would report if it pruned unknown fields instead of refusing them: sends the same
/// request with `fieldValidation=Warn` as a dry run.
fn hidden_errors(submission: &Submission<'_>, item: &ObjectReport) -> Vec<Diagnostic> {
    let Submission { context, server, cluster, absent, locator, resource, .. } = *submission;
    let namespace = item.identity.namespace.as_deref();
    let may_create = absent.is_some() && context.updates.request_kind.may_create();
    let refuses_namespace = may_create
        && item.verdict == Verdict::Rejected
        && namespace.is_some_and(|namespace| cluster.refuses_objects_in(namespace));
    if !refuses_unknown_fields(item, context.request_options) && !refuses_namespace {
        return Vec::new();
    }
    // Validation comes after the namespace: show its errors, too.
    let unchecked = Arc::new(cluster.without_namespaces());
    let Some(object) = locator.object() else { return Vec::new() };
    let object = kubectl_errors::in_namespace(object, &item.identity);
    let request_options = RequestOptions { level: FieldValidation::Warn, ..context.request_options };
    let again = Submission {
        context: SimulationContext { request_options, ..context },
        cluster: if refuses_namespace { &unchecked } else { cluster },
        ..*submission
    };
    let Ok(Answer { response, .. }) = again.send_dry_run(object) else { return Vec::new() };
    let errors = resource.read(response, item.identity.clone(), locator, server.release()).errors;
    // A server that has the Namespace itself refuses it again.
    if errors == item.errors { Vec::new() } else { errors }
}

/// Hides what differs between runs in the object of a result, and adds its Scale.
pub fn show(submission: &Submission<'_>, item: &mut ObjectReport) {
    let Submission { context, server, resource, address, .. } = *submission;
    let Some(result) = &mut item.object else { return };
    let compares = context.updates.compares;
    let reports_scale = context.scale && resource.is_defined();
    // A comparison hides these fields itself.
    let mut copy = compares.filter(|_| reports_scale).map(|_| result.clone());
    if let Some(shown) = copy.as_mut().or_else(|| compares.is_none().then_some(result)) {
        hide_bookkeeping(shown, context.show_last_applied);
        if reports_scale {
            item.scale = server.scale_of(address.definition(), address.version(), shown);
        }
    }
}
