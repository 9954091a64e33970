//! Quantities by resource name, and those of the containers of a Pod.

use crdx_value::Value;
use crdx_value::quantity::Quantity;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// The prefix of the names of huge pages, before their size.
pub const HUGE_PAGES: &str = "hugepages-";

/// Quantities by resource name.
pub type Amounts = BTreeMap<String, Quantity>;

pub fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Int(number) => Some(Quantity::from_int(*number)),
        _ => None,
    }
}

/// The quantities of a map such as `limits`.
pub fn amounts(object: &Value, path: &[&str]) -> Amounts {
    let members = object.at(path).and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), quantity(value)?))).collect()
}

/// The requests or the limits of all containers in the specification of a Pod (`AggregateContainerRequests` and
/// `AggregateContainerLimits` in `component-helpers/resource`): the sum of the containers and sidecars, or the most that an
/// init container needs together with the sidecars before it.
pub fn of_containers(spec: &Value, key: &str) -> Amounts {
    let mut total = Amounts::new();
    for container in containers(spec, "containers") {
        add(&mut total, &amounts(container, &["resources", key]));
    }
    let (mut sidecars, mut most) = (Amounts::new(), Amounts::new());
    for container in containers(spec, "initContainers") {
        let mut needed = amounts(container, &["resources", key]);
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
