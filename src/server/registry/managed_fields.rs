//! `metadata.managedFields` of custom resources: who owns which field after a write (the field managers that
//! `apiserver/customresource_handler.go` gives its scopes; `endpoints/handlers/fieldmanager`).
//!
//! Surprising: conversion does not prune here. Where an owner's version does not know a field of the object, ownership
//! cannot be worked out: a write then leaves managedFields as they were, an apply is a 500.

use crate::apply::field_manager::{self, FieldManager};
use crate::apply::identity::{conflict_message, manager_text};
use crate::apply::managed::Managed;
use crate::apply::path::path_text;
use crate::apply::scale;
use crate::apply::set::Set;
use crate::apply::types::{self, Type};
use crate::apply::updater::{Conflict, Versions};
use crate::pipeline;
use crate::server::http::body::parse_group_version;
use crate::server::http::context::Context;
use crate::server::http::options::WriteOptions;
use crate::server::http::status::{Cause, Details, Refusal};
use crate::server::registry::metadata;
use crate::server::registry::serving::{Serving, Version};
use crate::value::{Map, Value, unicode};
use std::sync::LazyLock;

/// `apiVersion` and `kind` of Scale.
const SCALE: (&str, &str) = ("autoscaling/v1", "Scale");

/// What of an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Subresource {
    /// The object.
    None,
    /// `/status`
    Status,
    /// `/scale`
    Scale,
}

impl Subresource {
    /// The last part of the URL; empty for the object itself.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Status => "status",
            Self::Scale => "scale",
        }
    }
}

/// Works out the owners of what is written through one endpoint.
pub(in crate::server) struct Ownership<'a> {
    /// The resource.
    pub serving: &'a Serving,
    /// The version of the request.
    pub version: &'a Version,
    /// The subresource of the request.
    pub subresource: Subresource,
}

impl Ownership<'_> {
    /// Settles the managedFields of an object that is about to be created, or to replace `live`.
    pub fn update(&self, ctx: &Context<'_>, live: Option<&Value>, new: &mut Value, options: &WriteOptions) {
        if !ctx.server.tracks_fields {
            metadata::set(new, FIELD, None);
            return;
        }
        let manager = manager(options, ctx.request.user_agent.as_deref());
        self.with_manager(ctx, |fields| match live {
            Some(live) => fields.update(live, new, &manager),
            None => fields.update(fields.nothing, new, &manager),
        });
    }

    /// The object that an apply of `patch` makes of `live`, or of nothing.
    pub fn apply(
        &self,
        ctx: &Context<'_>,
        live: Option<&Value>,
        patch: &Value,
        options: &WriteOptions,
    ) -> Result<Value, Refusal> {
        let default = |object: &mut Value| {
            pipeline::default(&self.version.stages, object);
        };
        let applied = self.with_manager(ctx, |fields| {
            fields.apply(
                live.unwrap_or(fields.nothing),
                patch,
                &options.field_manager,
                options.force.unwrap_or_default(),
                &default,
            )
        });
        applied.map_err(refused)
    }

    fn with_manager<T>(&self, ctx: &Context<'_>, act: impl FnOnce(&FieldManager<'_>) -> T) -> T {
        let (own, now) = (self.serving.api_version(self.version), ctx.now());
        let (api_version, kind) = match self.subresource {
            Subresource::Scale => SCALE,
            _ => (own.as_str(), self.serving.kind.as_str()),
        };
        let subresource = self.subresource.as_str();
        let nothing = field_manager::bare(api_version, kind);
        act(&FieldManager { versions: self, api_version, kind, subresource, nothing: &nothing, now: &now })
    }
}

impl Versions for Ownership<'_> {
    fn type_of(&self, api_version: &str) -> Option<&Type> {
        if self.subresource == Subresource::Scale && api_version == SCALE.0 {
            return Some(types::of_scale());
        }
        self.serving.version_of(api_version).map(|version| version.merge_type())
    }

    fn convert(&self, object: &Value, api_version: &str) -> Result<Value, String> {
        let from = object.str_at(&["apiVersion"]).unwrap_or_default();
        for (way, one) in [("to", api_version), ("from", from)] {
            let (group, version) = parse_group_version(one)?;
            if self.serving.version_of(one).is_none() {
                let slash = if group.is_empty() { "" } else { "/" };
                return Err(format!("request to convert CR {way} an invalid group/version: {group}{slash}{version}"));
            }
        }
        let mut object = object.clone();
        if let Some(members) = object.as_object_mut() {
            members.insert("apiVersion".to_owned(), Value::from(api_version));
        }
        Ok(object)
    }

    fn ignored(&self, api_version: &str) -> Option<&Set> {
        static STATUS: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["status"]]));
        static ALL_ELSE: LazyLock<Set> = LazyLock::new(|| Set::of_fields(&[&["metadata"], &["spec"]]));
        let version = self.serving.version_of(api_version).filter(|version| version.has_status())?;
        match self.subresource {
            Subresource::None => (version.name == self.version.name).then_some(&STATUS),
            Subresource::Status => (version.served || version.storage).then_some(&ALL_ELSE),
            Subresource::Scale => None,
        }
    }
}

/// The field manager's name: the one that is told, or what the user agent begins with.
pub(in crate::server) fn manager(options: &WriteOptions, user_agent: Option<&str>) -> String {
    const MOST: usize = 128;
    if !options.field_manager.is_empty() {
        return options.field_manager.clone();
    }
    let product = user_agent.unwrap_or_default().split('/').next().unwrap_or_default();
    let mut out = String::new();
    for c in product.chars().filter(|c| unicode::is_print(*c)) {
        if out.len() + c.len_utf8() > MOST {
            break;
        }
        out.push(c);
    }
    out
}

/// A refused apply.
pub(in crate::server) fn refused(refusal: field_manager::Refusal) -> Refusal {
    match refusal {
        field_manager::Refusal::Conflicts(conflicts) => conflict(&conflicts),
        field_manager::Refusal::BadRequest(text) => Refusal::bad_request(text),
        field_manager::Refusal::Internal(text) => Refusal::unclassified(text),
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

/// Takes back new times of managedFields where nothing else changed, so that such a write is none (`equality.go`).
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

const FIELD: &str = "managedFields";

fn entries(object: &Value) -> Option<&[Value]> {
    metadata::get(object, FIELD).and_then(Value::as_array)
}

fn same_but_times(a: &[Value], b: &[Value]) -> bool {
    fn rest(entry: &Value) -> impl Iterator<Item = (&String, &Value)> {
        entry.as_object().into_iter().flat_map(Map::iter).filter(|(key, _)| *key != "time")
    }
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| rest(a).eq(rest(b)))
}

/// The managedFields of a parent as its Scale has them, and back.
pub(in crate::server) struct ScaleFields<'a> {
    serving: &'a Serving,
    api_version: String,
    parent: Managed,
}

impl<'a> ScaleFields<'a> {
    /// Of a parent, as `version` shows it.
    pub fn of(serving: &'a Serving, version: &Version, parent: &Value) -> Result<Self, Refusal> {
        let parent = Managed::read(metadata::get(parent, FIELD)).map_err(Refusal::unclassified)?;
        Ok(Self { serving, api_version: serving.api_version(version), parent })
    }

    /// Shows them on the Scale.
    pub fn show(&self, scale: &mut Value) {
        let managed = scale::to_scale(&self.parent, &|v| self.path(v));
        metadata::set(scale, FIELD, managed.write());
    }

    /// Carries those of a written Scale over to the parent.
    pub fn carry(self, scale: &Value, parent: &mut Value) -> Result<(), Refusal> {
        let written = Managed::read(metadata::get(scale, FIELD)).map_err(Refusal::unclassified)?;
        let managed = scale::to_parent(&self.parent, written, &self.api_version, &|v| self.path(v));
        metadata::set(parent, FIELD, managed.write());
        Ok(())
    }

    #[expect(clippy::option_option, reason = "no such version is not the same as no scale")]
    fn path(&self, api_version: &str) -> Option<Option<String>> {
        let version = self.serving.version_of(api_version)?;
        Some(version.scale().map(|paths| paths.spec_replicas.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::object;

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
    fn new_times_alone_are_no_change() {
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
