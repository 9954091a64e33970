//! Requests for custom resources: which definition answers, and by which verb (`apiserver/customresource_handler.go`).

use crate::server::Response;
use crate::server::http::context::{Answer, Context};
use crate::server::http::negotiate::{Endpoint, Output};
use crate::server::http::page::not_found_page;
use crate::server::http::status::{GroupResource, Reason, Refusal};
use crate::server::http::table::Columns;
use crate::server::registry::patch::{self, Kind};
use crate::server::registry::serving::{Serving, Version};
use crate::server::registry::update::{self, Part};
use crate::server::registry::{create, delete, get, list};
use crate::server::strategy::scale;
use std::sync::Arc;

/// Answers a request for a custom resource.
pub(in crate::server) fn handle(mut ctx: Context<'_>) -> Response {
    let Some((serving, version)) = find(&ctx) else {
        if ctx.target.group.is_empty() {
            let text = "the server could not find the requested resource";
            return ctx.refuse(&Refusal::unrouted(404, Reason::NotFound, text));
        }
        return not_found_page();
    };
    if let Some(warning) = &version.deprecation {
        ctx.warn(warning.as_str());
    }
    let resource = GroupResource { group: &ctx.target.group.clone(), resource: &ctx.target.resource.clone() };
    match ctx.target.subresource.as_str() {
        "" => object(ctx, &serving, &version, resource),
        "status" if version.has_status() => status(ctx, &serving, &version, resource),
        "scale" if version.scale().is_some() => of_scale(ctx, &serving, &version, resource),
        _ => {
            let refusal = Refusal::not_found(resource, &ctx.target.name);
            ctx.refuse(&refusal)
        }
    }
}

/// What serves the request, if anything does.
pub(in crate::server) fn find(ctx: &Context<'_>) -> Option<(Arc<Serving>, Arc<Version>)> {
    let target = &ctx.target;
    let serving = ctx.server.serving_of(&format!("{}.{}", target.resource, target.group))?;
    let in_namespace = !target.namespace.is_empty();
    let fits = serving.namespaced == in_namespace || serving.namespaced && matches!(target.verb, "list" | "watch");
    let version = Arc::clone(serving.version(&target.version)?);
    (fits && version.served && serving.is_served()).then_some((serving, version))
}

fn object(mut ctx: Context<'_>, serving: &Serving, version: &Version, resource: GroupResource<'_>) -> Response {
    let verb = ctx.target.verb;
    if !matches!(verb, "get" | "list" | "create" | "update" | "patch" | "delete" | "deletecollection") {
        return ctx.refuse(&Refusal::method_not_supported(resource, verb));
    }
    answer(&mut ctx, &mut |ctx, patch| match (verb, patch) {
        ("get", _) => get::get(ctx, serving, version),
        ("list", _) => list::list(ctx, serving, version),
        ("create", _) => create::create(ctx, serving, version),
        ("update", _) => update::put(ctx, serving, version, Part::Object),
        ("delete", _) => delete::delete(ctx, serving, version),
        ("deletecollection", _) => delete::delete_collection(ctx, serving, version),
        (_, Some(kind)) => patch::patch(ctx, serving, version, Part::Object, kind),
        _ => Err(Refusal::internal("no verb")),
    })
    .respond(ctx, &version.columns)
}

fn status(mut ctx: Context<'_>, serving: &Serving, version: &Version, resource: GroupResource<'_>) -> Response {
    let verb = ctx.target.verb;
    if !matches!(verb, "get" | "update" | "patch") {
        return ctx.refuse(&Refusal::method_not_supported(resource, verb));
    }
    answer(&mut ctx, &mut |ctx, patch| match patch {
        Some(kind) => patch::patch(ctx, serving, version, Part::Status, kind),
        None if verb == "get" => get::get(ctx, serving, version),
        None => update::put(ctx, serving, version, Part::Status),
    })
    .respond(ctx, &version.columns)
}

fn of_scale(mut ctx: Context<'_>, serving: &Serving, version: &Version, resource: GroupResource<'_>) -> Response {
    let verb = ctx.target.verb;
    if !matches!(verb, "get" | "update" | "patch") {
        return ctx.refuse(&Refusal::method_not_supported(resource, verb));
    }
    answer(&mut ctx, &mut |ctx, patch| match patch {
        Some(kind) => scale::patch(ctx, serving, version, kind),
        None if verb == "get" => scale::get(ctx, serving, version),
        None => scale::put(ctx, serving, version),
    })
    .respond(ctx, &Columns::of_scale())
}

/// Does a verb; the kind is that of a patch.
type Verb<'v> = dyn FnMut(&mut Context<'_>, Option<Kind>) -> Result<Answer, Refusal> + 'v;

struct Answered {
    output: Output,
    answer: Result<Answer, Refusal>,
}

impl Answered {
    fn respond(self, ctx: Context<'_>, columns: &Columns) -> Response {
        ctx.respond(&self.output, Some(columns), self.answer)
    }
}

/// Does what comes before every verb, in the server's order: the kind of a patch, the name, the output form.
fn answer(ctx: &mut Context<'_>, verb: &mut Verb<'_>) -> Answered {
    let refused = |refusal| Answered { output: Output::default(), answer: Err(refusal) };
    let patch = match ctx.target.verb {
        "patch" => match patch::kind(ctx.request.content_type.as_deref()) {
            Ok(kind) => Some(kind),
            Err(refusal) => return refused(refusal),
        },
        _ => None,
    };
    if matches!(ctx.target.verb, "get" | "update" | "patch" | "delete")
        && let Err(refusal) = ctx.name()
    {
        return refused(refusal);
    }
    match ctx.negotiate(Endpoint::Object) {
        Ok(output) => Answered { output, answer: verb(ctx, patch) },
        Err(refusal) => refused(refusal),
    }
}
