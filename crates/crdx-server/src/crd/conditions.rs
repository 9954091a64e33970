//! The changes that the server's controllers make to a stored CRD, as pure functions
//! (`pkg/controller/{status,establish, nonstructuralschema,apiapproval,finalizer}`).
//!
//! [`crate::server::Server::run_controllers`] runs them in sequence, so the order of the conditions is always the same.
//! On a real server, `NamesAccepted` and `Established` usually come first and the other two in any order. All
//! parameters `now` are in RFC 3339 format.

use super::aggregate::aggregate;
use super::approval::{Approval, approval, is_protected};
use super::names_in_use::NamesInUse;
use super::validation::structural;
use super::{CLEANUP_FINALIZER, Condition, CustomResourceDefinition, Spec};
use crdx_text::malformed::MalformedStrings;
use crdx_value::GoError;
use crdx_value::Value;
use crdx_value::field::{BoundedErrors, ErrorList, FieldError, FieldPath};
use crdx_value::release::{Release, V1_31};
use std::collections::HashSet;

/// Sets a condition. Its transition time changes only if its status changes.
pub fn set(crd: &mut CustomResourceDefinition, mut new: Condition, now: &str) {
    let conditions = crd.status.conditions.get_or_insert_default();
    now.clone_into(&mut new.last_transition_time);
    match conditions.iter_mut().find(|c| c.type_ == new.type_) {
        None => conditions.push(new),
        Some(old) => {
            if old.status != new.status || old.last_transition_time.is_empty() {
                old.last_transition_time = new.last_transition_time;
            }
            old.status = new.status;
            old.reason = new.reason;
            old.message = new.message;
        }
    }
}

fn condition(type_: &str, status: &str, reason: &str, message: impl Into<String>) -> Condition {
    Condition {
        type_: type_.to_owned(),
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: message.into(),
        ..Condition::default()
    }
}

/// Accepts the names that no other CRD of the group has: sets `status.acceptedNames`, `NamesAccepted` and the initial
/// `Established`. `in_use` has the names of the other CRDs of the server, and may have earlier ones of this CRD.
pub(crate) fn accept_names(crd: &mut CustomResourceDefinition, in_use: &NamesInUse, now: &str) {
    accept_once(crd, in_use, now);
    // The controller is called again for its own change. The accepted names of the CRD itself are then in use, too.
    accept_once(crd, in_use, now);
}

fn accept_once(crd: &mut CustomResourceDefinition, in_use: &NamesInUse, now: &str) {
    if crd.spec.names == crd.status.accepted_names {
        return;
    }
    let others = in_use.of_others(crd.name(), &crd.spec.group);
    let own = &crd.status.accepted_names;
    let own_resources: HashSet<&str> =
        [&own.plural, &own.singular].into_iter().chain(&own.short_names).map(String::as_str).collect();
    let resources = |name: &str| own_resources.contains(name) || others.has_resource(name);
    let kinds = |name: &str| own.kind == name || own.list_kind == name || others.has_kind(name);

    let requested = &crd.spec.names;
    let current = &crd.status.accepted_names;
    let mut accepted = current.clone();
    let mut conflict_found = None;
    let conflict = |name: &str, current: &str, is_used: &dyn Fn(&str) -> bool| {
        (name != current && is_used(name)).then(|| format!("{} is already in use", crdx_value::quote::go_quote(name)))
    };
    let mut one = |name: &str, current: &str, used: &dyn Fn(&str) -> bool, reason: &'static str, out: &mut String| {
        match conflict(name, current, used) {
            Some(message) => conflict_found = Some((reason, message)),
            None => name.clone_into(out),
        }
    };
    one(&requested.plural, &current.plural, &resources, "PluralConflict", &mut accepted.plural);
    one(&requested.singular, &current.singular, &resources, "SingularConflict", &mut accepted.singular);
    if requested.short_names != current.short_names {
        let known: HashSet<&String> = current.short_names.iter().collect();
        let new = requested.short_names.iter().filter(|n| !known.contains(n));
        let conflicts: Vec<_> = new.filter_map(|n| conflict(n, "", &resources)).collect();
        if conflicts.is_empty() {
            accepted.short_names.clone_from(&requested.short_names);
        } else {
            conflict_found = Some(("ShortNamesConflict", aggregate(conflicts.into_iter())));
        }
    }
    let mut one = |name: &str, current: &str, used: &dyn Fn(&str) -> bool, reason: &'static str, out: &mut String| {
        match conflict(name, current, used) {
            Some(message) => conflict_found = Some((reason, message)),
            None => name.clone_into(out),
        }
    };
    one(&requested.kind, &current.kind, &kinds, "KindConflict", &mut accepted.kind);
    one(&requested.list_kind, &current.list_kind, &kinds, "ListKindConflict", &mut accepted.list_kind);
    accepted.categories.clone_from(&requested.categories);

    let naming = match conflict_found {
        Some((reason, message)) => condition("NamesAccepted", "False", reason, message),
        None => condition("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
    };
    let mut established = crd
        .condition("Established")
        .cloned()
        .unwrap_or_else(|| condition("Established", "False", "NotAccepted", "not all names are accepted"));
    if established.status != "True" && naming.status == "True" {
        established = condition("Established", "False", "Installing", "the initial names have been accepted");
    }

    let same = crd
        .condition("NamesAccepted")
        .is_some_and(|c| c.status == naming.status && c.reason == naming.reason && c.message == naming.message);
    if same && crd.status.accepted_names == accepted {
        return;
    }
    crd.status.accepted_names = accepted;
    set(crd, naming, now);
    set(crd, established, now);
}

/// Sets `Established` to true once the names are accepted, since 1.31 unless the conversion webhook's CA bundle is invalid.
pub(crate) fn establish(crd: &mut CustomResourceDefinition, release: Release, now: &str) {
    if !crd.is_true("NamesAccepted") || crd.is_true("Established") {
        return;
    }
    let new = if release.since(V1_31) && super::validation::has_invalid_ca_bundle(&crd.spec) {
        condition("Established", "False", "InvalidCABundle", "The conversion webhook CABundle is invalid")
    } else {
        condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")
    };
    set(crd, new, now);
}

/// Sets or removes `NonStructuralSchema`, which only CRDs created as v1beta1 can have.
pub(crate) fn check_structure(crd: &mut CustomResourceDefinition, release: Release, now: &str) {
    const TYPE: &str = "NonStructuralSchema";
    let new = match structural_errors(&crd.spec, release) {
        Ok(errors) if errors.is_empty() => {
            if crd.condition(TYPE).is_some()
                && let Some(conditions) = &mut crd.status.conditions
            {
                conditions.retain(|c| c.type_ != TYPE);
            }
            return;
        }
        Ok(errors) => condition(TYPE, "True", "Violations", aggregate(errors.iter().map(ToString::to_string))),
        Err(reason) => condition(TYPE, "Unknown", "StructuralError", reason),
    };
    let same = crd
        .condition(TYPE)
        .is_some_and(|c| c.status == new.status && c.reason == new.reason && c.message == new.message);
    if !same {
        set(crd, new, now);
    }
}

/// The structural errors of the CRD's schemas.
///
/// # Errors
/// Returns an error text if a schema cannot be converted to a structural schema at all.
pub fn structural_errors(spec: &Spec, release: Release) -> Result<ErrorList, GoError> {
    let mut errors = BoundedErrors::default();
    let path = FieldPath::new("spec");
    if spec.preserves_unknown_fields() {
        let path = path.child("preserveUnknownFields");
        errors.push(FieldError::invalid(&path, true, "must be false"));
    }
    let path = path.child("versions");
    for (i, v) in spec.versions.iter().enumerate() {
        let Some(schema) = spec.schema(&v.name) else { continue };
        if let Some(reason) = structural::unsupported(schema, release) {
            return Err(format!("failed to check validation schema for version {}: {reason}", v.name).into());
        }
        let path = path.index(i);
        let path = path.child("schema");
        let path = path.child("openAPIV3Schema");
        errors.extend(structural::validate(schema, &MalformedStrings::default(), release, &path));
    }
    Ok(errors.finish())
}

/// Sets `KubernetesAPIApprovalPolicyConformant` on CRDs of protected groups.
pub(crate) fn check_approval(crd: &mut CustomResourceDefinition, now: &str) {
    if !is_protected(&crd.spec.group) {
        return;
    }
    let (state, message) = approval(crd);
    let (status, reason) = match state {
        Approval::Invalid => ("False", "InvalidAnnotation"),
        Approval::Missing => ("False", "MissingAnnotation"),
        Approval::Approved => ("True", "ApprovedAnnotation"),
        Approval::Bypassed => ("False", "UnapprovedAnnotation"),
    };
    let new = condition("KubernetesAPIApprovalPolicyConformant", status, reason, message);
    let same = crd
        .condition(&new.type_)
        .is_some_and(|c| c.status == new.status && c.reason == new.reason && c.message == new.message);
    if !same {
        set(crd, new, now);
    }
}

/// Applies the first delete request except for the deletion timestamp: the finalizer and the condition `Terminating`.
pub(crate) fn deletion_requested(crd: &mut CustomResourceDefinition, now: &str) {
    let finalizers = crd.metadata.entry("finalizers".to_owned()).or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(finalizers) = finalizers {
        let ours = Value::from(CLEANUP_FINALIZER);
        if !finalizers.contains(&ours) {
            finalizers.push(ours);
        }
    }
    let message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
    set(crd, condition("Terminating", "True", "InstanceDeletionPending", message), now);
}

/// Sets `Terminating` to true while the objects of the CRD are deleted.
pub(crate) fn deleting_instances(crd: &mut CustomResourceDefinition, now: &str) {
    let new = condition("Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress");
    set(crd, new, now);
}

/// Sets `Terminating` to false when all objects of the CRD have been deleted.
pub(crate) fn instances_deleted(crd: &mut CustomResourceDefinition, now: &str) {
    let new = if crd.is_true("Established") {
        condition("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
    } else {
        condition("Terminating", "False", "NeverEstablished", "resource was never established")
    };
    set(crd, new, now);
}
