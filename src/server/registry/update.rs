//! PUT, and what all updates share: `endpoints/handlers/update.go`, `Store.Update` of `registry/generic/registry/store.go`,
//! `rest.BeforeUpdate`.

use crate::pipeline;
use crate::server::admission::{Mutation, Operation, OperationOptions, Review};
use crate::server::builtin;
use crate::server::http::body;
use crate::server::http::context::{Answer, Context};
use crate::server::http::negotiate;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::status::Refusal;
use crate::server::registry::decode;
use crate::server::registry::managed_fields::{self, Ownership, Subresource};
use crate::server::registry::metadata;
use crate::server::registry::rest::{
    check_revision, check_uid, invalid, keep_system_fields, set_generation, should_delete,
};
use crate::server::registry::serving::{Serving, Version};
use crate::server::registry::store;
use crate::server::strategy::namespace as namespaces;
use crate::server::strategy::scale::object::Scale;
use crate::value::Value;
use std::sync::Arc;

/// Which part of an object a write may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Part {
    /// All but the status, if that has its own subresource.
    Object,
    /// The status.
    Status,
    /// The replicas: the object, which the scale subresource changes.
    Scale,
}

impl Part {
    fn subresource(self) -> Subresource {
        match self {
            Self::Object => Subresource::None,
            Self::Status => Subresource::Status,
            Self::Scale => Subresource::Scale,
        }
    }
}

/// Makes the new object from the existing one.
pub(in crate::server) type Transform<'t> = dyn FnMut(&mut Context<'_>, &Arc<Value>) -> Result<Value, Refusal> + 't;

/// Answers a PUT of an object or its status.
pub(in crate::server) fn put(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    part: Part,
) -> Result<Answer, Refusal> {
    let name = ctx.name()?;
    body::check_size(&ctx.request.body)?;
    let options = options::write_options(&ctx.query, Write::Update, ctx.release())?;
    let input = negotiate::input_of_objects(ctx.request.content_type.as_deref(), !namespaces::are(serving))?;
    let mut object = decode::request_object(ctx, serving, version, input, &options)?;
    decode::check_group_version(&object, serving, version)?;
    decode::match_namespace(&mut object, &ctx.target.namespace.clone())?;
    decode::check_name(&object, &name)?;
    decode::dedup_owners(ctx, &mut object, false);
    let uid = metadata::text(&object, "uid").to_owned();
    let mut object = Some(object);
    let update = Update { serving, version, part, decoded: true, uid: &uid, options: &options };
    let mut transform = |_: &mut Context<'_>, _: &Arc<Value>| {
        // Only a race with another thread asks for the object a second time, and then its body is read again.
        match object.take() {
            Some(object) => Ok(object),
            None => Err(Refusal::modified(serving.resource(), &name)),
        }
    };
    update.run(ctx, &mut transform).map(|o| Answer::object(200, o))
}

/// An update of one object.
pub(in crate::server) struct Update<'a> {
    /// The resource.
    pub serving: &'a Serving,
    /// The version of the request.
    pub version: &'a Version,
    /// What may change.
    pub part: Part,
    /// Whether the new object comes from a request's decoder, and its managedFields are still to be settled.
    pub decoded: bool,
    /// The UID the object must have; empty for any.
    pub uid: &'a str,
    /// The options.
    pub options: &'a WriteOptions,
}

impl Update<'_> {
    /// Updates the object of the request's URL; the object as stored afterwards.
    pub fn run(&self, ctx: &mut Context<'_>, transform: &mut Transform<'_>) -> Result<Arc<Value>, Refusal> {
        let serving = self.serving;
        let name = ctx.target.name.clone();
        let key = store::checked_key(&ctx.target.namespace, &name)?;
        loop {
            let Some(stored) = serving.objects.get(&key) else {
                return Err(Refusal::not_found(serving.resource(), &name));
            };
            let existing = serving.read(&stored, self.version)?;
            let resource = serving.resource();
            check_uid(resource, &existing, &key, self.uid, self.options.dry_run)?;
            let mut object = transform(ctx, &existing)?;
            if self.decoded {
                let ownership = Ownership { serving, version: self.version, subresource: self.part.subresource() };
                ownership.update(ctx, Some(&existing), &mut object, self.options);
            }
            let mut decoded = self.decoded;
            if self.part != Part::Scale {
                decoded &= self.review().mutate(ctx, Some(&existing), &mut object)? == Mutation::Unchanged;
            }
            let wanted = metadata::text(&object, "resourceVersion");
            if !(builtin::allows_unconditional_update(serving) && matches!(wanted, "" | "0")) {
                check_revision(resource, wanted, stored.revision, &name, ctx.release())?;
            }
            self.prepare_and_validate(ctx, &mut object, &existing)?;
            self.admit(ctx, &object, &existing)?;
            managed_fields::keep_times(&mut object, &existing);
            if should_delete(&object, &existing) {
                if !self.options.dry_run {
                    if serving.objects.remove(&key, &stored, &ctx.server.revision).is_err() {
                        continue;
                    }
                    ctx.server.object_removed(serving);
                }
                return Ok(Arc::new(object));
            }
            let written = serving.written(object, self.version, decoded)?;
            if self.options.dry_run {
                return Ok(written.shown());
            }
            if written.raw == *stored.raw() {
                return Ok(existing);
            }
            written.check_size(body::length(&ctx.request.body))?;
            if let Ok(shown) = written.put(self.version, &serving.objects, &key, Some(&stored), &ctx.server.revision) {
                return Ok(shown);
            }
        }
    }

    /// The write as admission sees it.
    pub fn review(&self) -> Review<'_> {
        Review {
            serving: self.serving,
            version: self.version,
            subresource: self.part.subresource(),
            operation: Operation::Update,
            options: OperationOptions::Write(self.options),
        }
    }

    /// Admission of the validated object; the scale subresource shows it the Scales (`toScaleUpdateValidation`).
    fn admit(&self, ctx: &mut Context<'_>, object: &Value, existing: &Value) -> Result<(), Refusal> {
        let review = self.review();
        let Some(paths) = self.version.scale().filter(|_| self.part == Part::Scale && review.is_needed(ctx)) else {
            return review.validate(ctx, Some(existing), Some(object));
        };
        let scale = |object| Scale::of(object, paths).map(|scale| scale.to_value()).map_err(Refusal::unclassified);
        review.validate(ctx, Some(&scale(existing)?), Some(&scale(object)?))
    }

    /// `rest.BeforeUpdate`
    fn prepare_and_validate(&self, ctx: &mut Context<'_>, object: &mut Value, existing: &Value) -> Result<(), Refusal> {
        let stages = &self.version.stages;
        let namespace = if self.serving.namespaced { ctx.target.namespace.clone() } else { String::new() };
        decode::match_namespace(object, &namespace)?;
        set_generation(object, metadata::generation(existing));
        match self.part {
            Part::Object | Part::Scale => pipeline::prepare_update(stages, object, existing),
            Part::Status => pipeline::prepare_status_update(stages, object, existing),
        }
        keep_system_fields(object, existing);
        builtin::complete(self.serving, object);
        let verdict = match self.part {
            Part::Object | Part::Scale => pipeline::validate_update(stages, object, existing),
            Part::Status => pipeline::validate_status_update(stages, object, existing),
        };
        for warning in verdict.warnings {
            ctx.warn(warning);
        }
        if !verdict.errors.is_empty() {
            return Err(invalid(object, verdict.errors));
        }
        for warning in verdict.warnings_if_accepted {
            ctx.warn(warning);
        }
        Ok(())
    }
}
