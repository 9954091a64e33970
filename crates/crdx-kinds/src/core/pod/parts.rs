//! Writes of the parts of a Pod that have a subresource of their own (`podEphemeralContainersStrategy` and
//! `podResizeStrategy` in `pkg/registry/core/pod/strategy.go`). All other changes are dropped.

use crdx_value::Value;
use crdx_value::release::{Release, V1_33, V1_36};

/// The lists of containers that can be resized.
const RESIZED: [&str; 2] = ["containers", "initContainers"];

/// The metadata that a write of a part leaves unchanged (`ResetObjectMetaForStatus`).
const KEPT_METADATA: [&str; 7] =
    ["deletionTimestamp", "generation", "selfLink", "labels", "annotations", "finalizers", "ownerReferences"];

/// The metadata that a write of a part took from the request before 1.33 (`dropPodUpdates`).
const TAKEN_METADATA: [&str; 4] = ["name", "namespace", "resourceVersion", "uid"];

/// Drops all changes except those of ephemeral containers (`dropNonEphemeralContainerUpdates`).
pub(super) fn keep_ephemeral_containers(new: &mut Value, old: &Value, release: Release) {
    let written = new.clone();
    restore(new, old, release);
    new.copy_at(&written, &["spec", "ephemeralContainers"]);
}

/// Drops all changes except those of resources and resize policies (`dropNonResizeUpdates`). Lists that differ in their
/// containers are kept, so that validation rejects them.
pub(super) fn keep_resources(new: &mut Value, old: &Value, release: Release) {
    let containers =
        |pod: &Value, list: &str| pod.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default().to_vec();
    if RESIZED.iter().any(|list| containers(new, list).len() != containers(old, list).len()) {
        return;
    }
    let written = new.clone();
    restore(new, old, release);
    // `InPlacePodLevelResourcesVerticalScaling` is enabled by default since 1.36.
    if release.since(V1_36) {
        new.copy_at(&written, &["spec", "resources"]);
    }
    for list in RESIZED {
        let (given, mut merged) = (containers(&written, list), containers(old, list));
        let has_other = merged.iter().zip(&given).any(|(old, new)| old.get("name") != new.get("name"));
        if has_other {
            new.copy_at(&written, &["spec", list]);
            continue;
        }
        for (container, given) in merged.iter_mut().zip(&given) {
            container.copy_at(given, &["resources"]);
            container.copy_at(given, &["resizePolicy"]);
        }
        if !merged.is_empty() {
            new.insert_at(&["spec", list], merged.into());
        }
    }
}

/// Restores the specification, the status and most of the metadata.
fn restore(new: &mut Value, old: &Value, release: Release) {
    if !release.since(V1_33) {
        let mut restored = old.clone();
        for field in TAKEN_METADATA {
            restored.copy_at(new, &["metadata", field]);
        }
        *new = restored;
        return;
    }
    for field in KEPT_METADATA {
        new.copy_at(old, &["metadata", field]);
    }
    new.copy_at(old, &["spec"]);
    new.copy_at(old, &["status"]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn old() -> Value {
        read(
            r#"{"metadata":{"name":"p","labels":{"a":"b"},"managedFields":[{"manager":"old"}]},
            "spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]},"status":{"phase":"Running"}}"#,
        )
    }

    fn new() -> Value {
        read(
            r#"{"metadata":{"name":"p","labels":{"c":"d"},"managedFields":[{"manager":"new"}]},
            "spec":{"containers":[{"name":"c","image":"j","resources":{"limits":{"cpu":"1"}}}],
                "ephemeralContainers":[{"name":"e"}]},"status":{}}"#,
        )
    }

    #[test]
    fn only_ephemeral_containers_are_written() {
        let mut pod = new();
        keep_ephemeral_containers(&mut pod, &old(), Release::NEWEST);
        let mut expected = old();
        expected.insert_at(&["spec", "ephemeralContainers"], read(r#"[{"name":"e"}]"#));
        let mut older = new();
        keep_ephemeral_containers(&mut older, &old(), "1.32".parse().unwrap());
        assert_eq!(older, expected, "its field owners stay those of the existing Pod");
        expected.insert_at(&["metadata", "managedFields"], read(r#"[{"manager":"new"}]"#));
        assert_eq!(pod, expected);
    }

    #[test]
    fn only_resources_are_written() {
        let mut pod = new();
        keep_resources(&mut pod, &old(), Release::NEWEST);
        let mut expected = old();
        expected.insert_at(&["metadata", "managedFields"], read(r#"[{"manager":"new"}]"#));
        let container = r#"[{"name":"c","image":"i","resources":{"limits":{"cpu":"1"}}}]"#;
        expected.insert_at(&["spec", "containers"], read(container));
        assert_eq!(pod, expected);
    }

    #[test]
    fn other_containers_are_left_to_validation() {
        let mut pod = new();
        pod.insert_at(&["spec", "containers"], read("[]"));
        let given = pod.clone();
        keep_resources(&mut pod, &old(), Release::NEWEST);
        assert_eq!(pod, given);
    }
}
