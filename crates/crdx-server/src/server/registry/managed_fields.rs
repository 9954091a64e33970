//! `metadata.managedFields`: field ownership after a write (`endpoints/handlers/fieldmanager`).

use crate::apply::field_manager::{self, FieldManager};
use crate::apply::identity::{conflict_message, manager_text};
use crate::apply::path::path_text;
use crate::apply::updater::Conflict;
use crate::server::http::context::Context;
use crate::server::http::object_notes::ObjectNotes;
use crate::server::http::options::WriteOptions;
use crate::server::http::status::{Cause, Details, Refusal};
use crate::server::metadata::{self, Object};
use crate::server::registry::Registry;
use crate::server::registry::strategy::Strategy;
use crdx_value::group_version::api_version;
use crdx_value::release::Release;
use crdx_value::{Map, Value, unicode};
use std::cell::{Cell, RefCell};

impl<S: Strategy + ?Sized> Registry<'_, S> {
    /// Sets the managedFields of an object that is created, or that replaces `live`.
    pub(crate) fn update_managed_fields(
        &self,
        ctx: &Context<'_>,
        live: Option<&Value>,
        object: &mut S::Object,
        options: &WriteOptions,
    ) {
        if !self.storage.tracks_fields {
            metadata::set(object, FIELD, None);
            return;
        }
        let (strategy, manager) = (&*self.strategy, manager(options, ctx.request.user_agent.as_deref()));
        with_manager(strategy, (&ctx.now(), ctx.release()), |fields| {
            let live = live.unwrap_or(fields.empty_object);
            if let Some(mut seen) = strategy.managed_form(object, &ctx.notes) {
                fields.update(live, &mut seen, &manager);
                metadata::set(object, FIELD, metadata::get(&seen, FIELD).cloned());
            } else if let Some(object) = object.as_value_mut() {
                fields.update(live, object, &manager);
            }
        });
    }
}

/// Applies `patch` to `live`, or creates the object if `live` is `None`.
pub(in crate::server) fn apply<S: Strategy + ?Sized>(
    strategy: &S,
    ctx: &mut Context<'_>,
    live: Option<&Value>,
    patch: &Value,
    options: &WriteOptions,
) -> Result<Value, Refusal> {
    let spent = Cell::new(None);
    let notes = RefCell::new(ObjectNotes::default());
    let applied = with_manager(strategy, (&ctx.now(), ctx.release()), |fields| {
        let force = options.force.unwrap_or_default();
        let default = |object: &mut Value, merged: &Value| {
            spent.set(spent.get().or(strategy.default_applied(object, merged, &mut notes.borrow_mut()).err()));
        };
        let fields = FieldManager { applied_before: ctx.request.applied_before, ..*fields };
        fields.apply(live.unwrap_or(fields.empty_object), patch, &options.field_manager, force, &default)
    });
    ctx.notes = notes.into_inner();
    spent.get().map_or(Ok(()), Err)?;
    if matches!(applied, Err(field_manager::ApplyRefusal::Internal(_))) {
        let of_patch = |fields: &FieldManager<'_>| fields.type_errors(patch, false).unwrap_or_default();
        ctx.trace.type_errors = with_manager(strategy, (&ctx.now(), ctx.release()), of_patch);
    }
    applied.map_err(refused)
}

/// Runs the field manager of a resource with a timestamp (RFC 3339) and a release.
pub(in crate::server) fn with_manager<S: Strategy + ?Sized, T>(
    strategy: &S,
    (now, release): (&str, Release),
    act: impl FnOnce(&FieldManager<'_>) -> T,
) -> T {
    let scope = strategy.scope();
    let (api_version, empty_object) = (api_version(scope.kind.group, scope.kind.version), strategy.empty_object());
    act(&FieldManager {
        versions: &strategy,
        api_version: &api_version,
        kind: scope.kind.kind,
        subresource: scope.subresource,
        empty_object: &empty_object,
        now,
        release,
        applied_before: None,
    })
}

/// The field manager name: from the options, or derived from the user agent.
pub(in crate::server) fn manager(options: &WriteOptions, user_agent: Option<&str>) -> String {
    const MAX_BYTES: usize = 128;
    if !options.field_manager.is_empty() {
        return options.field_manager.clone();
    }
    let product = user_agent.unwrap_or_default().split('/').next().unwrap_or_default();
    let mut out = String::new();
    for c in product.chars().filter(|c| unicode::is_print(*c)) {
        if out.len() + c.len_utf8() > MAX_BYTES {
            break;
        }
        out.push(c);
    }
    out
}

/// Converts the refusal of an apply to an error response.
fn refused(refusal: field_manager::ApplyRefusal) -> Refusal {
    match refusal {
        field_manager::ApplyRefusal::Conflicts(conflicts) => conflict(&conflicts),
        field_manager::ApplyRefusal::BadRequest(text) => Refusal::bad_request(text),
        field_manager::ApplyRefusal::Internal(text) => Refusal::unclassified(text),
    }
}

/// `NewApplyConflict`
fn conflict(conflicts: &[Conflict]) -> Refusal {
    let causes = conflicts.iter().map(|conflict| Cause {
        reason: "FieldManagerConflict".to_owned(),
        message: format!("conflict with {}", manager_text(&conflict.manager)),
        field: path_text(&conflict.path),
    });
    let details = Details { causes: causes.collect(), ..Details::default() };
    Refusal::apply_conflict(conflict_message(conflicts), details)
}

/// Restores the previous timestamps of managedFields if nothing else changed, so that the write is a no-op
/// (`equality.go`).
pub(in crate::server) fn keep_times(object: &mut Value, existing: &Value) {
    let (Some(new), Some(old)) = (entries(object), entries(existing)) else { return };
    if new.is_empty() || new == old || !same_but_times(new, old) {
        return;
    }
    let old = Value::Array(old.to_vec());
    let new = metadata::get(object, FIELD).cloned();
    metadata::set(object, FIELD, Some(old));
    if object != existing {
        metadata::set(object, FIELD, new);
    }
}

/// The name of the member of `metadata`.
pub(in crate::server) const FIELD: &str = "managedFields";

fn entries(object: &Value) -> Option<&[Value]> {
    metadata::get(object, FIELD).and_then(Value::as_array)
}

fn same_but_times(a: &[Value], b: &[Value]) -> bool {
    fn rest(entry: &Value) -> impl Iterator<Item = (&String, &Value)> {
        entry.as_object().into_iter().flat_map(Map::iter).filter(|(key, _)| *key != "time")
    }
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| rest(a).eq(rest(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_value::object;

    #[test]
    fn managers_are_named_by_the_user_agent() {
        let options = WriteOptions::default();
        assert_eq!(manager(&options, Some("kubectl/v1.37 (linux)")), "kubectl");
        assert_eq!(manager(&options, Some("a\u{7}b")), "ab");
        assert_eq!(manager(&options, Some(&"é".repeat(100))).len(), 128);
        let options = WriteOptions { field_manager: "me".to_owned(), ..options };
        assert_eq!(manager(&options, Some("x")), "me");
    }

    #[test]
    fn a_change_of_timestamps_alone_is_no_change() {
        let with = |time: &str, label: &str| {
            let entry = object([("manager", "m"), ("time", time)]);
            let metadata = object([(FIELD, Value::Array(vec![entry])), ("name", Value::from(label))]);
            object([("metadata", metadata)])
        };
        let mut same = with("2", "a");
        keep_times(&mut same, &with("1", "a"));
        assert_eq!(same, with("1", "a"));
        let mut other = with("2", "b");
        keep_times(&mut other, &with("1", "a"));
        assert_eq!(other, with("2", "b"));
    }
}
