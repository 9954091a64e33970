//! GET of one object: `endpoints/handlers/get.go`.

use crate::server::http::context::{Answer, Context};
use crate::server::http::options::check_export;
use crate::server::http::status::Refusal;
use crate::server::registry::revision::parse_revision;
use crate::server::registry::revision::{check_not_ahead, invalid_revision};
use crate::server::registry::serving::{Serving, Version};
use crate::server::registry::store;
use crate::value::Value;
use std::sync::Arc;

/// Answers a GET of one object.
pub(in crate::server) fn get(ctx: &Context<'_>, serving: &Serving, version: &Version) -> Result<Answer, Refusal> {
    read(ctx, serving, version).map(|o| Answer::object(200, o))
}

/// The object of the URL.
pub(in crate::server) fn read(ctx: &Context<'_>, serving: &Serving, version: &Version) -> Result<Arc<Value>, Refusal> {
    let name = ctx.name()?;
    check_export(&ctx.query)?;
    let key = store::checked_key(&ctx.target.namespace, &name)?;
    if let Some(text) = ctx.query.first("resourceVersion") {
        let wanted = parse_revision(text).map_err(|e| Refusal::unclassified(invalid_revision(text, &e)))?;
        check_not_ahead(ctx, wanted)?;
    }
    match serving.objects.get(&key) {
        Some(stored) => serving.read(&stored, version),
        None => Err(Refusal::not_found(serving.resource(), &name)),
    }
}
