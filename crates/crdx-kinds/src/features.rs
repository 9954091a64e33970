//! Fields that need a feature gate. The server drops them while the gate is disabled, unless the old object uses the feature
//! (the `dropDisabled…` functions in `pkg/api` and `pkg/registry`).

pub(crate) mod emptied;
pub(crate) mod paths;
pub(crate) mod pod_spec;

use crdx_server::server::KindRequest;
use crdx_value::Value;
use crdx_value::release::{Gate, Minor, Release, V1_37};
use paths::{Path, names};

/// Feature gates and their fields.
#[derive(Debug)]
pub(crate) struct Feature {
    /// The gates; one of them keeps the fields.
    pub gates: &'static [Gate],
    /// The first release that drops the fields of disabled gates.
    pub drops_since: Minor,
    /// The first release that keeps the fields whatever the gates are.
    pub keeps_since: Minor,
    /// The fields that are dropped.
    pub fields: &'static [Path],
    /// The fields of the old object that show that it uses the feature.
    pub used: &'static [Path],
}

/// A feature that an object with one of its fields uses.
pub(crate) const fn feature(gates: &'static [Gate], fields: &'static [Path]) -> Feature {
    Feature { gates, drops_since: Minor::ALWAYS, keeps_since: Minor::NEVER, fields, used: fields }
}

/// The features of a kind.
#[derive(Debug)]
pub(crate) struct Features {
    /// The path to which the paths of `fields` are relative.
    pub at: Path,
    /// The features of everything but the status that clients write.
    pub fields: &'static [Feature],
    /// The features whose fields are dropped from new objects only.
    pub of_new: &'static [Feature],
    /// The features of the status that clients write.
    pub status: &'static [Feature],
    /// The path of the Pod or Pod template.
    pub template: Option<Path>,
}

impl Features {
    /// No features.
    pub const NONE: Self = Self { at: &[], fields: &[], of_new: &[], status: &[], template: None };
    /// Only those of the Pod template in most kinds that create Pods.
    pub const TEMPLATE: Self = Self { template: Some(&["spec", "template"]), ..Self::NONE };

    /// Drops annotations that releases before 1.37 drop when they decode an object. Later ones drop them when they prepare
    /// it.
    pub fn drop_decoded(&self, object: &mut Value, release: Release) {
        if !release.since(V1_37)
            && let Some(template) = self.template.and_then(|path| at_mut(object, path))
        {
            pod_spec::drop_annotations(template);
        }
    }

    /// Drops the disabled fields of a new object.
    pub fn prepare_create(&self, new: &mut Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            self.drop_disabled(new, None, request.release);
        }
    }

    /// Drops the disabled fields of an update.
    pub fn prepare_update(&self, new: &mut Value, old: &Value, request: &KindRequest<'_>) {
        if request.generates_fields {
            self.drop_disabled(new, Some(old), request.release);
        }
    }

    /// Drops the disabled fields of a new object, or of an update of `old`.
    pub fn drop_disabled(&self, new: &mut Value, old: Option<&Value>, release: Release) {
        if let Some(new) = at_mut(new, self.at) {
            drop_features(self.fields, new, old.and_then(|old| old.at(self.at)), release);
        }
        if old.is_none() {
            drop_features(self.of_new, new, None, release);
        }
        if let Some(path) = self.template
            && let Some(template) = at_mut(new, path)
        {
            pod_spec::drop_disabled(template, old.and_then(|old| old.at(path)), release);
        }
    }

    /// Drops the disabled fields of a status that a client writes.
    pub fn prepare_status(&self, new: &mut Value, old: &Value, request: &KindRequest<'_>) {
        drop_features(self.status, new, Some(old), request.release);
    }
}

/// Drops the fields of disabled features, unless `old` uses them.
pub(crate) fn drop_features(features: &[Feature], new: &mut Value, old: Option<&Value>, release: Release) {
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
        !release.since(self.drops_since)
            || release.since(self.keeps_since)
            || self.gates.iter().any(|gate| release.enables(*gate))
    }
}

/// Returns true if a value has the field at a path.
pub(crate) fn is_set(value: &Value, path: &[&'static str]) -> bool {
    let Some((step, rest)) = path.split_first() else { return !value.is_null() };
    match (*step, value) {
        ("*", Value::Array(items)) => items.iter().any(|item| is_set(item, rest)),
        ("*", Value::Object(members)) => members.values().any(|member| is_set(member, rest)),
        (step, value) => names(step).filter_map(|name| value.get(name)).any(|member| is_set(member, rest)),
    }
}

/// Removes the fields at a path.
pub(crate) fn remove(value: &mut Value, path: &[&'static str]) {
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
        const FIELDS: &[Feature] = &[feature(&[], &[&["spec", "a"]]), feature(&[], &[&["spec", "b"]])];
        let features = Features { fields: FIELDS, ..Features::NONE };
        let given = read(r#"{"spec":{"a":"s","b":"h"}}"#);
        let old = read(r#"{"spec":{"a":"t"}}"#);
        let mut updated = given.clone();
        features.drop_disabled(&mut updated, Some(&old), Release::NEWEST);
        assert_eq!(updated, read(r#"{"spec":{"a":"s"}}"#));
        let mut created = given;
        features.drop_disabled(&mut created, None, Release::NEWEST);
        assert_eq!(created, read(r#"{"spec":{}}"#));
    }
}
