//! `/scale`: `customresource/etcd.go`. A Scale is made of the object at the paths the definition names; writing one is an
//! update of the object.

use crate::pipeline::ScalePaths;
use crate::server::http::body;
use crate::server::http::context::{Answer, Context};
use crate::server::http::negotiate;
use crate::server::http::options::{self, Write, WriteOptions};
use crate::server::http::status::Refusal;
use crate::server::registry::decode;
use crate::server::registry::get;
use crate::server::registry::managed_fields::{Ownership, ScaleFields, Subresource};
use crate::server::registry::metadata;
use crate::server::registry::patch::apply::Config;
use crate::server::registry::patch::{self, Kind};
use crate::server::registry::serving::{Serving, Version};
use crate::server::registry::update::{Part, Update};
use crate::value::{Map, Value, object};
use std::sync::Arc;

pub(in crate::server) mod object;
mod typed;

use object::{Scale, set_nested};

/// Stands for replicas that were never set.
const UNSET: i64 = i32::MIN as i64;

/// Answers a GET.
pub(in crate::server) fn get(ctx: &Context<'_>, serving: &Serving, version: &Version) -> Result<Answer, Refusal> {
    let paths = paths(version)?;
    let object = get::read(ctx, serving, version)?;
    let scale = Scale::of(&object, paths).map_err(Refusal::unclassified)?;
    if !scale.found {
        return Err(Refusal::internal(format!("the spec replicas field \"{}\" does not exist", paths.spec_replicas)));
    }
    Ok(Answer::object(200, Arc::new(scale.to_value())))
}

/// Answers a PUT.
pub(in crate::server) fn put(ctx: &mut Context<'_>, serving: &Serving, version: &Version) -> Result<Answer, Refusal> {
    let name = ctx.name()?;
    body::check_size(&ctx.request.body)?;
    let options = options::write_options(&ctx.query, Write::Update, ctx.release())?;
    let input = negotiate::input(ctx.request.content_type.as_deref())?;
    let mut scale = typed::request_scale(ctx, input, &options)?;
    decode::match_namespace(&mut scale, &ctx.target.namespace.clone())?;
    decode::check_name(&scale, &name)?;
    let uid = metadata::text(&scale, "uid").to_owned();
    let ownership = Ownership { serving, version, subresource: Subresource::Scale };
    write(ctx, &ownership, &options, &uid, &mut |ctx, current| {
        let mut scale = scale.clone();
        own(ctx, &ownership, current, &mut scale, &options);
        Ok(scale)
    })
}

/// Answers a PATCH.
pub(in crate::server) fn patch(
    ctx: &mut Context<'_>,
    serving: &Serving,
    version: &Version,
    kind: Kind,
) -> Result<Answer, Refusal> {
    ctx.name()?;
    let (patch, options) = patch::read(ctx, kind)?;
    let ownership = Ownership { serving, version, subresource: Subresource::Scale };
    let Some(patch) = patch else {
        let config = Config::read(ctx)?;
        let mut transform =
            |ctx: &mut Context<'_>, current: &Value| config.apply(ctx, &ownership, Some(current), &options);
        return write(ctx, &ownership, &options, "", &mut transform);
    };
    let mut transform = |ctx: &mut Context<'_>, current: &Value| {
        let (patched, strict) = patch.apply(current.clone(), &options)?;
        let mut scale = typed::patched_scale(ctx, patched, strict, &options)?;
        own(ctx, &ownership, current, &mut scale, &options);
        decode::match_namespace(&mut scale, &ctx.target.namespace.clone())?;
        decode::check_name(&scale, &ctx.target.name)?;
        Ok(scale)
    };
    write(ctx, &ownership, &options, "", &mut transform)
}

/// Makes the new Scale from the current one.
type Transform<'t> = dyn FnMut(&mut Context<'_>, &Value) -> Result<Value, Refusal> + 't;

fn write(
    ctx: &mut Context<'_>,
    ownership: &Ownership<'_>,
    options: &WriteOptions,
    uid: &str,
    transform: &mut Transform<'_>,
) -> Result<Answer, Refusal> {
    let (serving, version) = (ownership.serving, ownership.version);
    let paths = paths(version)?;
    let update = Update { serving, version, part: Part::Scale, decoded: false, uid, options };
    let review = update.review();
    let mut on_object = |ctx: &mut Context<'_>, existing: &Arc<Value>| {
        let mut current = Scale::of(existing, paths).map_err(Refusal::unclassified)?;
        if !current.found {
            current.replicas = UNSET;
        }
        let fields = ScaleFields::of(serving, version, existing)?;
        let mut current = current.to_value();
        fields.show(&mut current);
        let mut scale = transform(ctx, &current)?;
        review.mutate(ctx, Some(&current), &mut scale)?;
        let replicas = scale.at(&["spec", "replicas"]).and_then(Value::as_int).unwrap_or_default();
        if replicas == UNSET {
            return Err(Refusal::bad_request(format!(
                "the spec replicas field \"{}\" cannot be empty",
                paths.spec_replicas
            )));
        }
        let mut object = (**existing).clone();
        set_nested(&mut object, &paths.spec_replicas, Value::Int(replicas)).map_err(Refusal::unclassified)?;
        let revision = metadata::text(&scale, "resourceVersion");
        if !revision.is_empty() {
            metadata::set_text(&mut object, "resourceVersion", revision);
        }
        fields.carry(&scale, &mut object)?;
        Ok(object)
    };
    let updated = update.run(ctx, &mut on_object)?;
    let scale = Scale::of(&updated, paths).map_err(Refusal::bad_request)?;
    Ok(Answer::object(200, Arc::new(scale.to_value())))
}

/// Settles the managedFields of a written Scale. It is seen as the server's type writes it: zero replicas are left out.
fn own(ctx: &Context<'_>, ownership: &Ownership<'_>, current: &Value, scale: &mut Value, options: &WriteOptions) {
    let replicas = scale.at(&["spec", "replicas"]).and_then(Value::as_int).unwrap_or_default();
    let spec: Map = (replicas != 0).then(|| ("replicas".to_owned(), Value::Int(replicas))).into_iter().collect();
    let mut seen = object([
        ("kind", Value::from("Scale")),
        ("apiVersion", Value::from("autoscaling/v1")),
        ("metadata", Value::Object(Map::new())),
        ("spec", Value::Object(spec)),
    ]);
    ownership.update(ctx, Some(current), &mut seen, options);
    metadata::set(scale, "managedFields", metadata::get(&seen, "managedFields").cloned());
}

fn paths(version: &Version) -> Result<&ScalePaths, Refusal> {
    version.scale().ok_or_else(|| Refusal::internal("could not properly serve the subresource"))
}
