//! `IPAddress`es.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crdx_value::Value;
use crdx_value::field::{
    ROOT,
    names::{self, NameForm},
};

/// `ValidateIPAddress` and `ValidateIPAddressUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let parent = spec.child("parentRef");
    if let Some(old) = old {
        let old = FieldValue::new(old.at(&["spec", "parentRef"]), ROOT);
        immutable::declared(errors, &parent, &old, "*networking.ParentReference");
    }
    if !parent.is_set() {
        return errors.required(&parent, "");
    }
    let group = parent.child("group");
    if !group.text().is_empty() {
        errors.messages(&group, names::dns1123_subdomain(group.text().as_bytes()));
    }
    for field in ["resource", "name"].map(|name| parent.child(name)) {
        if errors.require_text(&field) {
            errors.messages(&field, names::path_segment(field.text(), NameForm::Whole));
        }
    }
    let namespace = parent.child("namespace");
    if !namespace.text().is_empty() {
        errors.messages(&namespace, names::path_segment(namespace.text(), NameForm::Whole));
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn address(spec: &str) -> String {
        format!(r#"{{"metadata":{{"name":"10.0.0.1"}},"spec":{spec}}}"#)
    }

    #[test]
    fn an_address_references_its_parent() {
        let create = |spec: &str| created("networking.k8s.io/v1", "IPAddress", &address(spec), "1.37");
        assert_eq!(create(r#"{"parentRef":{"resource":"services","namespace":"a","name":"b"}}"#), [""; 0]);
        assert_eq!(create("{}"), ["spec.parentRef: Required value"]);
        let found = create(r#"{"parentRef":{"group":"A","namespace":"a/b"}}"#);
        assert!(found[0].starts_with(r#"spec.parentRef.group: Invalid value: "A": a lowercase RFC 1123 subdomain"#));
        assert_eq!(
            found[1..],
            [
                "spec.parentRef.resource: Required value",
                "spec.parentRef.name: Required value",
                r#"spec.parentRef.namespace: Invalid value: "a/b": may not contain '/'"#,
            ]
        );
    }

    #[test]
    fn the_parent_is_immutable() {
        let parent = |name: &str| address(&format!(r#"{{"parentRef":{{"resource":"services","name":"{name}"}}}}"#));
        let update = |release| updated("networking.k8s.io/v1", "IPAddress", &parent("a"), &parent("b"), release);
        assert_eq!(update("1.37"), ["spec.parentRef: Invalid value: null: field is immutable"]);
        assert!(update("1.33")[0].ends_with(": field is immutable"));
    }
}
