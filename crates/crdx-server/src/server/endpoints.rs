//! Chooses the strategy and the verb for a resource request (`endpoints/installer.go` for CRDs,
//! `apiserver/customresource_handler.go` for all other resources), after the checks common to all verbs.

mod actions;
pub(super) mod backend;
mod custom_resources;
mod definitions;
mod discovery;
mod health;
mod non_resource;
mod openapi;
pub(super) mod reply;
mod reviews;

use crate::crd;
use crate::server::http::context::Context;
use crate::server::http::response::Response;
use crate::server::http::route::RequestInfo;
use crate::server::http::user::UserInfo;
use actions::Issued;
use backend::Backend;
use crdx_value::time::Timestamp;
use openapi::Published;
use reply::Reply;
use std::collections::HashMap;

/// The handlers of requests.
#[derive(Debug)]
pub(super) struct Endpoints {
    pub backend: Backend,
    /// The users of tokens, for `TokenReview`; `None` if the server has no reviews.
    reviewed_tokens: Option<HashMap<String, UserInfo>>,
    /// The service account tokens that this server issued.
    issued: Issued,
    published: Published,
}

impl Endpoints {
    /// The endpoints of these resources. `reviewed_tokens` are the users that a `TokenReview` finds, `token_issuer` issues
    /// service account tokens.
    pub fn new(
        backend: Backend,
        reviewed_tokens: Option<HashMap<String, UserInfo>>,
        token_issuer: Option<String>,
    ) -> Self {
        Self { backend, reviewed_tokens, issued: Issued::new(token_issuer), published: Published::default() }
    }

    /// Handles a resource request.
    pub fn handle(&self, ctx: Context<'_>) -> Reply {
        if ctx.target.group == crd::GROUP {
            definitions::handle(&self.backend, ctx)
        } else if self.serves_review(&ctx.target) {
            Reply::Whole(reviews::handle(self, ctx))
        } else {
            custom_resources::handle(&self.backend, &self.issued, ctx)
        }
    }

    /// Handles a request for a path that is not that of a resource, given as its segments.
    pub(crate) fn handle_non_resource(&self, ctx: Context<'_>, parts: &[String]) -> Response {
        non_resource::handle(self, ctx, parts)
    }

    /// The answer to a request for the core group if the server does not serve this group.
    pub(crate) fn without_core_group(&self) -> Response {
        non_resource::index(404, self.backend.resources.settings.release)
    }

    /// Returns true if the server answers reviews and the target is in their groups.
    pub(crate) fn serves_review(&self, target: &RequestInfo) -> bool {
        self.reviewed_tokens.is_some() && reviews::has_group(&target.group)
    }

    /// The user whose service account token this is, if it is a token that this server issued and that is still valid.
    pub fn user_of_token(&self, token: &str, now: Timestamp) -> Option<UserInfo> {
        self.issued.user(&self.backend.resources, token, now)
    }
}
