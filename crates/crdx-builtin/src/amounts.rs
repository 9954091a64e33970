//! The quantities that a Pod needs.

use crdx_types::amounts::{Amounts, amounts, of_containers};
use crdx_value::Value;

/// The requests or the limits of a Pod without its overhead (`PodRequests` and `PodLimits` in `component-helpers/resource`).
/// The amounts of resources that are `of_pods` may be given for the whole Pod.
pub(crate) fn of_pod(pod: &Value, key: &str, of_pods: fn(&str) -> bool) -> Amounts {
    let mut total = pod.get("spec").map(|spec| of_containers(spec, key)).unwrap_or_default();
    let own = amounts(pod, &["spec", "resources", key]);
    total.extend(own.into_iter().filter(|(name, _)| of_pods(name)));
    total
}
