//! `storage.k8s.io` (`pkg/apis/storage/validation`).

use super::field_value::{Errors, FieldValue};
use super::{formats, immutable, resources, selectors};
use crdx_value::Value;
use crdx_value::field::{FieldError, FieldPath, ROOT, names};
use crdx_value::release::{V1_36, V1_38};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

const MAX_PARAMETERS: usize = 512;
const MAX_PARAMETER_SIZE: usize = 256 << 10;

/// `ValidateStorageClass` and `ValidateStorageClassUpdate`
pub(crate) fn storage_class(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    provisioner(errors, &object.child("provisioner"));
    parameters(errors, &object.child("parameters"), true);
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

/// `validateProvisioner`
fn provisioner(errors: &mut Errors, name: &FieldValue<'_, '_>) {
    if errors.require_text(name) {
        let lowercase = name.text().to_lowercase();
        errors.messages_at(&name.path, &lowercase, names::qualified_name(&lowercase, errors.release));
    }
}

/// `validateParameters`
fn parameters(errors: &mut Errors, parameters: &FieldValue<'_, '_>, may_be_empty: bool) {
    if parameters.len() > MAX_PARAMETERS {
        return errors.too_long(parameters, MAX_PARAMETERS as i64);
    }
    let mut size = 0;
    for (key, value) in parameters.entries() {
        if key.is_empty() {
            errors.invalid_value(&parameters.path, key, "field can not be empty.");
        }
        size += key.len() + value.text().len();
    }
    if size > MAX_PARAMETER_SIZE {
        errors.too_long(parameters, MAX_PARAMETER_SIZE as i64);
    }
    if !may_be_empty && parameters.len() == 0 {
        errors.required(parameters, "must contain at least one key/value pair");
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

/// `ValidateCSIDriver` and `ValidateCSIDriverUpdate`
pub(crate) fn csi_driver(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let spec = object.child("spec");
    // The server misspells the name of this field.
    let attached = FieldValue { path: spec.path.child("attachedRequired"), ..spec.child("attachRequired") };
    for field in [&attached, &spec.child("podInfoOnMount"), &spec.child("storageCapacity"), &spec.child("seLinuxMount")]
    {
        if !field.is_set() {
            errors.required(field, "");
        }
    }
    let policy = spec.child("fsGroupPolicy");
    if policy.is_set() {
        errors.supported(&policy, &["File", "None", "ReadWriteOnceWithFSType"]);
    }
    token_requests(errors, &spec.child("tokenRequests"));
    let modes = spec.child("volumeLifecycleModes");
    for mode in modes.texts().filter(|mode| !matches!(*mode, "Persistent" | "Ephemeral")) {
        errors.list.push(FieldError::not_supported(&modes.path, mode, &["Persistent", "Ephemeral"]));
    }
    let period = spec.child("nodeAllocatableUpdatePeriodSeconds");
    if period.int().is_some_and(|seconds| seconds < 10) {
        errors.invalid(&period, "must be greater than or equal to 10 seconds");
    }
    let in_secrets = spec.child("serviceAccountTokenInSecrets");
    if in_secrets.is_set() && spec.child("tokenRequests").len() == 0 {
        let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
        errors.invalid(&in_secrets, detail);
    }
    let Some(old) = old else { return };
    let old_spec = FieldValue::new(old.get("spec"), ROOT);
    immutable::typed(errors, &attached, &old_spec.child("attachRequired"), "*bool");
    let old_modes = old_spec.child("volumeLifecycleModes");
    immutable::declared_since(errors, &modes, &old_modes, "[]storage.VolumeLifecycleMode", V1_38);
}

/// `validateTokenRequests`
fn token_requests(errors: &mut Errors, requests: &FieldValue<'_, '_>) {
    let mut seen = HashSet::new();
    for request in requests.items() {
        let (audience, expiration) = (request.child("audience"), request.child("expirationSeconds"));
        if !seen.insert(audience.text()) {
            errors.duplicate(&audience);
            continue;
        }
        match expiration.int() {
            Some(seconds) if seconds < 600 => {
                errors.invalid(&expiration, "may not specify a duration less than 10 minutes");
            }
            Some(seconds) if seconds > 1 << 32 => {
                errors.invalid(&expiration, "may not specify a duration larger than 2^32 seconds");
            }
            _ => {}
        }
    }
}

/// `ValidateCSIStorageCapacity` and `ValidateCSIStorageCapacityUpdate`
pub(crate) fn storage_capacity(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    let (topology, class) = (object.child("nodeTopology"), object.child("storageClassName"));
    let old_object = FieldValue::new(old, ROOT);
    let old_topology = old_object.child("nodeTopology");
    let allows_invalid = selectors::has_invalid_value(&old_topology, errors);
    if old.is_some() {
        immutable::typed(errors, &topology, &old_topology, immutable::SELECTOR);
        immutable::typed(errors, &class, &old_object.child("storageClassName"), "string");
    }
    selectors::label_selector(errors, &topology, allows_invalid);
    formats::object_name(errors, &class);
    resources::nonnegative_quantity(errors, &object.child("capacity"));
}

/// `ValidateVolumeAttributesClass` and `ValidateVolumeAttributesClassUpdate`
pub fn attributes_class(errors: &mut Errors, object: &FieldValue<'_, '_>, old: Option<&Value>) {
    if let Some(old) = old {
        for name in ["driverName", "parameters"] {
            let field = object.child(name);
            if !immutable::is_equal(field.value, old.get(name).unwrap_or(&Value::Null)) {
                let path = FieldPath::new(name);
                errors.list.push(FieldError::forbidden(&path, format!("updates to {name} are forbidden.")));
            }
        }
    }
    provisioner(errors, &object.child("driverName"));
    parameters(errors, &object.child("parameters"), false);
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

    #[test]
    fn lifecycle_modes_are_shown_with_their_type() {
        let driver = |modes: &str| {
            format!(
                r#"{{"spec":{{"attachRequired":true,"podInfoOnMount":true,"storageCapacity":true,"volumeLifecycleModes":{modes}}}}}"#
            )
        };
        let (old, new) = (driver(r#"["Persistent"]"#), driver(r#"["Persistent","Ephemeral"]"#));
        assert_eq!(
            updated("storage.k8s.io/v1", "CSIDriver", &old, &new, "1.31"),
            [
                r#"spec.volumeLifecycleModes: Invalid value: []storage.VolumeLifecycleMode{"Persistent", "Ephemeral"}: field is immutable"#
            ]
        );
    }

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
}
