//! Chooses the strategy and the verb for a request to a resource (`endpoints/installer.go` for definitions,
//! `apiserver/customresource_handler.go` for all other resources), after the checks that all verbs share.

mod custom_resources;
mod definitions;

use crate::crd;
use crate::server::Reply;
use crate::server::http::context::Context;

/// Handles a request for a resource.
pub(super) fn handle(ctx: Context<'_>) -> Reply {
    if ctx.target.group == crd::GROUP { definitions::handle(ctx) } else { custom_resources::handle(ctx) }
}
