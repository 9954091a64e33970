//! `ExtendedResourceToleration` (`plugin/pkg/admission/extendedresourcetoleration`).

use crdx_value::field::names;
use crdx_value::release::Release;
use crdx_value::{Value, object};
use std::collections::BTreeSet;

const REQUESTS: &str = "requests.";

/// Adds a toleration for each extended resource that the containers request. Returns true if it changes the Pod.
pub fn tolerate(pod: &mut Value, release: Release) -> bool {
    let mut requested = BTreeSet::new();
    for list in ["containers", "initContainers"] {
        let containers = pod.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default();
        let requests = containers.iter().filter_map(|container| container.at(&["resources", "requests"])?.as_object());
        let names = requests.flat_map(crdx_value::Map::keys).filter(|name| is_extended(name, release));
        requested.extend(names.map(ToOwned::to_owned));
    }
    for resource in &requested {
        add(pod, resource);
    }
    !requested.is_empty()
}

/// `IsExtendedResourceName`
fn is_extended(name: &str, release: Release) -> bool {
    let is_native = !name.contains('/') || name.contains("kubernetes.io/");
    !is_native && !name.starts_with(REQUESTS) && names::qualified_name(&format!("{REQUESTS}{name}"), release).is_empty()
}

/// `AddOrUpdateTolerationInPod`: the toleration replaces those that match it.
fn add(pod: &mut Value, resource: &str) {
    let toleration = object([("key", resource), ("operator", "Exists"), ("effect", "NoSchedule")]);
    let path = ["spec", "tolerations"];
    let own = pod.at(&path).and_then(Value::as_array).unwrap_or_default();
    let text = |toleration: &Value, key: &str| toleration.str_at(&[key]).unwrap_or_default().to_owned();
    let is_same = |other: &Value| {
        ["key", "operator", "effect", "value"].iter().all(|key| text(other, key) == text(&toleration, key))
    };
    let mut tolerations: Vec<Value> =
        own.iter().map(|own| if is_same(own) { toleration.clone() } else { own.clone() }).collect();
    if !own.iter().any(is_same) {
        tolerations.push(toleration);
    }
    pod.insert_at(&path, tolerations.into());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn extended_resources_are_tolerated_once() {
        let spec = |more: &str| {
            format!(
                r#"{{"spec":{{"containers":[{{"resources":{{"requests":{{"example.com/b":"1","cpu":"1","example.com/a":"1"}}}}}}]{more}}}}}"#
            )
        };
        let toleration =
            |name: &str| format!(r#"{{"key":"example.com/{name}","operator":"Exists","effect":"NoSchedule"}}"#);
        let mut pod = read(spec(&format!(r#","tolerations":[{}]"#, toleration("b"))).as_bytes()).unwrap();
        assert!(tolerate(&mut pod, Release::NEWEST));
        let expected = format!("[{},{}]", toleration("b"), toleration("a"));
        assert_eq!(pod.at(&["spec", "tolerations"]), Some(&read(expected.as_bytes()).unwrap()));
        assert!(!tolerate(&mut read(br#"{"spec":{"containers":[{}]}}"#).unwrap(), Release::NEWEST));
    }
}
