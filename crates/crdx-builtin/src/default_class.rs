//! The default class of new claims and Ingresses (`plugin/pkg/admission/storage/storageclass/setdefault` and
//! `plugin/pkg/admission/network/defaultingressclass` in `k8s.io/kubernetes`).

use crate::volume_resize::CLASS_ANNOTATION;
use crdx_value::Value;
use crdx_value::time;
use std::cmp::Reverse;

/// A kind whose new objects get a class.
#[derive(Debug)]
pub struct DefaultClass {
    /// The resource of the objects: its group and plural.
    resource: (&'static str, &'static str),
    /// The resource of the classes.
    pub classes: (&'static str, &'static str),
    /// The member of `spec` that names the class.
    field: &'static str,
    /// The annotation that names the class in old objects.
    annotation: &'static str,
    /// The annotations that mark the default class with `true`.
    marks: &'static [&'static str],
}

const KINDS: [DefaultClass; 2] = [
    DefaultClass {
        resource: ("", "persistentvolumeclaims"),
        classes: ("storage.k8s.io", "storageclasses"),
        field: "storageClassName",
        annotation: CLASS_ANNOTATION,
        marks: &["storageclass.kubernetes.io/is-default-class", "storageclass.beta.kubernetes.io/is-default-class"],
    },
    DefaultClass {
        resource: ("networking.k8s.io", "ingresses"),
        classes: ("networking.k8s.io", "ingressclasses"),
        field: "ingressClassName",
        annotation: "kubernetes.io/ingress.class",
        marks: &["ingressclass.kubernetes.io/is-default-class"],
    },
];

impl DefaultClass {
    /// Returns the classes for a new object; `None` if its kind has none, or if it names one.
    pub fn wanted(resource: (&str, &str), object: &Value) -> Option<&'static Self> {
        let kind = KINDS.iter().find(|kind| kind.resource == resource)?;
        let is_given = object.at(&["spec", kind.field]).is_some_and(|class| !class.is_null());
        let is_annotated = object.at(&["metadata", "annotations", kind.annotation]).is_some();
        (!is_given && !is_annotated).then_some(kind)
    }

    /// Returns the name of the default class: the newest, and of several the first by name.
    pub fn choose<'v>(&self, classes: impl IntoIterator<Item = &'v Value>) -> Option<&'v str> {
        let is_marked = |class: &Value| {
            self.marks.iter().any(|mark| class.str_at(&["metadata", "annotations", mark]) == Some("true"))
        };
        let marked = classes.into_iter().filter(|class| is_marked(class)).filter_map(|class| {
            let created = class.str_at(&["metadata", "creationTimestamp"]).unwrap_or_default();
            Some((Reverse(time::parse(created).ok()), class.str_at(&["metadata", "name"])?))
        });
        marked.min().map(|(_, name)| name)
    }

    /// Sets the class of an object.
    pub fn set(&self, object: &mut Value, name: &str) {
        object.insert_at(&["spec", self.field], name.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;

    fn read(text: &str) -> Value {
        json::read(text.as_bytes()).unwrap()
    }

    const CLAIM: (&str, &str) = ("", "persistentvolumeclaims");

    #[test]
    fn an_object_that_names_a_class_gets_none() {
        let wants = |resource, text: &str| DefaultClass::wanted(resource, &read(text)).is_some();
        assert!(wants(CLAIM, r#"{"spec":{}}"#) && !wants(CLAIM, r#"{"spec":{"storageClassName":""}}"#));
        let annotated = r#"{"metadata":{"annotations":{"kubernetes.io/ingress.class":"a"}},"spec":{}}"#;
        assert!(wants(CLAIM, annotated) && !wants(("networking.k8s.io", "ingresses"), annotated));
        assert!(!wants(("", "pods"), r#"{"spec":{}}"#));
    }

    #[test]
    fn the_newest_default_class_is_chosen() {
        let class = |name: &str, mark: &str, time: &str| {
            read(&format!(
                r#"{{"metadata":{{"name":"{name}","creationTimestamp":"{time}","annotations":{{"storageclass.kubernetes.io/is-default-class":"{mark}"}}}}}}"#
            ))
        };
        let kind = DefaultClass::wanted(CLAIM, &read("{}")).unwrap();
        let (old, new) = ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z");
        let all = [class("d", "true", old), class("c", "true", new), class("b", "true", new), class("a", "false", new)];
        assert_eq!(kind.choose(&all), Some("b"));
        assert_eq!(kind.choose(&all[3..]), None);
    }
}
