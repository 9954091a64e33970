//! The claims of a Pod that a status reports.

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_value::Value;
use crdx_value::field::FieldError;
use crdx_value::field::names::{self, NameForm};
use crdx_value::release::V1_36;
use std::collections::{HashMap, HashSet};

/// `validatePodResourceClaimStatuses`
pub(super) fn statuses(errors: &mut Errors, list: &FieldValue<'_, '_>, spec: &FieldValue<'_, '_>) {
    let claims = spec.child("resourceClaims");
    let names_of_claims: HashSet<&str> = claims.items().map(|claim| name_of(claim.value)).collect();
    let mut seen = HashSet::new();
    for status in list.items() {
        let (name, claim) = (status.child("name"), status.child("resourceClaimName"));
        if !names_of_claims.contains(name.text()) {
            errors.invalid(&name, "must match the name of an entry in `spec.resourceClaims`");
        }
        if !seen.insert(name.text()) {
            errors.duplicate(&name);
        }
        if claim.is_set() {
            // Before 1.36, the error was about the other name.
            let path = if errors.release.since(V1_36) { claim.path } else { name.path };
            errors.messages_at(&path, claim.text(), names::name_is_subdomain(claim.text(), NameForm::Whole));
        }
    }
}

fn name_of(item: &Value) -> &str {
    item.str_at(&["name"]).unwrap_or_default()
}

/// `validatePodExtendedResourceClaimStatus`, since 1.36: the status is dropped before.
pub(super) fn extended(errors: &mut Errors, status: &FieldValue<'_, '_>, spec: &FieldValue<'_, '_>) {
    if !status.is_set() {
        return;
    }
    let mappings = status.child("requestMappings");
    if mappings.len() == 0 {
        errors.required(&mappings, "at least one request mapping is required");
    }
    let lists = ["containers", "initContainers"].map(|name| spec.child(name));
    let mut containers: HashMap<&str, &Value> = HashMap::new();
    for found in lists.iter().flat_map(FieldValue::items) {
        containers.entry(name_of(found.value)).or_insert(found.value);
    }
    let mut seen = HashSet::new();
    for mapping in mappings.items() {
        let fields = ["containerName", "resourceName", "requestName"].map(|name| mapping.child(name));
        let [container, resource, request] = &fields;
        match containers.get(container.text()) {
            None => errors.invalid(
                container,
                "must match the name of an entry in spec.initContainers.name or spec.containers.name",
            ),
            Some(found) if found.at(&["resources", "requests", resource.text()]).is_none() => errors.invalid(
                resource,
                "must match the extended resource name of an entry in spec.initContainers.resources.requests or spec.containers.resources.requests",
            ),
            Some(_) => {}
        }
        // The error is about a field of the status.
        formats::label(errors, &FieldValue { path: status.path.child("requestName"), ..*request });
        if !seen.insert([container.text(), resource.text(), request.text()]) {
            for field in &fields {
                errors.list.push(FieldError::duplicate(&field.path, field.text()));
            }
        }
    }
    let claim = status.child("resourceClaimName");
    if errors.require_text(&claim) {
        formats::object_name(errors, &claim);
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::statuses::tests::errors;

    fn written(status: &str, release: &str) -> Vec<String> {
        let spec = r#""spec":{"resourceClaims":[{"name":"a"}],"containers":[{"name":"c","resources":{"requests":{"example.com/gpu":"1"}}}]}"#;
        let object = format!(r#"{{{spec},"status":{status}}}"#);
        errors(("", "Pod"), &object, &object, release)
    }

    #[test]
    fn claims_are_those_of_the_specification() {
        let claims = |list: &str, release: &str| written(&format!(r#"{{"resourceClaimStatuses":[{list}]}}"#), release);
        assert_eq!(claims(r#"{"name":"a","resourceClaimName":"b"}"#, "1.37"), [""; 0]);
        assert_eq!(
            claims(r#"{"name":"a"},{"name":"x"},{"name":"a"}"#, "1.37"),
            [
                r#"status.resourceClaimStatuses[1].name: Invalid value: "x": must match the name of an entry in `spec.resourceClaims`"#,
                r#"status.resourceClaimStatuses[2].name: Duplicate value: "a""#,
            ]
        );
        for (release, field) in [("1.36", "resourceClaimName"), ("1.35", "name")] {
            let found = claims(r#"{"name":"a","resourceClaimName":"B"}"#, release);
            let start = format!(r#"status.resourceClaimStatuses[0].{field}: Invalid value: "B": "#);
            assert!(found.len() == 1 && found[0].starts_with(&start), "{found:?}");
        }
    }

    #[test]
    fn mappings_of_extended_resources_are_unique() {
        let status = |mappings: &str| {
            let members = format!(r#""resourceClaimName":"b","requestMappings":[{mappings}]"#);
            written(&format!(r#"{{"extendedResourceClaimStatus":{{{members}}}}}"#), "1.37")
        };
        let mapping = r#"{"containerName":"c","resourceName":"example.com/gpu","requestName":"r"}"#;
        assert_eq!(status(mapping), [""; 0]);
        assert_eq!(status(&format!("{mapping},{mapping}")).len(), 3);
        assert_eq!(
            status(""),
            [
                "status.extendedResourceClaimStatus.requestMappings: Required value: at least one request mapping is required"
            ]
        );
        let path = "status.extendedResourceClaimStatus.requestMappings[0]";
        assert_eq!(
            status(&mapping.replace(r#""c""#, r#""x""#)),
            [format!(
                r#"{path}.containerName: Invalid value: "x": must match the name of an entry in spec.initContainers.name or spec.containers.name"#
            )]
        );
        let found = status(&mapping.replace("gpu", "x"));
        assert!(found.len() == 1 && found[0].starts_with(&format!("{path}.resourceName: ")), "{found:?}");
    }
}
