//! DELETE of one object and of a collection: `endpoints/handlers/delete.go` and `Store.Delete`.
//!
//! Custom resources know no grace: an object goes at once unless finalizers hold it.

mod options;

use super::admission::{Operation, OperationOptions, Review};
use super::body;
use super::context::{Answer, Content, Context};
use super::list;
use super::managed_fields::Subresource;
use super::metadata;
use super::serving::{Serving, Version};
use super::status::{Details, GroupResource, Reason, Refusal, status_value};
use super::store;
use super::update::{etcd_key, set_generation};
use crate::value::Value;
pub(super) use options::{DeleteOptions, Propagation};
use std::sync::Arc;

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Answers a DELETE of one object.
pub(super) fn delete(ctx: &mut Context<'_>, serving: &Serving, version: &Version) -> Result<Answer, Refusal> {
    let name = ctx.name()?;
    let options = DeleteOptions::read(ctx)?;
    if options.ignore_read_errors {
        return Err(refuse_ignoring(ctx, serving, &name));
    }
    let namespace = ctx.target.namespace.clone();
    match remove(ctx, serving, version, &namespace, &name, &options)? {
        Removal::Kept(object) => {
            let code = if options.orphan_dependents == Some(false) { 202 } else { 200 };
            Ok(Answer::object(code, object))
        }
        Removal::Gone(object) => Ok(Answer {
            code: 200,
            content: Content::Status(success(serving.resource(), &name, metadata::text(&object, "uid"))),
        }),
    }
}

/// Answers a DELETE of a collection: the list as it was before.
pub(super) fn delete_collection(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
) -> Result<Answer, Refusal> {
    let options = list::options(ctx, serving, version)?;
    let delete = DeleteOptions::read(ctx)?;
    if delete.ignore_read_errors {
        return Err(options::collection_refuses_ignoring());
    }
    let page = list::select(ctx, serving, version, &options)?;
    for object in &page.items {
        let (namespace, name) = (metadata::text(object, "namespace"), metadata::text(object, "name"));
        match remove(ctx, serving, version, namespace, name, &delete) {
            Err(refusal) if refusal.reason != Reason::NotFound => return Err(refusal),
            _ => {}
        }
    }
    Ok(Answer { code: 200, content: Content::List(page) })
}

/// Objects that can be read are not deleted blindly, and here all can.
fn refuse_ignoring(ctx: &Context<'_>, serving: &Serving, name: &str) -> Refusal {
    let key = store::key(&ctx.target.namespace, name);
    if serving.objects.get(&key).is_none() {
        return Refusal::not_found(serving.resource(), name);
    }
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage",
        etcd_key(serving.resource(), &key)
    );
    Refusal::conflict(serving.resource(), name, &why)
}

/// `Status` of a removed object.
pub(super) fn success(resource: GroupResource<'_>, name: &str, uid: &str) -> Value {
    let details = Details {
        name: name.to_owned(),
        group: resource.group.to_owned(),
        kind: resource.resource.to_owned(),
        uid: uid.to_owned(),
        ..Details::default()
    };
    status_value("Success", 0, "", "", Some(&details))
}

/// What came of a deletion.
pub(super) enum Removal {
    /// Finalizers hold the object.
    Kept(Arc<Value>),
    /// It is gone, or would be.
    Gone(Arc<Value>),
}

/// Deletes one object, or marks it as being deleted.
pub(super) fn remove(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    namespace: &str,
    name: &str,
    options: &DeleteOptions,
) -> Result<Removal, Refusal> {
    let key = store::checked_key(namespace, name)?;
    loop {
        let Some(stored) = serving.objects.get(&key) else {
            return Err(Refusal::not_found(serving.resource(), name));
        };
        let existing = serving.read(&stored, version)?;
        options.check_preconditions(&existing, GroupResource { group: &serving.group, resource: &serving.kind })?;
        let review = Review {
            serving,
            version,
            subresource: Subresource::None,
            operation: Operation::Delete,
            options: OperationOptions::Delete(options),
        };
        review.validate(ctx, Some(&existing), None)?;
        let finalizers = deletion_finalizers(&existing, options);
        if finalizers.is_empty() {
            if options.dry_run {
                return Ok(Removal::Gone(existing));
            }
            if serving.objects.remove(&key, &stored, &ctx.server.revision).is_ok() {
                ctx.server.object_removed(serving);
                ctx.server.empty_namespace(serving, name, ctx.request.now);
                return Ok(Removal::Gone(existing));
            }
            continue;
        }
        let mut object = (*existing).clone();
        mark_deleting(&mut object, finalizers, &ctx.now());
        let written = serving.written(object, version, true)?;
        if options.dry_run {
            return Ok(Removal::Kept(written.shown()));
        }
        if written.raw == *stored.raw() {
            return Ok(Removal::Kept(existing));
        }
        if let Ok(shown) = written.put(version, &serving.objects, &key, Some(&stored), &ctx.server.revision) {
            return Ok(Removal::Kept(shown));
        }
    }
}

/// `markAsDeleting`, with the finalizers the object then has.
pub(super) fn mark_deleting(object: &mut Value, finalizers: Vec<String>, now: &str) {
    let finalizers = finalizers.into_iter().map(Value::from).collect();
    metadata::set(object, "finalizers", Some(Value::Array(finalizers)));
    if !metadata::is_deleting(object) {
        let generation = metadata::generation(object);
        if generation > 0 {
            set_generation(object, generation + 1);
        }
        metadata::set_text(object, "deletionTimestamp", now);
    }
    metadata::set(object, "deletionGracePeriodSeconds", Some(Value::Int(0)));
}

/// `deletionFinalizersForGarbageCollection`: the finalizers an object has once its deletion began. An explicit wish wins
/// over what is there already.
pub(super) fn deletion_finalizers(object: &Value, options: &DeleteOptions) -> Vec<String> {
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

/// The size of the body is checked before it is read.
fn check_body(ctx: &Context<'_>) -> Result<(), Refusal> {
    body::check_size(&ctx.request.body)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

    #[test]
    fn an_explicit_wish_wins_over_finalizers() {
        let have = object([("metadata", object([("finalizers", Value::Array(vec!["a/b".into(), ORPHAN.into()]))]))]);
        let none = DeleteOptions::default();
        assert_eq!(deletion_finalizers(&have, &none), ["a/b", ORPHAN]);
        let foreground = DeleteOptions { propagation: Some(Propagation::Foreground), ..DeleteOptions::default() };
        assert_eq!(deletion_finalizers(&have, &foreground), ["a/b", FOREGROUND]);
        let background = DeleteOptions { orphan_dependents: Some(false), ..DeleteOptions::default() };
        assert_eq!(deletion_finalizers(&have, &background), ["a/b"]);
    }
}
