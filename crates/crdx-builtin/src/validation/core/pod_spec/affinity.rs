//! Node and Pod affinity (`validateAffinity`), and node selectors.

use super::{PodOptions, topology_spread};
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crate::validation::selectors::{self, LabelValues};
use crdx_value::field::names::{self, NameForm};

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// `validateAffinity`
pub fn validate(errors: &mut Errors, affinity: &FieldValue<'_, '_>, options: &PodOptions) {
    let node_affinity = affinity.child("nodeAffinity");
    let required = node_affinity.child(REQUIRED);
    if required.is_set() {
        node_selector(errors, &required, LabelValues::allow_invalid_if(options.allows_invalid_node_affinity));
    }
    for term in node_affinity.child(PREFERRED).items() {
        weight(errors, &term);
        node_selector_term(errors, &term.child("preference"), LabelValues::AllowInvalid);
    }
    for pod_affinity in ["podAffinity", "podAntiAffinity"].map(|name| affinity.child(name)) {
        for term in pod_affinity.child(REQUIRED).items() {
            pod_affinity_term(errors, &term, options);
        }
        for term in pod_affinity.child(PREFERRED).items() {
            weight(errors, &term);
            pod_affinity_term(errors, &term.child("podAffinityTerm"), options);
        }
    }
}

fn weight(errors: &mut Errors, term: &FieldValue<'_, '_>) {
    let weight = term.child("weight");
    let value = weight.int().unwrap_or_default();
    if !(1..=100).contains(&value) {
        errors.invalid_value(&weight.path, value, "must be in the range 1-100");
    }
}

/// `ValidateNodeSelector`
pub(crate) fn node_selector(errors: &mut Errors, selector: &FieldValue<'_, '_>, label_values: LabelValues) {
    let terms = selector.child("nodeSelectorTerms");
    if terms.len() == 0 {
        return errors.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        node_selector_term(errors, &term, label_values);
    }
}

/// `ValidateNodeSelectorTerm`
fn node_selector_term(errors: &mut Errors, term: &FieldValue<'_, '_>, label_values: LabelValues) {
    for requirement in term.child("matchExpressions").items() {
        label_requirement(errors, &requirement, label_values);
    }
    for requirement in term.child("matchFields").items() {
        field_requirement(errors, &requirement);
    }
}

/// `ValidateNodeSelectorRequirement`
fn label_requirement(errors: &mut Errors, requirement: &FieldValue<'_, '_>, label_values: LabelValues) {
    let (operator, values) = (requirement.child("operator"), requirement.child("values"));
    match operator.text() {
        "In" | "NotIn" => {
            if values.len() == 0 {
                errors.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
        }
        "Exists" | "DoesNotExist" => {
            if values.len() > 0 {
                errors.forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
        }
        "Gt" | "Lt" => {
            if values.len() != 1 {
                errors.required(&values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
            }
        }
        other => errors.invalid_value(&operator.path, other, "not a valid selector operator"),
    }
    formats::qualified_name(errors, &requirement.child("key"));
    if label_values == LabelValues::Validate {
        for value in values.items() {
            errors.messages(&value, names::label_value(value.text(), errors.release));
        }
    }
}

/// `ValidateNodeFieldSelectorRequirement`
fn field_requirement(errors: &mut Errors, requirement: &FieldValue<'_, '_>) {
    let (operator, values, key) =
        (requirement.child("operator"), requirement.child("values"), requirement.child("key"));
    match operator.text() {
        "In" | "NotIn" => {
            if values.len() != 1 {
                let detail = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector";
                errors.required(&values, detail);
            }
        }
        other => errors.invalid_value(&operator.path, other, "not a valid selector operator"),
    }
    if key.text() == "metadata.name" {
        for value in values.items() {
            formats::object_name(errors, &value);
        }
    } else {
        errors.invalid_value(&key.path, key.text(), "not a valid field selector key");
    }
}

/// `validatePodAffinityTerm`
fn pod_affinity_term(errors: &mut Errors, term: &FieldValue<'_, '_>, options: &PodOptions) {
    for name in ["labelSelector", "namespaceSelector"] {
        selectors::label_selector(
            errors,
            &term.child(name),
            LabelValues::allow_invalid_if(options.allows_invalid_affinity_selectors),
        );
    }
    for namespace in term.child("namespaces").texts() {
        // The server reports these errors at a field that does not exist.
        errors.messages_at(&term.path.child("namespace"), namespace, names::name_is_label(namespace, NameForm::Whole));
    }
    topology_spread::label_keys(errors, term);
    let topology_key = term.child("topologyKey");
    if topology_key.text().is_empty() {
        errors.required(&topology_key, "can not be empty");
    }
    formats::qualified_name(errors, &topology_key);
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    #[test]
    fn values_of_required_nodes_are_validated_since_1_33() {
        let term = r#"{"nodeSelectorTerms":[{"matchExpressions":[{"key":"a","operator":"In","values":["-"]}]}]}"#;
        let pod = format!(
            r#"{{"spec":{{"affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":{term}}}}}}}}}"#
        );
        let volume = format!(r#"{{"spec":{{"nodeAffinity":{{"required":{term}}}}}}}"#);
        for (kind, object) in [("Pod", pod), ("PersistentVolume", volume)] {
            let is_reported = |release| {
                let errors = created("v1", kind, &object, release);
                errors.iter().any(|error| error.contains(r#"values[0]: Invalid value: "-""#))
            };
            assert!(is_reported("1.33") && !is_reported("1.32"), "{kind}");
        }
    }
}
