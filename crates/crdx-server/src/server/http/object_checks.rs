//! Checks of every decoded object: namespace, name and duplicate owner references.

use crate::server::http::context::Context;
use crate::server::http::status::Refusal;
use crate::server::metadata;
use crate::server::metadata::{HasMetadata, Object};

/// `EnsureObjectNamespaceMatchesRequestNamespace`
pub(in crate::server) fn match_namespace(object: &mut impl Object, namespace: &str) -> Result<(), Refusal> {
    let have = metadata::text(object, "namespace");
    if have == namespace {
        return Ok(());
    }
    if have.is_empty() || namespace.is_empty() {
        metadata::set_text(object, "namespace", namespace);
        return Ok(());
    }
    Err(Refusal::bad_request("the namespace of the provided object does not match the namespace sent on the request"))
}

/// `checkName`
pub(in crate::server) fn check_name(object: &impl HasMetadata, name: &str) -> Result<(), Refusal> {
    let have = metadata::text(object, "name");
    if have.is_empty() {
        return Err(Refusal::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    if have != name {
        return Err(Refusal::bad_request(format!(
            "the name of the object ({have}) does not match the name on the URL ({name})"
        )));
    }
    Ok(())
}

/// Removes duplicate owner references and adds a warning.
pub(in crate::server) fn dedup_owners(ctx: &mut Context<'_>, object: &mut impl Object, after_admission: bool) {
    let duplicates = metadata::dedup_owner_references(object);
    if !duplicates.is_empty() {
        let when = if after_admission { " after mutating admission happens" } else { "" };
        ctx.warn(format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {}",
            duplicates.join(", ")
        ));
    }
}
