//! Requests for custom resources: chooses the CRD, version, subresource and verb
//! (`apiserver/customresource_handler.go`).

use super::actions::{self, Issued};
use crate::server::endpoints::backend::Backend;
use crate::server::endpoints::reply::Reply;
use crate::server::http::context::Context;
use crate::server::http::negotiate::Endpoint;
use crate::server::http::page::not_found_page;
use crate::server::http::request::Method;
use crate::server::http::route::RequestInfo;
use crate::server::http::status::{Reason, Refusal};
use crate::server::registry::Verb;
use crate::server::registry::patch;
use crate::server::registry::strategy::Strategy;
use crate::server::scope::GroupResource;
use crate::server::strategy::custom_resource::CustomResource;
use crate::server::strategy::scale::ScaleOf;
use crate::server::strategy::serving::{Serving, Version};
use crate::server::strategy::subresource::Subresource;
use crate::server::strategy::typed_resource::TypedResource;
use crdx_types::groups;
use crdx_value::Value;
use std::sync::Arc;

/// Handles a request for a custom resource.
pub(super) fn handle(backend: &Backend, issued: &Issued, mut ctx: Context<'_>) -> Reply {
    let is_watch = ctx.target.verb == "watch"
        && ctx.target.subresource.is_empty()
        && matches!(ctx.request.method, Method::Get | Method::Head);
    if let Some((action, changed)) = actions::find_resource(&ctx)
        && let Some(serving) = backend.resources.get(changed).filter(|serving| !serving.typed.is_empty())
        && let Some(version) = serving.storage().cloned()
        && let Some(resource) = TypedResource::new(serving, version, Subresource::None, &ctx, &backend.resources)
    {
        return actions::handle(backend, issued, ctx, resource, action);
    }
    let Some((serving, version)) = find(backend, &ctx) else {
        if ctx.target.group.is_empty() && !is_watch {
            let text = "the server could not find the requested resource";
            return Reply::Whole(ctx.refuse(Refusal::unrouted(404, Reason::NotFound, text)));
        }
        return Reply::Whole(not_found_page());
    };
    if serving.unservable {
        return Reply::Whole(ctx.refuse(Refusal::internal("error resolving resource")));
    }
    if let Some(warning) = &version.deprecation {
        ctx.warn(warning.as_str());
    }
    if !serving.typed.is_empty() {
        return typed(backend, issued, ctx, (&serving, &version), is_watch);
    }
    let resource = CustomResource {
        serving,
        version,
        resources: Arc::clone(&backend.resources),
        subresource: Subresource::None,
        calls: ctx.calls.clone(),
    };
    if is_watch {
        return backend.registry(Box::new(resource)).watch(ctx).into();
    }
    match ctx.target.subresource.as_str() {
        "" if !resource.serving.built_in.deletes_collections() => {
            respond(backend, ctx, Box::new(resource), &NAMESPACE_VERBS)
        }
        "" => respond(backend, ctx, Box::new(resource), &OBJECT_VERBS),
        "status" if resource.version.has_status() => respond(
            backend,
            ctx,
            Box::new(CustomResource { subresource: Subresource::Status, ..resource }),
            &SUBRESOURCE_VERBS,
        ),
        "finalize" if resource.serving.built_in.has_finalizers() => respond(
            backend,
            ctx,
            Box::new(CustomResource { subresource: Subresource::Finalize, ..resource }),
            &["update"],
        ),
        "scale" if let Some(scale) = ScaleOf::new(resource) => {
            respond(backend, ctx, Box::new(scale), &SUBRESOURCE_VERBS)
        }
        _ => {
            let refusal = Refusal::not_found(named(&ctx), &ctx.target.name);
            Reply::Whole(ctx.refuse(refusal))
        }
    }
}

/// Handles a request for a built-in kind that is served with its Go type.
fn typed(
    backend: &Backend,
    issued: &Issued,
    ctx: Context<'_>,
    (serving, version): (&Arc<Serving>, &Arc<Version>),
    is_watch: bool,
) -> Reply {
    let mut all = version.has_status().then_some(Subresource::Status).into_iter().chain(serving.subresources());
    let found = all.find(|subresource| subresource.name() == ctx.target.subresource);
    let subresource = found.unwrap_or(Subresource::None);
    let resource = TypedResource::new(Arc::clone(serving), Arc::clone(version), subresource, &ctx, &backend.resources);
    let Some(resource) = resource else { return Reply::Whole(not_found_page()) };
    if is_watch {
        return backend.registry(Box::new(resource)).watch(ctx).into();
    }
    match ctx.target.subresource.as_str() {
        "" => respond(backend, ctx, Box::new(resource), &OBJECT_VERBS),
        "scale" if version.scale().is_some() => match ScaleOf::new(resource) {
            Some(scale) => respond(backend, ctx, Box::new(scale), &SUBRESOURCE_VERBS),
            None => Reply::Whole(not_found_page()),
        },
        _ if found.is_some() => respond(backend, ctx, Box::new(resource), &SUBRESOURCE_VERBS),
        _ if let Some(action) = actions::find(&ctx) => actions::handle(backend, issued, ctx, resource, action),
        _ => {
            let text = "the server could not find the requested resource";
            Reply::Whole(ctx.refuse(Refusal::unrouted(404, Reason::NotFound, text)))
        }
    }
}

const OBJECT_VERBS: [&str; 7] = ["get", "list", "create", "update", "patch", "delete", "deletecollection"];
const NAMESPACE_VERBS: [&str; 6] = ["get", "list", "create", "update", "patch", "delete"];
const SUBRESOURCE_VERBS: [&str; 3] = ["get", "update", "patch"];

/// The group and resource of the URL.
fn named<'c>(ctx: &'c Context<'_>) -> GroupResource<'c> {
    GroupResource { group: &ctx.target.group, resource: &ctx.target.resource }
}

/// The compiled CRD and version for the request, if both are served.
fn find(backend: &Backend, ctx: &Context<'_>) -> Option<(Arc<Serving>, Arc<Version>)> {
    let target = &ctx.target;
    let serving = backend.resources.get(&[&target.resource, ".", &target.group].concat())?;
    let in_namespace = !target.namespace.is_empty();
    let fits = serving.namespaced == in_namespace || serving.namespaced && matches!(target.verb, "list" | "watch");
    let version = Arc::clone(serving.version(&target.version)?);
    (fits && version.served && serving.is_served()).then_some((serving, version))
}

/// Returns true if the path of a verb with a body has a name, or none for a new object.
fn is_routed(target: &RequestInfo) -> bool {
    match target.verb {
        "create" => target.name.is_empty(),
        "update" | "patch" => !target.name.is_empty(),
        _ => true,
    }
}

/// Runs the checks that precede every verb, in the server's order: verb, patch type, name, output format.
fn respond(
    backend: &Backend,
    mut ctx: Context<'_>,
    strategy: Box<dyn Strategy<Object = Value>>,
    verbs: &[&str],
) -> Reply {
    let is_own_kind = strategy.accepts_strategic_merge();
    let patch_kind = if is_own_kind { patch::typed_kind } else { patch::kind };
    let endpoint = if strategy.has_table() { Endpoint::Object } else { Endpoint::Untabled };
    let registry = backend.registry(strategy);
    let verb = match ctx.target.verb {
        // The router knows the methods of the paths of the server's own kinds.
        verb if is_own_kind && !(verbs.contains(&verb) && is_routed(&ctx.target)) => {
            return Reply::Whole(ctx.refuse(Refusal::method_not_allowed()));
        }
        verb if !verbs.contains(&verb) => {
            // The router of kube-apiserver answers for the resources that it serves itself.
            let refusal = if groups::is_built_in(&ctx.target.group) {
                Refusal::method_not_allowed()
            } else {
                Refusal::method_not_supported(named(&ctx), verb)
            };
            return Reply::Whole(ctx.refuse(refusal));
        }
        "get" => Ok(Verb::Get),
        "list" => Ok(Verb::List),
        "create" => Ok(Verb::Create),
        "update" => Ok(Verb::Update),
        "delete" => Ok(Verb::Delete),
        "deletecollection" => Ok(Verb::DeleteCollection),
        _ => patch_kind(ctx.request.content_type.as_deref()).map(Verb::Patch),
    };
    let checked = verb.and_then(|verb| {
        if matches!(verb, Verb::Get | Verb::Update | Verb::Patch(_) | Verb::Delete) {
            ctx.name()?;
        }
        Ok((verb, ctx.negotiate(endpoint)?))
    });
    match checked {
        Ok((verb, output)) => {
            let answer = registry.answer(&mut ctx, verb);
            match ctx.take_paused() {
                Some(paused) => Reply::Paused(paused),
                None => Reply::Whole(registry.respond(ctx, &output, answer)),
            }
        }
        Err(refusal) => Reply::Whole(ctx.refuse(refusal)),
    }
}
