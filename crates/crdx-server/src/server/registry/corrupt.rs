//! Stored objects that cannot be decoded, as a read reports them (`storage/etcd3/corrupt_obj_deleter.go`). Only a conversion
//! webhook that fails makes one.

use crate::server::http::status::{Cause, Details, Reason, Refusal};
use crate::server::registry::rest::dry_key;
use crate::server::scope::GroupResource;

/// The refusal of a read of the object at `key` (`corruptObjectDeleter.Get`); other refusals stay as they are.
pub(super) fn of_object(refusal: Refusal, resource: GroupResource<'_>, key: &str) -> Refusal {
    if refusal.reason == Reason::Undecodable {
        Refusal::internal(storage_error(&dry_key(resource, key), &refusal.message))
    } else {
        refusal
    }
}

/// The refusal of a list with these objects (`aggregatedStorageError.NewAPIStatusError`), by their keys as messages show
/// them; `None` without such objects.
pub(super) fn of_list(refusals: &[(String, Refusal)], resource: GroupResource<'_>) -> Option<Refusal> {
    let cause = |(key, refusal): &(String, Refusal)| {
        let field = key.clone();
        let message = storage_error(&field, &refusal.message);
        Cause { reason: "UnexpectedServerResponse".to_owned(), message, field }
    };
    let causes: Vec<Cause> = refusals.iter().map(cause).collect();
    let first = &causes.first()?.message;
    let more = if causes.len() > 1 { format!(" (and {} more)", causes.len() - 1) } else { String::new() };
    let message = format!("failed to read one or more {resource} from the storage: {first}{more}");
    let details = Details {
        name: "list".to_owned(),
        group: resource.group.to_owned(),
        kind: resource.resource.to_owned(),
        causes,
        ..Details::default()
    };
    Some(Refusal { details: Some(Box::new(details)), ..Refusal::unrouted(500, Reason::StorageReadError, message) })
}

fn storage_error(key: &str, reason: &str) -> String {
    format!("StorageError: corrupt object, Code: 7, Key: {key}, ResourceVersion: 0, AdditionalErrorMsg: {reason}")
}
