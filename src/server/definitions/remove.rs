//! DELETE of definitions (`registry/customresourcedefinition/etcd.go`): the first one marks, the cleanup finalizer holds
//! until the objects are gone.

use super::{RESOURCE, select, typed};
use crate::crd;
use crate::release::{Release, V1_37};
use crate::server::admission::{Operation, OperationOptions, validate_definition};
use crate::server::http::context::{Answer, Content, Context};
use crate::server::http::delete_options::DeleteOptions;
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::delete::success;
use crate::server::registry::metadata;
use crate::server::registry::rest::deletion_finalizers;
use crate::value::Value;
use std::sync::{Arc, PoisonError};

/// Answers a DELETE of one definition.
pub(super) fn delete(ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
    let options = DeleteOptions::read(ctx)?;
    let name = ctx.target.name.clone();
    remove(ctx, &name, &options)
}

/// Answers a DELETE of the collection.
pub(super) fn delete_collection(ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
    let options = DeleteOptions::read(ctx)?;
    let list = select(ctx)?;
    for object in &list.items {
        match remove(ctx, metadata::text(object, "name"), &options) {
            Err(refusal) if refusal.reason != Reason::NotFound => return Err(refusal),
            _ => {}
        }
    }
    Ok(Answer { code: 200, content: Content::List(list) })
}

fn remove(ctx: &mut Context<'_>, name: &str, options: &DeleteOptions) -> Result<Answer, Refusal> {
    let server = ctx.server;
    let _writing = server.definitions.writing.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(stored) = server.definitions.objects.get(name) else {
        return Err(Refusal::not_found(RESOURCE, name));
    };
    check_preconditions(&stored.raw(), name, options, ctx.release())?;
    let deletion = (Operation::Delete, OperationOptions::Delete(options));
    validate_definition(ctx, deletion, name, Some(&stored.raw()), None)?;
    let Some(mut definition) = typed(&stored) else {
        return Err(Refusal::internal("a stored definition is unreadable"));
    };
    if metadata::is_deleting(&stored.raw()) {
        let finalizers = deletion_finalizers(&stored.raw(), options);
        if !finalizers.is_empty() {
            let code = if options.orphan_dependents == Some(false) { 202 } else { 200 };
            return Ok(Answer::object(code, stored.raw()));
        }
        if !options.dry_run && server.definitions.objects.remove(name, &stored, &server.revision).is_ok() {
            server.stop_serving(name);
        }
        let status = success(RESOURCE, name, metadata::text(&stored.raw(), "uid"));
        return Ok(Answer { code: 200, content: Content::Status(status) });
    }
    let now = ctx.now();
    definition.metadata.insert("deletionTimestamp".to_owned(), Value::from(now.as_str()));
    crd::conditions::deletion_requested(&mut definition, &now);
    let object = definition.to_value();
    let code = if options.orphan_dependents == Some(false) { 202 } else { 200 };
    if options.dry_run {
        return Ok(Answer::object(code, Arc::new(object)));
    }
    match server.definitions.objects.put(name, Some(&stored), object, &server.revision) {
        Ok(marked) => {
            let answer = Answer::object(code, marked.raw());
            server.definition_written(name);
            Ok(answer)
        }
        Err(_) => Err(Refusal::modified(RESOURCE, name)),
    }
}

fn check_preconditions(existing: &Value, name: &str, options: &DeleteOptions, release: Release) -> Result<(), Refusal> {
    for (what, wanted, have) in [
        ("UID", &options.uid, metadata::text(existing, "uid")),
        ("ResourceVersion", &options.resource_version, metadata::text(existing, "resourceVersion")),
    ] {
        if let Some(wanted) = wanted.as_deref().filter(|w| *w != have) {
            let failed = if release.since(V1_37) { "precondition failed" } else { "Precondition failed" };
            let why = format!("{failed}: {what} in precondition: {wanted}, {what} in object meta: {have}");
            return Err(Refusal::conflict(RESOURCE, name, &why));
        }
    }
    Ok(())
}
