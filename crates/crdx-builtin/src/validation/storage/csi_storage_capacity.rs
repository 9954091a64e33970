//! `CSIStorageCapacity` objects.

use crate::validation::core::resources;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::{
    formats, immutable,
    selectors::{self, LabelValues},
};
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::release::V1_38;

/// `ValidateCSIStorageCapacity` and `ValidateCSIStorageCapacityUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (topology, class) = (object.child("nodeTopology"), object.child("storageClassName"));
    let old_object = FieldValue::new(old, ROOT);
    let old_topology = old_object.child("nodeTopology");
    let allows_invalid = selectors::has_invalid_value(&old_topology, errors);
    if old.is_some() {
        immutable::typed(errors, &topology, &old_topology, immutable::SELECTOR);
        immutable::typed(errors, &class, &old_object.child("storageClassName"), "string");
    }
    selectors::label_selector(errors, &topology, LabelValues::allow_invalid_if(allows_invalid));
    if class.text().is_empty() && errors.release.since(V1_38) {
        errors.required(&class, "");
    } else {
        formats::object_name(errors, &class);
    }
    resources::nonnegative_quantity(errors, &object.child("capacity"));
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};

    #[test]
    fn an_update_of_a_capacity_is_validated_like_a_new_one() {
        let capacity = |class: &str| {
            format!(
                r#"{{"metadata":{{"name":"a","namespace":"default"}},"storageClassName":"{class}","capacity":"1Gi"}}"#
            )
        };
        let update =
            |class: &str| updated("storage.k8s.io/v1", "CSIStorageCapacity", &capacity("a"), &capacity(class), "1.37");
        assert_eq!(update("b"), ["storageClassName: Invalid value: \"b\": field is immutable"]);
        let both = update("!");
        assert_eq!(both.len(), 2, "{both:?}");
        assert!(both[1].starts_with("storageClassName: Invalid value: \"!\": a lowercase RFC 1123 subdomain"));
    }

    #[test]
    fn an_empty_class_is_missing_since_1_38() {
        let capacity = r#"{"storageClassName":"","capacity":"1Gi"}"#;
        let create = |release| created("storage.k8s.io/v1", "CSIStorageCapacity", capacity, release);
        assert!(create("1.37")[0].starts_with("storageClassName: Invalid value: \"\": a lowercase RFC 1123 subdomain"));
        assert_eq!(create("1.38"), ["storageClassName: Required value"]);
    }
}
