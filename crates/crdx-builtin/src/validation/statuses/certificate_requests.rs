//! Statuses of `PodCertificateRequest`s (`ValidatePodCertificateRequestStatusUpdate` in `pkg/apis/certificates/validation`),
//! without the permission to sign.

mod chains;

use super::conditions;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable::is_equal;
use crdx_value::field::{BadValue, FieldError};
use crdx_value::release::V1_38;

/// The types of conditions, in the order of their messages
const TYPES: &[&str] = &["Issued", "Denied", "Failed"];

/// `ValidatePodCertificateRequestStatusUpdate`
pub(super) fn pod_request(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let (status, old_status) = (object.child("status"), old.child("status"));
    let (list, old_list) = (status.child("conditions"), old_status.child("conditions"));
    let before = errors.list.len();
    known_conditions(errors, &status);
    conditions::conditions(errors, &list);
    if errors.list.len() > before {
        return;
    }
    let is_changed = !is_equal(status.value, old_status.value);
    if TYPES.iter().any(|type_| is_true(&old_list, type_)) {
        if is_changed {
            immutable(errors, &status, "immutable after PodCertificateRequest is issued, denied, or failed");
        }
    } else if is_true(&list, "Denied") || is_true(&list, "Failed") {
        let fields = ["certificateChain", "notBefore", "beginRefreshAt", "notAfter"];
        let is_given = |name: &&str| !matches!(status.child(name).value.as_str(), None | Some(""));
        if fields.iter().any(is_given) {
            let detail = "non-condition status fields must be empty when denying or failing the PodCertificateRequest";
            immutable(errors, &status, detail);
        }
    } else if is_true(&list, "Issued") {
        chains::issued(errors, &status, object, old);
    } else if is_changed {
        immutable(errors, &status, r#"status is immutable unless transitioning to "Issued", "Denied", or "Failed""#);
    }
}

fn immutable(errors: &mut Errors, status: &FieldValue<'_, '_>, detail: &str) {
    errors.invalid_value(&status.path, BadValue::Omitted, detail);
}

/// At most one of the known conditions, which is true. Before 1.38, the paths have the index as the name of a field.
fn known_conditions(errors: &mut Errors, status: &FieldValue<'_, '_>) {
    let list = status.path.child("conditions");
    let mut known = 0_usize;
    for (at, condition) in status.child("conditions").items().enumerate() {
        let index = format!("[{at}]");
        let path = if errors.release.since(V1_38) { list.index(at) } else { list.child(&index) };
        let (type_, state) = (condition.child("type").text(), condition.child("status").text());
        if !TYPES.contains(&type_) {
            errors.list.push(FieldError::not_supported(&path.child("type"), type_, TYPES));
            continue;
        }
        known += 1;
        if known > 1 {
            let detail = r#"There may be at most one condition with type "Issued", "Denied", or "Failed""#;
            errors.invalid_value(&path.child("type"), type_, detail);
        }
        if state != "True" {
            errors.list.push(FieldError::not_supported(&path.child("status"), state, &["True"]));
        }
    }
}

fn is_true(conditions: &FieldValue<'_, '_>, type_: &str) -> bool {
    conditions.items().any(|one| one.child("type").text() == type_ && one.child("status").text() == "True")
}

#[cfg(test)]
mod tests;
