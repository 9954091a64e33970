//! Discovery: `/api`, `/apis`, `/apis/GROUP` and `/apis/GROUP/VERSION`
//! (`apiserver/customresource_discovery_controller.go`, `endpoints/discovery`).

mod aggregated;
mod groups;
mod legacy;

use super::Endpoints;
use crate::crd;
use crate::server::http::answer::Answer;
use crate::server::http::context::Context;
use crate::server::http::negotiate::{self, Endpoint, Output};
use crate::server::http::page::not_found_page;
use crate::server::http::request::Method;
use crate::server::http::response::Response;
use crate::server::http::status::{Reason, Refusal};
use crdx_value::Value;
use groups::{Group, groups};
use std::sync::Arc;

/// Handles `/apis`.
pub(super) fn of_groups(endpoints: &Endpoints, ctx: Context<'_>) -> Response {
    let groups = groups(&endpoints.backend.resources, endpoints.reviewed_tokens.is_some());
    match ctx.negotiate(Endpoint::Groups) {
        Ok(output) if output.convert.is_some() => aggregated::respond(ctx, &output, &groups),
        Ok(output) => respond(ctx, &output, legacy::group_list(&groups)),
        Err(refusal) => ctx.refuse(refusal),
    }
}

/// Handles `/api`.
pub(super) fn of_core(endpoints: &Endpoints, ctx: Context<'_>) -> Response {
    let core = groups::core(&endpoints.backend.resources);
    match ctx.negotiate(Endpoint::Groups) {
        Ok(output) if output.convert.is_some() => aggregated::respond(ctx, &output, core.as_slice()),
        Ok(output) => respond(ctx, &output, legacy::core_versions(core.as_ref())),
        Err(refusal) => ctx.refuse(refusal),
    }
}

/// Handles `/api/VERSION`; `None` if the version does not exist.
pub(super) fn of_core_version(endpoints: &Endpoints, ctx: Context<'_>, version: &str) -> Option<Response> {
    let core = groups::core(&endpoints.backend.resources)?;
    let found = core.versions.iter().find(|v| v.name == version)?;
    Some(answer(ctx, "", Some(legacy::resource_list("", found))))
}

/// Handles `/apis/GROUP`.
pub(super) fn of_group(endpoints: &Endpoints, ctx: Context<'_>, group: &str) -> Response {
    let found =
        groups(&endpoints.backend.resources, endpoints.reviewed_tokens.is_some()).into_iter().find(|g| g.name == group);
    answer(ctx, group, found.map(|g| legacy::group(&g, true)))
}

/// Handles `/apis/GROUP/VERSION`.
pub(super) fn of_version(endpoints: &Endpoints, ctx: Context<'_>, group: &str, version: &str) -> Response {
    let groups = groups(&endpoints.backend.resources, endpoints.reviewed_tokens.is_some());
    let found =
        groups.iter().find(|g| g.name == group).and_then(|g: &Group| g.versions.iter().find(|v| v.name == version));
    answer(ctx, group, found.map(|v| legacy::resource_list(group, v)))
}

/// Writes a discovery document. The group apiextensions.k8s.io has a different handler than the groups of custom
/// resources, with different error responses.
fn answer(ctx: Context<'_>, group: &str, document: Option<Value>) -> Response {
    let own = group == crd::GROUP;
    let Some(document) = document else {
        let text = "the server could not find the requested resource";
        return if own { ctx.refuse(Refusal::unrouted(404, Reason::NotFound, text)) } else { not_found_page() };
    };
    if own && ctx.request.method != Method::Get {
        return ctx.refuse(Refusal::method_not_allowed());
    }
    match ctx.negotiate(Endpoint::Plain) {
        Ok(output) => respond(ctx, &output, document),
        Err(_) if own && !negotiate::supports_any(ctx.request.accept.as_deref()) => {
            ctx.refuse(Refusal::no_representation())
        }
        Err(refusal) => ctx.refuse(refusal),
    }
}

fn respond(ctx: Context<'_>, output: &Output, document: Value) -> Response {
    ctx.respond(output, None, Ok(Answer::object(200, Arc::new(document))))
}
