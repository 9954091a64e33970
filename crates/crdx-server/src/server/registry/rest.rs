//! Helpers shared by the verbs, from `k8s.io/apiserver/pkg/registry/rest` and `registry/generic/registry/store.go`.

use crate::server::http::delete_options::{DeleteOptions, Propagation};
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::metadata::{HasMetadata, Object};
use crate::server::registry::revision::parse_revision;
use crate::server::scope::GroupResource;
use crate::server::scope::RequestScope;
use crdx_value::Value;
use crdx_value::field::{BadValue, FieldError, FieldPath};
use crdx_value::release::Release;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Sets `metadata.generation`, which is omitted if 0.
pub(in crate::server) fn set_generation(object: &mut impl Object, generation: i64) {
    metadata::set(object, "generation", (generation != 0).then_some(Value::Int(generation)));
}

/// The member of `metadata` with the grace period.
pub(in crate::server) const GRACE: &str = "deletionGracePeriodSeconds";

/// Restores the fields that an update cannot change.
pub(in crate::server) fn keep_system_fields(object: &mut impl Object, existing: &impl HasMetadata) {
    if metadata::text(object, "uid").is_empty() {
        metadata::set_text(object, "uid", metadata::text(existing, "uid"));
    }
    for key in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(time) = metadata::get(existing, key).filter(|t| !t.is_null()) {
            metadata::set(object, key, Some(time.clone()));
        }
    }
    // The server ignores a value that is not an integer.
    if metadata::get(object, GRACE).and_then(Value::as_int).is_none()
        && let Some(grace) = metadata::get(existing, GRACE)
    {
        metadata::set(object, GRACE, Some(grace.clone()));
    }
}

/// `ShouldDeleteDuringUpdate`: returns true if the update removes the last finalizer of an object that is being
/// deleted.
pub(in crate::server) fn should_delete(object: &impl HasMetadata, existing: &impl HasMetadata) -> bool {
    metadata::finalizers(object).is_empty()
        && metadata::is_deleting(existing)
        && metadata::get(existing, GRACE).and_then(Value::as_int).unwrap_or_default() == 0
}

/// Replaces the finalizers of an object.
pub(in crate::server) fn set_finalizers(object: &mut impl Object, finalizers: Vec<String>) {
    let finalizers: Vec<Value> = finalizers.into_iter().map(Value::from).collect();
    metadata::set(object, "finalizers", (!finalizers.is_empty()).then_some(Value::Array(finalizers)));
}

/// `markAsDeleting`; `finalizers` replaces the finalizers of the object.
pub(in crate::server) fn mark_deleting(object: &mut impl Object, finalizers: Vec<String>, now: &str) {
    set_finalizers(object, finalizers);
    if !metadata::is_deleting(object) {
        let generation = metadata::generation(object);
        if generation > 0 {
            set_generation(object, generation + 1);
        }
        metadata::set_text(object, "deletionTimestamp", now);
    }
    metadata::set(object, GRACE, Some(Value::Int(0)));
}

/// `deletionFinalizersForGarbageCollection`: the finalizers of an object once its deletion begins. An explicit option
/// takes precedence over existing finalizers.
pub(in crate::server) fn deletion_finalizers(object: &impl HasMetadata, options: &DeleteOptions) -> Vec<String> {
    let have = metadata::finalizers(object);
    let first_of_ours = have.iter().find(|f| matches!(**f, ORPHAN | FOREGROUND)).copied();
    let (orphan, foreground) = match (options.orphan_dependents, options.propagation) {
        (Some(orphan), _) => (orphan, false),
        (None, Some(Propagation::Orphan)) => (true, false),
        (None, Some(Propagation::Foreground)) => (false, true),
        (None, Some(Propagation::Background)) => (false, false),
        (None, None) => (first_of_ours == Some(ORPHAN), first_of_ours == Some(FOREGROUND)),
    };
    let mut wanted: Vec<&str> = have.iter().filter(|f| !matches!(**f, ORPHAN | FOREGROUND)).copied().collect();
    if orphan {
        wanted.push(ORPHAN);
    }
    if foreground {
        wanted.push(FOREGROUND);
    }
    let same = wanted.iter().all(|f| have.contains(f)) && have.iter().all(|f| wanted.contains(f));
    let chosen = if same { have } else { wanted };
    chosen.into_iter().map(str::to_owned).collect()
}

/// Checks the preconditions of a deletion (`rest.BeforeDelete`).
///
/// # Errors
/// Returns 409 Conflict, whose message begins with the kind.
pub(in crate::server) fn check_preconditions(
    scope: RequestScope<'_>,
    existing: &Value,
    options: &DeleteOptions,
) -> Result<(), Refusal> {
    options.check_preconditions(existing, GroupResource { group: scope.kind.group, resource: scope.kind.kind })
}

/// Checks that the existing object has the UID given in the request; an empty UID matches any object.
///
/// # Errors
/// Returns 409 Conflict with the message of etcd's storage.
pub(in crate::server) fn check_uid(
    resource: GroupResource<'_>,
    (name, have): (&str, &str),
    key: impl FnOnce() -> String,
    uid: &str,
) -> Result<(), Refusal> {
    if uid.is_empty() || uid == have {
        return Ok(());
    }
    let key = key();
    let reason = format!(
        "StorageError: invalid object, Code: 4, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {uid}, UID in object meta: {have}"
    );
    Err(Refusal::conflict(resource, name, &reason))
}

/// Checks the resourceVersion of an update against the existing object.
///
/// # Errors
/// Returns 409 Conflict if the resourceVersion differs, and 422 Invalid if it is missing.
pub(in crate::server) fn check_revision(
    resource: GroupResource<'_>,
    wanted: &str,
    have: u64,
    name: &str,
    release: Release,
) -> Result<(), Refusal> {
    match parse_revision(wanted).map_err(Refusal::unclassified)? {
        0 => {
            let metadata = FieldPath::new("metadata");
            let path = metadata.child("resourceVersion");
            let error = FieldError::invalid(&path, BadValue::unsigned(0, release), "must be specified for an update");
            Err(Refusal::invalid(resource, name, vec![error]))
        }
        wanted if wanted == have => Ok(()),
        _ => Err(Refusal::modified(resource, name)),
    }
}

/// Rejects a new object that has a resourceVersion. A dry run does not reach the storage, which is where this check is
/// made.
///
/// # Errors
/// Returns the error of etcd's storage.
pub(in crate::server) fn check_new_revision(revision: &str, dry_run: bool) -> Result<(), Refusal> {
    if !dry_run && revision.parse::<u64>().is_ok_and(|revision| revision != 0) {
        return Err(Refusal::unclassified("resourceVersion should not be set on objects to be created"));
    }
    Ok(())
}

/// The refusal of a create whose name already exists (`CheckGeneratedNameError`).
pub(in crate::server) fn name_taken(
    resource: GroupResource<'_>,
    existing: Option<&Value>,
    name: &str,
    generated: bool,
) -> Refusal {
    let mut refusal = if generated {
        Refusal::generated_name_exists(resource, name)
    } else {
        Refusal::already_exists(resource, name)
    };
    if existing.is_some_and(metadata::is_deleting) {
        refusal.message = format!("object is being deleted: {}", refusal.message);
    }
    refusal
}

/// The etcd key in error messages of the storage.
pub(in crate::server) fn etcd_key(resource: GroupResource<'_>, key: &str) -> String {
    format!("/registry/apiextensions.kubernetes.io/{}/{}/{key}", resource.group, resource.resource)
}

/// The key in error messages about a built-in kind.
pub(in crate::server) fn stored_key(resource: GroupResource<'_>, key: &str, dry_run: bool) -> String {
    format!("{}/{}/{key}", if dry_run { "" } else { "/registry" }, resource_prefix(resource))
}

/// The prefix of the keys of a built-in kind (`SpecialDefaultResourcePrefixes` in `pkg/kubeapiserver`). Only the aggregator's
/// has the group.
fn resource_prefix(resource: GroupResource<'_>) -> &str {
    match (resource.group, resource.resource) {
        ("", "replicationcontrollers") => "controllers",
        ("", "endpoints") => "services/endpoints",
        ("", "nodes") => "minions",
        ("", "services") => "services/specs",
        ("networking.k8s.io", "ingresses") => "ingress",
        ("apiregistration.k8s.io", "apiservices") => "apiregistration.k8s.io/apiservices",
        (_, plural) => plural,
    }
}

/// The key in error messages of a dry run, which has no etcd prefix.
pub(in crate::server) fn dry_key(resource: GroupResource<'_>, key: &str) -> String {
    format!("/{}/{}/{key}", resource.group, resource.resource)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn a_grace_period_that_is_not_an_integer_is_restored() {
        let with = |value: Value| object([("metadata", object([(GRACE, value)]))]);
        for wrong in [Value::Null, Value::Float(2.5)] {
            let mut applied = with(wrong);
            keep_system_fields(&mut applied, &with(Value::Int(0)));
            assert_eq!(applied, with(Value::Int(0)));
        }
    }

    #[test]
    fn keys_of_built_in_kinds_have_no_group() {
        let key = |group, resource, dry_run| stored_key(GroupResource { group, resource }, "default/a", dry_run);
        assert_eq!(key("apps", "deployments", false), "/registry/deployments/default/a");
        assert_eq!(key("", "services", true), "/services/specs/default/a");
    }

    #[test]
    fn removing_the_last_finalizer_removes_a_deleted_object() {
        let deleting = object([("metadata", object([("deletionTimestamp", "2026-01-01T00:00:00Z")]))]);
        let with_finalizer = object([("metadata", object([("finalizers", Value::Array(vec!["a/b".into()]))]))]);
        assert!(should_delete(&deleting, &deleting));
        assert!(!should_delete(&with_finalizer, &deleting));
        assert!(!should_delete(&deleting, &with_finalizer));
    }

    #[test]
    fn an_explicit_option_takes_precedence_over_finalizers() {
        let have = object([("metadata", object([("finalizers", Value::Array(vec!["a/b".into(), ORPHAN.into()]))]))]);
        let none = DeleteOptions::default();
        assert_eq!(deletion_finalizers(&have, &none), ["a/b", ORPHAN]);
        let foreground = DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
        assert_eq!(deletion_finalizers(&have, &foreground), ["a/b", FOREGROUND]);
        let background = DeleteOptions { orphan_dependents: Some(false), ..DeleteOptions::default() };
        assert_eq!(deletion_finalizers(&have, &background), ["a/b"]);
    }
}
