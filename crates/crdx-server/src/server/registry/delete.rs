//! DELETE of one object and of a collection: `endpoints/handlers/delete.go` and `Store.Delete`.

use super::graceful::{self, Graceful};
use super::{Registry, corrupt};
use crate::server::admission::{Operation, OperationOptions, Review};
use crate::server::http::answer::{Answer, Content, List};
use crate::server::http::context::Context;
use crate::server::http::delete_options::{self, DeleteOptions};
use crate::server::http::options::ListOptions;
use crate::server::http::paused::Paused;
use crate::server::http::status::{Details, Reason, Refusal, status_value};
use crate::server::metadata::{self, Object};
use crate::server::registry::rest::{check_preconditions, deletion_finalizers, mark_deleting, set_finalizers};
use crate::server::registry::size::ManagedFields;
use crate::server::registry::store;
use crate::server::registry::strategy::{Existing, Strategy};
use crate::server::scope::{GroupResource, GroupVersionKind, is_typed};
use crdx_value::release::V1_38;
use crdx_value::{Value, group_version, object};
use std::sync::Arc;

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Handles a DELETE of one object.
    pub(super) fn delete(&self, ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
        let name = ctx.name()?;
        let options = ctx.delete_options()?;
        if options.ignore_read_errors {
            return Err(self.refuse_ignoring(ctx, &name));
        }
        self.strategy.check_delete(&name)?;
        let namespace = ctx.target.namespace.clone();
        match self.remove(ctx, &namespace, &name, &options, Deletion::OfOne)? {
            Removal::Kept(object) => {
                let code = if options.orphan_dependents == Some(false) { 202 } else { 200 };
                Ok(Answer::object(code, object))
            }
            Removal::Unread(object) => Ok(Answer::object(200, object)),
            Removal::Gone(object) if self.strategy.returns_deleted() => Ok(Answer::object(200, object)),
            Removal::Gone(object) => {
                let mut status = success(self.strategy.resource(), &name, metadata::text(&object, "uid"));
                // Since 1.38 (`finalizeDelete`), that of the deletion; of a dry run, that of the object.
                if ctx.release().since(V1_38) {
                    metadata::set_text(&mut status, "resourceVersion", metadata::text(&object, "resourceVersion"));
                }
                Ok(Answer { code: 200, content: Content::Status(status) })
            }
        }
    }

    /// Handles a DELETE of a collection; the response lists the objects before their deletion.
    pub(super) fn delete_collection(&self, ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
        let options = self.list_options(ctx)?;
        let delete = ctx.delete_options()?;
        if delete.ignore_read_errors {
            return Err(delete_options::collection_refuses_ignoring());
        }
        let (page, deleted) = match ctx.resumed.as_mut().and_then(|resumed| resumed.collection.take()) {
            Some(resumed) => resumed,
            None => (self.select_for_deletion(ctx, &options, &delete)?, 0),
        };
        for (at, object) in page.items.iter().enumerate().skip(deleted) {
            let (namespace, name) = (metadata::text(object, "namespace"), metadata::text(object, "name"));
            match self.remove(ctx, namespace, name, &delete, Deletion::OfCollection) {
                Err(refusal) if refusal.reason != Reason::NotFound => {
                    if let Some(paused) = &mut ctx.paused {
                        paused.collection = Some((page, at));
                    }
                    return Err(refusal);
                }
                _ => {}
            }
        }
        Ok(Answer { code: 200, content: Content::List(page) })
    }

    /// The objects that a DELETE of a collection deletes.
    fn select_for_deletion(
        &self,
        ctx: &mut Context<'_>,
        options: &ListOptions,
        delete: &DeleteOptions,
    ) -> Result<List, Refusal> {
        let page = self.select(ctx, options)?;
        if ctx.calls.are_made() {
            self.review_deletions(ctx, &page.items, delete)?;
        }
        Ok(page)
    }

    /// Lets webhooks review all deletions before the first object is deleted, so that the request can be repeated.
    ///
    /// # Errors
    /// [`Refusal::waiting`] while their answers are not known.
    fn review_deletions(
        &self,
        ctx: &mut Context<'_>,
        items: &[Arc<Value>],
        options: &DeleteOptions,
    ) -> Result<(), Refusal> {
        for object in items {
            let key = store::key(metadata::text(object, "namespace"), metadata::text(object, "name"));
            let Some(stored) = self.strategy.objects().get(&key) else { continue };
            let Ok(existing) = self.strategy.existing(&stored) else { continue };
            let review = Review {
                chain: self.admission,
                scope: self.strategy.scope(),
                operation: Operation::Delete,
                options: OperationOptions::Delete(options),
                new_name: "",
            };
            // A refusal comes again when it is the turn of the object.
            let _ = review.validate(ctx, Some(&existing.value), None);
        }
        ctx.check_complete()
    }

    /// The refusal of `ignoreStoreReadErrorWithClusterBreakingPotential` for an object that can be read from storage.
    /// Here every object can.
    fn refuse_ignoring(&self, ctx: &Context<'_>, name: &str) -> Refusal {
        let resource = self.strategy.resource();
        let key = store::key(&ctx.target.namespace, name);
        if self.strategy.objects().get(&key).is_none() {
            return Refusal::not_found(resource, name);
        }
        let reason = format!(
            "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage",
            self.strategy.shown_key(&key, false)
        );
        Refusal::conflict(resource, name, &reason)
    }

    /// Deletes an object of the namespace of the request without admission. Returns its resourceVersion after that.
    ///
    /// # Errors
    /// Returns 404 if there is no such object, and 409 if a precondition fails.
    pub(crate) fn remove_unreviewed(
        &self,
        ctx: &mut Context<'_>,
        name: &str,
        options: &DeleteOptions,
    ) -> Result<String, Refusal> {
        let namespace = ctx.target.namespace.clone();
        let removal = self.remove(ctx, &namespace, name, options, Deletion::Unreviewed)?;
        let (Removal::Kept(object) | Removal::Unread(object) | Removal::Gone(object)) = removal;
        Ok(metadata::text(&*object, "resourceVersion").to_owned())
    }

    /// Deletes one object, or marks it as being deleted. If a deletion pauses between both ([`Context::paused`]), the same
    /// call in the attempt that resumes the request continues it.
    fn remove(
        &self,
        ctx: &mut Context<'_>,
        namespace: &str,
        name: &str,
        options: &DeleteOptions,
        deletion: Deletion,
    ) -> Result<Removal, Refusal> {
        let strategy = &*self.strategy;
        let (objects, resource) = (strategy.objects(), strategy.resource());
        let key = store::checked_key(namespace, name)?;
        let _lock = strategy.lock();
        let resumed = ctx.resumed.take();
        let mut is_reviewed = deletion == Deletion::Unreviewed || resumed.is_some();
        let mut options = resumed.map_or_else(|| options.clone(), |resumed| resumed.options);
        // A negative period counts as one second.
        options.grace_period_seconds = options.grace_period_seconds.map(|period| if period < 0 { 1 } else { period });
        loop {
            let Some(stored) = objects.get(&key) else { return Err(Refusal::not_found(resource, name)) };
            let existing = strategy.existing(&stored);
            let existing = existing.map_err(|refusal| corrupt::of_object(refusal, resource, &key))?;
            match deletion {
                Deletion::OfOne | Deletion::Unreviewed => strategy.check_preconditions(&existing.value, &options)?,
                Deletion::OfCollection => check_preconditions(strategy.scope(), &existing.value, &options)?,
            }
            let graceful = self.graceful(ctx, &existing, &mut options);
            if matches!(graceful, Graceful::Pending) {
                return Ok(Removal::Kept(existing.value));
            }
            let review = Review {
                chain: self.admission,
                scope: strategy.scope(),
                operation: Operation::Delete,
                options: OperationOptions::Delete(&options),
                new_name: "",
            };
            if !is_reviewed {
                review.validate(ctx, Some(&existing.value), None)?;
            }
            if let Graceful::Marked(mut object, period) = graceful {
                let finalizers = deletion_finalizers(&existing, &options);
                let is_kept = period > 0 || !finalizers.is_empty();
                set_finalizers(&mut object, finalizers);
                let object = object.into_value();
                if !is_kept && !is_reviewed {
                    // `Store.Delete` has both the update and the removal reviewed.
                    review.validate(ctx, Some(&object), None)?;
                }
                let mut written = strategy.written(object, true)?;
                if options.dry_run {
                    let shown = written.shown();
                    return Ok(if is_kept { Removal::Kept(shown) } else { Removal::Gone(shown) });
                }
                self.check_size(&mut ctx.trace, (&key, Some(stored.revision)), &mut written, ManagedFields::Kept)?;
                let Ok(shown) = self.commit(&key, Some(&stored), written) else { continue };
                if is_kept {
                    return Ok(Removal::Kept(shown));
                }
                if let Some(revision) = &mut options.resource_version {
                    metadata::text(&*shown, "resourceVersion").clone_into(revision);
                }
                if !self.storage.pause_before_removal.is_zero() {
                    ctx.paused = Some(Box::new(Paused::new(self.storage.pause_before_removal, options)));
                    return Err(Refusal::waiting());
                }
                // The next round removes the object.
                is_reviewed = true;
                continue;
            }
            let Some(marked) = self.marked(&existing, &options, deletion, &ctx.now()) else {
                if options.dry_run {
                    return Ok(self.removal_in_dry_run(existing.value));
                }
                self.check_unread(&existing.value, &options, &key)?;
                if let Ok(revision) = objects.remove(&key, &stored, &self.storage.revision) {
                    strategy.removed(ctx, name);
                    let mut object = existing.value;
                    if strategy.returns_deleted() || ctx.release().since(V1_38) {
                        let object = Arc::make_mut(&mut object);
                        metadata::set_text(object, "resourceVersion", &revision.to_string());
                    }
                    return Ok(Removal::Gone(object));
                }
                continue;
            };
            let mut written = strategy.written(marked.into_value(), true)?;
            if options.dry_run {
                return Ok(Removal::Kept(written.shown()));
            }
            if written.raw == *stored.raw() {
                return Ok(Removal::Kept(existing.value));
            }
            self.check_size(&mut ctx.trace, (&key, Some(stored.revision)), &mut written, ManagedFields::Kept)?;
            if let Ok(shown) = self.commit(&key, Some(&stored), written) {
                return Ok(Removal::Kept(shown));
            }
        }
    }

    /// Marks an object of a kind with grace periods, and sets the period in the options, which admission sees.
    fn graceful(
        &self,
        ctx: &Context<'_>,
        existing: &Existing<S::Object>,
        options: &mut DeleteOptions,
    ) -> Graceful<S::Object> {
        let requested = options.grace_period_seconds;
        let Some(period) = self.strategy.grace_period(&existing.object, requested) else { return Graceful::No };
        let graceful = graceful::before_delete(&*existing.object, requested, period, ctx.request.now, ctx.release());
        if !metadata::is_deleting(existing) {
            options.grace_period_seconds = Some(period);
        }
        graceful
    }

    /// Rejects a resourceVersion in the preconditions if the options take the last finalizers away: `Store.Delete`
    /// replaces it by that of the result of an abandoned update, which is empty.
    fn check_unread(&self, existing: &Value, options: &DeleteOptions, key: &str) -> Result<(), Refusal> {
        if options.resource_version.is_none() || metadata::finalizers(existing).is_empty() {
            return Ok(());
        }
        let (resource, have) = (self.strategy.resource(), metadata::text(existing, "resourceVersion"));
        let reason = format!(
            "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: ResourceVersion in precondition: , ResourceVersion in object meta: {have}",
            self.strategy.shown_key(key, false)
        );
        Err(Refusal::conflict(resource, metadata::text(existing, "name"), &reason))
    }

    /// The result of a dry run that would remove an object. If the options take the last finalizers away, `Store.Delete`
    /// returns the result of an update that was abandoned before it read the object (`errDeleteNow`).
    fn removal_in_dry_run(&self, existing: Arc<Value>) -> Removal {
        let GroupVersionKind { group, version, kind } = self.strategy.scope().kind;
        let finalizers = metadata::get(&*existing, "finalizers").and_then(Value::as_array);
        let is_custom = !is_typed(group) && group != crate::crd::GROUP;
        if is_custom && finalizers.is_some_and(|finalizers| !finalizers.is_empty()) {
            let api_version = group_version::api_version(group, version);
            return Removal::Unread(Arc::new(object([("apiVersion", api_version.as_str()), ("kind", kind)])));
        }
        Removal::Gone(existing)
    }

    /// Marks an object as being deleted; `None` if nothing delays the deletion.
    fn marked(
        &self,
        existing: &Existing<S::Object>,
        options: &DeleteOptions,
        deletion: Deletion,
        now: &str,
    ) -> Option<S::Object> {
        let finalizers = deletion_finalizers(existing, options);
        if deletion != Deletion::OfCollection
            && let Some(mut marked) = self.strategy.mark_deleting(&existing.object, now)
        {
            let is_first = !metadata::is_deleting(&*existing.object);
            if is_first && self.strategy.takes_finalizers_of_deletion() {
                set_finalizers(&mut marked, finalizers);
            }
            return Some(marked);
        }
        if finalizers.is_empty() {
            return None;
        }
        let mut object = (*existing.object).clone();
        mark_deleting(&mut object, finalizers, now);
        Some(object)
    }
}

/// The request that deletes an object. A strategy may override the DELETE of one object (`REST.Delete`), but not the
/// DELETE of a collection (`Store.DeleteCollection`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deletion {
    OfOne,
    OfCollection,
    /// Of one object, without admission.
    Unreviewed,
}

/// The result of a deletion.
enum Removal {
    /// The object has finalizers and is kept.
    Kept(Arc<Value>),
    /// A dry run would remove the object, and answers with one that has only apiVersion and kind.
    Unread(Arc<Value>),
    /// The object was removed, or would be removed without dry run.
    Gone(Arc<Value>),
}

/// The `Status` response for a removed object.
fn success(resource: GroupResource<'_>, name: &str, uid: &str) -> Value {
    let details = Details {
        name: name.to_owned(),
        group: resource.group.to_owned(),
        kind: resource.resource.to_owned(),
        uid: uid.to_owned(),
        ..Details::default()
    };
    status_value("Success", 0, "", "", Some(details))
}

#[cfg(test)]
mod tests {
    use crate::server::{Method, Request, ResponseBody, Server};
    use crdx_value::release::Release;

    #[test]
    fn a_revision_does_not_match_if_the_last_finalizer_is_taken_away() {
        let server = Server::new(Release::NEWEST, 1);
        let send = |method, path: &str, body: &str| server.handle(&Request::new(method, path, body));
        let crds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        let crd = r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"foos.example.com"},
            "spec":{"group":"example.com","scope":"Cluster","names":{"plural":"foos","kind":"Foo"},"versions":[{"name":"v1",
            "served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}"#;
        assert_eq!(send(Method::Post, crds, crd).code, 201);
        let foos = "/apis/example.com/v1/foos";
        let foo = r#"{"apiVersion":"example.com/v1","kind":"Foo","metadata":{"name":"a","finalizers":["orphan"]}}"#;
        let ResponseBody::Json(created) = send(Method::Post, foos, foo).body else { panic!("no object") };
        let revision = created.str_at(&["metadata", "resourceVersion"]).unwrap();
        let options = format!(r#"{{"orphanDependents":false,"preconditions":{{"resourceVersion":"{revision}"}}}}"#);
        let refused = send(Method::Delete, &format!("{foos}/a"), &options);
        assert_eq!(refused.code, 409);
        let end = format!("ResourceVersion in precondition: , ResourceVersion in object meta: {revision}");
        assert!(refused.body.message().ends_with(&end), "{}", refused.body.message());
        assert_eq!(send(Method::Delete, &format!("{foos}/a"), r#"{"orphanDependents":false}"#).code, 200);
    }
}
