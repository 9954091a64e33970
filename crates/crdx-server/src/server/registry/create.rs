//! POST: `endpoints/handlers/create.go` and `Store.Create` of `registry/generic/registry/store.go`.

use super::Registry;
use crate::server::admission::{Mutation, Operation, OperationOptions, Review};
use crate::server::http::answer::Answer;
use crate::server::http::body;
use crate::server::http::context::Context;
use crate::server::http::object_checks;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::status::{Reason, Refusal};
use crate::server::metadata;
use crate::server::metadata::Object;
use crate::server::registry::rest::{check_new_revision, name_taken};
use crate::server::registry::revision::parse_revision;
use crate::server::registry::size::ManagedFields;
use crate::server::registry::store;
use crate::server::registry::strategy::Strategy;
use crdx_value::Value;
use crdx_value::release::V1_37;
use std::sync::Arc;

/// The maximum number of attempts to generate a free name.
const NAME_ATTEMPTS: usize = 8;

/// The origin of a new object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CreateOrigin {
    /// A POST body.
    Decoded,
    /// A POST body that admission changed.
    Mutated,
    /// The result of an apply. Storage ignores its resourceVersion, and a dry run returns it.
    Applied,
    /// A PUT body. Storage ignores its resourceVersion, too.
    Replaced,
}

impl CreateOrigin {
    /// Returns true if the object is stored as an update of an object that does not exist yet.
    fn is_update(self) -> bool {
        matches!(self, Self::Applied | Self::Replaced)
    }
}

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Handles a POST.
    pub(super) fn create(&self, ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
        let input = self.strategy.input(ctx.request.content_type.as_deref())?;
        body::check_size(&ctx.request.body)?;
        let options = options::write_options(&ctx.query, Write::Create, ctx.release())?;
        let mut object = self.strategy.decode(ctx, input, &options)?;
        metadata::wipe_system_fields(&mut object);
        object_checks::match_namespace(&mut object, &ctx.target.namespace)?;
        object_checks::dedup_owners(ctx, &mut object, false);
        self.update_managed_fields(ctx, None, &mut object, &options);
        let name = metadata::text(&object, "name").to_owned();
        let review = Review { new_name: &name, ..self.review(Operation::Create, &options) };
        let is_unchanged = self.admit_new(ctx, &mut object, &review)? == Mutation::Unchanged;
        let source = if is_unchanged { CreateOrigin::Decoded } else { CreateOrigin::Mutated };
        if metadata::text(&object, "name").is_empty() && !metadata::text(&object, "generateName").is_empty() {
            for _ in 1..NAME_ATTEMPTS {
                match self.store_new(ctx, object.clone(), source, &review, &options) {
                    Err(refusal) if refusal.reason == Reason::AlreadyExists => {}
                    result => return result,
                }
            }
        }
        self.store_new(ctx, object, source, &review, &options)
    }

    /// Runs mutating admission for a new object.
    pub(super) fn admit_new(
        &self,
        ctx: &mut Context<'_>,
        object: &mut S::Object,
        review: &Review<'_>,
    ) -> Result<Mutation, Refusal> {
        self.strategy.check_create(ctx, object)?;
        let mutation = self.mutate(ctx, review, None, object)?;
        if mutation == Mutation::Changed {
            object_checks::match_namespace(object, &ctx.target.namespace)?;
        }
        Ok(mutation)
    }

    /// Runs mutating admission for a new object that an update creates (`Store.Update`).
    pub(super) fn admit_new_of_update(
        &self,
        ctx: &mut Context<'_>,
        object: &mut S::Object,
        review: &Review<'_>,
    ) -> Result<(), Refusal> {
        self.admit_new(ctx, object, review)?;
        object_checks::dedup_owners(ctx, object, true);
        parse_revision(metadata::text(object, "resourceVersion")).map_err(Refusal::unclassified)?;
        if ctx.release().since(V1_37) {
            metadata::wipe_system_fields(object);
        }
        Ok(())
    }

    /// Completes, validates and stores a new object.
    pub(super) fn store_new(
        &self,
        ctx: &mut Context<'_>,
        mut object: S::Object,
        source: CreateOrigin,
        review: &Review<'_>,
        options: &WriteOptions,
    ) -> Result<Answer, Refusal> {
        metadata::fill_system_fields(&mut object, &ctx.uid(), &ctx.now());
        let prefix = metadata::text(&object, "generateName").to_owned();
        if !prefix.is_empty() && metadata::text(&object, "name").is_empty() {
            metadata::set_text(&mut object, "name", &ctx.generated_name(&prefix));
        }
        self.strategy.begin_create(ctx, &mut object)?;
        self.strategy.prepare_create(&mut object, &mut ctx.notes);
        if !ctx.request.skips_validation {
            let verdict = self.strategy.validate_create(&object, &ctx.notes);
            self.check(ctx, &object, verdict)?;
        }
        let object = object.into_value();
        review.validate(ctx, None, Some(&object))?;
        if !source.is_update() {
            check_new_revision(metadata::text(&object, "resourceVersion"), options.dry_run)?;
        }
        self.insert(ctx, object, source, options.dry_run).map(|shown| Answer::object(201, shown))
    }

    /// Stores a new object unless an object with its name exists.
    fn insert(
        &self,
        ctx: &mut Context<'_>,
        object: Value,
        source: CreateOrigin,
        dry_run: bool,
    ) -> Result<Arc<Value>, Refusal> {
        let name = metadata::text(&object, "name").to_owned();
        let generated = !metadata::text(&object, "generateName").is_empty();
        let key = store::key(metadata::text(&object, "namespace"), &name);
        let objects = self.strategy.objects();
        let _lock = self.strategy.lock();
        let taken = || match objects.get(&key) {
            Some(existing) => Err(name_taken(self.strategy.resource(), Some(&existing.raw()), &name, generated)),
            None => Ok(()),
        };
        let expected = source.is_update().then_some(0);
        let managed_fields = if source == CreateOrigin::Applied { ManagedFields::Kept } else { ManagedFields::Dropped };
        let decoded = source == CreateOrigin::Decoded;
        // Storage encodes an object before it looks whether the name is taken; a dry run looks first.
        if dry_run {
            taken()?;
            let mut written = self.strategy.dry_run(object, decoded)?;
            ctx.trace.set_not_stored(std::mem::take(&mut written.dropped));
            if ctx.request.hides_dry_run {
                ctx.check_complete()?;
                self.check_size(&mut ctx.trace, (&key, expected), &mut written, managed_fields)?;
            }
            return Ok(written.shown());
        }
        let mut written = self.strategy.written(object, decoded)?;
        ctx.trace.set_not_stored(std::mem::take(&mut written.dropped));
        ctx.check_complete()?;
        self.check_size(&mut ctx.trace, (&key, expected), &mut written, managed_fields)?;
        taken()?;
        self.strategy.before_insert(ctx);
        self.commit(&key, None, written).map_err(|_| {
            // Another thread created an object with this name.
            let existing = objects.get(&key).map(|stored| stored.raw());
            name_taken(self.strategy.resource(), existing.as_deref(), &name, generated)
        })
    }

    pub(super) fn review<'a>(&'a self, operation: Operation, options: &'a WriteOptions) -> Review<'a> {
        Review {
            chain: self.admission,
            scope: self.strategy.scope(),
            operation,
            options: OperationOptions::Write(options),
            new_name: "",
        }
    }
}
