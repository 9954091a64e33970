//! The classes that a new Pod names: the admission plugins `Priority` and `RuntimeClass` look for them (`plugin/pkg/admission`
//! in `k8s.io/kubernetes`).

use crate::cluster::Cluster;
use crate::cluster::Error;
use crate::report::Answer;
use crdx_value::{Value, quote};
use std::collections::BTreeSet;

/// A kind and a name.
pub type Class = (&'static str, String);

const PRIORITY: &str = "PriorityClass";
const RUNTIME: &str = "RuntimeClass";
const PRIORITIES: &str = "/apis/scheduling.k8s.io/v1/priorityclasses";
const RUNTIMES: &str = "/apis/node.k8s.io/v1/runtimeclasses";

/// The class that an object is; `None` for an object of another kind.
pub fn class(object: &Value) -> Option<Class> {
    let kind = match (object.str_at(&["apiVersion"])?, object.str_at(&["kind"])?) {
        ("scheduling.k8s.io/v1", PRIORITY) => PRIORITY,
        ("node.k8s.io/v1", RUNTIME) => RUNTIME,
        _ => return None,
    };
    Some((kind, object.str_at(&["metadata", "name"])?.to_owned()))
}

/// The classes that an object names; empty if it is no Pod. Those that API servers create themselves are left out.
pub fn named(object: &Value) -> Vec<Class> {
    if object.str_at(&["kind"]) != Some("Pod") || object.str_at(&["apiVersion"]) != Some("v1") {
        return Vec::new();
    }
    let name = |field: &str| object.str_at(&["spec", field]).filter(|name| !name.is_empty()).map(str::to_owned);
    let is_own = |name: &String| matches!(name.as_str(), "system-cluster-critical" | "system-node-critical");
    let priority = name("priorityClassName").filter(|name| !is_own(name)).map(|name| (PRIORITY, name));
    priority.into_iter().chain(name("runtimeClassName").map(|name| (RUNTIME, name))).collect()
}

/// Returns the answer of the plugins to a new Pod or `PriorityClass` that they refuse. Earlier inputs create the classes
/// in `created`.
///
/// # Errors
/// Returns the name of the resource that cannot be read, and the reason.
pub fn refusal(
    cluster: &dyn Cluster,
    object: &Value,
    created: &BTreeSet<Class>,
) -> Result<Option<Answer>, (&'static str, Error)> {
    let message = match object.str_at(&["kind"]) {
        Some("Pod") => of_pod(cluster, object, created)?,
        Some(PRIORITY) => of_priority_class(cluster, object)?,
        _ => None,
    };
    let resource = if object.str_at(&["kind"]) == Some("Pod") { "pods" } else { "priorityclasses.scheduling.k8s.io" };
    Ok(message.map(|message| {
        let text = |key: &str| object.str_at(&["metadata", key]).filter(|text| !text.is_empty());
        let name = text("name").or_else(|| text("generateName")).unwrap_or("Unknown");
        Answer::forbidden(resource, name, &message)
    }))
}

fn of_pod(
    cluster: &dyn Cluster,
    pod: &Value,
    created: &BTreeSet<Class>,
) -> Result<Option<String>, (&'static str, Error)> {
    let priority = pod.at(&["spec", "priority"]).and_then(Value::as_int);
    let classes = named(pod);
    let priority_class = classes.iter().find(|(kind, _)| *kind == PRIORITY);
    if let Some(class) = priority_class.filter(|class| !created.contains(*class)) {
        let all = list(cluster, PRIORITIES, "priorityclasses")?;
        let Some(found) = all.iter().find(|found| has_name(found, &class.1)) else {
            return Ok(Some(format!("no PriorityClass with name {} was found", class.1)));
        };
        if let Some(message) = differs(pod, priority, found) {
            return Ok(Some(message));
        }
    }
    let has_class = pod.str_at(&["spec", "priorityClassName"]).is_some_and(|name| !name.is_empty());
    if priority.is_some() && !has_class {
        let default = Value::default();
        let all = list(cluster, PRIORITIES, "priorityclasses")?;
        let found = all.iter().filter(|class| is_default(class)).min_by_key(|class| value(class));
        if let Some(message) = differs(pod, priority, found.unwrap_or(&default)) {
            return Ok(Some(message));
        }
    }
    if let Some(class) = classes.iter().find(|(kind, _)| *kind == RUNTIME).filter(|class| !created.contains(*class)) {
        let all = list(cluster, RUNTIMES, "runtimeclasses")?;
        if !all.iter().any(|found| has_name(found, &class.1)) {
            return Ok(Some(format!("pod rejected: RuntimeClass {} not found", quote::go_quote(&class.1))));
        }
    }
    Ok(None)
}

/// The message for a Pod whose priority is not that of its class.
fn differs(pod: &Value, priority: Option<i64>, class: &Value) -> Option<String> {
    let computed = value(class);
    if let Some(priority) = priority.filter(|priority| *priority != computed) {
        return Some(format!(
            "the integer value of priority ({priority}) must not be provided in pod spec; priority admission controller computed {computed} from the given PriorityClass name"
        ));
    }
    let policy = class.str_at(&["preemptionPolicy"]).unwrap_or("PreemptLowerPriority");
    let own = pod.str_at(&["spec", "preemptionPolicy"]).filter(|own| *own != policy)?;
    Some(format!(
        "the string value of PreemptionPolicy ({own}) must not be provided in pod spec; priority admission controller computed {policy} from the given PriorityClass name"
    ))
}

fn of_priority_class(cluster: &dyn Cluster, class: &Value) -> Result<Option<String>, (&'static str, Error)> {
    if !is_default(class) {
        return Ok(None);
    }
    let all = list(cluster, PRIORITIES, "priorityclasses")?;
    let default = all.iter().filter(|class| is_default(class)).min_by_key(|class| value(class));
    let name = default.and_then(|class| class.str_at(&["metadata", "name"]));
    Ok(name.map(|name| format!("PriorityClass {name} is already marked as default. Only one default can exist")))
}

fn value(class: &Value) -> i64 {
    class.get("value").and_then(Value::as_int).unwrap_or_default()
}

fn is_default(class: &Value) -> bool {
    class.get("globalDefault").and_then(Value::as_bool) == Some(true)
}

fn has_name(object: &Value, name: &str) -> bool {
    object.str_at(&["metadata", "name"]) == Some(name)
}

fn list(cluster: &dyn Cluster, path: &str, plural: &'static str) -> Result<Vec<Value>, (&'static str, Error)> {
    let list = cluster.list(path).map_err(|error| (plural, error))?;
    Ok(list.get("items").and_then(Value::as_array).unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json::read;

    #[test]
    fn pods_name_classes() {
        let pod = |spec: &str| read(format!(r#"{{"apiVersion":"v1","kind":"Pod","spec":{spec}}}"#).as_bytes()).unwrap();
        let both = named(&pod(r#"{"priorityClassName":"high","runtimeClassName":"kata"}"#));
        assert_eq!(both, [(PRIORITY, "high".to_owned()), (RUNTIME, "kata".to_owned())]);
        assert!(named(&pod(r#"{"priorityClassName":"system-node-critical","runtimeClassName":""}"#)).is_empty());
        let template = r#"{"apiVersion":"apps/v1","kind":"Deployment","spec":{"priorityClassName":"high"}}"#;
        assert!(named(&read(template.as_bytes()).unwrap()).is_empty());
        let class_object =
            br#"{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{"name":"high"}}"#;
        assert_eq!(class(&read(class_object).unwrap()), Some((PRIORITY, "high".to_owned())));
    }

    #[test]
    fn a_priority_is_that_of_the_class() {
        let pod = read(br#"{"spec":{"preemptionPolicy":"Never"}}"#).unwrap();
        let class = read(br#"{"value":7}"#).unwrap();
        assert!(
            differs(&pod, Some(5), &class)
                .is_some_and(|message| message.contains("priority (5)") && message.contains("computed 7"))
        );
        assert!(differs(&pod, Some(7), &class).is_some_and(|message| message.contains("PreemptionPolicy (Never)")));
        assert_eq!(differs(&Value::default(), Some(0), &Value::default()), None);
    }
}
