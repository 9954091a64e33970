//! `StorageVersionMigration`s.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::immutable;
use crdx_value::field::{BadValue, names};
use crdx_value::{Value, json};

/// `ValidateStorageVersionMigration` and `ValidateStorageVersionMigrationUpdate`
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    let resource = spec.child("resource");
    let (group, plural) = (resource.child("group"), resource.child("resource"));
    let mut check = |field: &FieldValue<'_, '_>, messages: Vec<String>| {
        if !messages.is_empty() {
            errors.invalid(field, messages.join(","));
        }
    };
    if !plural.text().is_empty() {
        check(&plural, names::dns1035_label(plural.text().as_bytes()));
    }
    if !group.text().is_empty() {
        check(&group, names::dns1123_subdomain(group.text().as_bytes()));
    }
    if plural.text().is_empty() {
        errors.required(&plural, "resource is required to be set");
    }
    if old.is_some_and(|old| !immutable::is_equal(spec.value, old.get("spec").unwrap_or(&Value::Null))) {
        // The internal type has no JSON name for the resource.
        let names = crdx_value::object([("group", group.text()), ("resource", plural.text())]);
        let shown = BadValue::Raw(format!("{{\"Resource\":{}}}", json::to_string(&names)));
        errors.invalid_value(&spec.path, shown, immutable::IMMUTABLE);
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    fn object(members: &str) -> String {
        format!(r#"{{"metadata":{{"name":"a"}},{members}}}"#)
    }

    #[test]
    fn a_migration_names_a_resource_that_does_not_change() {
        let api = "storagemigration.k8s.io/v1";
        let create =
            |spec: &str| created(api, "StorageVersionMigration", &object(&format!(r#""spec":{spec}"#)), "1.37");
        assert_eq!(create(r#"{"resource":{"group":"apps","resource":"deployments"}}"#), [""; 0]);
        assert_eq!(
            create(r#"{"resource":{}}"#),
            ["spec.resource.resource: Required value: resource is required to be set"]
        );
        let found = create(r#"{"resource":{"group":"A","resource":"B"}}"#);
        assert!(found[0].starts_with(r#"spec.resource.resource: Invalid value: "B": a DNS-1035 label"#));
        assert!(found[1].starts_with(r#"spec.resource.group: Invalid value: "A": a lowercase RFC 1123"#));
        let spec = |name: &str| object(&format!(r#""spec":{{"resource":{{"resource":"{name}"}}}}"#));
        let found = updated(api, "StorageVersionMigration", &spec("a"), &spec("b"), "1.37");
        assert!(found[0].starts_with("spec: Invalid value: ") && found[0].ends_with("field is immutable"));
    }
}
