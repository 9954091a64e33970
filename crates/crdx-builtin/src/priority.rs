//! The priority of new Pods, and the default `PriorityClass` (`plugin/pkg/admission/priority` in `k8s.io/kubernetes`).

use crdx_value::GoError;
use crdx_value::{Value, object};
use std::borrow::Borrow;

/// The names, values and descriptions of the classes that API servers create.
const SYSTEM_CLASSES: [(&str, i64, &str); 2] = [
    (
        "system-node-critical",
        2_000_001_000,
        "Used for system critical pods that must not be moved from their current node.",
    ),
    (
        "system-cluster-critical",
        2_000_000_000,
        "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
    ),
];
/// The preemption policy of a class that gives none, and of a Pod without class.
const PREEMPT: &str = "PreemptLowerPriority";

/// Returns the classes that every API server creates, in the order of their creation (`SystemPriorityClasses`).
pub fn system_classes() -> impl Iterator<Item = Value> {
    SYSTEM_CLASSES.into_iter().map(|(name, value, description)| {
        object([
            ("apiVersion", "scheduling.k8s.io/v1".into()),
            ("kind", "PriorityClass".into()),
            ("metadata", object([("name", name)])),
            ("value", Value::Int(value)),
            ("description", description.into()),
        ])
    })
}

/// Returns the class that every API server creates with a name.
pub fn system_class(name: &str) -> Option<Value> {
    system_classes().find(|class| self::name(class) == Some(name))
}

/// Returns the value of the class that every API server creates with a name.
pub fn system_value(name: &str) -> Option<i64> {
    SYSTEM_CLASSES.iter().find(|(known, ..)| *known == name).map(|(_, value, _)| *value)
}

/// Returns the name of the class of a Pod; `None` if it names none.
pub fn class_name(pod: &Value) -> Option<&str> {
    pod.str_at(&["spec", "priorityClassName"]).filter(|name| !name.is_empty())
}

/// Returns true if a Pod without class is only accepted if the default class has its priority and preemption policy.
pub fn needs_default_class(pod: &Value) -> bool {
    // Most Pods have neither field, which saves a copy.
    let has_own = ["priority", "preemptionPolicy"].iter().any(|field| pod.at(&["spec", field]).is_some());
    has_own && class_name(pod).is_none() && admit(&mut pod.clone(), None).is_err()
}

/// Returns true for the class of Pods that name none.
pub fn is_default(class: &Value) -> bool {
    class.get("globalDefault") == Some(&Value::Bool(true))
}

/// Returns the default class, and of several the one with the lowest value (`getDefaultPriorityClass`).
pub fn default_class<C: Borrow<Value>>(classes: impl IntoIterator<Item = C>) -> Option<C> {
    classes.into_iter().filter(|class| is_default(class.borrow())).min_by_key(|class| value(class.borrow()))
}

/// Sets the priority of a new Pod to that of its class or of the default class; `None` if there is no default class
/// (`admitPod`).
///
/// # Errors
/// Returns the reason why a Pod with another priority or preemption policy is refused.
pub fn admit(pod: &mut Value, class: Option<&Value>) -> Result<(), GoError> {
    let computed = class.map(value).unwrap_or_default();
    if let Some(own) = pod.at(&["spec", "priority"]).and_then(Value::as_int).filter(|own| *own != computed) {
        return Err(format!(
            "the integer value of priority ({own}) must not be provided in pod spec; priority admission controller computed {computed} from the given PriorityClass name"
        ).into());
    }
    let policy = class.and_then(|class| class.str_at(&["preemptionPolicy"])).unwrap_or(PREEMPT);
    if let Some(own) = pod.str_at(&["spec", "preemptionPolicy"]).filter(|own| *own != policy) {
        return Err(format!(
            "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
        ).into());
    }
    pod.insert_at(&["spec", "priority"], Value::Int(computed));
    pod.insert_at(&["spec", "preemptionPolicy"], policy.into());
    if let Some(name) = class.and_then(name) {
        pod.insert_at(&["spec", "priorityClassName"], name.into());
    }
    Ok(())
}

/// Returns the reason why a new or updated class may not be the default one, if another class is
/// (`validatePriorityClass`).
pub fn second_default(class: &Value, is_new: bool, default: Option<&Value>) -> Option<String> {
    let default = name(default.filter(|_| is_default(class))?)?;
    let differs = is_new || name(class) != Some(default);
    differs.then(|| format!("PriorityClass {default} is already marked as default. Only one default can exist"))
}

fn value(class: &Value) -> i64 {
    class.get("value").and_then(Value::as_int).unwrap_or_default()
}

fn name(class: &Value) -> Option<&str> {
    class.str_at(&["metadata", "name"])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    fn admitted(spec: &str, class: Option<&Value>) -> Result<Value, GoError> {
        let mut pod = read(&format!(r#"{{"spec":{spec}}}"#));
        admit(&mut pod, class)?;
        Ok(pod.get("spec").cloned().unwrap_or_default())
    }

    #[test]
    fn a_pod_without_class_has_no_own_priority() {
        let refused = "the integer value of priority (65535) must not be provided in pod spec; priority admission controller computed 0 from the given PriorityClass name";
        assert_eq!(admitted(r#"{"priority":65535}"#, None), Err(refused.into()));
        let spec = read(r#"{"priority":0,"preemptionPolicy":"PreemptLowerPriority"}"#);
        assert_eq!(admitted("{}", None), Ok(spec.clone()));
        assert_eq!(admitted(r#"{"priority":0}"#, None), Ok(spec));
    }

    #[test]
    fn a_pod_has_the_priority_and_the_policy_of_its_class() {
        let class = read(r#"{"metadata":{"name":"never"},"value":7,"preemptionPolicy":"Never"}"#);
        let spec = read(r#"{"priorityClassName":"never","priority":7,"preemptionPolicy":"Never"}"#);
        assert_eq!(admitted(r#"{"priorityClassName":"never"}"#, Some(&class)), Ok(spec.clone()));
        assert_eq!(admitted(r#"{"priority":7}"#, Some(&class)), Ok(spec));
        let refused =
            admitted(r#"{"priorityClassName":"never","preemptionPolicy":"PreemptLowerPriority"}"#, Some(&class));
        assert!(
            refused.is_err_and(|reason| reason.as_str().contains("(PreemptLowerPriority)")
                && reason.as_str().contains("computed Never"))
        );
        assert!(
            admitted(r#"{"priority":5}"#, Some(&class)).is_err_and(|reason| reason.as_str().contains("computed 7"))
        );
    }

    #[test]
    fn system_classes_exist_in_every_cluster() {
        let class = system_class("system-cluster-critical").unwrap();
        let spec = admitted(r#"{"priorityClassName":"system-cluster-critical"}"#, Some(&class)).unwrap();
        assert_eq!(spec.get("priority"), Some(&Value::Int(2_000_000_000)));
        assert_eq!(system_class("system-high"), None);
    }

    #[test]
    fn only_an_own_priority_needs_the_default_class() {
        let needs = |spec: &str| needs_default_class(&read(&format!(r#"{{"spec":{spec}}}"#)));
        assert!(needs(r#"{"priority":1}"#) && needs(r#"{"preemptionPolicy":"Never"}"#));
        assert!(!needs("{}") && !needs(r#"{"priority":0}"#) && !needs(r#"{"priority":1,"priorityClassName":"a"}"#));
    }

    #[test]
    fn the_default_class_with_the_lowest_value_is_chosen() {
        let class = |name: &str, value: i64, is_default: bool| {
            read(&format!(r#"{{"metadata":{{"name":"{name}"}},"value":{value},"globalDefault":{is_default}}}"#))
        };
        let all = [class("a", 1, false), class("b", 5, true), class("c", 3, true)];
        assert_eq!(default_class(&all).and_then(name), Some("c"));
        assert_eq!(default_class(&all[..1]), None);
    }

    #[test]
    fn there_is_one_default_class() {
        let class = |name: &str| read(&format!(r#"{{"metadata":{{"name":"{name}"}},"globalDefault":true}}"#));
        let (one, other) = (class("one"), class("other"));
        let refused = "PriorityClass one is already marked as default. Only one default can exist";
        assert_eq!(second_default(&other, true, Some(&one)).as_deref(), Some(refused));
        assert_eq!(second_default(&other, false, Some(&one)).as_deref(), Some(refused));
        assert_eq!(second_default(&one, false, Some(&one)), None, "it is the default class itself");
        assert_eq!(second_default(&one, true, None), None);
        assert_eq!(second_default(&read(r#"{"metadata":{"name":"other"}}"#), true, Some(&one)), None);
    }
}
