//! Quantities by resource name, and those of a Pod.

use crdx_cel::value::Quantity;
use crdx_value::Value;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// Quantities by resource name.
pub(crate) type Amounts = BTreeMap<String, Quantity>;

/// The quantity that a value is.
pub(crate) fn quantity(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::parse(text).ok(),
        Value::Int(number) => Some(Quantity::from_int(*number)),
        _ => None,
    }
}

/// The quantities of a map such as `limits`.
pub(crate) fn amounts(object: &Value, path: &[&str]) -> Amounts {
    let members = object.at(path).and_then(Value::as_object).into_iter().flatten();
    members.filter_map(|(name, value)| Some((name.clone(), quantity(value)?))).collect()
}

/// The requests or the limits of all containers of a Pod together (`podRequests`, `podLimits`).
pub(crate) fn of_pod(pod: &Value, key: &str) -> Amounts {
    let mut total = Amounts::new();
    for container in containers(pod, "containers") {
        add(&mut total, &amounts(container, &["resources", key]));
    }
    let (mut restartable, mut initial) = (Amounts::new(), Amounts::new());
    for container in containers(pod, "initContainers") {
        let mut own = amounts(container, &["resources", key]);
        if container.str_at(&["restartPolicy"]) == Some("Always") {
            add(&mut total, &own);
            add(&mut restartable, &own);
            own.clone_from(&restartable);
        } else {
            add(&mut own, &restartable);
        }
        raise(&mut initial, &own);
    }
    raise(&mut total, &initial);
    for (name, amount) in amounts(pod, &["spec", "resources", key]) {
        if matches!(name.as_str(), "cpu" | "memory") {
            total.insert(name, amount);
        }
    }
    total
}

/// The containers of one list of a Pod.
pub(crate) fn containers<'v>(pod: &'v Value, list: &str) -> &'v [Value] {
    pod.at(&["spec", list]).and_then(Value::as_array).unwrap_or_default()
}

/// Adds amounts to a total.
pub(crate) fn add(total: &mut Amounts, more: &Amounts) {
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
pub(crate) fn is_less(one: &Quantity, other: &Quantity) -> bool {
    one.compare(other) == Ordering::Less
}
