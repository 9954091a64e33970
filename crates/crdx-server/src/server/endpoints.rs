//! Chooses the strategy and the verb for a resource request (`endpoints/installer.go` for CRDs,
//! `apiserver/customresource_handler.go` for all other resources), after the checks common to all verbs.

pub(super) mod actions;
mod custom_resources;
mod definitions;
mod digest;
mod discovery;
mod health;
pub(super) mod non_resource;
pub(super) mod openapi;
pub(super) mod reviews;

use crate::crd;
use crate::server::Reply;
use crate::server::http::context::Context;

/// Handles a resource request.
pub(super) fn handle(ctx: Context<'_>) -> Reply {
    if ctx.target.group == crd::GROUP {
        definitions::handle(ctx)
    } else if reviews::serves(&ctx) {
        Reply::Whole(reviews::handle(ctx))
    } else {
        custom_resources::handle(ctx)
    }
}
