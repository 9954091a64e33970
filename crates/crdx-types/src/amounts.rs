//! Quantities by resource name, and those of the containers of a Pod.

use crdx_value::Value;
use crdx_value::quantity::Quantity;
use crdx_value::release::{Minor, V1_38};
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The prefix of the names of huge pages, before their size.
pub const HUGE_PAGES: &str = "hugepages-";

/// Quantities by resource name.
pub type Amounts = BTreeMap<String, Quantity>;

pub fn quantity(value: &Value, release: Minor) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text, release).ok(),
        Value::Int(number) => Some(Quantity::from_int(*number)),
        _ => None,
    }
}

/// The quantities of a map such as `limits`.
pub fn amounts(object: &Value, path: &[&str], release: Minor) -> Amounts {
    let members = object.at(path).and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), quantity(value, release)?))).collect()
}

/// The requests or the limits of all containers in the specification of a Pod (`AggregateContainerRequests` and
/// `AggregateContainerLimits` in `component-helpers/resource`): the sum of the containers and sidecars, or the most that an
/// init container needs together with the sidecars before it.
pub fn of_containers(spec: &Value, key: &str, release: Minor) -> Amounts {
    let mut total = Amounts::new();
    for container in containers(spec, "containers") {
        add(&mut total, &amounts(container, &["resources", key], release));
    }
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in containers(spec, "initContainers") {
        let mut needed = amounts(container, &["resources", key], release);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            add(&mut total, &needed);
            add(&mut sidecars, &needed);
            needed.clone_from(&sidecars);
        } else {
            add(&mut needed, &sidecars);
        }
        raise(&mut most, &needed);
    }
    raise(&mut total, &most);
    total
}

/// The limits of all containers (`AggregateContainerLimits`). Since 1.38, there is none of CPU or memory unless every container
/// has a limit that is not 0.
pub fn limits_of_containers(spec: &Value, release: Minor) -> Amounts {
    let mut limits = of_containers(spec, "limits", release);
    if release >= V1_38 {
        let all = || ["initContainers", "containers"].into_iter().flat_map(|list| containers(spec, list));
        limits.retain(|name, _| {
            let limit = |container: &Value| quantity(container.at(&["resources", "limits", name])?, release);
            !matches!(name.as_str(), "cpu" | "memory")
                || all().all(|container| limit(container).is_some_and(|limit| limit.sign() != 0))
        });
    }
    limits
}

/// Returns true for a resource that Kubernetes defines (`IsNativeResource`).
pub fn is_native(name: &str) -> bool {
    !name.contains('/') || name.contains("kubernetes.io/")
}

/// Returns true for a resource that a whole Pod may request (`IsSupportedPodLevelResource`).
pub fn is_of_pods(name: &str) -> bool {
    matches!(name, "cpu" | "memory") || is_huge_page(name)
}

/// Returns true for huge pages of some size (`IsHugePageResourceName`).
pub fn is_huge_page(name: &str) -> bool {
    name.starts_with(HUGE_PAGES)
}

/// Returns true for huge pages of some size, or requests of them, in a quota (`IsQuotaHugePageResourceName`).
pub fn is_huge_page_of_quota(name: &str) -> bool {
    is_huge_page(name) || name.strip_prefix("requests.").is_some_and(is_huge_page)
}

/// The containers of one list of the specification of a Pod.
pub fn containers<'v>(spec: &'v Value, list: &str) -> &'v [Value] {
    spec.get(list).and_then(Value::as_array).unwrap_or_default()
}

/// Adds amounts to a total.
pub fn add(total: &mut Amounts, more: &Amounts) {
    for (name, amount) in more {
        let sum = total.get(name).and_then(|known| known.add(amount).ok());
        total.insert(name.clone(), sum.unwrap_or_else(|| amount.clone()));
    }
}

fn raise(total: &mut Amounts, other: &Amounts) {
    for (name, amount) in other {
        if total.get(name).is_none_or(|known| is_less(known, amount)) {
            total.insert(name.clone(), amount.clone());
        }
    }
}

/// Returns true if one quantity is less than another.
pub fn is_less(one: &Quantity, other: &Quantity) -> bool {
    one.compare(other) == Ordering::Less
}
