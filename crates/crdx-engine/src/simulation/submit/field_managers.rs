//! Conflicts of a server-side apply with an old object whose field managers are not known, because `kubectl get` leaves
//! `managedFields` out.

use super::exchange::ExistingObject;
use crate::kubectl::Verb;
use crate::simulation::context::SimulationContext;
use crate::simulation::unsent::Unsent;
use crdx_server::server::{Response, ResponseBody};
use crdx_value::Value;

/// Returns true if the managers of the fields of an existing object are not known: a server wrote it, and the file does not say
/// who owns what.
pub fn are_unknown(context: SimulationContext<'_>, existing: &ExistingObject) -> bool {
    let updates = context.updates;
    match existing {
        ExistingObject::Stored(object) => {
            updates.request_kind.verb == Verb::ServerSide
                && updates.existing.is_given()
                && object.at(&["metadata", "managedFields"]).is_none()
        }
        ExistingObject::Manifest(_) => false,
    }
}

/// Returns true if the server refuses an apply because of the managers of fields.
pub fn is_conflict(response: &Response) -> bool {
    let ResponseBody::Json(status) = &response.body else { return false };
    let causes = status.at(&["details", "causes"]).and_then(Value::as_array).unwrap_or_default();
    causes.iter().any(|cause| cause.str_at(&["reason"]) == Some("FieldManagerConflict"))
}

/// The reason why it is not known whether an apply conflicts.
pub fn unknown() -> Unsent {
    let help = "export the old object with `kubectl get -o yaml --show-managed-fields`, or give --force-conflicts";
    let message =
        "a field would change, and the old object has no managedFields, which say whether another manager owns it";
    Unsent::from(message.to_owned()).with_help(Some(help.to_owned()))
}
