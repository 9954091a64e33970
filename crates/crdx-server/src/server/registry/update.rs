//! PUT, and the code shared by all updates: `endpoints/handlers/update.go`, `Store.Update` in
//! `registry/generic/registry/store.go`, and `rest.BeforeUpdate`.

use super::Registry;
use crate::server::admission::{Mutation, Operation};
use crate::server::http::answer::Answer;
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::object_checks;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::status::{Reason, Refusal};
use crate::server::metadata;
use crate::server::metadata::Object;
use crate::server::registry::create::CreateOrigin;
use crate::server::registry::managed_fields;
use crate::server::registry::rest::{check_revision, check_uid, keep_system_fields, set_generation, should_delete};
use crate::server::registry::size::ManagedFields;
use crate::server::registry::store;
use crate::server::registry::strategy::{Existing, Strategy};
use crate::server::registry::written::Written;
use crdx_value::Value;
use crdx_value::release::V1_34;
use std::sync::Arc;

/// Computes the new object from the view of the existing object.
pub(super) type Transform<'t, O> = dyn FnMut(&mut Context<'_>, &Value) -> Result<O, Refusal> + 't;

/// An update of one object.
pub(super) struct Update<'a> {
    /// True if the new object comes from a request decoder.
    pub decoded: bool,
    /// The required UID of the existing object; empty for any.
    pub uid: &'a str,
    /// What happens to them if the object is too large.
    pub managed_fields: ManagedFields,
    /// The options of the request.
    pub options: &'a WriteOptions,
}

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Handles a PUT.
    pub(super) fn put(&self, ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
        let strategy = &*self.strategy;
        let name = ctx.name()?;
        body::check_size(&ctx.request.body)?;
        let options = options::write_options(&ctx.query, Write::Update, ctx.release())?;
        let input = strategy.input(ctx.request.content_type.as_deref())?;
        let mut object = strategy.decode(ctx, input, &options)?;
        object_checks::match_namespace(&mut object, &ctx.target.namespace)?;
        object_checks::check_name(&object, &name)?;
        object_checks::dedup_owners(ctx, &mut object, false);
        let uid = metadata::text(&object, "uid").to_owned();
        let names_revision = !metadata::text(&object, "resourceVersion").is_empty();
        let key = store::key(&ctx.target.namespace, &name);
        while strategy.allows_create_on_update() && strategy.objects().get(&key).is_none() {
            match self.put_new(ctx, object.clone(), (&key, &uid), &options) {
                // Another thread created the object in the meantime.
                Err(refusal) if refusal.reason == Reason::AlreadyExists => {}
                result => return result,
            }
        }
        let mut object = Some(object);
        let mut transform = |ctx: &mut Context<'_>, existing: &Value| {
            // A retry after a race needs the object again only if it names no resourceVersion; otherwise the retry is a
            // conflict.
            let new = if names_revision { object.take() } else { object.clone() };
            let Some(mut new) = new else { return Err(Refusal::modified(strategy.resource(), &name)) };
            self.update_managed_fields(ctx, Some(existing), &mut new, &options);
            Ok(new)
        };
        self.update(
            ctx,
            &Update { decoded: true, uid: &uid, managed_fields: ManagedFields::Dropped, options: &options },
            &mut transform,
        )
    }

    /// Creates the object of a PUT, whose store requires the UID if the object has one.
    fn put_new(
        &self,
        ctx: &mut Context<'_>,
        mut object: S::Object,
        (key, uid): (&str, &str),
        options: &WriteOptions,
    ) -> Result<Answer, Refusal> {
        let strategy = &*self.strategy;
        let is_only_shown = options.dry_run && !ctx.request.hides_dry_run;
        check_uid(strategy.resource(), (&ctx.target.name, ""), || strategy.shown_key(key, is_only_shown), uid)?;
        self.update_managed_fields(ctx, None, &mut object, options);
        let review = self.review(Operation::Create, options);
        self.admit_new_of_update(ctx, &mut object, &review)?;
        self.store_new(ctx, object, CreateOrigin::Replaced, &review, options)
    }

    /// Updates the object that the URL names.
    pub(super) fn update(
        &self,
        ctx: &mut Context<'_>,
        update: &Update<'_>,
        transform: &mut Transform<'_, S::Object>,
    ) -> Result<Answer, Refusal> {
        let updated = self.replace(ctx, update, transform)?;
        Ok(Answer::object(200, self.strategy.write_answer(updated)?))
    }

    /// Computes the object to store.
    fn replace(
        &self,
        ctx: &mut Context<'_>,
        update: &Update<'_>,
        transform: &mut Transform<'_, S::Object>,
    ) -> Result<Arc<Value>, Refusal> {
        let (strategy, options) = (&*self.strategy, update.options);
        let (objects, resource) = (strategy.objects(), strategy.resource());
        let name = ctx.target.name.clone();
        let key = store::checked_key(&ctx.target.namespace, &name)?;
        let _lock = strategy.lock();
        let is_only_shown = options.dry_run && !ctx.request.hides_dry_run;
        loop {
            let shown_key = || strategy.shown_key(&key, is_only_shown);
            let Some(stored) = objects.get(&key) else {
                // Before 1.34, `GuaranteedUpdate` was always called with `ignoreNotFound`
                // (`generic/registry/store.go`).
                if !ctx.release().since(V1_34) {
                    check_uid(resource, (&name, ""), shown_key, update.uid)?;
                }
                return Err(Refusal::not_found(resource, &name));
            };
            let existing = strategy.existing(&stored)?;
            let have = (&*name, metadata::text(&existing, "uid"));
            check_uid(resource, have, shown_key, update.uid)?;
            let live = strategy.view(&existing.value)?;
            let mut written = transform(ctx, &live)?;
            let review = self.review(Operation::Update, options);
            let mutation = self.mutate(ctx, &review, Some(&live), &mut written)?;
            let decoded = update.decoded && mutation == Mutation::Unchanged;
            let mut object = strategy.merge(&existing.value, written)?;
            let wanted = metadata::text(&object, "resourceVersion");
            if strategy.allows_unconditional_update() && matches!(wanted, "" | "0") {
                metadata::set_text(&mut object, "resourceVersion", &stored.revision.to_string());
            } else {
                check_revision(resource, wanted, stored.revision, &name, ctx.release())?;
            }
            self.prepare_and_validate(ctx, &mut object, &existing)?;
            let (mut object, existing) = (object.into_value(), existing.value);
            if review.is_needed(ctx) {
                let (old, new) = (strategy.admitted(&existing)?, strategy.admitted(&object)?);
                review.validate(ctx, Some(&old), Some(&new))?;
            }
            ctx.check_complete()?;
            managed_fields::keep_times(&mut object, &existing);
            if should_delete(&object, &existing) && strategy.may_be_removed(&object) {
                if !options.dry_run {
                    if objects.remove(&key, &stored, &self.storage.revision).is_err() {
                        continue;
                    }
                    strategy.removed(ctx, &name);
                }
                return Ok(Arc::new(object));
            }
            let mut written =
                if is_only_shown { strategy.dry_run(object, decoded)? } else { strategy.written(object, decoded)? };
            ctx.trace.set_not_stored(std::mem::take(&mut written.dropped));
            if is_only_shown {
                return Ok(written.shown());
            }
            let is_unchanged = |written: &Written| written.raw == *stored.raw();
            if !is_unchanged(&written) {
                self.check_size(&mut ctx.trace, (&key, Some(stored.revision)), &mut written, update.managed_fields)?;
            }
            if options.dry_run {
                return Ok(written.shown());
            }
            if is_unchanged(&written) {
                return Ok(existing);
            }
            if let Ok(shown) = self.commit(&key, Some(&stored), written) {
                return Ok(shown);
            }
        }
    }

    /// `rest.BeforeUpdate`
    fn prepare_and_validate(
        &self,
        ctx: &mut Context<'_>,
        object: &mut S::Object,
        existing: &Existing<S::Object>,
    ) -> Result<(), Refusal> {
        self.strategy.begin_update(ctx, object, &existing.object)?;
        self.strategy.check_type(object)?;
        let namespace = if self.strategy.is_namespaced() { ctx.target.namespace.as_str() } else { "" };
        object_checks::match_namespace(object, namespace)?;
        set_generation(object, metadata::generation(existing));
        self.strategy.prepare_update(object, &existing.object, &ctx.notes);
        keep_system_fields(object, existing);
        let verdict = self.strategy.validate_update(object, &existing.object, &ctx.notes);
        self.check(ctx, object, verdict)
    }
}
