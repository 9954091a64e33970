//! DELETE of one object and of a collection: `endpoints/handlers/delete.go` and `Store.Delete`.
//!
//! Custom resources know no grace: an object goes at once unless finalizers hold it.

use crate::server::admission::{Operation, OperationOptions, Review};
use crate::server::http::context::{Answer, Content, Context};
use crate::server::http::delete_options::{self, DeleteOptions};
use crate::server::http::status::{Details, GroupResource, Reason, Refusal, status_value};
use crate::server::registry::list;
use crate::server::registry::managed_fields::Subresource;
use crate::server::registry::metadata;
use crate::server::registry::rest::{deletion_finalizers, etcd_key, mark_deleting};
use crate::server::registry::serving::{Serving, Version};
use crate::server::registry::store;
use crate::value::Value;
use std::sync::Arc;

/// Answers a DELETE of one object.
pub(in crate::server) fn delete(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
) -> Result<Answer, Refusal> {
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
pub(in crate::server) fn delete_collection(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
) -> Result<Answer, Refusal> {
    let options = list::options(ctx, serving, version)?;
    let delete = DeleteOptions::read(ctx)?;
    if delete.ignore_read_errors {
        return Err(delete_options::collection_refuses_ignoring());
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
pub(in crate::server) fn success(resource: GroupResource<'_>, name: &str, uid: &str) -> Value {
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
pub(in crate::server) enum Removal {
    /// Finalizers hold the object.
    Kept(Arc<Value>),
    /// It is gone, or would be.
    Gone(Arc<Value>),
}

/// Deletes one object, or marks it as being deleted.
pub(in crate::server) fn remove(
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
