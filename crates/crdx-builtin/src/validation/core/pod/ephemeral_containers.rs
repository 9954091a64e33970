//! Writes of the subresource `ephemeralcontainers` (`ValidatePodEphemeralContainersUpdate`).

use super::{is_mirror, metadata_and_spec, only, options};
use crate::validation::core::pod_spec::annotations;
use crate::validation::difference;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::internal;
use crdx_value::Value;
use crdx_value::field::ROOT;
use crdx_value::quote::go_quote;
use std::collections::HashMap;

const TYPE: &str = "core.EphemeralContainer";

/// Validates a Pod that differs from the existing one only in its ephemeral containers.
pub fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &Value) {
    metadata_and_spec(errors, object, &options(Some(old), errors.release));
    let metadata = object.child("metadata");
    let old_annotations = old.at(&["metadata", "annotations"]).unwrap_or(&Value::Null);
    annotations::validate_update(errors, &metadata.child("annotations"), old_annotations);
    if is_mirror(old) {
        return only(errors, "static pods do not support ephemeral containers");
    }
    let (spec, old_spec) = (object.child("spec"), FieldValue::new(old.get("spec"), ROOT));
    let (all, old_all) = (spec.child("ephemeralContainers"), old_spec.child("ephemeralContainers"));
    let by_name: HashMap<&str, FieldValue<'_, '_>> =
        all.items().map(|container| (container.value.str_at(&["name"]).unwrap_or_default(), container)).collect();
    for old in old_all.items() {
        let name = old.value.str_at(&["name"]).unwrap_or_default();
        let Some(new) = by_name.get(name) else {
            let detail = format!("existing ephemeral containers {} may not be removed\n", go_quote(name));
            errors.forbidden(&all, &detail);
            continue;
        };
        if !internal::is_equal(TYPE, old.value, new.value, errors.release) {
            let difference = difference::of(TYPE, &old, new, errors.release);
            let name = go_quote(name);
            errors.forbidden(&all, &format!("existing ephemeral containers {name} may not be changed\n{difference}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::part_updated;
    use crate::validation::validate_ephemeral_containers;

    fn pod(containers: &str) -> String {
        format!(r#"{{"spec":{{"containers":[{{"name":"c","image":"i"}}],"ephemeralContainers":[{containers}]}}}}"#)
    }

    fn update(old: &str, new: &str, release: &str) -> Vec<String> {
        part_updated(validate_ephemeral_containers, old, new, release)
    }

    const A: &str = r#"{"name":"a","image":"i"}"#;
    const B: &str = r#"{"name":"b","image":"i"}"#;

    #[test]
    fn ephemeral_containers_may_be_added() {
        assert_eq!(update(&pod(A), &pod(&format!("{B},{A}")), "1.37"), [""; 0]);
        let missing = update(&pod(A), &pod(&format!(r#"{A},{{"name":"b"}}"#)), "1.37");
        assert_eq!(missing, ["spec.ephemeralContainers[1].image: Required value"]);
    }

    #[test]
    fn existing_ephemeral_containers_may_not_be_removed_or_changed() {
        let path = "spec.ephemeralContainers: Forbidden: existing ephemeral containers";
        assert_eq!(update(&pod(A), &pod(B), "1.37"), [format!("{path} \"a\" may not be removed\n")]);
        let changed = update(&pod(A), &pod(r#"{"name":"a","image":"j"}"#), "1.37");
        let start = format!("{path} \"a\" may not be changed\n@@ -1,6 +1,6 @@\n {{\n  \"Name\": \"a\",\n");
        assert!(changed.len() == 1 && changed[0].starts_with(&start), "{changed:?}");
        assert!(changed[0].contains("- \"Image\": \"i\",\n+ \"Image\": \"j\",\n"), "{changed:?}");
    }

    #[test]
    fn a_static_pod_has_no_ephemeral_containers() {
        let mirror = r#"{"metadata":{"annotations":{"kubernetes.io/config.mirror":"m"}},"#;
        let pod = |containers: &str| pod(containers).replacen('{', mirror, 1);
        let error = "[]: Forbidden: static pods do not support ephemeral containers";
        assert_eq!(update(&pod(""), &pod(r#"{"name":"a"}"#), "1.37"), [error]);
    }
}
