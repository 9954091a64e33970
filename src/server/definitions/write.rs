//! POST, PUT and PATCH of definitions and their status (`registry/customresourcedefinition/strategy.go`).

use super::{RESOURCE, decode, ownership, typed};
use crate::crd::{self, CustomResourceDefinition, strategy, validation};
use crate::field::ErrorList;
use crate::server::admission::{Operation, OperationOptions, validate_definition};
use crate::server::http::body;
use crate::server::http::context::{Answer, Context};
use crate::server::http::negotiate;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::status::{GroupResource, Reason, Refusal};
use crate::server::registry::decode::{check_name, dedup_owners};
use crate::server::registry::managed_fields::{keep_times, refused};
use crate::server::registry::metadata;
use crate::server::registry::patch::apply::Config;
use crate::server::registry::patch::{self, Kind};
use crate::server::registry::rest::{
    check_new_revision, check_revision, check_uid, keep_system_fields, name_taken, should_delete,
};
use crate::server::registry::revision::parse_revision;
use crate::value::{Value, json};
use std::sync::{Arc, PoisonError};

/// Answers a POST.
pub(super) fn create(ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
    let input = negotiate::input(ctx.request.content_type.as_deref())?;
    body::check_size(&ctx.request.body)?;
    let options = options::write_options(&ctx.query, Write::Create, ctx.release())?;
    let mut definition = decode::request(ctx, input, &options)?;
    edit(&mut definition, |object| {
        metadata::wipe_system_fields(object);
        metadata::set_text(object, "namespace", "");
        dedup_owners(ctx, object, false);
    });
    ownership::update(ctx, None, &mut definition, &options);
    store_new(ctx, definition, &options)
}

/// Completes, validates and stores a new definition.
fn store_new(
    ctx: &mut Context<'_>,
    mut definition: CustomResourceDefinition,
    options: &WriteOptions,
) -> Result<Answer, Refusal> {
    edit(&mut definition, |object| {
        metadata::fill_system_fields(object, &ctx.server.random.uid(), &ctx.now());
        let prefix = metadata::text(object, "generateName").to_owned();
        if !prefix.is_empty() && metadata::text(object, "name").is_empty() {
            metadata::set_text(object, "name", &ctx.server.random.name(&prefix));
        }
    });
    strategy::prepare_create(&mut definition, ctx.release());
    refuse(&definition, validation::validate_create(&definition, ctx.release()))?;
    for warning in strategy::warnings(&definition, None, ctx.release()) {
        ctx.warn(warning);
    }
    let name = definition.name().to_owned();
    let write = (Operation::Create, OperationOptions::Write(options));
    validate_definition(ctx, write, &name, None, Some(&definition.to_value()))?;
    check_new_revision(text(&definition, "resourceVersion"), options.dry_run)?;
    let server = ctx.server;
    let _writing = server.definitions.writing.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(existing) = server.definitions.objects.get(&name) {
        return Err(name_taken(RESOURCE, &existing.raw(), &name, !text(&definition, "generateName").is_empty()));
    }
    let object = definition.to_value();
    if options.dry_run {
        return Ok(Answer::object(201, Arc::new(object)));
    }
    check_size(ctx, &object)?;
    match server.definitions.objects.put(&name, None, object, &server.revision) {
        Ok(stored) => {
            let answer = Answer::object(201, stored.raw());
            server.definition_written(&name);
            Ok(answer)
        }
        Err(_) => Err(Refusal::already_exists(RESOURCE, &name)),
    }
}

/// Answers a PUT.
pub(super) fn put(ctx: &mut Context<'_>) -> Result<Answer, Refusal> {
    body::check_size(&ctx.request.body)?;
    let options = options::write_options(&ctx.query, Write::Update, ctx.release())?;
    let input = negotiate::input(ctx.request.content_type.as_deref())?;
    let mut definition = decode::request(ctx, input, &options)?;
    let name = ctx.target.name.clone();
    let mut checked = Ok(());
    edit(&mut definition, |object| {
        metadata::set_text(object, "namespace", "");
        checked = check_name(object, &name);
        dedup_owners(ctx, object, false);
    });
    checked?;
    let uid = definition.metadata.get("uid").and_then(Value::as_str).unwrap_or_default().to_owned();
    update(ctx, &options, &uid, &mut |ctx, existing| {
        let mut definition = definition.clone();
        ownership::update(ctx, Some(existing), &mut definition, &options);
        Ok(definition)
    })
}

/// Answers a PATCH.
pub(super) fn patch(ctx: &mut Context<'_>, kind: Kind) -> Result<Answer, Refusal> {
    let (patch, options) = patch::read(ctx, kind)?;
    let Some(patch) = patch else { return apply(ctx, &options) };
    let name = ctx.target.name.clone();
    update(ctx, &options, "", &mut |ctx, existing| {
        let (patched, strict) = patch.apply(existing.clone(), &options)?;
        let echo = json::to_string(&patched);
        let mut definition = body::interpret(&patched)
            .and_then(|()| decode::read(ctx, patched, strict, false, &options))
            .map_err(|text| patch::refuse(&echo, text))?;
        ownership::update(ctx, Some(existing), &mut definition, &options);
        let mut checked = Ok(());
        edit(&mut definition, |object| {
            metadata::set_text(object, "namespace", "");
            checked = check_name(object, &name);
            dedup_owners(ctx, object, true);
        });
        checked.map(|()| definition)
    })
}

/// Answers an apply.
fn apply(ctx: &mut Context<'_>, options: &WriteOptions) -> Result<Answer, Refusal> {
    let config = Config::read(ctx)?;
    let name = ctx.target.name.clone();
    if ctx.target.subresource.is_empty() && ctx.server.definitions.objects.get(&name).is_none() {
        let mut definition = applied(ctx, &config, None, options)?;
        let revision = definition.metadata.remove("resourceVersion").unwrap_or_default();
        parse_revision(revision.as_str().unwrap_or_default()).map_err(Refusal::unclassified)?;
        edit(&mut definition, metadata::wipe_system_fields);
        match store_new(ctx, definition, options) {
            // Somebody else created it meanwhile.
            Err(refusal) if refusal.reason == Reason::AlreadyExists => {}
            result => return result,
        }
    }
    update(ctx, options, "", &mut |ctx, existing| applied(ctx, &config, Some(existing), options))
}

/// The definition that an apply makes.
fn applied(
    ctx: &mut Context<'_>,
    config: &Config<'_>,
    live: Option<&Value>,
    options: &WriteOptions,
) -> Result<CustomResourceDefinition, Refusal> {
    let patch = config.value()?;
    let object = ownership::apply(ctx, live, &patch, options).map_err(refused)?;
    let mut definition = decode::read(ctx, object, Vec::new(), false, options).map_err(|e| {
        let name = metadata::text(&patch, "name");
        let told = format!("/{name}; apiextensions.k8s.io/v1, Kind=CustomResourceDefinition");
        Refusal::unclassified(format!("failed to convert new object ({told}) to proper version: {e}"))
    })?;
    config.check_duplicates(ctx, options)?;
    let name = ctx.target.name.clone();
    let uid = definition.metadata.get("uid").and_then(Value::as_str).unwrap_or_default();
    if live.is_none() && !uid.is_empty() {
        let why = format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
        return Err(Refusal::conflict(RESOURCE, &name, &why));
    }
    let mut checked = Ok(());
    edit(&mut definition, |object| {
        metadata::set_text(object, "namespace", "");
        checked = check_name(object, &name);
        dedup_owners(ctx, object, true);
    });
    checked.map(|()| definition)
}

/// Makes the new definition from the existing one.
type Transform<'t> = dyn FnMut(&mut Context<'_>, &Value) -> Result<CustomResourceDefinition, Refusal> + 't;

fn update(
    ctx: &mut Context<'_>,
    options: &WriteOptions,
    uid: &str,
    transform: &mut Transform<'_>,
) -> Result<Answer, Refusal> {
    let server = ctx.server;
    let name = ctx.target.name.clone();
    let status = ctx.target.subresource == "status";
    let _writing = server.definitions.writing.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(stored) = server.definitions.objects.get(&name) else {
        return Err(Refusal::not_found(RESOURCE, &name));
    };
    let existing = stored.raw();
    let existing = &*existing;
    check_uid(RESOURCE, existing, &name, uid, options.dry_run)?;
    let Some(old) = typed(&stored) else { return Err(Refusal::internal("a stored definition is unreadable")) };
    let mut definition = transform(ctx, existing)?;
    check_revision(RESOURCE, text(&definition, "resourceVersion"), stored.revision, &name, ctx.release())?;
    let generation = old.generation();
    edit(&mut definition, |object| crate::server::registry::rest::set_generation(object, generation));
    if status {
        strategy::prepare_status_update(&mut definition, &old);
    } else {
        strategy::prepare_update(&mut definition, &old, ctx.release());
    }
    edit(&mut definition, |object| keep_system_fields(object, existing));
    if status {
        refuse(&definition, validation::validate_status_update(&definition, &old, ctx.release()))?;
    } else {
        refuse(&definition, validation::validate_update(&definition, &old, ctx.release()))?;
        for warning in strategy::warnings(&definition, Some(&old), ctx.release()) {
            ctx.warn(warning);
        }
    }
    let mut object = definition.to_value();
    let write = (Operation::Update, OperationOptions::Write(options));
    validate_definition(ctx, write, &name, Some(existing), Some(&object))?;
    keep_times(&mut object, existing);
    if should_delete(&object, existing) {
        if !options.dry_run && server.definitions.objects.remove(&name, &stored, &server.revision).is_ok() {
            server.stop_serving(&name);
        }
        return Ok(Answer::object(200, Arc::new(object)));
    }
    if options.dry_run {
        return Ok(Answer::object(200, Arc::new(object)));
    }
    if object == *existing {
        return Ok(Answer::object(200, stored.raw()));
    }
    check_size(ctx, &object)?;
    match server.definitions.objects.put(&name, Some(&stored), object, &server.revision) {
        Ok(stored) => {
            let answer = Answer::object(200, stored.raw());
            server.definition_written(&name);
            Ok(answer)
        }
        Err(_) => Err(Refusal::modified(RESOURCE, &name)),
    }
}

/// A text of the metadata, empty when absent.
fn text<'d>(definition: &'d CustomResourceDefinition, key: &str) -> &'d str {
    definition.metadata.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Edits the metadata of a definition as that of any object.
fn edit(definition: &mut CustomResourceDefinition, change: impl FnOnce(&mut Value)) {
    let metadata = std::mem::take(&mut definition.metadata);
    let mut object = crate::value::object([("metadata", Value::Object(metadata))]);
    change(&mut object);
    if let Value::Object(mut members) = object
        && let Some(Value::Object(metadata)) = members.remove("metadata")
    {
        definition.metadata = metadata;
    }
}

/// Refuses a definition with errors.
fn refuse(definition: &CustomResourceDefinition, errors: ErrorList) -> Result<(), Refusal> {
    if errors.is_empty() {
        return Ok(());
    }
    let kind = GroupResource { group: crd::GROUP, resource: "CustomResourceDefinition" };
    Err(Refusal::invalid(kind, definition.name(), errors))
}

fn check_size(ctx: &Context<'_>, object: &Value) -> Result<(), Refusal> {
    const ETCD_LIMIT: usize = 1_572_864;
    if body::length(&ctx.request.body) > ETCD_LIMIT && json::to_string(object).len() > ETCD_LIMIT {
        return Err(Refusal::unclassified("etcdserver: request is too large"));
    }
    Ok(())
}
