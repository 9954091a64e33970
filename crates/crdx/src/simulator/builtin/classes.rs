//! The classes that a new Pod names: the admission plugins `Priority` and `RuntimeClass` look for them (`plugin/pkg/admission`
//! in `k8s.io/kubernetes`).

use crate::simulator::cluster_objects::{ObjectList, PRIORITY_CLASSES, RUNTIME_CLASSES};
use crate::simulator::context::SimulationContext;
use crdx_builtin::{priority, runtime_class};
use crdx_server::server::{KnownClasses, KnownObjects};
use crdx_value::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A kind and a name.
pub type Class = (&'static str, String);

/// Classes by kind and name.
pub(super) type Classes = BTreeMap<Class, Arc<Value>>;

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
    if !is_pod(object) {
        return Vec::new();
    }
    let priority = priority::class_name(object).filter(|name| priority::system_value(name).is_none());
    let runtime = runtime_class::class_name(object).filter(|name| !name.is_empty());
    let classes = [(PRIORITY, priority), (RUNTIME, runtime)];
    classes.into_iter().filter_map(|(kind, name)| Some((kind, name?.to_owned()))).collect()
}

fn is_pod(object: &Value) -> bool {
    object.str_at(&["kind"]) == Some("Pod") && object.str_at(&["apiVersion"]) == Some("v1")
}

/// Returns the classes of earlier inputs that an object names. As in a dry run, no class of an input is the default class.
pub(super) fn of_inputs(object: &Value, inputs: &Classes) -> KnownObjects {
    let of_kind = |kind: &'static str, name: Option<&str>| {
        let class = name.and_then(|name| inputs.get(&(kind, name.to_owned())));
        KnownClasses { objects: class.cloned().into_iter().collect(), is_complete: false }
    };
    KnownObjects {
        priority_classes: of_kind(PRIORITY, priority::class_name(object)),
        runtime_classes: of_kind(RUNTIME, runtime_class::class_name(object)),
        ..KnownObjects::default()
    }
}

/// Adds the classes of files and of the cluster to those of earlier inputs, if the answer to an object depends on them.
/// `is_new` is false for an object that exists.
pub(super) fn read(context: SimulationContext<'_>, object: &Value, is_new: bool, known: &mut KnownObjects) {
    let is_new_pod = is_new && is_pod(object);
    let needs_priority = if is_new_pod {
        needs_priority_classes(object, &known.priority_classes)
    } else {
        object.str_at(&["kind"]) == Some(PRIORITY) && priority::is_default(object)
    };
    if needs_priority {
        let depends = |class: &Value| depends_on_priority(object, class);
        add(&context.list(PRIORITY_CLASSES, None), &mut known.priority_classes, &depends);
    }
    let runtime_class = runtime_class::class_name(object).filter(|name| !name.is_empty());
    if let Some(wanted) = runtime_class.filter(|_| is_new_pod && known.runtime_classes.objects.is_empty()) {
        let depends = |class: &Value| class_name(class) == wanted;
        add(&context.list(RUNTIME_CLASSES, None), &mut known.runtime_classes, &depends);
    }
}

/// Returns true if the class of a new Pod, which is the default class if it names none, is not among the known ones.
fn needs_priority_classes(pod: &Value, known: &KnownClasses) -> bool {
    let is_of_system = || priority::class_name(pod).is_some_and(|name| priority::system_value(name).is_some());
    known.objects.is_empty() && !is_of_system()
}

/// Returns true if the answer to a Pod or a `PriorityClass` depends on this class.
fn depends_on_priority(object: &Value, class: &Value) -> bool {
    match priority::class_name(object) {
        Some(wanted) => class_name(class) == wanted,
        None => priority::is_default(class),
    }
}

fn class_name(class: &Value) -> &str {
    class.str_at(&["metadata", "name"]).unwrap_or_default()
}

/// Adds the classes of a list on which an object depends. Those of inputs replace them.
fn add(list: &ObjectList<'_>, known: &mut KnownClasses, depends: &dyn Fn(&Value) -> bool) {
    for class in list.iter().filter(|class| depends(class)) {
        if !known.objects.iter().any(|known| class_name(known) == class_name(class)) {
            known.objects.push(Arc::new(class.clone()));
        }
    }
    known.is_complete = list.is_complete();
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
    fn an_object_depends_on_the_classes_of_inputs_that_it_names() {
        let class = |name: &str, more: &str| {
            let text = format!(
                r#"{{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","metadata":{{"name":"{name}"}}{more}}}"#
            );
            Arc::new(read(text.as_bytes()).unwrap())
        };
        let all = [class("low", ""), class("usual", r#","globalDefault":true"#)];
        let inputs: Classes = all.into_iter().filter_map(|object| Some((super::class(&object)?, object))).collect();
        let names = |object: &str| -> Vec<String> {
            let known = of_inputs(&read(object.as_bytes()).unwrap(), &inputs).priority_classes.objects;
            known.iter().filter_map(|class| Some(super::class(class)?.1)).collect()
        };
        assert_eq!(names(r#"{"apiVersion":"v1","kind":"Pod","spec":{"priorityClassName":"low"}}"#), ["low"]);
        assert_eq!(names(r#"{"apiVersion":"v1","kind":"Pod","spec":{}}"#), [""; 0]);
        let default = r#"{"apiVersion":"scheduling.k8s.io/v1","kind":"PriorityClass","globalDefault":true}"#;
        assert_eq!(names(default), [""; 0]);
    }

    #[test]
    fn a_pod_needs_its_class_or_the_default_class() {
        let needs = |spec: &str| needs_priority_classes(&read(spec.as_bytes()).unwrap(), &KnownClasses::default());
        assert!(needs(r#"{"spec":{}}"#) && needs(r#"{"spec":{"priorityClassName":"low"}}"#));
        assert!(!needs(r#"{"spec":{"priorityClassName":"system-node-critical"}}"#));
        let known = KnownClasses { objects: vec![Arc::default()], is_complete: false };
        assert!(!needs_priority_classes(&read(br#"{"spec":{"priorityClassName":"low"}}"#).unwrap(), &known));
    }
}
