//! Creates of `kubectl apply` without the last-applied annotation, for answers that do not show it.

use super::create_or_update::{Operation, RequestKind};
use super::request::{self, RequestOptions};
use super::send::ObjectTarget;
use crdx_server::apply::client_side;
use crdx_server::server::Request;
use crdx_types::encode::Encoded;
use crdx_value::Value;

/// The length in JSON up to which [`create_unannotated`] sends an object: with the annotation, it would be far below the
/// limits of the server.
pub const SHORT: usize = 64 << 10;

/// The create of `kubectl apply` for an object of at most [`SHORT`] bytes, without the last-applied annotation, which
/// takes half as long to write as the object takes to read. For answers that do not show the annotation.
pub(crate) fn create_unannotated(
    target: ObjectTarget<'_>,
    object: Value,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Request {
    let object = client_side::to_create_unannotated(object);
    let by = request_kind.field_manager(Operation::CreateByApply);
    request::create_short_by(target.collection, object, by, request_options)
}

/// Like [`create_unannotated`], for an object without nulls that is encoded as its Go type does it.
pub(crate) fn create_encoded(
    target: ObjectTarget<'_>,
    Encoded { mut object, mut empties, .. }: Encoded,
    request_kind: &RequestKind,
    request_options: RequestOptions,
) -> Request {
    client_side::remove_last_applied(&mut object);
    // With the annotation they would not be empty.
    if let Some(empties) = &mut empties {
        empties.clear(&["metadata", "annotations"]);
    }
    let by = request_kind.field_manager(Operation::CreateByApply);
    let request = request::create_short_by(target.collection, object, by, request_options);
    Request { is_encoded: true, empties, ..request }
}
