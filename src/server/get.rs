//! GET of one object: `endpoints/handlers/get.go`.

use super::context::{Answer, Context};
use super::options;
use super::serving::{Serving, Version};
use super::status::Refusal;
use super::store;
use super::update::parse_revision;
use crate::field::{FieldError, FieldPath};
use crate::value::Value;
use std::sync::Arc;

/// Answers a GET of one object.
pub(super) fn get(ctx: &Context<'_>, serving: &Serving, version: &Version) -> Result<Answer, Refusal> {
    read(ctx, serving, version).map(|o| Answer::object(200, o))
}

/// The object of the URL.
pub(super) fn read(ctx: &Context<'_>, serving: &Serving, version: &Version) -> Result<Arc<Value>, Refusal> {
    let name = ctx.name()?;
    check_export(ctx)?;
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

/// `?export` is gone.
pub(super) fn check_export(ctx: &Context<'_>) -> Result<(), Refusal> {
    if ctx.query.first("export").is_some_and(options::boolean) {
        return Err(Refusal::bad_request("the export parameter, deprecated since v1.14, is no longer supported"));
    }
    Ok(())
}

/// A resourceVersion that is no number.
pub(super) fn invalid_revision(text: &str, why: &str) -> String {
    FieldError::invalid(&FieldPath::new("resourceVersion"), text, why).to_string()
}

/// A revision of the future does not come in time.
pub(super) fn check_not_ahead(ctx: &Context<'_>, wanted: u64) -> Result<(), Refusal> {
    let current = ctx.server.revision.current();
    if wanted > current { Err(Refusal::resource_version_too_large(wanted, current)) } else { Ok(()) }
}
