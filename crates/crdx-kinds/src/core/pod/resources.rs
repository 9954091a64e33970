//! Resources of a whole Pod that follow from those of its containers (`DefaultPodLevelResources` in `pkg/api/pod/util.go`;
//! without the gate `PodLevelResourcesFixDefaulting`, `defaultHugePagePodLimits` and `defaultPodRequests` in `pkg/apis/core/v1/defaults.go`).

use crdx_builtin::CONTAINER_LISTS;
use crdx_cel::value::Quantity;
use crdx_types::amounts::{
    Amounts, amounts, containers, is_huge_page, is_of_pods, limits_of_containers, of_containers,
};
use crdx_value::Value;
use crdx_value::release::{Gate, Release};

/// Completes the resources when the Pod is defaulted, as servers without the gate do.
pub(super) fn default(pod: &mut Value, release: Release) {
    if release.enables(Gate::PodLevelResources) && !release.enables(Gate::PodLevelResourcesFixDefaulting) {
        complete(pod, release);
    }
}

/// Completes the resources of a new Pod, as servers with the gate do.
pub(super) fn prepare(pod: &mut Value, release: Release) {
    if release.enables(Gate::PodLevelResources) && release.enables(Gate::PodLevelResourcesFixDefaulting) {
        complete(pod, release);
    }
}

fn complete(pod: &mut Value, release: Release) {
    let Some(spec) = pod.get_mut("spec") else { return };
    let minor = release.minor();
    let own = |spec: &Value, field| amounts(spec, &["resources", field], minor);
    let (mut requests, mut limits) = (own(spec, "requests"), own(spec, "limits"));
    if requests.is_empty() && limits.is_empty() {
        return;
    }
    let aggregated = limits_of_containers(spec, minor);
    for (name, limit) in aggregated.iter().filter(|(name, _)| is_huge_page(name)) {
        if !requests.contains_key(name) {
            set_default(&mut limits, name, limit);
        }
    }
    if release.enables(Gate::PodLevelResourcesFixDefaulting) || !limits.is_empty() {
        let requested = of_containers(spec, "requests", minor);
        for (name, request) in requested.iter().filter(|(name, _)| is_of_pods(name) && !is_huge_page(name)) {
            set_default(&mut requests, name, request);
        }
        for (name, limit) in limits.iter().filter(|(name, _)| is_of_pods(name)) {
            set_default(&mut requests, name, limit);
        }
    }
    if release.enables(Gate::PodLevelResourcesFixDefaulting) {
        for (name, request) in requests.iter().filter(|(name, _)| is_of_pods(name) && all_limit(spec, name)) {
            if let Some(limit) = aggregated.get(name) {
                set_default(&mut limits, name, if request.compare(limit).is_gt() { request } else { limit });
            }
        }
    }
    write(spec, "requests", &requests);
    write(spec, "limits", &limits);
}

fn set_default(resources: &mut Amounts, name: &str, quantity: &Quantity) {
    resources.entry(name.to_owned()).or_insert_with(|| quantity.clone());
}

/// Sets the quantities that the Pod lacks. The others keep their form.
fn write(spec: &mut Value, field: &str, resources: &Amounts) {
    for (name, quantity) in resources {
        let path = ["resources", field, name];
        if spec.at(&path).is_none() {
            spec.insert_at(&path, quantity.to_string().into());
        }
    }
}

/// Returns true if every container has a limit of a resource (`aggregateContainerLimits`).
fn all_limit(spec: &Value, name: &str) -> bool {
    let mut all = CONTAINER_LISTS.into_iter().flat_map(|list| containers(spec, list));
    all.all(|container| container.at(&["resources", "limits", name]).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crdx_text::json;
    use crdx_value::json::to_string;

    fn completed(spec: &str, release: &str) -> String {
        let mut pod = json::read(format!(r#"{{"spec":{spec}}}"#).as_bytes()).unwrap();
        complete(&mut pod, release.parse().unwrap());
        to_string(pod.at(&["spec", "resources"]).unwrap())
    }

    #[test]
    fn a_resource_that_all_containers_limit_is_limited() {
        let container =
            |cpu: &str| format!(r#"{{"resources":{{"limits":{{"cpu":"{cpu}"}},"requests":{{"cpu":"{cpu}"}}}}}}"#);
        let (first, second) = (container("500m"), container("1"));
        let spec = |more: &str| {
            format!(r#"{{"resources":{{"requests":{{"memory":"1Gi"}}}},"containers":[{first},{second}{more}]}}"#)
        };
        let limited = r#"{"limits":{"cpu":"1500m"},"requests":{"cpu":"1500m","memory":"1Gi"}}"#;
        assert_eq!(completed(&spec(""), "1.37"), limited);
        assert_eq!(completed(&spec(",{}"), "1.37"), r#"{"requests":{"cpu":"1500m","memory":"1Gi"}}"#);
        assert_eq!(completed(&spec(""), "1.36"), r#"{"requests":{"memory":"1Gi"}}"#, "it has no limits");
    }

    #[test]
    fn a_limit_is_not_lower_than_the_request() {
        let spec = r#"{"resources":{"requests":{"cpu":"3"}},"containers":[{"resources":{"limits":{"cpu":"1"}}}]}"#;
        assert_eq!(completed(spec, "1.37"), r#"{"limits":{"cpu":"3"},"requests":{"cpu":"3"}}"#);
    }

    #[test]
    fn huge_pages_are_limited_in_all_releases() {
        let spec =
            r#"{"resources":{"requests":{"cpu":"1"}},"containers":[{"resources":{"limits":{"hugepages-2Mi":"2Mi"}}}]}"#;
        let expected = r#"{"limits":{"hugepages-2Mi":"2Mi"},"requests":{"cpu":"1","hugepages-2Mi":"2Mi"}}"#;
        assert_eq!(completed(spec, "1.34"), expected);
        assert_eq!(completed(spec, "1.37"), expected);
    }

    #[test]
    fn an_init_container_runs_with_the_sidecars_before_it() {
        let request = |cpu: &str, policy: &str| format!(r#"{{"resources":{{"requests":{{"cpu":"{cpu}"}}}}{policy}}}"#);
        let always = r#","restartPolicy":"Always""#;
        let (sidecar, init, container) = (request("1", always), request("3", ""), request("2", ""));
        let spec = format!(
            r#"{{"resources":{{"limits":{{"memory":"1Gi"}}}},"initContainers":[{sidecar},{init}],"containers":[{container}]}}"#
        );
        let expected = r#"{"limits":{"memory":"1Gi"},"requests":{"cpu":"4","memory":"1Gi"}}"#;
        assert_eq!(completed(&spec, "1.34"), expected);
    }

    #[test]
    fn a_pod_without_own_resources_is_unchanged() {
        let spec = r#"{"resources":{},"containers":[{"resources":{"limits":{"cpu":"1"}}}]}"#;
        assert_eq!(completed(spec, "1.37"), "{}");
    }
}
