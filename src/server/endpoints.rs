//! Which strategy and which verb answer a request for a resource (`endpoints/installer.go` for definitions,
//! `apiserver/customresource_handler.go` for all other resources), and what is checked before any verb.

mod custom_resources;
mod definitions;

use crate::crd;
use crate::server::Reply;
use crate::server::http::context::Context;

/// Answers a request for a resource.
pub(super) fn handle(ctx: Context<'_>) -> Reply {
    if ctx.target.group == crd::GROUP { definitions::handle(ctx) } else { custom_resources::handle(ctx) }
}
