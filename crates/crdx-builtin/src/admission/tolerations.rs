//! `PodTolerationRestriction` (`plugin/pkg/admission/podtolerationrestriction`).

use crate::quality_of_service;
use crdx_text::json;
use crdx_value::release::Release;
use crdx_value::{GoError, Value, object};

const DEFAULTS: &str = "scheduler.alpha.kubernetes.io/defaultTolerations";
const WHITELIST: &str = "scheduler.alpha.kubernetes.io/tolerationsWhitelist";

/// The configuration: what applies to namespaces without the annotation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TolerationRestriction {
    /// The tolerations that new Pods get.
    pub default: Vec<Value>,
    /// The tolerations that Pods may have; any if it is empty.
    pub whitelist: Vec<Value>,
}

impl TolerationRestriction {
    /// Adds the default tolerations to a Pod. Returns true if that changes the Pod.
    ///
    /// # Errors
    /// Returns the server's error for a Pod that is refused, or an annotation that cannot be read.
    pub fn admit(&self, pod: &mut Value, namespace: &Value, is_new: bool, release: Release) -> Result<bool, GoError> {
        let mut added = Vec::new();
        if is_new {
            added = annotation(namespace, DEFAULTS)?.unwrap_or_else(|| self.default.clone());
        }
        let class = pod.str_at(&["status", "qosClass"]).filter(|class| !class.is_empty()).map(str::to_owned);
        if class.as_deref().unwrap_or_else(|| quality_of_service::of(pod, release)) != "BestEffort" {
            added.push(object([
                ("key", "node.kubernetes.io/memory-pressure"),
                ("operator", "Exists"),
                ("effect", "NoSchedule"),
            ]));
        }
        let is_changed = !added.is_empty();
        if is_changed {
            let mut all = tolerations(pod).to_vec();
            all.extend(added);
            pod.insert_at(&["spec", "tolerations"], merged(&all).into());
        }
        self.validate(pod, namespace)?;
        Ok(is_changed)
    }

    /// Validates the tolerations of a Pod.
    ///
    /// # Errors
    /// Returns the server's error for a Pod that is refused, or an annotation that cannot be read.
    pub fn validate(&self, pod: &Value, namespace: &Value) -> Result<(), GoError> {
        let own = tolerations(pod);
        if own.is_empty() {
            return Ok(());
        }
        let (allowed, scope) = match annotation(namespace, WHITELIST)? {
            Some(allowed) => (allowed, "namespace"),
            None => (self.whitelist.clone(), "cluster"),
        };
        if allowed.is_empty() || own.iter().all(|one| allowed.iter().any(|allowed| is_superset(allowed, one))) {
            return Ok(());
        }
        let subject = "pod tolerations (possibly merged with namespace default tolerations)";
        Err(format!("{subject} conflict with its {scope} whitelist").into())
    }
}

fn tolerations(pod: &Value) -> &[Value] {
    pod.at(&["spec", "tolerations"]).and_then(Value::as_array).unwrap_or_default()
}

/// The tolerations in an annotation of a namespace (`extractNSTolerations`); `None` if it has no such annotation.
fn annotation(namespace: &Value, key: &str) -> Result<Option<Vec<Value>>, GoError> {
    let Some(text) = namespace.str_at(&["metadata", "annotations", key]) else { return Ok(None) };
    if text.is_empty() {
        return Ok(Some(Vec::new()));
    }
    match json::read(text.as_bytes()) {
        Ok(Value::Array(items)) => Ok(Some(items)),
        Ok(Value::Null) => Ok(Some(Vec::new())),
        Ok(_) => Err("json: cannot unmarshal object into Go value of type []v1.Toleration".into()),
        Err(error) => Err(error.to_string().into()),
    }
}

/// `MergeTolerations`: without those that another one covers.
fn merged(all: &[Value]) -> Vec<Value> {
    let mut merged: Vec<Value> = Vec::new();
    for (at, one) in all.iter().enumerate() {
        let is_covered = merged.iter().any(|other| is_superset(other, one))
            || all.iter().skip(at + 1).any(|other| !is_equal(one, other) && is_superset(other, one));
        if !is_covered {
            merged.push(one.clone());
        }
    }
    merged
}

const TEXTS: [&str; 4] = ["key", "operator", "value", "effect"];

fn text<'v>(toleration: &'v Value, key: &str) -> &'v str {
    toleration.str_at(&[key]).unwrap_or_default()
}

fn seconds(toleration: &Value) -> Option<i64> {
    toleration.get("tolerationSeconds").and_then(Value::as_int)
}

fn is_equal(one: &Value, other: &Value) -> bool {
    TEXTS.iter().all(|key| text(one, key) == text(other, key)) && seconds(one) == seconds(other)
}

/// `isSuperset`: returns true if `whole` tolerates all that `part` tolerates.
fn is_superset(whole: &Value, part: &Value) -> bool {
    if is_equal(whole, part) {
        return true;
    }
    let of = |key| (text(whole, key), text(part, key));
    let ((key, other_key), (effect, other_effect)) = (of("key"), of("effect"));
    let ((operator, other_operator), (value, other_value)) = (of("operator"), of("value"));
    let matches_all_keys = key.is_empty() && operator == "Exists";
    if key != other_key && !matches_all_keys || effect != other_effect && !effect.is_empty() {
        return false;
    }
    if effect == "NoExecute"
        && let Some(limit) = seconds(whole)
        && seconds(part).is_none_or(|seconds| seconds > limit)
    {
        return false;
    }
    match operator {
        "Equal" | "" => other_operator == "Equal" && other_value == value,
        "Exists" => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn admitted(annotations: &str, spec: &str) -> Result<String, GoError> {
        let namespace = read(&format!(r#"{{"metadata":{{"annotations":{annotations}}}}}"#));
        let mut pod = read(&format!(r#"{{"spec":{spec}}}"#));
        let restriction = TolerationRestriction {
            default: vec![read(r#"{"key":"d","operator":"Exists"}"#)],
            whitelist: vec![
                read(r#"{"operator":"Exists","effect":"NoSchedule"}"#),
                read(r#"{"key":"d","operator":"Exists"}"#),
            ],
        };
        restriction.admit(&mut pod, &namespace, true, Release::NEWEST)?;
        Ok(crdx_value::json::to_string(pod.at(&["spec", "tolerations"]).unwrap_or(&Value::Null)))
    }

    #[test]
    fn the_annotation_of_a_namespace_precedes_the_configuration() {
        assert_eq!(admitted("{}", "{}").unwrap(), r#"[{"key":"d","operator":"Exists"}]"#);
        let annotations = format!(r#"{{"{DEFAULTS}":""}}"#);
        assert_eq!(admitted(&annotations, "{}").unwrap(), "null");
        let refused = admitted("{}", r#"{"tolerations":[{"key":"x","operator":"Exists"}]}"#).unwrap_err().to_string();
        assert!(refused.ends_with("conflict with its cluster whitelist"), "{refused}");
        let annotations = format!(r#"{{"{WHITELIST}":"[{{\"key\":\"y\",\"operator\":\"Exists\"}}]"}}"#);
        let refused = admitted(&annotations, "{}").unwrap_err().to_string();
        assert!(refused.ends_with("conflict with its namespace whitelist"), "{refused}");
    }

    #[test]
    fn pods_with_requests_tolerate_memory_pressure() {
        let spec = r#"{"containers":[{"resources":{"requests":{"cpu":"1"}}}]}"#;
        let annotations = format!(r#"{{"{DEFAULTS}":""}}"#);
        assert_eq!(
            admitted(&annotations, spec).unwrap(),
            r#"[{"effect":"NoSchedule","key":"node.kubernetes.io/memory-pressure","operator":"Exists"}]"#
        );
    }

    #[test]
    fn a_toleration_that_another_one_covers_is_dropped() {
        let all = [r#"{"key":"a","operator":"Equal","value":"b"}"#, r#"{"key":"a","operator":"Exists"}"#].map(read);
        assert_eq!(merged(&all), [read(r#"{"key":"a","operator":"Exists"}"#)]);
        let limited = read(r#"{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":5}"#);
        let longer = read(r#"{"key":"a","operator":"Exists","effect":"NoExecute","tolerationSeconds":6}"#);
        assert!(is_superset(&longer, &limited) && !is_superset(&limited, &longer));
    }
}
