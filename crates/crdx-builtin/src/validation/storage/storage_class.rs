//! `StorageClass`es.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::storage::{ParametersPresence, parameters, provisioner};
use crate::validation::{formats, immutable};
use crdx_value::Value;
use crdx_value::field::{FieldError, ROOT};
use crdx_value::release::V1_36;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// `ValidateStorageClass` and `ValidateStorageClassUpdate`
pub(crate) fn validate(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    provisioner(errors, &object.child("provisioner"));
    parameters(errors, &object.child("parameters"), ParametersPresence::Optional);
    let (policy, mode) = (object.child("reclaimPolicy"), object.child("volumeBindingMode"));
    if !policy.text().is_empty() {
        errors.supported(&policy, &["Delete", "Retain"]);
    }
    if mode.is_set() {
        errors.supported(&mode, &["Immediate", "WaitForFirstConsumer"]);
    } else {
        errors.required(&mode, "");
    }
    topologies(errors, &object.child("allowedTopologies"));
    if let Some(old) = old {
        storage_class_update(errors, object, &FieldValue::new(Some(old), ROOT));
    }
}

/// `ValidateStorageClassUpdate`
fn storage_class_update(errors: &mut Errors, object: &FieldValue<'_, '_>, old: &FieldValue<'_, '_>) {
    let fields = [
        ("parameters", "map[string]string"),
        ("provisioner", "string"),
        ("reclaimPolicy", "*string"),
        ("volumeBindingMode", "*string"),
    ];
    for (name, type_) in fields {
        let (new, old) = (object.child(name), old.child(name));
        if errors.release.since(V1_36) || name == "volumeBindingMode" {
            immutable::declared(errors, &new, &old, type_);
        } else if new.value != old.value || new.is_given_empty() {
            // Go compared with `reflect.DeepEqual`, for which an empty map differs from an absent one. A stored map is
            // not empty.
            errors.forbidden(&new, &format!("updates to {name} are forbidden."));
        }
    }
}

/// `validateAllowedTopologies`
fn topologies(errors: &mut Errors, terms: &FieldValue<'_, '_>) {
    let mut seen: HashMap<_, usize> = HashMap::new();
    for term in terms.items() {
        let expressions = term.child("matchLabelExpressions");
        let mut by_key: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for expression in expressions.items() {
            let (key, values) = (expression.child("key"), expression.child("values"));
            if values.len() == 0 {
                errors.required(&values, "");
            }
            let mut found = BTreeSet::new();
            for value in values.items() {
                if !found.insert(value.text()) {
                    errors.duplicate(&value);
                }
            }
            formats::qualified_name(errors, &key);
            if by_key.insert(key.text(), values.texts().collect()).is_some() {
                errors.duplicate(&key);
            }
        }
        // The server compares a term with as many empty terms as there are terms, and with those before it.
        let empty = if by_key.is_empty() { terms.len() } else { 0 };
        let before = seen.entry(by_key).or_default();
        for _ in 0..(*before + empty).min(terms.len()) {
            if errors.list.is_full() {
                return;
            }
            errors.list.push(FieldError::duplicate(&expressions.path, ""));
        }
        *before += 1;
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::{created, updated};
    use crdx_value::field::UNFINISHED;

    const CLASS: &str = r#"{"provisioner":"a.b/c","parameters":{"x":"y"}}"#;

    fn changed(class: &str, release: &str) -> Vec<String> {
        updated("storage.k8s.io/v1", "StorageClass", CLASS, class, release)
    }

    #[test]
    fn changes_of_a_storage_class_are_worded_by_release() {
        let new = r#"{"provisioner":"::1","parameters":{},"reclaimPolicy":"Retain","volumeBindingMode":"WaitForFirstConsumer"}"#;
        let immutable = |name: &str| format!("{name}: Invalid value: null: field is immutable");
        let newest = changed(new, "1.37");
        assert!(
            newest.first().is_some_and(|error| error.starts_with("provisioner: Invalid value: \"::1\": name part"))
        );
        let fields = ["parameters", "provisioner", "reclaimPolicy", "volumeBindingMode"];
        assert_eq!(newest.get(1..).unwrap_or_default(), fields.map(immutable));
        assert_eq!(
            changed(new, "1.34").get(1..).unwrap_or_default(),
            [
                "parameters: Forbidden: updates to parameters are forbidden.",
                "provisioner: Forbidden: updates to provisioner are forbidden.",
                "reclaimPolicy: Forbidden: updates to reclaimPolicy are forbidden.",
                "volumeBindingMode: Invalid value: \"WaitForFirstConsumer\": field is immutable",
            ]
        );
        assert_eq!(changed(CLASS, "1.31"), Vec::<String>::new());
    }

    #[test]
    fn an_empty_map_of_parameters_differs_from_none_before_1_36() {
        let (none, empty) = (r#"{"provisioner":"a"}"#, r#"{"provisioner":"a","parameters":{}}"#);
        let update = |release| updated("storage.k8s.io/v1", "StorageClass", none, empty, release);
        assert_eq!(update("1.35"), ["parameters: Forbidden: updates to parameters are forbidden."]);
        assert_eq!(update("1.36"), Vec::<String>::new());
    }

    #[test]
    fn an_empty_string_behind_a_pointer_gets_no_default() {
        let class = r#"{"provisioner":"a","volumeBindingMode":""}"#;
        let errors = created("storage.k8s.io/v1", "StorageClass", class, "1.37");
        assert_eq!(errors.len(), 1, "{errors:?}");
        assert!(errors[0].starts_with("volumeBindingMode: Unsupported value: \"\""), "{errors:?}");
    }

    #[test]
    fn errors_about_many_equal_topologies_are_bounded() {
        let class = |terms: usize| {
            let terms = vec!["{}"; terms].join(",");
            format!(r#"{{"provisioner":"a","volumeBindingMode":"Immediate","allowedTopologies":[{terms}]}}"#)
        };
        let errors = |terms| created("storage.k8s.io/v1", "StorageClass", &class(terms), "1.37");
        assert_eq!(errors(100).len(), 10_000);
        assert_eq!(errors(50_000), [format!("<nil>: Timeout: {UNFINISHED}")]);
    }

    #[test]
    fn an_empty_topology_is_a_duplicate() {
        let class = |terms: &str| {
            format!(r#"{{"provisioner":"a","volumeBindingMode":"Immediate","allowedTopologies":[{terms}]}}"#)
        };
        let errors = |terms: &str| created("storage.k8s.io/v1", "StorageClass", &class(terms), "1.37");
        assert_eq!(errors("{}"), ["allowedTopologies[0].matchLabelExpressions: Duplicate value: \"\""]);
        let term = r#"{"matchLabelExpressions":[{"key":"a","values":["b"]}]}"#;
        assert_eq!(errors(term), Vec::<String>::new());
        assert_eq!(
            errors(&format!("{term},{term}")),
            ["allowedTopologies[1].matchLabelExpressions: Duplicate value: \"\""]
        );
    }
}
