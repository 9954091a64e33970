//! The quantities that a Pod needs.

use crdx_types::amounts::{Amounts, amounts, of_containers};
use crdx_value::Value;

/// The requests or the limits of a Pod (`PodRequests` and `PodLimits` in `component-helpers/resource`).
pub(crate) fn of_pod(pod: &Value, key: &str) -> Amounts {
    let mut total = pod.get("spec").map(|spec| of_containers(spec, key)).unwrap_or_default();
    for (name, amount) in amounts(pod, &["spec", "resources", key]) {
        if matches!(name.as_str(), "cpu" | "memory") {
            total.insert(name, amount);
        }
    }
    total
}
