//! POST: `endpoints/handlers/create.go` and `Store.Create` of `registry/generic/registry/store.go`.

use crate::pipeline;
use crate::release::V1_34;
use crate::server::Method;
use crate::server::admission::{Mutation, Operation, OperationOptions, Review};
use crate::server::builtin;
use crate::server::http::body;
use crate::server::http::context::{Answer, Context};
use crate::server::http::negotiate;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::decode;
use crate::server::registry::managed_fields::{Ownership, Subresource};
use crate::server::registry::metadata;
use crate::server::registry::rest::{check_new_revision, invalid, name_taken};
use crate::server::registry::serving::{Serving, Version};
use crate::server::registry::store;
use crate::server::strategy::namespace as namespaces;
use crate::value::Value;
use std::sync::Arc;

/// How often a generated name is tried.
const NAME_ATTEMPTS: usize = 8;

/// Answers a POST.
pub(in crate::server) fn create(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
) -> Result<Answer, Refusal> {
    let input = negotiate::input_of_objects(ctx.request.content_type.as_deref(), !namespaces::are(serving))?;
    body::check_size(&ctx.request.body)?;
    let options = options::write_options(&ctx.query, Write::Create, ctx.release())?;
    let mut object = decode::request_object(ctx, serving, version, input, &options)?;
    decode::check_group_version(&object, serving, version)?;
    metadata::wipe_system_fields(&mut object);
    decode::match_namespace(&mut object, &ctx.target.namespace.clone())?;
    decode::dedup_owners(ctx, &mut object, false);
    Ownership { serving, version, subresource: Subresource::None }.update(ctx, None, &mut object, &options);
    let decoded = admit_new(ctx, serving, version, &mut object, &options)? == Mutation::Unchanged;
    if metadata::text(&object, "name").is_empty() && !metadata::text(&object, "generateName").is_empty() {
        for attempt in 1.. {
            match store_new(ctx, serving, version, object.clone(), decoded, &options) {
                Err(refusal) if refusal.reason == Reason::AlreadyExists && attempt < NAME_ATTEMPTS => {}
                result => return result.map(|o| Answer::object(201, o)),
            }
        }
    }
    store_new(ctx, serving, version, object, decoded, &options).map(|o| Answer::object(201, o))
}

/// The admission of a new object before it is validated. No object of a terminating definition is created
/// (`forbidCreateAdmission`).
pub(in crate::server) fn admit_new(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    object: &mut Value,
    options: &WriteOptions,
) -> Result<Mutation, Refusal> {
    // Before 1.34 only the handler of creates refused.
    if serving.terminating && (ctx.release().since(V1_34) || ctx.request.method == Method::Post) {
        let name = if ctx.target.name.is_empty() { metadata::text(object, "name") } else { &ctx.target.name };
        let why = "create not allowed while custom resource definition is terminating";
        if !ctx.release().since(V1_34) {
            return Err(Refusal::not_allowed(serving.resource(), why));
        }
        return Err(Refusal::forbidden(serving.resource(), name, why));
    }
    let mutation = review(serving, version, options).mutate(ctx, None, object)?;
    if mutation == Mutation::Changed {
        decode::match_namespace(object, &ctx.target.namespace.clone())?;
    }
    Ok(mutation)
}

fn review<'a>(serving: &'a Serving, version: &'a Version, options: &'a WriteOptions) -> Review<'a> {
    let options = OperationOptions::Write(options);
    Review { serving, version, subresource: Subresource::None, operation: Operation::Create, options }
}

/// Completes, validates and stores a new object; `decoded` as for [`Serving::written`].
pub(in crate::server) fn store_new(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    mut object: Value,
    decoded: bool,
    options: &WriteOptions,
) -> Result<Arc<Value>, Refusal> {
    let namespace = ctx.target.namespace.clone();
    metadata::fill_system_fields(&mut object, &ctx.server.random.uid(), &ctx.now());
    let prefix = metadata::text(&object, "generateName").to_owned();
    if !prefix.is_empty() && metadata::text(&object, "name").is_empty() {
        metadata::set_text(&mut object, "name", &ctx.server.random.name(&prefix));
    }
    pipeline::prepare_create(&version.stages, &mut object);
    builtin::complete(serving, &mut object);
    let verdict = pipeline::validate_create(&version.stages, &object);
    for warning in verdict.warnings {
        ctx.warn(warning);
    }
    if !verdict.errors.is_empty() {
        return Err(invalid(&object, verdict.errors));
    }
    for warning in verdict.warnings_if_accepted {
        ctx.warn(warning);
    }
    review(serving, version, options).validate(ctx, None, Some(&object))?;
    let name = metadata::text(&object, "name").to_owned();
    let key = store::key(metadata::text(&object, "namespace"), &name);
    check_new_revision(metadata::text(&object, "resourceVersion"), options.dry_run)?;
    loop {
        if let Some(existing) = serving.objects.get(&key) {
            return Err(name_taken(serving.resource(), &existing.raw(), &name, !prefix.is_empty()));
        }
        if options.dry_run {
            return serving.shown(object, version, decoded);
        }
        // Another thread may have taken the name meanwhile; then the next round finds it.
        let written = serving.written(object.clone(), version, decoded)?;
        written.check_size(body::length(&ctx.request.body))?;
        ctx.server.enter_namespace(&namespace, ctx.request.now);
        if let Ok(shown) = written.put(version, &serving.objects, &key, None, &ctx.server.revision) {
            return Ok(shown);
        }
    }
}
