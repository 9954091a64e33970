//! Fields that need a feature gate. The server drops them while the gate is disabled, unless the old object uses the feature
//! (the `dropDisabled…` functions in `pkg/api` and `pkg/registry`).

mod pod_specs;
mod specs;
mod statuses;

use super::field_paths::{Path, names};
use crdx_value::Value;
use crdx_value::release::{Minor, Release, V1_33, V1_37};

/// A feature gate and its fields.
#[derive(Debug)]
struct Feature {
    /// The first release that enables the gate by default.
    since: Minor,
    /// A later release that disables it by default again.
    disabled_again: Option<Minor>,
    /// The fields that are dropped.
    fields: &'static [Path],
    /// The fields of the old object that show that it uses the feature.
    used: &'static [Path],
}

/// A feature that an object with one of its fields uses.
const fn feature(since: Minor, fields: &'static [Path]) -> Feature {
    Feature { since, disabled_again: None, fields, used: fields }
}

/// Drops annotations that releases before 1.37 drop when they decode an object. Later ones drop them when they prepare it.
pub(super) fn drop_decoded(kind: &str, object: &mut Value, release: Release) {
    if !release.since(V1_37)
        && let Some(path) = pod_specs::path(kind)
        && let Some(template) = at_mut(object, path)
    {
        pod_specs::drop_annotations(template);
    }
}

/// Drops the disabled fields of a new object, or of an update of `old`.
pub(super) fn drop_disabled(kind: &str, new: &mut Value, old: Option<&Value>, release: Release) {
    let (path, features) = specs::features(kind);
    if let Some(new) = at_mut(new, path) {
        drop_features(features, new, old.and_then(|old| old.at(path)), release);
    }
    if old.is_none() {
        drop_features(specs::features_on_create(kind), new, None, release);
    }
    if let Some(path) = pod_specs::path(kind)
        && let Some(template) = at_mut(new, path)
    {
        pod_specs::drop_disabled(template, old.and_then(|old| old.at(path)), release);
    }
    // An update copies the status of the old Pod before.
    if kind == "Pod" {
        drop_features(statuses::features(kind), new, old, release);
    }
}

/// Drops the disabled fields of a status that a client writes.
pub(super) fn drop_disabled_of_status(kind: &str, new: &mut Value, old: &Value, release: Release) {
    if kind == "Pod" {
        pod_specs::drop_annotations(new);
    }
    // Before 1.33, a write of a Pod's status keeps all fields.
    if kind != "Pod" || release.since(V1_33) {
        drop_features(statuses::features(kind), new, Some(old), release);
    }
}

fn drop_features(features: &[Feature], new: &mut Value, old: Option<&Value>, release: Release) {
    for feature in features.iter().filter(|feature| !feature.is_enabled(release)) {
        let is_used = |old: &Value| feature.used.iter().any(|path| is_set(old, path));
        if !old.is_some_and(is_used) {
            for path in feature.fields {
                remove(new, path);
            }
        }
    }
}

/// The value at a path of member names.
fn at_mut<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, name| value.get_mut(name))
}

impl Feature {
    fn is_enabled(&self, release: Release) -> bool {
        release.since(self.since) && self.disabled_again != Some(release.minor())
    }
}

/// Returns true if a value has the field at a path.
fn is_set(value: &Value, path: &[&'static str]) -> bool {
    let Some((step, rest)) = path.split_first() else { return !value.is_null() };
    match (*step, value) {
        ("*", Value::Array(items)) => items.iter().any(|item| is_set(item, rest)),
        ("*", Value::Object(members)) => members.values().any(|member| is_set(member, rest)),
        (step, value) => names(step).filter_map(|name| value.get(name)).any(|member| is_set(member, rest)),
    }
}

/// Removes the fields at a path.
fn remove(value: &mut Value, path: &[&'static str]) {
    match (path, value) {
        ([step], Value::Object(members)) => names(step).for_each(|name| {
            members.remove(name);
        }),
        (["*", rest @ ..], Value::Array(items)) => items.iter_mut().for_each(|item| remove(item, rest)),
        (["*", rest @ ..], Value::Object(members)) => members.values_mut().for_each(|member| remove(member, rest)),
        ([step, rest @ ..], value) => {
            for name in names(step) {
                if let Some(member) = value.get_mut(name) {
                    remove(member, rest);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    pub(super) fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_path_names_items_members_and_alternatives() {
        let object = read(r#"{"a":[{"b":{"x":{"c":1,"d":2}}}],"e":{"c":null}}"#);
        assert!(is_set(&object, &["a", "*", "b", "*", "c|z"]) && is_set(&object, &["z|a"]));
        assert!(!is_set(&object, &["e", "c"]) && !is_set(&object, &["a", "*", "c"]));
        let mut removed = object.clone();
        remove(&mut removed, &["a", "*", "b", "*", "c|d"]);
        remove(&mut removed, &["e|z", "c"]);
        assert_eq!(removed, read(r#"{"a":[{"b":{"x":{}}}],"e":{}}"#));
    }

    #[test]
    fn an_update_keeps_the_fields_of_a_feature_that_the_old_object_uses() {
        let lease = read(r#"{"spec":{"strategy":"s","preferredHolder":"h"}}"#);
        let old = read(r#"{"spec":{"strategy":"t"}}"#);
        let mut updated = lease.clone();
        drop_disabled("Lease", &mut updated, Some(&old), Release::NEWEST);
        assert_eq!(updated, read(r#"{"spec":{"strategy":"s"}}"#));
        let mut created = lease;
        drop_disabled("Lease", &mut created, None, Release::NEWEST);
        assert_eq!(created, read(r#"{"spec":{}}"#));
    }

    #[test]
    fn a_gate_may_be_disabled_again() {
        let set = read(r#"{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":1}}}}"#);
        for (release, keeps) in [("1.34", false), ("1.35", true), ("1.36", false), ("1.37", true)] {
            let mut new = set.clone();
            drop_disabled("StatefulSet", &mut new, None, release.parse().unwrap());
            assert_eq!(new == set, keeps, "{release}");
        }
    }

    #[test]
    fn the_manager_of_a_job_is_dropped_on_create_only() {
        let job = read(r#"{"spec":{"managedBy":"example.com/a"}}"#);
        let release: Release = "1.31".parse().unwrap();
        let (mut created, mut updated) = (job.clone(), job.clone());
        drop_disabled("Job", &mut created, None, release);
        drop_disabled("Job", &mut updated, Some(&read(r#"{"spec":{}}"#)), release);
        assert_eq!((created, updated), (read(r#"{"spec":{}}"#), job));
    }
}
