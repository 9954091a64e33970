//! A server-side apply to an old object whose field managers are not known, because `kubectl get` leaves `managedFields` out.
//!
//! The API server assigns such fields to the manager `before-first-apply`. But the object of the cluster has managers. If
//! another manager owns a field whose value changes, the apply conflicts; and fields that the new object leaves out are removed if
//! the same manager applied them before. Both extremes are simulated: the manager applied nothing before, or everything that
//! [`applied_before`] returns.

use super::applied_before::applied_before;
use super::exchange::ExistingObject;
use crate::kubectl::request::RequestOptions;
use crate::kubectl::send::{self, ObjectTarget, Sender};
use crate::kubectl::written_metadata::without_written_metadata;
use crate::kubectl::{Operation, RequestKind, Verb};
use crate::report::severity::UNKNOWN_FIELD_MANAGERS;
use crate::report::{Diagnostic, Difference, ObjectReport};
use crate::simulation::context::SimulationContext;
use crate::simulation::identity::FieldLocator;
use crate::simulation::unsent::Unsent;
use crdx_server::server::{Request, Response, ResponseBody, Server};
use crdx_value::Value;

/// The number of fields that a message names.
const MAX_FIELDS: usize = 5;
/// The help for the verdict and for fields.
const EXPORT: &str = "export the old object with `kubectl get -o yaml --show-managed-fields`";

/// Returns true if the managers of the fields of an existing object are not known: a server wrote it, and the file does not say
/// who owns what.
pub fn are_unknown(context: SimulationContext<'_>, existing: &ExistingObject) -> bool {
    let updates = context.updates;
    match existing {
        ExistingObject::Stored(object) => {
            updates.request_kind.verb == Verb::ServerSide && updates.existing.is_given() && lacks_managers(object)
        }
        ExistingObject::Manifest(_) => false,
    }
}

/// Returns true if an object does not say who manages its fields.
pub fn lacks_managers(object: &Value) -> bool {
    object.at(&["metadata", "managedFields"]).is_none_or(Value::is_null)
}

/// Returns true if the server refuses an apply because of the managers of fields.
pub fn is_conflict(response: &Response) -> bool {
    let ResponseBody::Json(status) = &response.body else { return false };
    let causes = status.at(&["details", "causes"]).and_then(Value::as_array).unwrap_or_default();
    causes.iter().any(|cause| cause.str_at(&["reason"]) == Some("FieldManagerConflict"))
}

/// The reason why it is not known whether an apply conflicts.
pub fn unknown() -> Unsent {
    let message =
        "a field would change, and the old object has no managedFields, which say whether another manager owns it";
    Unsent::from(message.to_owned()).with_help(Some(format!("{EXPORT}, or give --force-conflicts")))
}

/// Sends requests of a manager that applied the fields of the existing object before.
#[derive(Debug)]
struct EarlierApplier<'a>(Option<&'a dyn Sender>);

impl Sender for EarlierApplier<'_> {
    fn send(&self, server: &Server, mut request: Request) -> Response {
        request.applied_before = Some(applied_before);
        request.hides_dry_run = true;
        match self.0 {
            Some(sender) => sender.send(server, request),
            None => server.handle_owned(request),
        }
    }
}

/// Returns the response if the manager applied the fields of the existing object before. Nothing is stored. `None` if kubectl would
/// send no request.
pub fn response_if_applied_before(
    server: &Server,
    target: ObjectTarget<'_>,
    object: Value,
    request_kind: &RequestKind,
    options: RequestOptions,
) -> Option<Response> {
    let sender = EarlierApplier(target.sender);
    let target = ObjectTarget { sender: Some(&sender), ..target };
    let options = RequestOptions { dry_run: true, table: false, ..options };
    send::send(server, target, object, request_kind, options).ok().map(|outcome| outcome.response)
}

/// A part of the result that depends on the managers of fields.
pub enum UnknownOutcome {
    /// The server rejects the object, with this message, if the fields are removed.
    RejectedWithout(String),
    /// The server rejects the object, with this message, if the fields are kept.
    RejectedWith(String),
    /// These fields and items are kept or removed.
    Fields(Vec<String>),
}

impl UnknownOutcome {
    /// Compares the answer to an apply with the one to a manager that applied the fields before. `None` if nothing depends on the managers.
    pub fn between(answer: &Response, if_applied: &Response) -> Option<Self> {
        let (ResponseBody::Json(kept), ResponseBody::Json(removed)) = (&answer.body, &if_applied.body) else {
            return None;
        };
        let message = |status: &Value| shortened(status.str_at(&["message"]).unwrap_or_default());
        match (answer.code < 300, if_applied.code < 300) {
            (true, true) => removed_fields(kept, removed),
            (true, false) => Some(Self::RejectedWithout(message(removed))),
            (false, true) => Some(Self::RejectedWith(message(kept))),
            (false, false) => None,
        }
    }

    /// Adds what is not known to the item of the answer.
    pub fn report(
        self,
        mut item: ObjectReport,
        request_kind: &RequestKind,
        locator: &dyn FieldLocator,
    ) -> ObjectReport {
        let manager = request_kind.field_manager(Operation::ServerSideApply);
        let unknown =
            format!("the old object has no managedFields, so it is unknown which fields {manager:?} applied before");
        let cannot_tell = |reason: String, item: ObjectReport| {
            Unsent::from(format!("{unknown}: {reason}")).with_help(Some(EXPORT.to_owned())).item(item.identity, locator)
        };
        match self {
            Self::RejectedWithout(message) => {
                let reason = format!(
                    "if it applied those that are left out now, they are removed, and the server rejects the object: {message}"
                );
                cannot_tell(reason, item)
            }
            Self::RejectedWith(message) => {
                let reason = format!(
                    "if it did not apply those that are left out now, they are kept, and the server rejects the object: {message}"
                );
                cannot_tell(reason, item)
            }
            Self::Fields(paths) => {
                let fields = named(&paths);
                item.warnings.push(Diagnostic {
                    kind: UNKNOWN_FIELD_MANAGERS.to_owned(),
                    message: format!(
                        "{unknown}. If it applied these, the server removes or resets them; here they are kept: {fields}"
                    ),
                    location: Some(item.location.clone()),
                    help: Some(EXPORT.to_owned()),
                    ..Diagnostic::default()
                });
                item
            }
        }
    }
}

/// The number of characters of a message that are shown.
const MAX_MESSAGE: usize = 200;

/// Returns the beginning of the first line of a message: some have the whole object.
fn shortened(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    match line.char_indices().nth(MAX_MESSAGE) {
        Some((end, _)) => format!("{}...", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}

/// Compares the objects after both requests.
fn removed_fields(kept: &Value, removed: &Value) -> Option<UnknownOutcome> {
    let [kept, removed] = [kept, removed].map(|object| without_written_metadata(object.clone()));
    let Difference { lost, changed, .. } = Difference::between(&kept, &removed, &Value::Null);
    let changed = changed.into_iter().map(|(path, kept, _)| match kept {
        Value::Array(_) => format!("{path} (items)"),
        _ => path,
    });
    let mut paths: Vec<String> = lost.into_iter().map(|(path, _)| path).chain(changed).collect();
    paths.sort();
    (!paths.is_empty()).then_some(UnknownOutcome::Fields(paths))
}

/// Formats `spec.a, spec.b and 2 more`.
fn named(paths: &[String]) -> String {
    let named = paths.get(..MAX_FIELDS).unwrap_or(paths).join(", ");
    match paths.len().saturating_sub(MAX_FIELDS) {
        0 => named,
        rest => format!("{named} and {rest} more"),
    }
}
