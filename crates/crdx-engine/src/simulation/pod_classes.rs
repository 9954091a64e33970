//! The classes that a new Pod names: the admission plugins `Priority` and `RuntimeClass` look for them (`plugin/pkg/admission`
//! in `k8s.io/kubernetes`).

use crdx_builtin::{priority, runtime_class};
use crdx_value::Value;

/// A kind and a name.
pub type Class = (&'static str, String);

const PRIORITY: &str = "PriorityClass";
const RUNTIME: &str = "RuntimeClass";

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
    let priority = priority::class_name(object).filter(|name| priority::system_value(name).is_none());
    let runtime = runtime_class::class_name(object).filter(|name| !name.is_empty());
    let classes = [(PRIORITY, priority), (RUNTIME, runtime)];
    classes.into_iter().filter_map(|(kind, name)| Some((kind, name?.to_owned()))).collect()
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
}
