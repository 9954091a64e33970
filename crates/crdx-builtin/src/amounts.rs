//! The quantities that a Pod needs.

use crdx_types::amounts::{Amounts, amounts, is_of_pods, limits_of_containers, of_containers};
use crdx_value::Value;
use crdx_value::release::Minor;

/// The requests or the limits of a Pod without its overhead (`PodRequests` and `PodLimits` in `component-helpers/resource`).
/// The amounts of resources that are `of_pods` may be given for the whole Pod.
pub(crate) fn of_pod(pod: &Value, key: &str, release: Minor, of_pods: fn(&str) -> bool) -> Amounts {
    let mut total = pod.get("spec").map(|spec| of_containers(spec, key, release)).unwrap_or_default();
    let own = amounts(pod, &["spec", "resources", key], release);
    total.extend(own.into_iter().filter(|(name, _)| of_pods(name)));
    total
}

/// The limits of a Pod without its overhead, as quotas count them (`PodLimits` in `component-helpers/resource`).
pub(crate) fn limits_of_pod(pod: &Value, release: Minor) -> Amounts {
    let mut total = pod.get("spec").map(|spec| limits_of_containers(spec, release)).unwrap_or_default();
    let own = amounts(pod, &["spec", "resources", "limits"], release);
    total.extend(own.into_iter().filter(|(name, _)| is_of_pods(name)));
    total
}
