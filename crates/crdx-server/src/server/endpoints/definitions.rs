//! Requests for `/apis/apiextensions.k8s.io/v1/customresourcedefinitions`, as the router of typed kinds handles them.

use crate::server::endpoints::backend::Backend;
use crate::server::endpoints::reply::Reply;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Endpoint;
use crate::server::http::request::Method;
use crate::server::http::response::Response;
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::Verb;
use crate::server::registry::patch;
use crate::server::strategy::definition::{DefinitionStrategy, RESOURCE};

/// Handles a request for CRDs.
pub(super) fn handle(backend: &Backend, ctx: Context<'_>) -> Reply {
    let target = &ctx.target;
    let subresource = target.subresource.as_str();
    let known = target.version == "v1" && target.resource == RESOURCE.resource && target.namespace.is_empty();
    if known && target.verb == "watch" && subresource.is_empty() && ctx.request.method == Method::Get {
        return backend.registry(Box::new(DefinitionStrategy::new(&backend.resources, false))).watch(ctx).into();
    }
    if !known || !matches!(subresource, "" | "status") || target.name.is_empty() && !subresource.is_empty() {
        let text = "the server could not find the requested resource";
        return Reply::Whole(ctx.refuse(Refusal::unrouted(404, Reason::NotFound, text)));
    }
    Reply::Whole(respond(backend, ctx))
}

fn respond(backend: &Backend, mut ctx: Context<'_>) -> Response {
    let target = &ctx.target;
    let is_status = !target.subresource.is_empty();
    let named = !target.name.is_empty() && !matches!(target.verb, "list" | "watch");
    let verb = match ctx.request.method {
        Method::Get if named => Ok(Verb::Get),
        Method::Get => Ok(Verb::List),
        Method::Post if !named => Ok(Verb::Create),
        Method::Put if named => Ok(Verb::Update),
        Method::Patch if named => patch::definition_kind(ctx.request.content_type.as_deref()).map(Verb::Patch),
        Method::Delete if named && !is_status => Ok(Verb::Delete),
        Method::Delete if !is_status => Ok(Verb::DeleteCollection),
        // The router of typed kinds does not support HEAD.
        _ => return ctx.refuse(Refusal::method_not_allowed()),
    };
    let Ok(output) = ctx.negotiate(Endpoint::Object) else { return ctx.refuse(Refusal::no_representation()) };
    let registry = backend.registry(Box::new(DefinitionStrategy::new(&backend.resources, is_status)));
    let answer = verb.and_then(|verb| registry.answer(&mut ctx, verb));
    registry.respond(ctx, &output, answer)
}
