//! PUT, and what all updates share: `endpoints/handlers/update.go`, `Store.Update` of `registry/generic/registry/store.go`,
//! `rest.BeforeUpdate`.

use super::admission::{Mutation, Operation, OperationOptions, Review};
use super::body;
use super::context::{Answer, Context};
use super::create::invalid;
use super::decode;
use super::managed_fields::{self, Ownership, Subresource};
use super::metadata;
use super::namespaces;
use super::negotiate;
use super::options::{self, Write, WriteOptions};
use super::scale::object::Scale;
use super::serving::{Serving, Version};
use super::status::{GroupResource, Refusal};
use super::store;
use crate::field::{FieldError, FieldPath};
use crate::pipeline;
use crate::value::{Value, quote};
use std::sync::Arc;

/// Which part of an object a write may change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
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
pub(super) type Transform<'t> = dyn FnMut(&mut Context<'_>, &Arc<Value>) -> Result<Value, Refusal> + 't;

/// Answers a PUT of an object or its status.
pub(super) fn put(ctx: &mut Context<'_>, serving: &Serving, version: &Version, part: Part) -> Result<Answer, Refusal> {
    let name = ctx.name()?;
    body::check_size(&ctx.request.body)?;
    let options = options::write_options(&ctx.query, Write::Update)?;
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
pub(super) struct Update<'a> {
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
            self.check_uid(&existing, &key, &name)?;
            let mut object = transform(ctx, &existing)?;
            if self.decoded {
                let ownership = Ownership { serving, version: self.version, subresource: self.part.subresource() };
                ownership.update(ctx, Some(&existing), &mut object, self.options);
            }
            let mut decoded = self.decoded;
            if self.part != Part::Scale {
                decoded &= self.review().mutate(ctx, Some(&existing), &mut object)? == Mutation::Unchanged;
            }
            self.check_revision(&object, &existing, &name)?;
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

    fn check_uid(&self, existing: &Value, key: &str, name: &str) -> Result<(), Refusal> {
        let have = metadata::text(existing, "uid");
        if self.uid.is_empty() || self.uid == have {
            return Ok(());
        }
        let serving = self.serving;
        let why = format!(
            "StorageError: invalid object, Code: 4, Key: {}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {}, UID in object meta: {have}",
            if self.options.dry_run { dry_key(serving.resource(), key) } else { etcd_key(serving.resource(), key) },
            self.uid
        );
        Err(Refusal::conflict(serving.resource(), name, &why))
    }

    fn check_revision(&self, object: &Value, existing: &Value, name: &str) -> Result<(), Refusal> {
        let resource = self.serving.resource();
        let wanted = parse_revision(metadata::text(object, "resourceVersion")).map_err(Refusal::unclassified)?;
        if wanted == 0 {
            let metadata = FieldPath::new("metadata");
            let error = FieldError::invalid(
                &metadata.child("resourceVersion"),
                Value::Int(0),
                "must be specified for an update",
            );
            return Err(Refusal::invalid(resource, name, vec![error]));
        }
        if Ok(wanted) == parse_revision(metadata::text(existing, "resourceVersion")) {
            Ok(())
        } else {
            Err(Refusal::modified(resource, name))
        }
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

/// `metadata.generation`, which is left out when 0.
pub(super) fn set_generation(object: &mut Value, generation: i64) {
    metadata::set(object, "generation", (generation != 0).then_some(Value::Int(generation)));
}

const GRACE: &str = "deletionGracePeriodSeconds";

/// What an update can never change.
pub(super) fn keep_system_fields(object: &mut Value, existing: &Value) {
    if metadata::text(object, "uid").is_empty() {
        metadata::set_text(object, "uid", metadata::text(existing, "uid"));
    }
    for key in ["creationTimestamp", "deletionTimestamp"] {
        if let Some(time) = metadata::get(existing, key).filter(|t| !t.is_null()) {
            metadata::set(object, key, Some(time.clone()));
        }
    }
    if metadata::get(object, GRACE).is_none()
        && let Some(grace) = metadata::get(existing, GRACE)
    {
        metadata::set(object, GRACE, Some(grace.clone()));
    }
}

/// `ShouldDeleteDuringUpdate`: the last finalizer went while the object was being deleted.
pub(super) fn should_delete(object: &Value, existing: &Value) -> bool {
    metadata::finalizers(object).is_empty()
        && metadata::is_deleting(existing)
        && metadata::get(existing, "deletionGracePeriodSeconds").and_then(Value::as_int).unwrap_or_default() == 0
}

/// A resourceVersion; empty is 0. The error is Go's.
pub(super) fn parse_revision(text: &str) -> Result<u64, String> {
    if text.is_empty() {
        return Ok(0);
    }
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let why = if digits { "value out of range" } else { "invalid syntax" };
    text.parse()
        .ok()
        .filter(|_| digits)
        .ok_or_else(|| format!("strconv.ParseUint: parsing {}: {why}", quote::go_quote(text)))
}

/// The key that storage errors name.
pub(super) fn etcd_key(resource: GroupResource<'_>, key: &str) -> String {
    format!("/registry/apiextensions.kubernetes.io/{}/{}/{key}", resource.group, resource.resource)
}

/// The key that a dry run names: it does not know where etcd keeps things.
fn dry_key(resource: GroupResource<'_>, key: &str) -> String {
    format!("/{}/{}/{key}", resource.group, resource.resource)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

    #[test]
    fn revisions_are_unsigned() {
        assert_eq!(parse_revision(""), Ok(0));
        assert_eq!(parse_revision("12"), Ok(12));
        assert_eq!(parse_revision("-3"), Err("strconv.ParseUint: parsing \"-3\": invalid syntax".to_owned()));
        assert!(parse_revision("+3").is_err());
    }

    #[test]
    fn the_last_finalizer_lets_a_deleted_object_go() {
        let deleting = object([("metadata", object([("deletionTimestamp", "2026-01-01T00:00:00Z")]))]);
        let held = object([("metadata", object([("finalizers", Value::Array(vec!["a/b".into()]))]))]);
        assert!(should_delete(&deleting, &deleting));
        assert!(!should_delete(&held, &deleting));
        assert!(!should_delete(&deleting, &held));
    }
}
