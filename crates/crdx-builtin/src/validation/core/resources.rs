//! Compute resources: names and quantities (`validateResourceRequirements` in `pkg/apis/core/validation`, and
//! `pkg/apis/core/helper`).

use crate::validation::field_value::{Errors, FieldValue};
use crate::validation::formats;
use crdx_cel::value::Quantity;
use crdx_types::amounts::{HUGE_PAGES, is_huge_page, is_huge_page_of_quota, is_native};
use crdx_value::Value;
use crdx_value::field::{BadValue, ErrorType, FieldError, names};
use crdx_value::release::{Release, V1_38};
use std::cmp::Ordering;
use std::collections::BTreeSet;

const REQUESTS: &str = "requests.";

/// `standardContainerResources`
const CONTAINER_RESOURCES: &[&str] = &["cpu", "memory", "ephemeral-storage"];

/// `standardQuotaResources`
const QUOTA_RESOURCES: &[&str] = &[
    "cpu",
    "memory",
    "ephemeral-storage",
    "requests.cpu",
    "requests.memory",
    "requests.storage",
    "requests.ephemeral-storage",
    "limits.cpu",
    "limits.memory",
    "limits.ephemeral-storage",
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
    "services.nodeports",
    "services.loadbalancers",
];

/// `integerResources`
const INTEGER_RESOURCES: &[&str] = &[
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// The owner of resource requirements, which determines the resources that they may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    Container,
    /// The specification of a Pod.
    Pod,
}

/// `IsExtendedResourceName`
pub(crate) fn is_extended(name: &str, release: Release) -> bool {
    !is_native(name)
        && !name.starts_with(REQUESTS)
        && names::qualified_name(&format!("{REQUESTS}{name}"), release).is_empty()
}

/// `IsOvercommitAllowed`
fn allows_overcommit(name: &str) -> bool {
    is_native(name) && !is_huge_page(name)
}

/// `IsStandardQuotaResourceName`
pub(crate) fn is_quota_resource(name: &str) -> bool {
    QUOTA_RESOURCES.contains(&name) || is_huge_page_of_quota(name)
}

/// `validateResourceName`. Returns true without errors.
pub fn resource_name(errors: &mut Errors, field: &FieldValue<'_, '_>, name: &str) -> bool {
    let messages = names::qualified_name(name, errors.release);
    let is_valid = messages.is_empty();
    for message in messages {
        errors.invalid_stringer(&field.path, name, message);
    }
    if is_valid && !name.contains('/') && !is_quota_resource(name) && name != "storage" {
        errors.invalid_stringer(&field.path, name, "must be a standard resource type or fully qualified");
        return false;
    }
    is_valid
}

/// `ValidateContainerResourceName`
pub(crate) fn container_resource_name(errors: &mut Errors, field: &FieldValue<'_, '_>, name: &str) {
    resource_name(errors, field, name);
    let detail = if name.contains('/') {
        let is_valid = is_native(name) || is_extended(name, errors.release);
        (!is_valid).then_some("doesn't follow extended resource name standard")
    } else {
        let is_valid = CONTAINER_RESOURCES.contains(&name) || is_huge_page(name);
        (!is_valid).then_some("must be a standard resource for containers")
    };
    if let Some(detail) = detail {
        errors.invalid_stringer(&field.path, name, detail);
    }
}

/// `validatePodResourceName`
fn pod_resource_name(errors: &mut Errors, field: &FieldValue<'_, '_>, name: &str) {
    if resource_name(errors, field, name) && !matches!(name, "cpu" | "memory") && !is_huge_page(name) {
        errors.list.push(FieldError::not_supported(&field.path, name, &["cpu", HUGE_PAGES, "memory"]));
    }
}

/// `ValidateResourceQuantityValue`: the quantity is not negative, and an integer where only integers count.
pub(crate) fn quantity_of(errors: &mut Errors, field: &FieldValue<'_, '_>, name: &str) {
    nonnegative_quantity(errors, field);
    let counts = INTEGER_RESOURCES.contains(&name) || is_extended(name, errors.release);
    if counts && field.quantity(errors.release).is_some_and(|quantity| !is_integer(&quantity, errors.release)) {
        // The server shows the quantity as a struct, with an encoder that prints its text.
        errors.invalid(field, "must be an integer");
    }
}

/// `isIntegerResourceValue`: thousandths of the amount, rounded up, are an integer. Since 1.38, so is an amount whose
/// thousandths do not fit in 64 bits.
fn is_integer(quantity: &Quantity, release: Release) -> bool {
    quantity.milli_value() % 1000 == 0 || (release.since(V1_38) && quantity.is_whole())
}

/// `validateBasicResource`. Returns true without errors. Before 1.38, it overlooks numbers below the smallest int64.
pub(crate) fn basic(errors: &mut Errors, field: &FieldValue<'_, '_>) -> bool {
    let Some(quantity) = field.quantity(errors.release).filter(|quantity| quantity.sign() < 0) else { return true };
    let shown = if errors.release.since(V1_38) {
        BadValue::from(quantity.to_string())
    } else if quantity.value() < 0 {
        BadValue::from(quantity.value())
    } else {
        return true;
    };
    errors.invalid_value(&field.path, shown, "must be a valid resource quantity");
    false
}

/// `ValidateNonnegativeQuantity`
pub(crate) fn nonnegative_quantity(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if field.quantity(errors.release).is_some_and(|quantity| quantity.sign() < 0) {
        errors.invalid(field, "must be greater than or equal to 0");
    }
}

/// `ValidatePositiveQuantityValue`
pub(crate) fn positive_quantity(errors: &mut Errors, field: &FieldValue<'_, '_>) {
    if field.quantity(errors.release).is_some_and(|quantity| quantity.sign() <= 0) {
        errors.invalid(field, "must be greater than zero");
    }
}

/// `validateResourceRequirements`; `claims` are the names of the Pod's resource claims.
pub fn requirements(
    errors: &mut Errors,
    requirements: &FieldValue<'_, '_>,
    owner: Owner,
    claims: &BTreeSet<&str>,
    allows_indivisible_huge_pages: bool,
) {
    let (limits, requests) = (requirements.child("limits"), requirements.child("requests"));
    let (mut has_huge_pages, mut has_compute) = (false, false);
    let mut check = |errors: &mut Errors, name: &str, field: &FieldValue<'_, '_>| {
        match owner {
            Owner::Container => container_resource_name(errors, field, name),
            Owner::Pod => pod_resource_name(errors, field, name),
        }
        quantity_of(errors, field, name);
        has_compute |= matches!(name, "cpu" | "memory");
        has_huge_pages |= is_huge_page(name);
    };
    let check_pages = |errors: &mut Errors, name: &str, field: &FieldValue<'_, '_>| {
        if is_huge_page(name) && !allows_indivisible_huge_pages && !is_divisible(name, field, errors.release) {
            let detail = format!("{} is not positive integer multiple of {name}", field.text());
            errors.invalid(field, detail);
        }
    };
    for (name, limit) in limits.entries() {
        check(errors, name, &limit);
        check_pages(errors, name, &limit);
    }
    for (name, request) in requests.entries() {
        check(errors, name, &request);
        let limit = limits.child(name);
        match (request.quantity(errors.release), limit.quantity(errors.release)) {
            (Some(requested), Some(limited)) => {
                let order = requested.compare(&limited);
                let relation = match order {
                    Ordering::Equal => None,
                    _ if !allows_overcommit(name) => Some("equal to"),
                    Ordering::Greater => Some("less than or equal to"),
                    Ordering::Less => None,
                };
                if let Some(relation) = relation {
                    let detail = format!("must be {relation} {name} limit of {}", limit.text());
                    errors.invalid_value(&requests.path, BadValue::new(request.value, errors.release), detail);
                }
            }
            (Some(_), None) if !allows_overcommit(name) => {
                errors.required(&limits, "Limit must be set for non overcommitable resources");
            }
            _ => {}
        }
        check_pages(errors, name, &request);
    }
    if has_huge_pages && !has_compute {
        errors.forbidden(requirements, "HugePages require cpu or memory");
    }
    claim_names(errors, &requirements.child("claims"), claims);
}

/// `validateOverhead`: the overhead of a Pod is validated as limits, in the errors of `field`.
pub(crate) fn overhead(
    errors: &mut Errors,
    field: &FieldValue<'_, '_>,
    amounts: &Value,
    allows_indivisible_huge_pages: bool,
) {
    let limits = Value::Object([("limits".to_owned(), amounts.clone())].into());
    let limits = FieldValue::new(Some(&limits), field.path);
    requirements(errors, &limits, Owner::Container, &BTreeSet::new(), allows_indivisible_huge_pages);
}

/// `IsHugePageResourceValueDivisible`
pub(crate) fn is_divisible(name: &str, field: &FieldValue<'_, '_>, release: Release) -> bool {
    let page = name.strip_prefix(HUGE_PAGES).and_then(|size| Quantity::parse(size, release.minor()).ok());
    let (Some(page), Some(quantity)) = (page, field.quantity(release)) else { return false };
    let is_page = page.sign() > 0 && page.milli_value() % 1000 == 0;
    // Before 1.38, amounts that do not fit in 64 bits wrap.
    let is_counted = !release.since(V1_38) || quantity.fits_int();
    is_page && is_counted && quantity.value().checked_rem(page.value()) == Some(0)
}

const UNKNOWN_CLAIM: &str = "must be one of the names in pod.spec.resourceClaims";

/// `validateResourceClaimNames`
fn claim_names(errors: &mut Errors, list: &FieldValue<'_, '_>, pod_claims: &BTreeSet<&str>) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    let unknown = if pod_claims.is_empty() {
        format!("{UNKNOWN_CLAIM} which is empty")
    } else {
        format!("{UNKNOWN_CLAIM}: {}", pod_claims.iter().copied().collect::<Vec<_>>().join(", "))
    };
    for claim in list.items() {
        if errors.list.is_full() {
            return;
        }
        let (name, request) = (claim.child("name"), claim.child("request"));
        if name.text().is_empty() {
            errors.required(&claim, "");
            continue;
        }
        let duplicate = |errors: &mut Errors, text: &str| {
            errors.list.push(FieldError::duplicate(&claim.path, text));
        };
        if seen.contains(name.text()) {
            duplicate(errors, name.text());
        } else {
            let mut key = name.text().to_owned();
            if !request.text().is_empty() {
                formats::label(errors, &request);
                key = format!("{key}/{}", request.text());
            }
            if seen.contains(&key) {
                duplicate(errors, &key);
            } else if request.text().is_empty() {
                let prefix = format!("{key}/");
                let overlaps = seen.range(prefix.clone()..).take_while(|other| other.starts_with(&prefix)).count();
                (0..overlaps).for_each(|_| duplicate(errors, name.text()));
            }
            seen.insert(key);
        }
        if !pod_claims.contains(name.text()) {
            let error = FieldError::new(ErrorType::NotFound, &claim.path, name.text(), unknown.clone());
            errors.list.push(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::validation::tests::created;
    use crdx_value::field::UNFINISHED;

    #[test]
    fn details_that_repeat_a_long_list_of_claims_are_bounded() {
        let named = |prefix: &str| {
            let names: Vec<String> = (0..20_000).map(|at| format!(r#"{{"name":"{prefix}{at}"}}"#)).collect();
            names.join(",")
        };
        let container = format!(r#"{{"name":"a","image":"b","resources":{{"claims":[{}]}}}}"#, named("x"));
        let pod = format!(r#"{{"spec":{{"containers":[{container}],"resourceClaims":[{}]}}}}"#, named("y"));
        let errors = created("v1", "Pod", &pod, "1.37");
        assert_eq!(errors.iter().filter(|error| error.contains(UNFINISHED)).count(), 1);
        assert!(errors.iter().map(String::len).sum::<usize>() < 50 << 20);
        let few = created("v1", "Pod", &pod.replace(&named("x"), r#"{"name":"x"}"#), "1.37");
        assert!(
            few.iter().any(|error| error.contains("must be one of the names in pod.spec.resourceClaims: y0, y1, "))
        );
    }
}
