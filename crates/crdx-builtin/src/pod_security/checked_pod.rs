//! The fields of a Pod that checks read, and the names of those that they do not allow.

use crate::CONTAINER_LISTS;
use crdx_value::Value;

/// The Pod or template that is checked.
pub struct CheckedPod<'a> {
    pub metadata: &'a Value,
    /// Its spec, with defaults.
    pub spec: &'a Value,
    /// N of the version 1.N of the policy; at most that of the server.
    pub version: u64,
    /// N of the version 1.N of the server.
    pub binary: u64,
}

impl<'a> CheckedPod<'a> {
    /// Its init containers, containers and ephemeral containers (`visitContainers`).
    pub fn containers(&self) -> impl Iterator<Item = &'a Value> {
        let spec = self.spec;
        CONTAINER_LISTS.into_iter().flat_map(move |list| items(spec, list))
    }

    /// The names of the containers for which `is_bad` returns true.
    pub fn names_of(&self, mut is_bad: impl FnMut(&'a Value) -> bool) -> Vec<&'a str> {
        self.containers().filter(|container| is_bad(container)).map(name).collect()
    }

    pub fn annotations(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let members = self.metadata.get("annotations").and_then(Value::as_object).into_iter().flatten();
        members.filter_map(|(key, value)| Some((key.as_str(), value.as_str()?)))
    }

    /// Returns true if it says that it is for Windows.
    pub fn is_windows(&self) -> bool {
        self.spec.str_at(&["os", "name"]) == Some("windows")
    }

    /// Returns true if it has a user namespace of its own.
    pub fn has_user_namespace(&self) -> bool {
        self.spec.get("hostUsers").and_then(Value::as_bool) == Some(false)
    }
}

pub fn items<'a>(object: &'a Value, list: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    object.get(list).and_then(Value::as_array).unwrap_or_default().iter()
}

/// The name of a container or volume.
pub fn name(object: &Value) -> &str {
    object.str_at(&["name"]).unwrap_or_default()
}

/// A member of the `securityContext` of a Pod or container.
pub fn security<'a>(object: &'a Value, field: &str) -> Option<&'a Value> {
    object.at(&["securityContext", field])
}

/// `joinQuote`
pub fn quoted(texts: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    let texts: Vec<String> = texts.into_iter().map(|text| format!("\"{}\"", text.as_ref())).collect();
    texts.join(", ")
}

/// `pluralize`
pub fn plural(singular: &'static str, plural: &'static str, count: usize) -> &'static str {
    if count == 1 { singular } else { plural }
}

/// The containers with these names.
pub fn containers(names: &[&str]) -> String {
    format!("{} {}", plural("container", "containers", names.len()), quoted(names))
}

/// The Pod, if `pod` is true, and the containers with these names; `None` if there are none.
pub fn setters(pod: bool, names: &[&str]) -> Option<String> {
    let mut setters = Vec::new();
    setters.extend(pod.then(|| "pod".to_owned()));
    setters.extend((!names.is_empty()).then(|| containers(names)));
    (!setters.is_empty()).then(|| setters.join(" and "))
}
