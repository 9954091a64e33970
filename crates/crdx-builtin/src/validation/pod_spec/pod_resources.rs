//! The resources of a whole Pod (`validatePodResources`).

use super::PodOptions;
use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::resources::{self, Owner};
use crdx_cel::value::Quantity;
use crdx_value::field::BadValue;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Validates `spec.resources`, which the server drops before 1.34.
pub fn validate(errors: &mut Errors, spec: &FieldValue<'_, '_>, claims: &BTreeSet<&str>, options: &PodOptions) {
    let resources = spec.child("resources");
    if !resources.is_set() {
        return;
    }
    if spec.value.str_at(&["os", "name"]) == Some("windows") {
        return errors.forbidden(&resources, "may not be set for a windows pod");
    }
    errors.forbid_if_set(&resources.child("claims"), "claims may not be set for Resources at pod-level");
    resources::requirements(errors, &resources, Owner::Pod, claims, options.allows_indivisible_huge_pages);
    let (requests, limits) = (resources.child("requests"), resources.child("limits"));
    let relation = "must be greater than or equal to aggregate container";
    for (name, sum) in aggregate(spec, "requests") {
        exceeds(errors, &requests, name, &sum, &format!("{relation} requests"));
    }
    for (name, sum) in aggregate(spec, "limits").into_iter().filter(|(name, _)| resources::is_huge_page(name)) {
        exceeds(errors, &limits, name, &sum, &format!("{relation} limits"));
    }
    for (at, container) in spec.child("containers").items().enumerate() {
        for (name, limit) in container.child("resources").child("limits").entries() {
            let pod_limit = limits.child(name);
            if let (Some(own), Some(pod)) = (limit.quantity(), pod_limit.quantity())
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
    if own.quantity().is_some_and(|quantity| sum.compare(&quantity) == Ordering::Greater) {
        errors.invalid_value(&list.path.key(name), own.text(), format!("{relation} of {sum}"));
    }
}

/// The requests or limits of all containers (`AggregateContainerRequests` in `component-helpers/resource`): the sum of
/// the containers and sidecars, or the most that an init container needs together with the sidecars before it.
fn aggregate<'v>(spec: &FieldValue<'v, '_>, field: &'static str) -> BTreeMap<&'v str, Quantity> {
    let mut total: BTreeMap<&'v str, Quantity> = BTreeMap::new();
    for container in spec.child("containers").items() {
        add(&mut total, &quantities(&container, field));
    }
    let (mut sidecars, mut most): (BTreeMap<_, _>, BTreeMap<_, _>) = Default::default();
    for container in spec.child("initContainers").items() {
        let mut needed = quantities(&container, field);
        if container.child("restartPolicy").text() == "Always" {
            add(&mut total, &needed);
            add(&mut sidecars, &needed);
            needed = sidecars.clone();
        } else {
            add(&mut needed, &sidecars);
        }
        maximum(&mut most, needed);
    }
    maximum(&mut total, most);
    total
}

fn quantities<'v>(container: &FieldValue<'v, '_>, field: &'static str) -> BTreeMap<&'v str, Quantity> {
    let resources = container.child("resources");
    let list = resources.child(field);
    list.entries().filter_map(|(name, value)| Some((name, value.quantity()?))).collect()
}

fn add<'v>(total: &mut BTreeMap<&'v str, Quantity>, other: &BTreeMap<&'v str, Quantity>) {
    for (name, quantity) in other {
        let sum = match total.get(name) {
            Some(before) => before.add(quantity).unwrap_or_else(|_| quantity.clone()),
            None => quantity.clone(),
        };
        total.insert(name, sum);
    }
}

fn maximum<'v>(total: &mut BTreeMap<&'v str, Quantity>, other: BTreeMap<&'v str, Quantity>) {
    for (name, quantity) in other {
        if total.get(name).is_none_or(|before| quantity.compare(before) == Ordering::Greater) {
            total.insert(name, quantity);
        }
    }
}
