//! The resources of a whole Pod (`validatePodResources`).

use super::PodOptions;
use crate::validation::core::resources;
use crate::validation::core::resources::Owner;
use crate::validation::field_value::{Errors, FieldValue};
use crdx_cel::value::Quantity;
use crdx_types::amounts::{is_huge_page, of_containers};
use crdx_value::field::BadValue;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Validates `spec.resources`, which the server drops before 1.34.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, claims: &BTreeSet<&str>, options: &PodOptions) {
    let resources = spec.child("resources");
    if !resources.is_set() {
        return;
    }
    if spec.value.str_at(&["os", "name"]) == Some("windows") {
        return errors.forbidden(&resources, "may not be set for a windows pod");
    }
    let claims_of_pod = resources.child("claims");
    if claims_of_pod.is_set() || claims_of_pod.is_given_empty() {
        errors.forbidden(&claims_of_pod, "claims may not be set for Resources at pod-level");
    }
    resources::requirements(errors, &resources, Owner::Pod, claims, options.allows_indivisible_huge_pages);
    let (requests, limits) = (resources.child("requests"), resources.child("limits"));
    let relation = "must be greater than or equal to aggregate container";
    for (name, sum) in of_containers(spec.value, "requests", errors.release.minor()) {
        exceeds(errors, &requests, &name, &sum, &format!("{relation} requests"));
    }
    for (name, sum) in
        of_containers(spec.value, "limits", errors.release.minor()).into_iter().filter(|(name, _)| is_huge_page(name))
    {
        exceeds(errors, &limits, &name, &sum, &format!("{relation} limits"));
    }
    for (at, container) in spec.child("containers").items().enumerate() {
        for (name, limit) in container.child("resources").child("limits").entries() {
            let pod_limit = limits.child(name);
            if let (Some(own), Some(pod)) = (limit.quantity(errors.release), pod_limit.quantity(errors.release))
                && own.compare(&pod) == Ordering::Greater
            {
                let containers = resources.path.child("containers");
                let container = containers.index(at);
                let path = container.key(name);
                let detail = format!("must be less than or equal to pod limits of {}", pod_limit.text());
                errors.invalid_value(&path.child("limits"), BadValue::new(limit.value, errors.release), detail);
            }
        }
    }
}

fn exceeds(errors: &mut Errors, list: &FieldValue<'_, '_>, name: &str, sum: &Quantity, relation: &str) {
    let own = list.child(name);
    if own.quantity(errors.release).is_some_and(|quantity| sum.compare(&quantity) == Ordering::Greater) {
        errors.invalid_value(&list.path.key(name), own.text(), format!("{relation} of {sum}"));
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;

    fn errors(rest: &str) -> Vec<String> {
        created("v1", "Pod", &format!(r#"{{"spec":{{"containers":[{{"name":"c","image":"i"}}],{rest}}}}}"#), "1.37")
    }

    #[test]
    fn the_overhead_is_validated_as_limits() {
        assert_eq!(errors(r#""overhead":{"cpu":"1"}"#), [""; 0]);
        let found = errors(r#""overhead":{"hugepages-2Mi":"-1"}"#);
        assert!(found.contains(&"spec.overhead: Forbidden: HugePages require cpu or memory".to_owned()), "{found:?}");
        assert_eq!(found.len(), 3, "{found:?}");
    }

    #[test]
    fn a_whole_pod_has_no_claims() {
        let found = errors(r#""resources":{"claims":[{"name":"a"}]}"#);
        assert_eq!(found[0], "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level");
    }
}
