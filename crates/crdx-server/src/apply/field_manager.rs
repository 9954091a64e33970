//! Updates `metadata.managedFields` for a request, and computes the result of an apply.
//!
//! Follows `k8s.io/apimachinery/pkg/util/managedfields`. The chain of managers in that package corresponds to one
//! function for updates and one for applies here.

use super::{
    identity::Identity,
    managed::Managed,
    set::Set,
    typed::{
        TypeError,
        compare::compare,
        errors_text,
        field_set::field_set,
        validate::{Validation, validate},
    },
    updater::{Conflict, Failure, Owner, Owners, Updater, Versions},
};
use crate::pipeline::object_meta;
use crdx_value::GoError;
use crdx_value::group_version;
use crdx_value::release::{Release, V1_37};
use crdx_value::{Map, Value, json, object};
use std::{borrow::Cow, sync::LazyLock};

/// An object with only apiVersion and kind.
pub fn bare(api_version: &str, kind: &str) -> Value {
    object([("apiVersion", api_version), ("kind", kind)])
}

/// The annotation of client-side apply.
pub const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The reason why an apply is rejected.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ApplyRefusal {
    /// 409: other managers own the fields.
    #[error("other field managers own {} of the fields", .0.len())]
    Conflicts(Vec<Conflict>),
    /// 400, with the message.
    #[error("{0}")]
    BadRequest(String),
    /// 500, with the message.
    #[error("{0}")]
    Internal(GoError),
}

/// Updates `metadata.managedFields` for requests to one version of a resource or subresource.
pub(crate) struct FieldManager<'a> {
    /// The versions of the resource.
    pub versions: &'a dyn Versions,
    /// The version of the request (`apiVersion`).
    pub api_version: &'a str,
    /// The kind.
    pub kind: &'a str,
    /// `status`, `scale` or empty for the object itself.
    pub subresource: &'a str,
    /// An empty object, with which a new object is compared.
    pub empty_object: &'a Value,
    /// The time of the request in RFC 3339 format.
    pub now: &'a str,
    /// The release of the server.
    pub release: Release,
    /// Returns the part of an object without managedFields that the manager of the apply applied before; by default nothing.
    pub applied_before: Option<fn(&Value) -> Value>,
}

fn managed_fields(object: &Value) -> Option<&Value> {
    object.at(&["metadata", "managedFields"])
}

fn set_managed_fields(object: &mut Value, entries: Option<Value>) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        match entries {
            Some(entries) => metadata.insert("managedFields".to_owned(), entries),
            None => metadata.remove("managedFields"),
        };
    }
}

static NEVER_OWNED: LazyLock<Set> = LazyLock::new(|| {
    Set::of_fields(&[
        &["apiVersion"],
        &["kind"],
        &["metadata"],
        &["metadata", "name"],
        &["metadata", "namespace"],
        &["metadata", "creationTimestamp"],
        &["metadata", "selfLink"],
        &["metadata", "uid"],
        &["metadata", "clusterName"],
        &["metadata", "generation"],
        &["metadata", "managedFields"],
        &["metadata", "resourceVersion"],
    ])
});

fn strip(owners: &mut Owners, id: &str) {
    if let Some(owner) = owners.get_mut(id) {
        owner.set = std::mem::take(&mut owner.set).difference(&NEVER_OWNED);
        if owner.set.is_empty() {
            owners.remove(id);
        }
    }
}

impl FieldManager<'_> {
    fn identity(&self, manager: &str, operation: &str) -> String {
        Identity {
            manager: if manager.is_empty() { "unknown".to_owned() } else { manager.to_owned() },
            operation: operation.to_owned(),
            api_version: if operation == "Apply" { String::new() } else { self.api_version.to_owned() },
            subresource: self.subresource.to_owned(),
        }
        .id()
    }

    /// Sets the managedFields of `new` after a create, update or patch of `live`. If they cannot be computed, those of
    /// `live` are kept.
    pub fn update(&self, live: &Value, new: &mut Value, manager: &str) {
        let from_live = || Managed::read(managed_fields(live)).unwrap_or_default();
        let managed = if !self.subresource.is_empty() {
            from_live()
        } else if is_reset(managed_fields(new)) {
            Managed::default()
        } else {
            Managed::read(managed_fields(new)).ok().filter(|m| !m.owners.is_empty()).unwrap_or_else(from_live)
        };
        set_managed_fields(new, None);
        // Tracking starts when an object is created; an existing object without managedFields stays untracked.
        if managed.owners.is_empty() && live.str_at(&["metadata", "uid"]).is_some_and(|uid| !uid.is_empty()) {
            return;
        }
        let entries = match self.updated(live, new, managed, manager) {
            Ok(mut managed) => {
                managed.cap();
                managed.write(self.release)
            }
            // Before 1.37, the managedFields are removed in this case (`UpdateNoErrors` of
            // `k8s.io/apimachinery/pkg/util/managedfields`).
            Err(_) => managed_fields(live).filter(|_| self.release.since(V1_37)).cloned(),
        };
        set_managed_fields(new, entries);
    }

    /// The owners after an update, before the number of managers is limited.
    fn updated(&self, live: &Value, new: &Value, mut managed: Managed, manager: &str) -> Result<Managed, GoError> {
        const SELF: &str = "current-operation";
        let converted = self.converted(new, "new")?;
        let new = converted.as_ref().unwrap_or(new);
        let mut live = Cow::Borrowed(live);
        if managed_fields(&live).is_some() {
            set_managed_fields(live.to_mut(), None);
        }
        let live = &*live;
        for (which, value) in [("new", new), ("live", live)] {
            self.check(value, true).map_err(|e| {
                format!("failed to convert {which} object ({}) to smd typed: {e}", self.describe(value))
            })?;
        }
        let updater = Updater { versions: self.versions, release: self.release };
        let mut owners = updater
            .update(live, new, self.api_version, std::mem::take(&mut managed.owners), SELF)
            .map_err(|failure| match failure {
                Failure::Error(text) => text,
                Failure::Conflicts(_) => "conflicts".into(),
            })?;
        strip(&mut owners, SELF);
        if let Some(mut owner) = owners.remove(SELF) {
            let id = self.identity(manager, "Update");
            if let Some(before) = owners.get(&id) {
                owner.set = owner.set.union(&before.set);
            }
            owners.insert(id.clone(), owner);
            managed.times.insert(id, self.now.to_owned());
        }
        managed.owners = owners;
        Ok(managed)
    }

    fn check(&self, value: &Value, allow_duplicates: bool) -> Result<(), GoError> {
        let errors = self.type_errors(value, allow_duplicates)?;
        if errors.is_empty() { Ok(()) } else { Err(errors_text(&errors).into()) }
    }

    /// Returns where a value does not have the type of the resource.
    ///
    /// # Errors
    /// The version or the kind has no type.
    pub fn type_errors(&self, value: &Value, allow_duplicates: bool) -> Result<Vec<TypeError>, GoError> {
        let Some(ty) = self.versions.type_of(self.api_version) else {
            return Err(format!("no corresponding type for {}", self.api_version).into());
        };
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        if kind != self.kind {
            return Err(format!("no corresponding type for {}, Kind={kind}", display_version(self.api_version)).into());
        }
        Ok(validate(ty, value, Validation::new(self.release, allow_duplicates)))
    }

    /// Applies `patch` to `live`, and returns the object with its managedFields; `default` sets defaults of an object in the version
    /// of the request, and sees the object as it was merged.
    ///
    /// # Errors
    /// Returns a refusal if there are conflicts, or if the patch is invalid.
    pub fn apply(
        &self,
        live: &Value,
        patch: &Value,
        manager: &str,
        force: bool,
        default: &dyn Fn(&mut Value, &Value),
    ) -> Result<Value, ApplyRefusal> {
        let api_version = patch.get("apiVersion").and_then(Value::as_str).unwrap_or_default();
        let kind = patch.get("kind").and_then(Value::as_str).unwrap_or_default();
        if api_version != self.api_version || kind != self.kind {
            // An apiVersion that cannot be read leaves the whole type empty.
            let kind = if group_version::parse(api_version).is_ok() { kind } else { "" };
            return Err(ApplyRefusal::BadRequest(format!(
                "invalid object type: {}, Kind={kind}",
                display_version(api_version)
            )));
        }
        let managed = Managed::read(managed_fields(live))
            .map_err(|e| ApplyRefusal::Internal(format!("failed to decode managed fields: {e}").into()))?;
        let applied = match self.apply_once(live, patch, &managed, manager, force, default) {
            // kubectl takes over an object of client-side apply without conflicts.
            Err(ApplyRefusal::Conflicts(conflicts)) if manager == "kubectl" => {
                let Some(allowed) = self.allowed_by_last_applied(live) else {
                    return Err(ApplyRefusal::Conflicts(conflicts));
                };
                let rest: Vec<Conflict> = conflicts.into_iter().filter(|c| !allowed.has(&c.path)).collect();
                if !rest.is_empty() {
                    return Err(ApplyRefusal::Conflicts(rest));
                }
                self.apply_once(live, patch, &managed, manager, true, default)?
            }
            other => other?,
        };
        let (mut object, managed) = applied;
        if manager == "kubectl" {
            refresh_last_applied(&mut object, patch);
        }
        set_managed_fields(&mut object, managed.write(self.release));
        Ok(object)
    }

    /// Makes the manager of an apply the only owner of the fields that it applied before. Nothing changes if they have no owner.
    fn add_applied(&self, managed: &mut Managed, applied: &Value, manager: &str) {
        let own = self
            .in_own_version(self.empty_object, "live", self.empty_object)
            .and_then(|empty| self.updated(&empty, applied, Managed::default(), manager));
        let Some(own) = own.ok().and_then(|own| own.owners.into_values().next()) else { return };
        for owner in managed.owners.values_mut() {
            owner.set = std::mem::take(&mut owner.set).difference(&own.set);
        }
        managed.owners.insert(self.identity(manager, "Apply"), Owner { applied: true, ..own });
    }

    fn apply_once(
        &self,
        live: &Value,
        patch: &Value,
        managed: &Managed,
        manager: &str,
        force: bool,
        default: &dyn Fn(&mut Value, &Value),
    ) -> Result<(Value, Managed), ApplyRefusal> {
        let mut managed = managed.clone();
        let mut bare = live.clone();
        if managed.owners.is_empty() {
            set_managed_fields(&mut bare, None);
            managed = self
                .in_own_version(self.empty_object, "live", self.empty_object)
                .and_then(|empty| self.updated(&empty, &bare, managed, "before-first-apply"))
                .map_err(|e| {
                    ApplyRefusal::Internal(format!("failed to create manager for existing fields: {e}").into())
                })?;
            managed.cap();
            if let Some(applied_before) = self.applied_before {
                self.add_applied(&mut managed, &applied_before(&bare), manager);
            }
        }
        if managed_fields(patch).is_some_and(is_readable) {
            return Err(ApplyRefusal::BadRequest("metadata.managedFields must be nil".to_owned()));
        }
        let described = |o: &Value| self.describe(o);
        self.check(patch, false).map_err(|e| {
            ApplyRefusal::Internal(format!("failed to create typed patch object ({}): {e}", described(patch)).into())
        })?;
        self.check(&bare, true).map_err(|e| {
            ApplyRefusal::Internal(format!("failed to create typed live object ({}): {e}", described(live)).into())
        })?;
        let id = self.identity(manager, "Apply");
        let updater = Updater { versions: self.versions, release: self.release };
        let owners = std::mem::take(&mut managed.owners);
        let (new, mut owners) =
            updater.apply(&bare, patch, self.api_version, owners, &id, force).map_err(|failure| match failure {
                Failure::Conflicts(conflicts) => ApplyRefusal::Conflicts(conflicts),
                Failure::Error(text) => ApplyRefusal::Internal(text),
            })?;
        strip(&mut owners, &id);
        managed.owners = owners;
        let object = match new {
            Some(merged) => {
                // The error message shows the patch.
                let mut new = self.in_own_version(&merged, "new", patch).map_err(ApplyRefusal::Internal)?;
                default(&mut new, &merged);
                if let Some(e) = self.versions.unconvertible(&new) {
                    let described = described(patch);
                    return Err(ApplyRefusal::Internal(
                        format!("failed to convert to unversioned ({described}): {e}").into(),
                    ));
                }
                managed.times.insert(id, self.now.to_owned());
                new
            }
            None => bare,
        };
        Ok((object, managed))
    }

    /// Converts an object to the version of the request, as the server does; a Scale cannot be converted.
    fn in_own_version(&self, object: &Value, which: &str, described: &Value) -> Result<Value, GoError> {
        self.versions.convert(object, self.api_version).map_err(|e| {
            format!("failed to convert {which} object ({}) to proper version: {e}", self.describe(described)).into()
        })
    }

    /// Converts an object to the version of the request; `None` if it has that version.
    fn converted(&self, object: &Value, which: &str) -> Result<Option<Value>, GoError> {
        if object.get("apiVersion").and_then(Value::as_str) == Some(self.api_version) {
            return Ok(None);
        }
        self.in_own_version(object, which, object).map(Some)
    }

    /// Describes an object in error messages.
    fn describe(&self, object: &Value) -> String {
        let get = |name: &str| object.str_at(&["metadata", name]).unwrap_or_default();
        format!("{}/{}; {}, Kind={}", get("namespace"), get("name"), display_version(self.api_version), self.kind)
    }

    /// The fields of the last-applied configuration whose values in `live` are unchanged.
    fn allowed_by_last_applied(&self, live: &Value) -> Option<Set> {
        let text = live.str_at(&["metadata", "annotations", LAST_APPLIED]).filter(|text| !text.is_empty())?;
        self.check(live, false).ok()?;
        let last = crdx_text::json::read(text.as_bytes()).ok()?;
        if last.get("apiVersion").and_then(Value::as_str) != Some(self.api_version) {
            return None;
        }
        self.check(&last, false).ok()?;
        let ty = self.versions.type_of(self.api_version)?;
        let changed = compare(ty, &last, live).ok()?;
        let set = field_set(ty, &last);
        Some(set.difference(&changed.modified).difference(&changed.added).difference(&changed.removed))
    }
}

/// Formats an `apiVersion` for error messages: group and version, both empty if it is malformed.
fn display_version(api_version: &str) -> String {
    match api_version.matches('/').count() {
        0 => format!("/{api_version}"),
        1 => api_version.to_owned(),
        _ => "/".to_owned(),
    }
}

/// Returns true if a request resets managedFields.
fn is_reset(entries: Option<&Value>) -> bool {
    match entries {
        Some(Value::Array(entries)) => {
            entries.is_empty() || matches!(entries.as_slice(), [Value::Object(only)] if only.is_empty())
        }
        _ => false,
    }
}

/// Updates the last-applied annotation of client-side apply, if the object has one.
fn refresh_last_applied(object: &mut Value, patch: &Value) {
    let has = object.str_at(&["metadata", "annotations", LAST_APPLIED]).is_some_and(|text| !text.is_empty());
    if !has {
        return;
    }
    let mut applied = patch.clone();
    if let Some(annotations) =
        applied.get_mut("metadata").and_then(|m| m.get_mut("annotations")).and_then(Value::as_object_mut)
    {
        annotations.remove(LAST_APPLIED);
    }
    let text = json::to_string(&applied) + "\n";
    if let Some(annotations) =
        object.get_mut("metadata").and_then(|m| m.get_mut("annotations")).and_then(Value::as_object_mut)
    {
        annotations.insert(LAST_APPLIED.to_owned(), Value::from(text));
    }
}

/// Returns true if managedFields can be decoded; the server treats others as absent.
fn is_readable(managed_fields: &Value) -> bool {
    let metadata = Map::from([("managedFields".to_owned(), managed_fields.clone())]);
    managed_fields.as_array().is_some() && object_meta::normalize(Value::Object(metadata)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::identity::conflict_message;
    use super::super::types::of_resource;
    use super::*;
    use crate::schema::Schema;
    use crdx_types::merge::{Type, TypeRef};

    struct OneVersion(TypeRef);

    impl Versions for OneVersion {
        fn type_of(&self, api_version: &str) -> Option<&Type> {
            (api_version == "x.io/v1").then(|| self.0.resolve())
        }
        fn convert(&self, object: &Value, api_version: &str) -> Result<Value, GoError> {
            let to = |name: &str| format!("request to convert CR to an invalid group/version: {name}");
            if api_version == "x.io/v1" { Ok(object.clone()) } else { Err(to(api_version).into()) }
        }
        fn ignored(&self, _: &str) -> Option<&Set> {
            None
        }
    }

    fn read(text: &str) -> Value {
        crdx_text::json::read(text.as_bytes()).unwrap()
    }

    fn versions() -> OneVersion {
        let schema = read(
            r#"{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"},
            "b":{"type":"integer"},"l":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],
            "items":{"type":"object","properties":{"k":{"type":"string"},"v":{"type":"integer"}}}}}}}}"#,
        );
        OneVersion(of_resource(
            Some(&Schema::from_value(&schema).unwrap()),
            false,
            crdx_value::release::Release::NEWEST,
        ))
    }

    fn object_with(spec: &str) -> Value {
        read(&format!(r#"{{"apiVersion":"x.io/v1","kind":"X","metadata":{{"name":"a"}},"spec":{spec}}}"#))
    }

    static NOTHING: LazyLock<Value> = LazyLock::new(|| bare("x.io/v1", "X"));

    fn manager(versions: &dyn Versions) -> FieldManager<'_> {
        FieldManager {
            empty_object: &NOTHING,
            versions,
            api_version: "x.io/v1",
            kind: "X",
            subresource: "",
            now: "2026-01-01T00:00:00Z",
            release: Release::NEWEST,
            applied_before: None,
        }
    }

    #[test]
    fn managed_fields_of_wrong_types_are_absent() {
        let of = |text: &str| is_readable(&crdx_text::json::read(text.as_bytes()).unwrap());
        assert!(of("[]") && of(r#"[{"manager":"m","time":null}]"#));
        assert!(!of("null") && !of("true") && !of(r#"[{"time":"now"}]"#) && !of("[5]"));
    }

    #[test]
    fn fields_no_longer_applied_are_removed_unless_others_own_them() {
        let versions = versions();
        let fields = manager(&versions);
        let mut live = object_with(r#"{"a":1}"#);
        fields.update(fields.empty_object, &mut live, "creator");
        let apply = |live: &Value, spec: &str, by: &str| fields.apply(live, &object_with(spec), by, false, &|_, _| {});
        let one = apply(&live, r#"{"a":1,"b":2,"l":[{"k":"x","v":1},{"k":"y"}]}"#, "one").unwrap();
        let less = apply(&one, r#"{"l":[{"k":"y"}]}"#, "one").unwrap();
        assert_eq!(json::to_string(less.get("spec").unwrap()), r#"{"a":1,"l":[{"k":"y"}]}"#);
        let Err(ApplyRefusal::Conflicts(conflicts)) = apply(&less, r#"{"a":5}"#, "two") else { panic!("no conflict") };
        assert_eq!(
            conflict_message(&conflicts),
            "Apply failed with 1 conflict: conflict with \"creator\" using x.io/v1: .spec.a"
        );
        let entries = json::to_string(managed_fields(&less).unwrap());
        assert!(entries.contains(r#""f:l":{"k:{\"k\":\"y\"}":{".":{},"f:k":{}}}"#), "{entries}");
    }

    #[test]
    fn fields_without_a_manager_may_have_been_applied_before() {
        let versions = versions();
        let live = object_with(r#"{"a":1,"b":2,"l":[{"k":"x"},{"k":"y"}]}"#);
        let applied = |applied_before| {
            let fields = FieldManager { applied_before, ..manager(&versions) };
            let object =
                fields.apply(&live, &object_with(r#"{"a":1,"l":[{"k":"y"}]}"#), "one", false, &|_, _| {}).unwrap();
            json::to_string(object.get("spec").unwrap())
        };
        let unchanged = r#"{"a":1,"b":2,"l":[{"k":"x"},{"k":"y"}]}"#;
        assert_eq!(applied(None), unchanged);
        assert_eq!(applied(Some(Value::clone)), r#"{"a":1,"l":[{"k":"y"}]}"#);
        assert_eq!(applied(Some(|_| object_with(r#"{"b":2}"#))), r#"{"a":1,"l":[{"k":"x"},{"k":"y"}]}"#);
        assert_eq!(applied(Some(|_| object_with(r#"{"l":[{"k":"x"}]}"#))), r#"{"a":1,"b":2,"l":[{"k":"y"}]}"#);
        assert_eq!(applied(Some(|_| Value::Null)), unchanged);
    }

    #[test]
    fn mismatches_have_the_servers_messages() {
        let versions = versions();
        let fields = manager(&versions);
        let live = object_with("{}");
        let apply = |spec: &str| fields.apply(&live, &object_with(spec), "m", false, &|_, _| {});
        let described = |spec: &str| match apply(spec) {
            Err(ApplyRefusal::Internal(error)) => error.to_string(),
            other => panic!("{other:?}"),
        };
        let head = "failed to create typed patch object (/a; x.io/v1, Kind=X): ";
        assert_eq!(described(r#"{"zz":1}"#), format!("{head}.spec.zz: field not declared in schema"));
        assert_eq!(described(r#"{"a":"x"}"#), format!("{head}.spec.a: expected numeric (int or float), got string"));
        assert_eq!(described(r#"{"l":"x"}"#), format!("{head}.spec.l: expected list, got &{{x}}"));
        assert_eq!(
            described(r#"{"l":[{"k":"a"},{"k":"a"}]}"#),
            format!("{head}.spec.l: duplicate entries for key [k=\"a\"]")
        );
    }
}
