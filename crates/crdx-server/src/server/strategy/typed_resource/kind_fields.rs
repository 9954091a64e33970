//! Fields that the strategies of single kinds change in new objects and updates.

use crdx_value::time::{self, Timestamp};
use crdx_value::{Map, Value, object};

/// The key of a requirement that selectors of `policy/v1beta1` have (`PDBV1beta1Label`).
const OLD_SELECTOR_KEY: &str = "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match";

/// Keeps the names of the Secrets of a `ServiceAccount` only (`cleanSecretReferences`).
pub(super) fn clean_secret_references(account: &mut Value) {
    let Some(Value::Array(secrets)) = account.get_mut("secrets") else { return };
    for secret in secrets {
        let name = secret.get("name").cloned();
        *secret = Value::Object(name.into_iter().map(|name| ("name".to_owned(), name)).collect::<Map>());
    }
}

/// Drops the topology of endpoints, which are no part of `discovery.k8s.io/v1`, if an endpoint changes (`dropTopologyOnV1`).
pub(super) fn drop_topology(new: &mut Value, old: Option<&Value>) {
    if old.is_some_and(|old| old.get("endpoints") == new.get("endpoints")) {
        return;
    }
    let Some(Value::Array(endpoints)) = new.get_mut("endpoints") else { return };
    for endpoint in endpoints.iter_mut().filter_map(Value::as_object_mut) {
        endpoint.remove("deprecatedTopology");
    }
}

/// Removes the requirement of `policy/v1beta1` from the selector of a `PodDisruptionBudget`, unless it is the only one or the
/// selector does not change (`dropDisabledFields` in `pkg/registry/policy/poddisruptionbudget/strategy.go`).
pub(super) fn drop_old_requirement(new: &mut Value, old: Option<&Value>) {
    let path = ["spec", "selector"];
    if old.is_some_and(|old| old.at(&path) == new.at(&path)) {
        return;
    }
    let matches_none =
        object([("matchExpressions", vec![object([("key", OLD_SELECTOR_KEY), ("operator", "Exists")])])]);
    let selector = new.get_mut("spec").and_then(|spec| spec.get_mut("selector"));
    let Some(selector) = selector.filter(|selector| **selector != matches_none).and_then(Value::as_object_mut) else {
        return;
    };
    let Some(Value::Array(requirements)) = selector.get_mut("matchExpressions") else { return };
    requirements.retain(|requirement| requirement.str_at(&["key"]) != Some(OLD_SELECTOR_KEY));
    if requirements.is_empty() {
        selector.remove("matchExpressions");
    }
}

/// Sets the time of a taint whose effect changes, unless the client changes the time (`PrepareForUpdate` in
/// `pkg/registry/resource/devicetaintrule/strategy.go`).
pub(super) fn set_taint_time(new: &mut Value, old: &Value, now: Timestamp) {
    let (effect, time) = (["spec", "taint", "effect"], ["spec", "taint", "timeAdded"]);
    if new.at(&effect) != old.at(&effect) && new.at(&time) == old.at(&time) {
        new.insert_at(&time, time::format(now).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_service_account_keeps_the_names_of_its_secrets() {
        let mut account = read(r#"{"secrets":[{"name":"a","namespace":"b","kind":"Secret"},{"uid":"u"}]}"#);
        clean_secret_references(&mut account);
        assert_eq!(account, read(r#"{"secrets":[{"name":"a"},{}]}"#));
    }

    #[test]
    fn topology_stays_with_unchanged_endpoints() {
        let slice = read(r#"{"endpoints":[{"addresses":["a"],"deprecatedTopology":{"a":"b"}}]}"#);
        let (mut created, mut updated) = (slice.clone(), slice.clone());
        drop_topology(&mut created, None);
        drop_topology(&mut updated, Some(&slice));
        assert_eq!((created, updated), (read(r#"{"endpoints":[{"addresses":["a"]}]}"#), slice));
    }

    #[test]
    fn the_old_requirement_is_removed_from_others() {
        let selector = |requirements: &str| read(&format!(r#"{{"spec":{{"selector":{requirements}}}}}"#));
        let old = format!(r#"{{"key":"{OLD_SELECTOR_KEY}","operator":"Exists"}}"#);
        let other = r#"{"key":"a","operator":"Exists"}"#;
        let both = selector(&format!(r#"{{"matchExpressions":[{old},{other}]}}"#));
        let prepared = |mut new: Value, old: Option<&Value>| {
            drop_old_requirement(&mut new, old);
            new
        };
        assert_eq!(prepared(both.clone(), None), selector(&format!(r#"{{"matchExpressions":[{other}]}}"#)));
        assert_eq!(prepared(both.clone(), Some(&both)), both);
        let only = selector(&format!(r#"{{"matchExpressions":[{old}]}}"#));
        assert_eq!(prepared(only.clone(), None), only);
        let labels = selector(&format!(r#"{{"matchLabels":{{"a":"b"}},"matchExpressions":[{old}]}}"#));
        assert_eq!(prepared(labels, None), selector(r#"{"matchLabels":{"a":"b"}}"#));
    }

    #[test]
    fn a_new_effect_has_the_time_of_the_request() {
        let rule = |effect: &str, time: &str| {
            read(&format!(r#"{{"spec":{{"taint":{{"effect":"{effect}","timeAdded":"{time}"}}}}}}"#))
        };
        let (first, second) = ("2026-01-02T03:04:05Z", "2026-01-02T03:04:06Z");
        let prepared = |mut new: Value, old: &Value| {
            set_taint_time(&mut new, old, Timestamp::default());
            new
        };
        let old = rule("NoExecute", first);
        assert_eq!(prepared(old.clone(), &old), old);
        assert_eq!(prepared(rule("NoSchedule", second), &old), rule("NoSchedule", second));
        assert_ne!(prepared(rule("NoSchedule", first), &old), rule("NoSchedule", first));
    }
}
